"""From an HTML page to Markdown: parse, remove what is hidden, find the content, convert."""
