"""Forget texts, calls and their traces, in every kind of store.

Other processes keep running meanwhile. First a mark is written: if the scope is everything or only a date, processes no
longer write texts and calls that they began before. Then all that is stored is compared with the scope and removed. At
last the files are rewritten, so that deleted data does not remain in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from keyhole.store.base import Store, Traces
from keyhole.store.calls.base import CallLog, CallMatch
from keyhole.store.filters import Scope
from keyhole.store.forget_mark import ForgetMark
from keyhole.store.stores import Stores

REMOVED_AT_ONCE = 200
"""Texts or calls that one transaction removes: some 50 ms, during which no other process can write."""


@dataclass(frozen=True, slots=True)
class ScopeMatch:
    """The stored texts and calls of a scope."""

    texts: frozenset[str] = frozenset()
    calls: CallMatch = field(default_factory=CallMatch)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The numbers of texts, calls and other things that were removed."""

    texts: int
    calls: int
    traces: Traces
    files: int
    """Files beside the store: outputs that were not stored yet, and copies of a damaged store."""


def find(store: Store, calls: CallLog, scope: Scope) -> ScopeMatch:
    """Return the texts and calls in a scope. If it names clients, a text that a call outside the scope read is left
    out."""
    match = calls.match(scope)
    texts = store.match(scope)
    return ScopeMatch(texts & match.texts if scope.clients else texts, match)


def forget(stores: Stores, tenant: str, scope: Scope, now: float) -> Forgotten:
    """Remove the texts and calls in a scope from the store and the log of a tenant. Raises KeyholeError
    (store_unavailable).

    All known URLs and vectors are removed: they are hashes, from which neither site, date nor client can be read.
    """
    store, _ = stores.for_tenant(tenant)
    calls = stores.calls_for(tenant)
    if not scope.is_all:
        _adopt_all(store, calls)  # before the mark, so that what is not in the scope is stored
    store.add_mark(ForgetMark(_end(scope, now), now))
    files = stores.remove_files(tenant, everything=scope.is_all)
    found = find(store, calls, scope)
    texts = len(remove_texts(store, found.texts))
    removed = sum(calls.remove_call(*batch) for batch in _batches(found.calls.ids))
    traces = store.remove_traces(scope)
    store.erase()
    calls.erase()
    return Forgotten(texts, removed, traces, files)


def remove_texts(store: Store, ids: Iterable[str]) -> frozenset[str]:
    """Remove texts from a store, and return the ids of those that it had. Their calls stay."""
    return frozenset[str]().union(*(store.remove(*batch) for batch in _batches(ids)))


def _end(scope: Scope, now: float) -> float:
    """Return a time: texts fetched and calls started before it may not be written any more."""
    if scope.is_all:
        return now
    is_date_alone = scope == Scope(before=scope.before)
    return min(scope.before, now) if is_date_alone and scope.before is not None else 0.0


def _adopt_all(store: Store, calls: CallLog) -> None:
    """Store the outputs and calls that hooks and ended commands left in files, as far as the store accepts them."""
    before = None
    while (counts := (store.stats().artifacts, calls.latest())) != before:
        before = counts


def _batches(ids: Iterable[str]) -> Iterable[Sequence[str]]:
    rest = iter(sorted(ids))
    while batch := tuple(islice(rest, REMOVED_AT_ONCE)):
        yield batch
