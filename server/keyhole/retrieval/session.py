"""Remember which passages each call of a session showed, in bounded memory.

A call is answered from the history before it. So the same call made again returns the same bytes, whatever was shown in
between: agents repeat a call when its result was lost or truncated.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.records import Repeat

Span = tuple[int, int]

HORIZON: Final = 100_000
"""Tokens of results after which a passage counts as forgotten, if the model's context is not known: half of the 200,000
of common models. The other half is for the agent itself and other tools, and clients summarise what is older."""
MAX_CALLS: Final = 200
"""Calls remembered. No session makes more within the horizon, at 500 tokens or more each."""
MAX_LABEL: Final = 300
"""Characters kept of a call's query or tool, which names the call."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A range of a stored text that a call of the session showed."""

    start: int
    end: int
    call: int
    label: str = ""
    """The query or the tool of that call."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The passages that one call showed, by the ids of their texts."""

    call: int
    label: str
    spans: Mapping[str, tuple[Span, ...]]
    spent: int
    """Tokens of all results up to this one."""


@dataclass(frozen=True, slots=True)
class History:
    """The number of one call in its session, and the calls before it."""

    call: int
    key: Hashable = None
    label: str = ""
    sizes: tuple[int, ...] = ()
    """The call's budget, in each of its measures."""
    entries: tuple[Entry, ...] = ()
    spent: int = 0
    """Tokens of all results before this call."""

    def shown(self, id: str) -> tuple[Shown, ...]:
        """Return the ranges of a text that were shown before, the latest call first."""
        return tuple(
            Shown(*span, entry.call, entry.label)
            for entry in reversed(self.entries)
            for span in entry.spans.get(id, ())
        )


NO_HISTORY: Final = History(1)
"""The history of a call that belongs to no session."""


class Session:
    """The passages that the calls of one session showed, and the tokens of all their results.

    The entries are a tuple that is replaced and never changed, so a ranking in another thread may read it.
    """

    def __init__(self, horizon: int = HORIZON) -> None:
        self._horizon = horizon
        self._calls = 0
        self._spent = 0
        self._entries: tuple[Entry, ...] = ()
        self._histories: OrderedDict[Hashable, History] = OrderedDict()

    def begin(self, key: Hashable, label: str, *sizes: int) -> History:
        """Return the history for a call with these arguments and this budget: a new one, or that of an earlier call.

        The same arguments with a smaller budget count as the same call: an agent asks so if its client truncated the
        first result. A budget that is larger in any measure makes a new call.
        """
        self._calls += 1
        earlier = [each for each in self._histories.values() if each.key == key and _covers(each.sizes, sizes)]
        smallest = min(earlier, key=lambda each: each.sizes, default=None)
        if smallest and self._is_recent(smallest.spent):
            return smallest
        recent = tuple(entry for entry in self._entries if self._is_recent(entry.spent))
        return History(self._calls, key, label[:MAX_LABEL], sizes, recent, self._spent)

    def record(self, history: History, shown: Iterable[tuple[str, int, int]], tokens: int) -> None:
        """Record what the answered call showed: `(id, start, end)` of each passage, and the result's `tokens`.

        A call that failed or was cancelled is never recorded.
        """
        spans: dict[str, list[Span]] = {}
        for id, start, end in shown:
            spans.setdefault(id, []).append((start, end))
        self._spent += tokens
        by_id = {id: tuple(some) for id, some in spans.items()}
        entry = Entry(history.call, history.label, by_id, self._spent)
        self._entries = tuple(each for each in (*self._entries, entry) if self._is_recent(each.spent))[-MAX_CALLS:]
        self._histories[history.key, history.sizes] = history
        self._histories.move_to_end((history.key, history.sizes))
        while len(self._histories) > MAX_CALLS:
            self._histories.popitem(last=False)

    def _is_recent(self, spent: int) -> bool:
        return self._spent - spent <= self._horizon


def _covers(sizes: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """Return True if a budget is at least another one in every measure."""
    return all(size >= other for size, other in zip(sizes, others, strict=True))


MAX_SESSIONS: Final = 256
"""Sessions that a server over HTTP remembers, about 10 KB each. The least recently used one is forgotten first. It is
then shown passages again, which costs room and hides nothing."""


class Sessions:
    """The sessions of a server, by any hashable key."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[Hashable, Session] = OrderedDict()

    def get(self, key: Hashable, horizon: int | None) -> Session:
        """Return the session of `key`; the first request for it creates it."""
        session = self._sessions.setdefault(key, Session(horizon or HORIZON))
        self._sessions.move_to_end(key)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session


def repeats_of(stretches: Sequence[Span], shown: Sequence[Shown]) -> tuple[Repeat, ...]:
    """Return which calls showed these stretches, in reading order. If several calls did, name the latest."""
    repeats: list[Repeat] = []
    for start, end in stretches:
        at = start
        while at < end:
            covering = [each for each in shown if each.start <= at < each.end]
            # The call that shows all of the rest, else the one that shows most of it; `shown` has the latest first.
            best = max(covering, key=lambda each: min(each.end, end), default=None)
            if best is None:
                break
            repeats.append(Repeat(at, min(best.end, end), best.call, best.label))
            at = best.end
    return tuple(repeats)
