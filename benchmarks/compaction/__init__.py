"""Measure what a conversation still tells after its history was shortened, and how long that takes."""
