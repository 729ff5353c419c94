"""Compare lines apart from their numbers."""

from __future__ import annotations

import re
from typing import Final

MAX_PERIOD: Final = 3
"""A line may repeat one of this many lines before it: a step of a build often prints two or three."""

_VARIABLE = re.compile(r"[0-9][0-9a-fx]*(?:[.,:-][0-9][0-9a-fx]*)*")
"""What differs between lines that repeat each other: numbers, times, versions, addresses, hashes, UUIDs. It begins with
a digit, because a search for other beginnings takes several times as long."""
_FIRST_LETTERS: Final = 3
"""Maximum letters before the first digit of a hash that are replaced too. One hash in twenty has more."""


def template(text: str) -> str:
    """Return a text with the same sign for every number, time, address and hash. Its lines stay lines."""
    text = _VARIABLE.sub("#", text)
    for letter in "abcdef" * _FIRST_LETTERS:
        text = text.replace(f"{letter}#", "#")
    return text
