"""Compact the history of a conversation to an input budget."""
