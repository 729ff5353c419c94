"""Convert the rows of an engine's answer to hits of plain, bounded text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from keyhole.records import Hit
from keyhole.text.clean import clean
from keyhole.text.escape import escape_gap_lines
from keyhole.text.invalid_characters import unescape

# Dates: publication dates that engines report, as ISO 8601 and as seconds since the epoch.

MAX_DATE: Final = 64
"""Characters. Longer text is a sentence rather than a date."""

_PARTIAL: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")
_EPOCH_RANGE: Final = (100_000_000.0, 10_000_000_000.0)
"""Numbers in this range are seconds since the epoch (1973 to 2286). Numbers 1,000 times larger are milliseconds."""

_ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_RFC_2822 = re.compile(r"(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)? (?:[A-Z]{1,5}|[+-]\d{4})")
_ENGLISH = re.compile(r"(?P<m>[A-Z][a-z]{2})[a-z]{0,6}\.? (?P<d>\d{1,2}), (?P<y>\d{4})")
_BRITISH = re.compile(r"(?P<d>\d{1,2}) (?P<m>[A-Z][a-z]{2})[a-z]{0,6}\.? (?P<y>\d{4})")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def to_iso_date(value: object) -> str:
    """Return a date as ISO 8601, or "" for any other value.

    `value`: a text, or seconds or milliseconds since the epoch. Relative dates such as "3 days ago" give "", because
    this function does not know the time.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len("1700000000000"):
        value = int(value)
    if isinstance(value, str):
        return _parse_text(value)
    return _parse_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def date_range(text: str) -> tuple[float, float] | None:
    """Return the start and end of an ISO date in seconds since the epoch, or None if `text` is not an ISO date.

    `text` may also be a year or a month. Without a time zone, UTC is assumed.
    """
    try:
        if partial := _PARTIAL.fullmatch(text):
            year, month = int(partial[1]), int(partial[2] or 0)
            start = date(year, month or 1, 1)
            end = date(year + 1, 1, 1) if not month or month == 12 else date(year, month + 1, 1)
            return _epoch_seconds(start), _epoch_seconds(end)
        if len(text) == 10:
            start = date.fromisoformat(text)
            return _epoch_seconds(start), _epoch_seconds(start) + 86_400
        moment = datetime.fromisoformat(text)
        stamp = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return stamp, stamp


def _parse_text(value: str) -> str:
    text = value.strip() if len(value) < MAX_DATE else ""
    try:
        if _ISO.fullmatch(text):
            moment = datetime.fromisoformat(text)
        elif _RFC_2822.fullmatch(text):
            from email.utils import parsedate_to_datetime

            moment = parsedate_to_datetime(text)
        elif named := _ENGLISH.fullmatch(text) or _BRITISH.fullmatch(text):
            return date(int(named["y"]), _MONTHS.index(named["m"]) + 1, int(named["d"])).isoformat()
        else:
            return ""
    except ValueError:
        return ""
    # Some engines write a day as midnight without a zone.
    is_day = moment.tzinfo is None and moment.time() == datetime.min.time()
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="seconds")


def _parse_number(value: float) -> str:
    low, high = _EPOCH_RANGE
    seconds = value / 1000 if low * 1000 <= value < high * 1000 else value
    if not low <= seconds < high:
        return ""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds")


def _epoch_seconds(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


# Hits: the rows of an answer become plain, bounded text.

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


class NotedHits(tuple[Hit, ...]):
    """Hits with a note, for example on the failed engines of a metasearch engine."""

    note: str = ""

    @classmethod
    def with_note(cls, hits: Iterable[Hit], note: str) -> NotedHits:
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
