"""Render the lines that say which earlier calls of the session showed the passages that are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from keyhole.records import Repeat
from keyhole.text.escape import plain_line

MAX_LABEL: Final = 40
"""Bytes of an earlier call's query: enough to recognise it."""


def repeats_line(repeats: Sequence[Repeat], others: bool) -> str:
    """Return the line that names the stretches left out of a page, the calls that showed them, and how to see them
    again. `others`: True if replacement passages are shown."""
    if not repeats:
        return ""
    by_call: dict[int, list[Repeat]] = {}
    for repeat in repeats:
        by_call.setdefault(repeat.call, []).append(repeat)
    where = "; ".join(f"{_stretches(some)} in {_call(some[0])}" for some in by_call.values())
    instead = "" if others else " Nothing else is left to show."
    return f"Left out, as shown before: {where}. repeat=true shows it again.{instead}"


def short_repeats(repeats: Sequence[Repeat]) -> str:
    """Return the same for one source of a search, without the calls' queries."""
    calls = {repeat.call for repeat in repeats}
    which = f"call{'s' if len(calls) > 1 else ''} {', '.join(map(str, sorted(calls)))}"
    return f"shown before: {_stretches(repeats)} in {which}" if repeats else ""


def repeat_calls_line(repeats: Iterable[Repeat]) -> str:
    """Return the line that names the calls to which the sources of a search refer by number."""
    calls = {repeat.call: _call(repeat) for repeat in repeats}
    named = ", ".join(calls[number] for number in sorted(calls))
    return f"Left out, as shown before in {named}; repeat=true shows it again." if calls else ""


def _stretches(repeats: Sequence[Repeat]) -> str:
    return ", ".join(f"{repeat.start}:{repeat.end}" for repeat in repeats)


def _call(repeat: Repeat) -> str:
    label = plain_line(repeat.label, MAX_LABEL)
    return f"call {repeat.call} ({label})" if label else f"call {repeat.call}"
