"""Measure how many calls and characters a reader needs until a page has answered its question."""
