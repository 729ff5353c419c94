"""How values of settings are read. Raises ValueError with what would be right, and never echoes a key."""

from __future__ import annotations

import re
from collections.abc import Callable
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


def one_of(*choices: str) -> Callable[[str], str]:
    """One of a few words."""

    def parse(raw: str) -> str:
        if raw.lower() not in choices:
            raise ValueError(f"must be {' or '.join(choices)}")
        return raw.lower()

    return parse


def known_urls(raw: str) -> frozenset[str]:
    """URLs; a comma within one is its own. A star stands only at an end, and never within the host."""
    found = frozenset(re.split(r"[\s,]+(?=https?://)", raw.strip().rstrip(","), flags=re.IGNORECASE))
    for url in found:
        if not re.fullmatch(r"https?://[^\s/?#*]+(?:/[^\s#*]*\*?)?", url, re.IGNORECASE):
            raise ValueError(f"{url!r} is neither a URL nor the beginning of URLs, such as https://example.com/docs/*")
    return found


def header_text(raw: str) -> str:
    """What a header can carry."""
    if not (raw.isascii() and raw.isprintable()):
        raise ValueError("must be printable ASCII, as headers are")
    return raw
