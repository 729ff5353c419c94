"""What one session was shown already, in bounded memory. Words nothing and asks nobody.

A call is answered from the history that was before it, so that the same call made again is answered with the same
bytes, whatever was shown between: agents repeat a call when its result was lost or cut on the way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

Span = tuple[int, int]

HORIZON: Final = 100_000
"""Tokens of results after which a passage counts as forgotten, where the model's context is not known. Half of the
200,000 of common models: the other half is the agent's own and other tools', and clients sum up what is older."""
MAX_CALLS: Final = 200
"""Calls remembered: more than any session made within the horizon, at some 500 tokens and more for each."""
MAX_ABOUT: Final = 300
"""Characters kept of what a call asked for: it only names the call."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A stretch of a stored text that a call of the session showed."""

    start: int
    end: int
    call: int
    about: str = ""
    """What the call asked for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one call showed, by the ids of the texts."""

    call: int
    about: str
    spans: Mapping[str, tuple[Span, ...]]
    spent: int
    """Tokens of all results up to this one."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of a session and the history it is answered from."""

    call: int
    key: Hashable = None
    about: str = ""
    size: tuple[int, ...] = ()
    """Its budget, in each of its measures."""
    history: tuple[Entry, ...] = ()
    spent: int = 0
    """Tokens of all results before it."""

    def shown(self, id: str) -> tuple[Shown, ...]:
        """What was shown of a text before, the latest call first."""
        return tuple(
            Shown(*span, entry.call, entry.about)
            for entry in reversed(self.history)
            for span in entry.spans.get(id, ())
        )


FIRST: Final = Turn(1)
"""A call of no session: nothing was before it."""


class Ledger:
    """The passages that the calls of one session were shown, and how much all of them took.

    A history is a tuple that is replaced and never changed, so a ranking that goes on in a thread may read it.
    """

    def __init__(self, horizon: int = HORIZON) -> None:
        self._horizon = horizon
        self._calls = 0
        self._spent = 0
        self._entries: tuple[Entry, ...] = ()
        self._turns: OrderedDict[Hashable, Turn] = OrderedDict()

    def begin(self, key: Hashable, about: str, *size: int) -> Turn:
        """A call that asks `key` within `size`, in each of its measures: a new one, or an earlier one made again.

        With a smaller budget it is the same call too: so asks an agent whose client cut the first result. One that is
        larger in any measure asks for more.
        """
        self._calls += 1
        made = [turn for turn in self._turns.values() if turn.key == key and _holds(turn.size, size)]
        known = min(made, key=lambda turn: turn.size, default=None)
        if known and self._is_recent(known.spent):
            return known
        recent = tuple(entry for entry in self._entries if self._is_recent(entry.spent))
        return Turn(self._calls, key, about[:MAX_ABOUT], size, recent, self._spent)

    def enter(self, turn: Turn, shown: Iterable[tuple[str, int, int]], tokens: int) -> None:
        """The call was answered with these stretches. One that failed or was cancelled is never entered."""
        spans: dict[str, list[Span]] = {}
        for id, start, end in shown:
            spans.setdefault(id, []).append((start, end))
        self._spent += tokens
        entry = Entry(turn.call, turn.about, {id: tuple(some) for id, some in spans.items()}, self._spent)
        self._entries = tuple(each for each in (*self._entries, entry) if self._is_recent(each.spent))[-MAX_CALLS:]
        self._turns[turn.key, turn.size] = turn
        self._turns.move_to_end((turn.key, turn.size))
        while len(self._turns) > MAX_CALLS:
            self._turns.popitem(last=False)

    def _is_recent(self, spent: int) -> bool:
        return self._spent - spent <= self._horizon


def _holds(size: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether a budget is at least another in every measure."""
    return all(one >= two for one, two in zip(size, other, strict=True))


MAX_SESSIONS: Final = 256
"""Ledgers of a server over HTTP, some 10 KB each. The session unseen for longest loses its ledger first, and is then
shown things again: that costs room and hides nothing."""


class Ledgers:
    """The ledger of each session, by whatever names a session."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Ledger] = OrderedDict()

    def of(self, session: Hashable, horizon: int | None) -> Ledger:
        """A session's own, made when it is first asked for."""
        ledger = self._kept.setdefault(session, Ledger(horizon or HORIZON))
        self._kept.move_to_end(session)
        while len(self._kept) > MAX_SESSIONS:
            self._kept.popitem(last=False)
        return ledger
