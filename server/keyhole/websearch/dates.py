"""The dates that engines give, as ISO 8601, and back as seconds. Pure: no clock, so that "3 days ago" is no date."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

LONGEST: Final = 64
"""Characters of a stated moment; longer text is a sentence."""

_PARTIAL: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")
_SECONDS: Final = (100_000_000.0, 10_000_000_000.0)
"""Numbers between these are seconds since the epoch (1973 to 2286); a thousand times as large, milliseconds."""

_ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_RFC_2822 = re.compile(r"(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)? (?:[A-Z]{1,5}|[+-]\d{4})")
_ENGLISH = re.compile(r"(?P<m>[A-Z][a-z]{2})[a-z]{0,6}\.? (?P<d>\d{1,2}), (?P<y>\d{4})")
_BRITISH = re.compile(r"(?P<d>\d{1,2}) (?P<m>[A-Z][a-z]{2})[a-z]{0,6}\.? (?P<y>\d{4})")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def iso(value: object) -> str:
    """A stated moment as an ISO 8601 date or date and time, of seconds or milliseconds since the epoch too; "" for all
    else: "3 days ago" means nothing without a clock."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len("1700000000000"):
        value = int(value)
    if isinstance(value, str):
        return _of_text(value)
    return _of_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def span(text: str) -> tuple[float, float] | None:
    """The seconds since the epoch from which and to which an ISO date lasts, or None for what is none: a year and a
    month are dates too. A date without a zone may be a day's beginning or end anywhere, so that it lasts as in UTC."""
    try:
        if partial := _PARTIAL.fullmatch(text):
            year, month = int(partial[1]), int(partial[2] or 0)
            start = date(year, month or 1, 1)
            end = date(year + 1, 1, 1) if not month or month == 12 else date(year, month + 1, 1)
            return _seconds(start), _seconds(end)
        if len(text) == 10:
            start = date.fromisoformat(text)
            return _seconds(start), _seconds(start) + 86_400
        moment = datetime.fromisoformat(text)
        stamp = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return stamp, stamp


def _of_text(value: str) -> str:
    stated = value.strip() if len(value) < LONGEST else ""
    try:
        if _ISO.fullmatch(stated):
            moment = datetime.fromisoformat(stated)
        elif _RFC_2822.fullmatch(stated):
            from email.utils import parsedate_to_datetime

            moment = parsedate_to_datetime(stated)
        elif named := _ENGLISH.fullmatch(stated) or _BRITISH.fullmatch(stated):
            return date(int(named["y"]), _MONTHS.index(named["m"]) + 1, int(named["d"])).isoformat()
        else:
            return ""
    except ValueError:
        return ""
    # Midnight in no zone is how engines write a day.
    bare = moment.tzinfo is None and moment.time() == datetime.min.time()
    return moment.date().isoformat() if bare else moment.isoformat(timespec="seconds")


def _of_number(value: float) -> str:
    low, high = _SECONDS
    seconds = value / 1000 if low * 1000 <= value < high * 1000 else value
    if not low <= seconds < high:
        return ""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds")


def _seconds(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
