"""Convert an HTML page to Markdown: parse, remove invisible parts, drop boilerplate, convert."""
