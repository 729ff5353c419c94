"""One reader for each format that is not HTML."""
