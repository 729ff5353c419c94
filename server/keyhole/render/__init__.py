"""Render records and errors as the text that a model reads, within a budget."""
