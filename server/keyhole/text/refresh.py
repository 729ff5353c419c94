"""Read where a page sends its reader by itself: the value of a `Refresh`, or a script that sets the location."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_REDIRECT_SECONDS: Final = 10
"""A refresh after at most so many seconds moves the reader to another address. Later ones reload a page that is read:
the usual values are 0 to 5 and 30 to 600."""

_VALUE: Final = re.compile(
    r"""\A\s*+(\d{0,9}+)[\d.]*+(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+(?:"([^"]*+)|'([^']*+)|(.*+))""", re.I | re.S
)
"""The "shared declarative refresh steps" of the HTML standard: `5; url='/new'`, but also `0,/new` and `0;/new`."""
_LOCATION: Final = re.compile(
    r"""\blocation\s{0,9}(?:\.\s{0,9}(?:href|replace|assign)\s{0,9})?[=(]\s{0,9}(["'`])([^"'`\s<>]{1,2000})\1"""
)
_CONDITION: Final = re.compile(r"[{?]|\bif\b|&&|\|\|")


class Refresh(NamedTuple):
    """Where a page sends its reader, and after how many seconds. `str` of it is what `read_refresh` reads."""

    seconds: int
    target: str

    @property
    def is_redirect(self) -> bool:
        """Return True if the reader has no time to read the page."""
        return self.seconds <= MAX_REDIRECT_SECONDS

    def __str__(self) -> str:
        return f"{self.seconds} {self.target}"


def read_refresh(text: str) -> Refresh | None:
    """Return the refresh that was written by `str`, None for any other text."""
    seconds, _, target = text.partition(" ")
    return Refresh(int(seconds), target) if seconds.isdecimal() and len(seconds) < 10 and target else None


def parse_refresh(value: str) -> Refresh | None:
    """Return the refresh of a header or a `<meta>`, its target as it is written; None if it only reloads the page."""
    match = _VALUE.match(value)
    if match is None:
        return None
    target = (match[2] or match[3] or match[4] or "").strip()
    return Refresh(int(match[1] or 0), target) if target else None


def find_location(script: str) -> Refresh | None:
    """Return the address to which a script sets the location, None if it sets none.

    A script that may do so only under a condition gets more seconds than a redirect has.
    """
    match = _LOCATION.search(script)
    if match is None or "${" in match[2]:
        return None
    is_conditional = _CONDITION.search(script, 0, match.start()) is not None
    return Refresh(MAX_REDIRECT_SECONDS + 1 if is_conditional else 0, match[2])
