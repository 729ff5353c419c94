"""Text that is to stand in Markdown, so that it forms no link, image, code or HTML of its own. Escapes no more.

Signs that are harmless stay as they are: emphasis, lone brackets, `a < b`. Where a bracket or `<` would come alive a
character reference stands for it, and not a backslash: it holds whatever backslashes the text has before it.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.text.clean import clean
from keyhole.text.measure import clip

LOOKED_AT: Final = 4
"""Characters for each byte of a line: some are spaces, or go, and the cost stays bounded."""

_LIVE = re.compile(r"(?<=\])[(:]|(?<=!)\[|\\*(?:<(?=[A-Za-z/!?]|\Z)|`|&(?=#?\w{1,31};))|\\+\Z")
_REFERENCES: Final = {"(": "&#40;", "[": "&#91;", "<": "&lt;", ":": "\\:", "&": "\\&", "`": "\\`"}
_JOINED: Final = {"](": "&#40;", "]:": "\\:", "![": "&#91;"}
"""A pair whose first sign stands at the end of the text before."""


def escaped(text: str, before: str = "") -> str:
    """The text as Markdown that reads as this text; `before` is what stands before it in its line."""
    start = _JOINED.get(before[-1:] + text[:1], "")
    return start + _LIVE.sub(_escape, text[1:] if start else text)


def plain_line(text: str, room: int) -> str:
    """Foreign words as one line of at most `room` bytes that forms no Markdown of its own. Cleaned first: a sign that
    nobody sees must not keep apart two that come alive together."""
    return clip(escaped(clean(text[: LOOKED_AT * room])), room)


def _escape(live: re.Match[str]) -> str:
    # A text's backslash would take the next sign's meaning; at its end that sign may be Keyhole's own.
    sign = live[0].lstrip("\\")
    return 2 * live[0].removesuffix(sign) + _REFERENCES.get(sign, "")
