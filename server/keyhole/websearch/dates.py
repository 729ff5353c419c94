"""Convert the publication dates that engines report to ISO 8601 and to seconds since the epoch. Pure."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

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
