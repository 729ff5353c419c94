"""Mask values that look like secrets."""
