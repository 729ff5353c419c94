"""A log of calls in memory, for KEYHOLE_STORE=memory."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from threading import Lock
from typing import Final

from keyhole.store.base import Clock
from keyhole.store.calls.base import CallAddresses, CallMatch, match_calls
from keyhole.store.calls.record import (
    NO_CALL_FILTERS,
    OK,
    CallFilters,
    CallPlace,
    CallRecord,
    CallSummary,
    Figures,
    SessionSummary,
)
from keyhole.store.calls.relations import EARLIER_CALLS, OUTPUTS, earlier_of, output_read_by, relate
from keyhole.store.calls.totals import matches, sum_figures, sum_session
from keyhole.store.scope import Scope

MEMORY_CALLS: Final = 1_000
"""Calls that a log in memory keeps: some 10 MB with results of 10,000 bytes."""
MEMORY_BYTES: Final = 16 * 1024**2
"""Bytes of results and arguments that a log in memory keeps."""


class MemoryCallLog:
    """Keeps the last calls of one tenant until the process ends."""

    def __init__(self, clock: Clock, ttl: float, max_calls: int = MEMORY_CALLS, max_bytes: int = MEMORY_BYTES) -> None:
        self._clock = clock
        self._ttl = ttl
        self._max_calls = max_calls
        self._max_bytes = max_bytes
        self._records: dict[str, CallRecord] = {}
        """By id, in the order in which they were added."""
        self._bytes = 0
        self._changes = 0
        self._lock = Lock()

    def add(self, record: CallRecord) -> None:
        with self._lock:
            if record.summary.id in self._records:
                return
            related = relate(record, [earlier_of(each) for each in self._earlier(record)])
            self._records[record.summary.id] = related.record
            self._bytes += _size(record)
            if related.miss:
                followed = self._records[related.record.summary.follows]
                self._records[followed.summary.id] = replace(
                    followed, summary=replace(followed.summary, miss=related.miss)
                )
            self._changes += 1
            self._collect()

    def _earlier(self, record: CallRecord) -> list[CallRecord]:
        """Return the calls that a call may follow, in the order that `relate` expects."""
        session, id = record.summary.session, output_read_by(record)
        records = sorted(
            self._records.values(), key=lambda each: (each.summary.started_at, each.summary.id), reverse=True
        )
        own = [each for each in records if each.summary.session == session]
        kept = [
            each
            for each in records
            if id and each.summary.session != session and each.summary.origin in OUTPUTS
            if any(text.id == id for text in each.texts)
        ]
        return own[:EARLIER_CALLS] + kept[:1]

    def get(self, id: str) -> CallRecord | None:
        with self._lock:
            self._collect()
            return self._records.get(id)

    def calls(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[CallSummary, ...]:
        found = (record.summary for record in self._all() if matches(record, filters))
        rows = [call for call in found if after is None or (call.started_at, call.id) < after]
        return tuple(_newest_first(rows)[:limit])

    def sessions(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[SessionSummary, ...]:
        records = self._all()
        allowed = {record.summary.session for record in records if matches(record, filters)}
        calls: defaultdict[str, list[CallSummary]] = defaultdict(list)
        for record in records:
            calls[record.summary.session].append(record.summary)
        rows = [sum_session(calls[id]) for id in allowed]
        rows = [row for row in rows if after is None or (row.last_at, row.id) < after]
        return tuple(sorted(rows, key=lambda row: (row.last_at, row.id), reverse=True)[:limit])

    def session(self, id: str) -> SessionSummary | None:
        calls = [record.summary for record in self._all() if record.summary.session == id]
        return sum_session(calls) if calls else None

    def following(self, id: str) -> tuple[CallSummary, ...]:
        return tuple(_newest_first(record.summary for record in self._all() if record.summary.follows == id))[::-1]

    def on_text(self, text_id: str, limit: int) -> tuple[CallSummary, ...]:
        found = (each.summary for each in self._all() if any(text.id == text_id for text in each.texts))
        return tuple(_newest_first(found)[:limit])

    def figures(self, since: float) -> Figures:
        return sum_figures(self._all(), since)

    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        calls = [record.summary for record in self._all()]
        clients, tools = {call.client for call in calls}, {call.tool for call in calls}
        return tuple(sorted(clients)), tuple(sorted(tools)), tuple(sorted({call.outcome for call in calls} - {OK}))

    def latest(self) -> int:
        with self._lock:
            return self._changes

    def remove_call(self, *ids: str) -> int:
        with self._lock:
            return self._drop(ids)

    def match(self, scope: Scope) -> CallMatch:
        with self._lock:
            return match_calls(map(_addresses_of, self._records.values()), scope)

    def erase(self) -> None:
        pass

    def remove_session(self, id: str) -> int:
        with self._lock:
            return self._drop([each.summary.id for each in self._records.values() if each.summary.session == id])

    def collect(self) -> int:
        with self._lock:
            return self._collect()

    def size_bytes(self) -> int:
        with self._lock:
            return self._bytes

    def close(self) -> None:
        pass

    def _all(self) -> list[CallRecord]:
        """Return all records that have not expired."""
        with self._lock:
            self._collect()
            return list(self._records.values())

    def _collect(self) -> int:
        """Drop expired calls, and the oldest beyond the bounds; return their number."""
        expired_before, dropped = self._clock() - self._ttl, 0
        while self._records:
            oldest = min(self._records.values(), key=lambda each: (each.summary.started_at, each.summary.id)).summary
            is_full = len(self._records) > self._max_calls or self._bytes > self._max_bytes
            if not is_full and oldest.started_at >= expired_before:
                break
            dropped += self._drop([oldest.id])
        return dropped

    def _drop(self, ids: Iterable[str]) -> int:
        """Delete calls; return the number of those that were known."""
        dropped = [record for id in ids if (record := self._records.pop(id, None))]
        self._bytes -= sum(map(_size, dropped))
        self._changes += bool(dropped)
        return len(dropped)


def _addresses_of(record: CallRecord) -> CallAddresses:
    call, texts = record.summary, record.texts
    addresses = (call.target, *(text.url for text in texts))
    return CallAddresses(call.id, call.client, call.started_at, addresses, [text.id for text in texts])


def _newest_first(calls: Iterable[CallSummary]) -> list[CallSummary]:
    return sorted(calls, key=lambda call: (call.started_at, call.id), reverse=True)


def _size(record: CallRecord) -> int:
    """Return the approximate size of a record in memory, in bytes."""
    return sys.getsizeof(record.result) + sys.getsizeof(record.arguments)
