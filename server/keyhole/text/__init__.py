"""Text helpers: cleaning, escaping, measuring, Markdown blocks, differences, suggestions, site filters, challenges."""
