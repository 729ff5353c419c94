"""Format numbers, sizes, durations and times for a person; the filters of the templates."""

from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

_SIZES: Final = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_AGES: Final = ((365 * 86_400, "year"), (30 * 86_400, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute"))

_MISSES: Final = MappingProxyType(
    {
        "weak": "not answered",
        "same_page": "page asked again",
        "read_on": "read on right after",
        "searched_again": "searched again",
        "error": "failed",
    }
)


def format_number(count: float) -> str:
    """Return a number as an integer with thousands separators."""
    return f"{count:,.0f}"


def format_size(count: float) -> str:
    """Return a number of bytes in decimal units, such as "1.2 MB"."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count:,.0f} byte{'' if count == 1 else 's'}"


def format_duration(seconds: float) -> str:
    """Return a duration with at most three digits, such as "340 ms", "1.25 s" or "12 min"."""
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7_200 else f"{seconds / 3_600:,.1f} h"


def format_exact_time(seconds: float) -> str:
    """Return a time with date and seconds in UTC, or "?" for a time that no calendar has."""
    return _format(seconds, "%Y-%m-%d %H:%M:%S UTC")


def format_iso_time(seconds: float) -> str:
    """Return a time for the attribute `datetime` of the HTML element `time`."""
    return _format(seconds, "%Y-%m-%dT%H:%M:%SZ")


def format_day(seconds: float) -> str:
    """Return the day of a time in UTC, such as "23 Nov"."""
    return _format(seconds, "%d %b").lstrip("0")


def format_clock(seconds: float) -> str:
    """Return the time of day in UTC, such as "13:05"."""
    return _format(seconds, "%H:%M")


def format_ago(seconds: float, now: float) -> str:
    """Return how long ago or in how long a time is, such as "3 minutes ago" or "in 2 days"."""
    distance = abs(now - seconds)
    for unit, name in _AGES:
        if distance >= unit:
            count = int(distance // unit)
            words = f"{count} {name}{'' if count == 1 else 's'}"
            return f"in {words}" if seconds > now else f"{words} ago"
    return "in less than a minute" if seconds > now else "just now"


def format_percent(part: float, whole: float) -> str:
    """Return a share such as "12 %", and a dash for a share of nothing."""
    if not whole:
        return "–"
    share = 100 * part / whole
    return "under 1 %" if 0 < share < 1 else f"{share:.0f} %"


def _format(seconds: float, pattern: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(pattern)
    except (ValueError, OverflowError, OSError):  # a damaged or tampered record
        return "?"


def format_miss(kind: str) -> str:
    """Return in words why a call did not suffice, "" if it did."""
    return _MISSES.get(kind, kind)


def format_folder(path: str) -> str:
    """Return the name of a project's folder, "" for none, the root and a person's home, which are no projects."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    is_home = len(parts) <= 3 and any(each in {"home", "Users", "root"} for each in parts[-2:])
    return "" if is_home else parts[-1]


FILTERS: Final = MappingProxyType(
    {
        "number": format_number,
        "size": format_size,
        "duration": format_duration,
        "exact_time": format_exact_time,
        "iso_time": format_iso_time,
        "ago": format_ago,
        "percent": format_percent,
        "miss": format_miss,
        "folder": format_folder,
    }
)
