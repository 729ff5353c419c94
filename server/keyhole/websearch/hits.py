"""Convert the rows of an engine's answer to hits of plain, bounded text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from keyhole.records import Hit
from keyhole.text.clean import clean
from keyhole.text.escape import escape_gap_lines
from keyhole.text.invalid_characters import unescape
from keyhole.websearch.dates import to_iso_date

MAX_ROWS: Final = 100
"""Rows read of one answer. No request is for more rows, and a longer answer must not delay the other engines."""
MAX_URL: Final = 2_000
"""Characters. Longer URLs fail in browsers and proxies, so their rows are dropped."""
MAX_TITLE: Final = 300
"""Characters. Search engines themselves show 60."""
MAX_SNIPPET: Final = 1_000
"""Characters. Web search engines show 160; APIs made for programs return excerpts of several sentences."""
MARKUP_FACTOR: Final = 4
"""Characters read per character of the result, which leaves space for tags and entities and bounds the cost."""

_INLINE = re.compile(r"</?(?:strong|b|em|i|mark|span|u|br|wbr|sub|sup|small|code|font)\b[^<>]{0,200}>", re.IGNORECASE)
"""Tags with which engines highlight matches. Other tags are kept: `List<int>` may be unescaped text."""


class Hits(tuple[Hit, ...]):
    """Hits with a note, for example on the failed engines of a metasearch engine."""

    note: str = ""

    @classmethod
    def with_note(cls, hits: Iterable[Hit], note: str) -> Hits:
        """Return the hits with a note of a few words."""
        result = cls(hits)
        result.note = note
        return result


def build_hits(
    rows: Sequence[Mapping[str, Any]],
    names: tuple[str, str, str],
    engine: str,
    date: str = "",
    *,
    marked_up: bool = False,
) -> tuple[Hit, ...]:
    """Return the hits of an engine's rows, without the rows that have no valid URL.

    `names`: the keys of the URL, the title and the snippet. `date`: the key of the publication date. `marked_up`:
    True if the texts are HTML. Raises TypeError or AttributeError if `rows` is not a list of mappings.
    """
    return tuple(
        Hit(
            url,
            to_single_line(row.get(names[1]), MAX_TITLE, marked_up=marked_up),
            to_single_line(row.get(names[2]), MAX_SNIPPET, marked_up=marked_up),
            engine,
            to_iso_date(row.get(date)) if date else "",
        )
        for row in parse_rows(rows)
        if (url := parse_url(row.get(names[0])))
    )


def parse_url(value: Any) -> str:
    """Return a row's URL, or "" if it is missing, too long or contains spaces or control characters."""
    url = value.strip() if isinstance(value, str) else ""
    return "" if len(url) > MAX_URL or any(sign.isspace() for sign in url) or clean(url) != url else url


def parse_rows(value: Any) -> list[Any]:
    """Return the first `MAX_ROWS` rows. Raises TypeError if `value` is not a list; {} must not count as no rows."""
    if not isinstance(value, list | tuple):
        raise TypeError("not a list of rows")
    return list(value[:MAX_ROWS])


def to_single_line(value: Any, limit: int, *, marked_up: bool = False) -> str:
    """Return a text, or a list of excerpts, as one line of at most `limit` characters.

    `marked_up`: True if the text is HTML.
    """
    if isinstance(value, list):
        value = " … ".join(part for part in value[:limit] if isinstance(part, str))
    text = value[: MARKUP_FACTOR * limit] if isinstance(value, str) else ""
    if marked_up:
        text = unescape(_INLINE.sub("", text))
    return " ".join(escape_gap_lines(clean(text)).split())[:limit].rstrip()
