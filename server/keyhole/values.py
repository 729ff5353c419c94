"""How values of settings are read. Raises ValueError with what would be right, and never echoes a value."""

from __future__ import annotations

import re
from typing import Final

MIN_KEY: Final = 8
"""Characters. Real keys have 30; what is shorter could not be told from words when it is taken out of an answer."""


def key(raw: str) -> str:
    """A key as it can stand in a header."""
    if len(raw) < MIN_KEY or not (raw.isascii() and raw.isprintable() and " " not in raw):
        raise ValueError(f"must be at least {MIN_KEY} printable ASCII characters without spaces, as keys are")
    return raw


def http_url(raw: str) -> str:
    """One URL that a query can be added to."""
    if not re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", raw, re.IGNORECASE):
        raise ValueError("must be an absolute http:// or https:// URL without a query")
    return raw
