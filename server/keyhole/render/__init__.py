"""Turn records and errors into the text that a model reads."""
