"""What a result says of its session: what was shown before, and what is left. Words only, on our side of a boundary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from keyhole.text.escape import plain_line

if TYPE_CHECKING:
    from keyhole.records import Repeat

MAX_ABOUT: Final = 40
"""Bytes of what an earlier call asked for: enough to know it again."""


def shown_before(repeats: Sequence[Repeat], others: bool) -> str:
    """The stretches left out of a page, each with the call that showed it, and how to have them again. `others`:
    whether other passages are shown instead."""
    if not repeats:
        return ""
    by_call: dict[int, list[Repeat]] = {}
    for repeat in repeats:
        by_call.setdefault(repeat.call, []).append(repeat)
    where = "; ".join(f"{_stretches(some)} in {_call(some[0])}" for some in by_call.values())
    instead = "" if others else " Nothing else is left to show."
    return f"Left out, as shown before: {where}. repeat=true shows it again.{instead}"


def shown_before_briefly(repeats: Sequence[Repeat]) -> str:
    """The same for one source of a search."""
    calls = {repeat.call for repeat in repeats}
    which = f"call{'s' if len(calls) > 1 else ''} {', '.join(map(str, sorted(calls)))}"
    return f"shown before: {_stretches(repeats)} in {which}" if repeats else ""


def which_calls(repeats: Iterable[Repeat]) -> str:
    """The calls that a search's sources name by number, and how to have again what they showed."""
    calls = {repeat.call: _call(repeat) for repeat in repeats}
    named = ", ".join(calls[number] for number in sorted(calls))
    return f"Left out, as shown before in {named}; repeat=true shows it again." if calls else ""


def running_out(left: int, whole: int) -> str:
    """That the session's budget shortens this result."""
    return f"Session budget: {left:,} of {whole:,} tokens left, so results are short."


def _stretches(repeats: Sequence[Repeat]) -> str:
    return ", ".join(f"{repeat.start}:{repeat.end}" for repeat in repeats)


def _call(repeat: Repeat) -> str:
    about = plain_line(repeat.about, MAX_ABOUT)
    return f"call {repeat.call} ({about})" if about else f"call {repeat.call}"
