"""From what an engine writes in its rows to plain, bounded text. Pure; knows no engine."""

from __future__ import annotations

import html
import re
from typing import Any, Final

from keyhole.text.clean import clean

MAX_ROWS: Final = 100
"""Of one answer. No engine is asked for more, and one that sends more must not keep the others waiting."""
MAX_URL: Final = 2_000
"""Characters. Longer ones break in browsers and proxies, and cannot be cut: their row is left out."""
MAX_TITLE: Final = 300
"""Characters. Search engines themselves show 60."""
MAX_SNIPPET: Final = 1_000
"""Characters. Engines show 160; those made for programs give excerpts of several sentences."""
MARKUP: Final = 4
"""Characters read for each that is kept: what tags and entities take at most, so that the cost stays bounded."""

_INLINE = re.compile(r"</?(?:strong|b|em|i|mark|span|u|br|wbr|sub|sup|small|code|font)\b[^<>]{0,200}>", re.IGNORECASE)
"""What engines mark found words with. Other tags are left: an engine that fails to escape `List<int>` means a text."""


def address(value: Any) -> str:
    """A row's URL, or "" for none that could be asked for and shown."""
    url = value.strip() if isinstance(value, str) else ""
    return "" if len(url) > MAX_URL or any(sign.isspace() for sign in url) or clean(url) != url else url


def rows_of(value: Any) -> list[Any]:
    """The rows of an answer. Raises TypeError for none: an empty object or text would pass for no results."""
    if not isinstance(value, list | tuple):
        raise TypeError("no list of rows")
    return list(value[:MAX_ROWS])


def line(value: Any, limit: int, *, marked_up: bool = False) -> str:
    """A row's text, or its several excerpts, as one line of at most `limit` characters; `marked_up` where the engine
    gives HTML."""
    if isinstance(value, list):
        value = " … ".join(part for part in value[:limit] if isinstance(part, str))
    text = value[: MARKUP * limit] if isinstance(value, str) else ""
    if marked_up:
        text = html.unescape(_INLINE.sub("", text))
    return " ".join(clean(text).split())[:limit].rstrip()
