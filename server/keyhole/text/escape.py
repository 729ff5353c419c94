"""Escape text for Markdown, so that it forms no link, image, code or HTML.

Harmless characters stay: emphasis, single brackets, `a < b`. Brackets and `<` are replaced by a character reference
rather than escaped with a backslash, because a reference works after any number of backslashes in the text.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.text.clean import clean
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.measure import clip

CHARS_PER_BYTE: Final = 4
"""Characters examined per byte of the result. This bounds the cost, and allows for spaces and removed characters."""

_SIGNS = lazy_pattern(r"[\]!\\<`&]")
"""The signs at or before the beginning of every match of `_ACTIVE`. Most texts contain none, and the search for them
is faster."""
_ACTIVE = lazy_pattern(r"(?<=\])[(:]|(?<=!)\[|(?<!\\)\\*+(?:<(?=[A-Za-z/!?]|\Z)|`|&(?=#?\w{1,31};))|(?<!\\)\\++\Z")
_GAP_LIKE = lazy_pattern(r"\[…(?=\d+:\d+\])")
_DOUBLE_QUOTES = lazy_pattern("[“”„‟❝❞〝〞〟＂«»]")
_REPLACEMENTS: Final = {"(": "&#40;", "[": "&#91;", "<": "&lt;", ":": "\\:", "&": "\\&", "`": "\\`"}
_SPLIT_PAIRS: Final = {"](": "&#40;", "]:": "\\:", "![": "&#91;"}
"""Two characters that form markup together, with the replacement of the second if the text begins with it."""


def escape_markdown(text: str, before: str = "") -> str:
    """Return Markdown that renders as `text`. `before`: the Markdown that precedes it on the same line."""
    if before and (start := _SPLIT_PAIRS.get(before[-1] + text[:1])):
        return start + escape_markdown(text[1:])
    return _ACTIVE.sub(_replace, text) if _SIGNS.search(text) else text


def plain_line(text: str, limit: int) -> str:
    """Return untrusted text as one line of at most `limit` bytes, without active Markdown.

    The text is cleaned first, since removing an invisible character may join two characters that form Markdown.
    """
    return clip(escape_markdown(escape_gap_lines(clean(text[: CHARS_PER_BYTE * limit]))), limit)


def escape_gap_lines(text: str) -> str:
    """Return text in which nothing looks like one of Keyhole's gap lines, such as `[…12:345]`; its size is the same.

    A text is stored as it is. It is changed only where it is shown beside gap lines.
    """
    return _GAP_LIKE.sub("[‥", text) if has_gap_lines(text) else text


def has_gap_lines(text: str) -> bool:
    """Return whether something in a text looks like one of Keyhole's gap lines."""
    return "[…" in text and _GAP_LIKE.search(text) is not None


def quote_line(text: str, limit: int) -> str:
    """Return untrusted text as one line between the quotation marks “ and ”, "" for an empty text.

    The quotation marks in the text become straight ones, so that none ends the quotation. `limit`: bytes of the text.
    """
    line = plain_line(text, limit)
    straight = _DOUBLE_QUOTES.sub('"', line)
    return f"“{straight}”" if line else ""


def _replace(match: re.Match[str]) -> str:
    # Backslashes are doubled: a single one would escape the next character, which may be part of Keyhole's markup.
    sign = match[0].lstrip("\\")
    return 2 * match[0].removesuffix(sign) + _REPLACEMENTS.get(sign, "")
