"""Remember which passages each call of a session showed, in bounded memory.

Each call has a history: the calls before it. If the same call is made again, it gets the same history and
returns the same bytes, whatever was shown in between. Agents repeat a call if its result was lost or truncated.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.passages.gaps import Span
from keyhole.records import Repeat
from keyhole.runtime.bounded_dict import BoundedDict

HORIZON: Final = 100_000
"""Tokens of later results after which a passage counts as forgotten, if the model's context is unknown: half of the
200,000 of common models. The agent and other tools use the other half, and clients summarise older text."""
MAX_CALLS: Final = 200
"""Calls that a session remembers: as many as fit the horizon with 500 tokens each."""
MAX_LABEL: Final = 300
"""Characters that are remembered of a call's label, which is its query or tool."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A range of a stored text that a call of the session showed."""

    start: int
    end: int
    call: int
    label: str = ""
    """The query or the tool of that call."""
    is_same: bool = False
    """True if that call had the same arguments, and a smaller budget."""


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """The record of one answered call: the ranges that it showed, by the ids of their texts."""

    call: int
    label: str
    spans: Mapping[str, tuple[Span, ...]]
    spent: int
    """Tokens of all results up to this one."""
    key: Hashable = None
    """The call's arguments."""


@dataclass(frozen=True, slots=True)
class History:
    """The session as one call sees it: the call's own number, and the records of earlier calls."""

    call: int
    key: Hashable = None
    label: str = ""
    sizes: tuple[int, ...] = ()
    """The call's budget: bytes, then tokens."""
    entries: tuple[AnsweredCall, ...] = ()
    spent: int = 0
    """Tokens of all results before this call."""

    def shown(self, id: str) -> tuple[Shown, ...]:
        """Return the ranges of a text that earlier calls showed, those of the latest call first."""
        return tuple(
            Shown(*span, entry.call, entry.label, self.key is not None and entry.key == self.key)
            for entry in reversed(self.entries)
            for span in entry.spans.get(id, ())
        )


NO_HISTORY: Final = History(1)
"""The history of a call that belongs to no session."""


class Session:
    """One session: the records of its calls and the tokens of all their results.

    The tuple of entries is replaced and never changed, so that other threads can read it.
    """

    def __init__(self, horizon: int = HORIZON, id: str = "") -> None:
        self.id = id
        """A random name, under which the session's calls are recorded."""
        self._horizon = horizon
        self._calls = 0
        self._spent = 0
        self._entries: tuple[AnsweredCall, ...] = ()
        self._histories: BoundedDict[Hashable, History] = BoundedDict(MAX_CALLS)
        self._forgot_at: float | None = None
        self._dead: BoundedDict[str, KeyholeError] = BoundedDict(MAX_CALLS)

    def record_dead(self, url: str, error: KeyholeError) -> None:
        """Remember that an address leads nowhere."""
        self._dead[url] = error.without_frames()

    def dead_error(self, url: str) -> KeyholeError | None:
        """Return the error of an address that led nowhere before, None for any other."""
        return self._dead.get(url)

    def forget(self, at: float) -> None:
        """Drop the records of all calls if the store forgot something since the last call. `at`: when it last did
        so."""
        if self._forgot_at is not None and at > self._forgot_at:
            self._entries = ()
            self._histories.clear()
            self._dead.clear()
        self._forgot_at = at

    def begin(self, key: Hashable, label: str, *sizes: int) -> History:
        """Return the history for the call with the arguments `key` and the budget `sizes`.

        A call with the same arguments and a budget that is not larger in any size counts as the same call and gets the
        same history: agents request a smaller result if their client truncated the first one. Any other call gets a new
        history.
        """
        self._calls += 1
        earlier = [each for each in self._histories.values() if each.key == key and _covers(each.sizes, sizes)]
        smallest = min(earlier, key=lambda each: each.sizes, default=None)
        if smallest and self._is_recent(smallest.spent):
            return smallest
        recent = tuple(entry for entry in self._entries if self._is_recent(entry.spent))
        return History(self._calls, key, label[:MAX_LABEL], sizes, recent, self._spent)

    def ids(self) -> tuple[str, ...]:
        """Return the ids of the texts that recent calls showed, those of the latest call first."""
        return tuple(dict.fromkeys(id for entry in reversed(self._entries) for id in entry.spans))

    def record(self, history: History, shown: Iterable[tuple[str, int, int]], tokens: int) -> None:
        """Record an answered call: `(id, start, end)` of each passage shown, and the result's `tokens`.

        Calls that failed or were cancelled must not be recorded.
        """
        spans: dict[str, list[Span]] = {}
        for id, start, end in shown:
            spans.setdefault(id, []).append((start, end))
        self._spent += tokens
        by_id = {id: tuple(some) for id, some in spans.items()}
        entry = AnsweredCall(history.call, history.label, by_id, self._spent, history.key)
        self._entries = tuple(each for each in (*self._entries, entry) if self._is_recent(each.spent))[-MAX_CALLS:]
        self._histories[history.key, history.sizes] = history

    def _is_recent(self, spent: int) -> bool:
        """Return True if a record at `spent` tokens of the session is within the horizon."""
        return self._spent - spent <= self._horizon


def _covers(sizes: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """Return True if each of `sizes` is at least its counterpart in `others`."""
    return all(size >= other for size, other in zip(sizes, others, strict=True))


MAX_SESSIONS: Final = 256
"""Sessions that a server over HTTP remembers, about 10 KB each. The least recently used one is forgotten first. A
forgotten session is shown passages again, which costs space but hides nothing."""


class Sessions:
    """The sessions of a server. A key is any hashable value. `new_id` returns a random id."""

    def __init__(self, new_id: Callable[[], str] = str) -> None:
        self._new_id = new_id
        self._sessions: BoundedDict[Hashable, Session] = BoundedDict(MAX_SESSIONS)

    def get(self, key: Hashable, horizon: int | None) -> Session:
        """Return the session of `key`; create it if necessary. `horizon`: tokens, None for the default."""
        session = self._sessions.get(key) or Session(horizon or HORIZON, self._new_id())
        self._sessions[key] = session
        return session


VISIT_SECONDS: Final = 1_800.0
"""Seconds without a call after which a caller without sessions begins a new visit, as in web analytics."""


class Visits:
    """The recorded sessions of callers that have none, such as those of the later protocol: calls without long pauses.

    `new_id` returns a random id.
    """

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._visits: BoundedDict[Hashable, tuple[str, float]] = BoundedDict(MAX_SESSIONS)
        """The visit's id and its latest call, by the caller."""

    def id_at(self, caller: Hashable, now: float) -> str:
        """Return the id of the visit to which a call of the caller belongs at this time."""
        id, latest = self._visits.get(caller, ("", now))
        id = id if id and now - latest <= VISIT_SECONDS else self._new_id()
        self._visits[caller] = (id, now)
        return id


def repeats_of(spans: Sequence[Span], shown: Sequence[Shown]) -> tuple[Repeat, ...]:
    """Return which call showed each of the spans, in reading order. `shown` has the latest call first.

    A span that no single call showed is split. If several calls showed it, the latest is named.
    """
    repeats: list[Repeat] = []
    for start, end in spans:
        at = start
        while at < end:
            covering = [each for each in shown if each.start <= at < each.end]
            # The call that shows the rest of the span, or else most of it; the latest of several.
            best = max(covering, key=lambda each: min(each.end, end), default=None)
            if best is None:
                break
            repeats.append(Repeat(at, min(best.end, end), best.call, best.label))
            at = best.end
    return tuple(repeats)
