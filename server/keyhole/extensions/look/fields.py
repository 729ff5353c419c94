"""Read and write the fields of the addresses of pages: numbers, filters, and places in a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from keyhole.store.calls.base import CallFilters, CallPlace

MAX_DIGITS: Final = 15
"""Digits of a number that is read: those that a double holds exactly. Python refuses to read 5,000."""
MAX_FILTER: Final = 200
"""Characters of a filter that are used. An address is bounded, and so is the work of a search."""


def read_number(text: str) -> int | None:
    """Return the number in a text of ASCII digits, None for any other text or more than `MAX_DIGITS` digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def read_filters(query: Mapping[str, str]) -> CallFilters:
    """Return the filters of an address; unknown fields are ignored."""

    def given(name: str) -> str:
        return query.get(name, "").strip()[:MAX_FILTER]

    return CallFilters(
        client=given("client"),
        tool=given("tool"),
        site=given("site"),
        outcome=given("outcome"),
        words=given("words"),
        misses_only=given("misses_only") == "1",
    )


def write_filters(filters: CallFilters) -> dict[str, str]:
    """Return the fields of an address that `read_filters` reads as these filters."""
    fields = asdict(filters) | {"misses_only": "1" if filters.misses_only else ""}
    return {name: value for name, value in fields.items() if value and name != "session"}


def read_place(text: str) -> CallPlace | None:
    """Return the place after which a list continues, None for its beginning or a malformed place."""
    at, _, id = text.partition("~")
    try:
        return float(at), id
    except ValueError:
        return None


def write_place(place: CallPlace) -> str:
    """Return a place in the form that `read_place` reads."""
    return f"{place[0]!r}~{place[1]}"
