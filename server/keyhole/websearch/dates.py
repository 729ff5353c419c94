"""The dates that engines give, as ISO 8601, and back as seconds. Pure: no clock, so that "3 days ago" is no date."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

from keyhole.websearch.rows import iso_date

_PARTIAL: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")
_SECONDS: Final = (100_000_000.0, 10_000_000_000.0)
"""Numbers between these are seconds since the epoch (1973 to 2286); a thousand times as large, milliseconds."""


def iso(value: object) -> str:
    """A date or date and time in ISO 8601, of text as `iso_date` reads it, or of seconds or milliseconds since the
    epoch; "" for all else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len("1700000000000"):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return iso_date(value)
    return _of_number(value)


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


def _of_number(value: float) -> str:
    low, high = _SECONDS
    seconds = value / 1000 if low * 1000 <= value < high * 1000 else value
    if not low <= seconds < high:
        return ""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds")


def _seconds(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
