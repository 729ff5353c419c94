"""Measure the masking of secrets: which lines lose their secrets, and which lines without any are changed."""
