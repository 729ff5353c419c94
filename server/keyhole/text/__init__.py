"""Text helpers without I/O: cleaning, escaping, measuring, Markdown, differences, suggestions."""
