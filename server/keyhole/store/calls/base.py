"""The protocol of every log of calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from keyhole.store.calls.record import (
    NO_CALL_FILTERS,
    CallFilters,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    SessionSummary,
)

if TYPE_CHECKING:
    from keyhole.store.scope import Scope

MAX_CALLS: Final = 100_000
"""Calls that a log keeps. The oldest are dropped first."""
MAX_FOLLOWING: Final = 1_000
"""Maximum calls that `list_following` returns."""
MAX_LOG_BYTES: Final = 256 * 1024**2
"""Bytes that a log may use on its medium. A call takes about 2 KB, compressed."""


@dataclass(frozen=True, slots=True)
class CallMatch:
    """The calls in a scope."""

    ids: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    """Ids of the stored texts that these calls read and no other call did."""


def match_calls(rows: Iterable[CallAddresses], scope: Scope) -> CallMatch:
    """Return the calls of a log that are in a scope. `rows`: all calls."""
    ids, own, others = set[str](), set[str](), set[str]()
    for row in rows:
        is_included = scope.includes_call(row.client, row.addresses, row.started_at)
        (own if is_included else others).update(filter(None, row.texts))
        if is_included:
            ids.add(row.id)
    return CallMatch(frozenset(ids), frozenset(own - others))


@dataclass(frozen=True, slots=True)
class CallAddresses:
    """The facts of a call that a scope compares."""

    id: str
    client: str
    started_at: float
    addresses: Sequence[str]
    """Its target, and the URLs of its texts."""
    texts: Sequence[str]
    """The ids of its texts."""


def find_session(log: CallLog, id: str) -> SessionSummary | None:
    """Return a session, the latest one if `id` is empty; None if there is none."""
    return next(iter(log.sessions(1, CallFilters(session=id))), None)


def list_following(log: CallLog, id: str) -> tuple[CallSummary, ...]:
    """Return the calls that follow on a call, oldest first."""
    return log.calls(MAX_FOLLOWING, CallFilters(follows=id))[::-1]


class CallLog(Protocol):
    """Keeps the calls of one tenant until they expire or the log is full. Thread-safe.

    Every method raises KeyholeError(store_unavailable) when the medium fails.
    """

    def add(self, record: CallRecord) -> None:
        """Keep a call, unless it started before the time up to which everything is forgotten.

        Sets its `follows`, `relation` and `miss`, and the `miss` of the call that it follows.
        """
        ...

    def get(self, id: str) -> CallRecord | None:
        """Return a call, None if it is unknown."""
        ...

    def calls(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[CallSummary, ...]:
        """Return calls, newest first, starting after the place `after`."""
        ...

    def sessions(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[SessionSummary, ...]:
        """Return the sessions with a call that the filters allow, the one with the latest call first."""
        ...

    def figures(self, since: float) -> Figures:
        """Return the totals of the calls since a time."""
        ...

    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the clients, tools and error codes that occur, for the choices of a filter."""
        ...

    def latest(self) -> int:
        """Return a number that grows with every change of the log, also by other processes."""
        ...

    def remove_call(self, *ids: str) -> int:
        """Delete calls in one transaction; return the number of those that were known."""
        ...

    def match(self, scope: Scope) -> CallMatch:
        """Return the calls in a scope."""
        ...

    def erase(self) -> None:
        """Rewrite the medium, so that deleted calls do not remain in it, as far as the log controls that.

        Raises KeyholeError (store_unavailable) if other processes use it for too long.
        """
        ...

    def remove_session(self, id: str) -> int:
        """Delete all calls of a session and return their number."""
        ...

    def size_bytes(self) -> int:
        """Return the bytes used on the medium."""
        ...

    def close(self) -> None:
        """Release the medium. The next call opens it again."""
        ...
