"""Render the lines about repeats: passages left out because an earlier call of the session showed them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from keyhole.records import Repeat
from keyhole.text.escape import plain_line

MAX_SHOWN_LABEL: Final = 40
"""Bytes of an earlier call's query: enough to recognise it."""
MAX_RANGES: Final = 6
"""Ranges listed for one call. The offsets of the gaps in a text tell the others."""


def repeats_line(repeats: Sequence[Repeat], *, others: bool) -> str:
    """Return the line for a page: how many passages are left out, the calls that showed them, and how to see them.

    The gap lines in the text give the passages' offsets. `others`: True if other passages are shown instead.
    """
    if not repeats:
        return ""
    count = f"{len(repeats)} passage{'s' if len(repeats) > 1 else ''}"
    instead = "" if others else " Nothing else is left to show."
    return f"{count} left out, as shown in {_numbers(repeats)}; repeat=true shows them again.{instead}"


def short_repeats(repeats: Sequence[Repeat]) -> str:
    """Return the note for one source of a search: the ranges left out and the numbers of the calls that showed them."""
    return f"shown before: {_ranges(repeats)} in {_numbers(repeats)}" if repeats else ""


def repeat_calls_line(repeats: Iterable[Repeat]) -> str:
    """Return the line for a search: the calls whose numbers are in the notes of its sources, with their queries."""
    calls = {repeat.call: _call(repeat) for repeat in repeats}
    named = ", ".join(calls[number] for number in sorted(calls))
    return f"Left out, as shown before in {named}; repeat=true shows it again." if calls else ""


def _ranges(repeats: Sequence[Repeat]) -> str:
    more = f" and {len(repeats) - MAX_RANGES} more" if len(repeats) > MAX_RANGES else ""
    return ", ".join(f"{repeat.start}:{repeat.end}" for repeat in repeats[:MAX_RANGES]) + more


def _numbers(repeats: Sequence[Repeat]) -> str:
    calls = sorted({repeat.call for repeat in repeats})
    return f"call{'s' if len(calls) > 1 else ''} {', '.join(map(str, calls))}"


def _call(repeat: Repeat) -> str:
    label = plain_line(repeat.label, MAX_SHOWN_LABEL)
    return f"call {repeat.call} ({label})" if label else f"call {repeat.call}"
