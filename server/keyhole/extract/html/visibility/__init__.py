"""Visibility: which elements and which text of a page its CSS and its attributes hide from a reader."""
