"""Text that is to stand in Markdown, so that it forms no link, image, code or HTML of its own. Escapes no more.

Signs that are harmless stay as they are: emphasis, lone brackets, `a < b`. Where a bracket or `<` would come alive a
character reference stands for it, and not a backslash: it holds whatever backslashes the text has before it.
"""

from __future__ import annotations

import re
from typing import Final

_LIVE = re.compile(r"(?<=\])[(:]|(?<=!)\[|\\*(?:<(?=[A-Za-z/!?]|\Z)|`|&(?=#?\w{1,31};))|\\+\Z")
_REFERENCES: Final = {"(": "&#40;", "[": "&#91;", "<": "&lt;", ":": "\\:", "&": "\\&", "`": "\\`"}
_JOINED: Final = {"](": "&#40;", "]:": "\\:", "![": "&#91;"}
"""A pair whose first sign stands at the end of the text before."""


def escaped(text: str, before: str = "") -> str:
    """The text as Markdown that reads as this text; `before` is what stands before it in its line."""
    start = _JOINED.get(before[-1:] + text[:1], "")
    return start + _LIVE.sub(_escape, text[1:] if start else text)


def _escape(live: re.Match[str]) -> str:
    # A text's backslash would take the next sign's meaning; at its end that sign may be Keyhole's own.
    sign = live[0].lstrip("\\")
    return 2 * live[0].removesuffix(sign) + _REFERENCES.get(sign, "")
