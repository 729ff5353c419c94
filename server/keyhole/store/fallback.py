"""Store artifacts on disk, and in bounded memory while the disk fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice, zip_longest
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactPart, ArtifactSummary, Place
from keyhole.runtime.bounded_dict import BoundedDict
from keyhole.store.base import (
    TOO_LARGE,
    Clock,
    Limits,
    SearchWord,
    Span,
    Store,
    StoreStats,
    Traces,
    Verification,
    add_stats,
)
from keyhole.store.filters import NO_FILTERS, Filters, Scope
from keyhole.store.forget_mark import FORGOTTEN, ForgetMark
from keyhole.store.sqlite.store import MemoryStore

if TYPE_CHECKING:
    from keyhole.store.chunks import PackedText


# Backoff: it decides when a failing medium may be tried again.

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
"""Seconds between two attempts on a failing disk; each pause is twice the previous pause. An attempt on a hanging disk
takes seconds of a call. A disk that works again is used after half a minute at most."""


class Backoff:
    """Exponential backoff: after a failure, one call may try again after each pause; after a success, all calls."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._pause = 0.0
        self._since = 0.0

    @property
    def is_failing(self) -> bool:
        """True if the last attempt failed."""
        return self._pause > 0

    def acquire(self) -> bool:
        """Return whether the caller may try now. After a pause, only the first caller may."""
        with self._lock:
            # If the clock was set back, the pause must not become longer.
            if 0 <= self._clock() - self._since < self._pause:
                return False
            self._since = self._clock()
            return True

    def record_failure(self) -> None:
        """Record a failed attempt and double the pause."""
        with self._lock:
            self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
            self._since = self._clock()

    def record_success(self) -> None:
        """Record a successful attempt."""
        self._pause = 0.0


# Calls of a disk that may fail: after a failure, further attempts wait for the pauses of a backoff.

log = logging.getLogger(__name__)

_T = TypeVar("_T")


class DiskCalls:
    """Calls a disk, and records for reads and for writes whether it fails: a full disk can still be read.

    `prepare` is called before each use of the disk until it succeeds, because the disk may be mounted later.
    """

    def __init__(self, clock: Clock, prepare: Callable[[], None] | None = None) -> None:
        self.reads, self.writes = Backoff(clock), Backoff(clock)
        self._prepare = prepare

    def call(self, call: Callable[[], _T], backoff: Backoff | None = None) -> _T:
        """Return the result of `call`. It is made even while the disk fails, because only the disk has the answer."""
        backoff = backoff or self.reads
        try:
            self._prepare_disk()
            result = call()
        except KeyholeError as error:
            # An attempt during a pause must not lengthen the pause.
            if not backoff.is_failing or error.code is not Code.STORE_UNAVAILABLE:
                self._record_error(backoff, error)
            raise
        self._record_success(backoff)
        return result

    def attempt_if_due(self, backoff: Backoff, call: Callable[[], _T], default: _T) -> _T:
        """Return the result of `call`, or `default` if the disk fails or may not be tried yet."""
        return self.attempt(backoff, call, default) if backoff.acquire() else default

    def attempt(self, backoff: Backoff, call: Callable[[], _T], default: _T) -> _T:
        """Return the result of `call`, or `default` if the disk fails."""
        try:
            self._prepare_disk()
            result = call()
        except KeyholeError as error:
            self._record_error(backoff, error)
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
            return default
        self._record_success(backoff)
        return result

    def _prepare_disk(self) -> None:
        if self._prepare:
            self._prepare()
            self._prepare = None

    def _record_error(self, backoff: Backoff, error: KeyholeError) -> None:
        if error.code is not Code.STORE_UNAVAILABLE:
            self._record_success(backoff)
            return
        if not backoff.is_failing:
            log.warning("%s; new artifacts are kept in memory until the store works again", error.message)
        backoff.record_failure()

    def _record_success(self, backoff: Backoff) -> None:
        if backoff.is_failing:
            log.warning("the artifact store works again")
        backoff.record_success()
        if backoff is self.writes:  # a disk that can be written can be read
            self.reads.record_success()


# The store: on disk, and in memory while the disk fails.

KEPT_IN_MEMORY: Final = "kept_in_memory"
ARTIFACTS_PER_MOVE: Final = 4
"""Artifacts that one call moves from memory to the disk: some 20 ms each."""
KEYS_PER_MOVE: Final = 1_000
"""URL keys that one call moves to the disk: some 50 ms."""
MAX_PENDING_KEYS: Final = 20_000
"""URL keys waiting for the disk, 3 MB: the links of 200 pages. The least recently seen are dropped first."""


class FallbackStore:
    """Stores artifacts on `disk`, and in `memory` while the disk fails. Later calls move them to the disk in small
    batches; until then, reads combine both.

    `prepare` is called before each use of the disk until it succeeds, because the disk may be mounted later.
    """

    def __init__(
        self, disk: Store, memory: MemoryStore, clock: Clock, limits: Limits, prepare: Callable[[], None] | None = None
    ) -> None:
        self._disk = disk
        self._memory = memory
        self._limits = limits
        self._calls = DiskCalls(clock, prepare)
        self._used: tuple[MemoryStore, ...] = ()
        """The memory store, if an artifact was ever put there: until then it is not opened."""
        self._pending_keys: BoundedDict[bytes, None] = BoundedDict(MAX_PENDING_KEYS)
        self._rejected_ids: set[str] = set()
        self._lock = Lock()
        self._moving = Lock()

    # Writes.

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
    ) -> None:
        url_keys, rejected = list(keys), list[KeyholeError]()

        def put_on_disk() -> bool:
            try:
                self._disk.put(artifact, words, url_keys, packed, indexed=indexed)
                self._move_pin(artifact.id)
            except KeyholeError as error:
                if error.message not in {TOO_LARGE, FORGOTTEN}:
                    raise
                rejected.append(error)  # not a failure of the disk: a later attempt would give the same error
            return True

        if _is_larger(artifact.text, self._limits.max_bytes):
            put_on_disk()  # it may fit when compressed, but memory has no space for it
        elif self._calls.attempt_if_due(self._calls.writes, put_on_disk, False):
            for memory in self._used:
                memory.remove(artifact.id)
            self._move_if_due()
        else:
            self._used = (self._memory,)
            self._memory.put(artifact, words, packed=packed, indexed=indexed)
            self._add_pending_keys(url_keys)
        if rejected:
            raise rejected[0]

    def renew(self, id: str, fetched_at: float) -> bool:
        self._move_if_due()
        if any(memory.renew(id, fetched_at) for memory in self._used):
            return True
        return self._calls.attempt_if_due(self._calls.writes, lambda: self._disk.renew(id, fetched_at), False)

    def remember(self, keys: Iterable[bytes]) -> None:
        url_keys = list(keys)

        def remember_on_disk() -> bool:
            self._disk.remember(url_keys)
            return True

        if not self._calls.attempt_if_due(self._calls.writes, remember_on_disk, False):
            self._add_pending_keys(url_keys)

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        # Not stored in memory: vectors are large and can be recomputed.
        self._calls.attempt_if_due(self._calls.writes, lambda: self._disk.keep_vectors(vectors), None)

    def remove(self, *ids: str) -> frozenset[str]:
        in_memory = [memory.remove(*ids) for memory in self._used]
        return self._calls.call(lambda: self._disk.remove(*ids), self._calls.writes).union(*in_memory)

    def match(self, scope: Scope) -> frozenset[str]:
        on_disk = self._calls.call(lambda: self._disk.match(scope), self._calls.writes)
        return on_disk.union(*(memory.match(scope) for memory in self._used))

    def add_mark(self, mark: ForgetMark) -> None:
        self._memory.add_mark(mark)
        self._calls.call(lambda: self._disk.add_mark(mark), self._calls.writes)

    def last_mark(self) -> ForgetMark:
        return self._calls.attempt_if_due(self._calls.reads, self._disk.last_mark, self._memory.last_mark())

    def remove_traces(self, scope: Scope) -> Traces:
        with self._lock:
            removed = Traces(known_urls=len(self._pending_keys))
            self._pending_keys.clear()
        for memory in self._used:
            removed = removed.plus(memory.remove_traces(scope))
        return self._calls.call(lambda: self._disk.remove_traces(scope), self._calls.writes).plus(removed)

    def erase(self) -> None:
        self._calls.call(self._disk.erase, self._calls.writes)

    def pin(self, id: str, pinned: bool) -> bool:
        if any(memory.pin(id, pinned) for memory in self._used):
            return True
        return self._calls.call(lambda: self._disk.pin(id, pinned), self._calls.writes)

    def collect(self) -> int:
        return sum(memory.collect() for memory in self._used) + self._calls.call(self._disk.collect, self._calls.writes)

    # Reads.

    def get(self, id: str) -> Artifact:
        return self._read_either(lambda store: store.get(id))

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        return self._read_either(lambda store: store.part(id, start, end))

    def recent(self, url: str, since: float) -> Artifact | None:
        self._move_if_due()
        in_memory = (memory.recent(url, since) for memory in self._used)
        on_disk = self._calls.attempt_if_due(self._calls.reads, lambda: self._disk.recent(url, since), None)
        return max(filter(None, (*in_memory, on_disk)), key=lambda artifact: artifact.fetched_at, default=None)

    def search(self, words: Sequence[SearchWord], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        self._move_if_due()
        in_memory = [artifact for memory in self._used for artifact in memory.search(words, limit, filters)]
        search_disk = partial(self._disk.search, words, limit, filters)
        if not in_memory:  # then the error of a disk that cannot be read must reach the caller
            return self._calls.call(search_disk)
        nothing: tuple[Artifact, ...] = ()
        on_disk = self._calls.attempt_if_due(self._calls.reads, search_disk, nothing)
        merged = (each for pair in zip_longest(in_memory, on_disk) for each in pair if each is not None)
        return tuple({artifact.id: artifact for artifact in merged}.values())[:limit]

    def contains_words(self, words: Sequence[SearchWord]) -> tuple[bool, ...]:
        on_disk = self._calls.call(lambda: self._disk.contains_words(words))
        in_memory = (memory.contains_words(words) for memory in self._used)
        return tuple(map(any, zip(on_disk, *in_memory, strict=True)))

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        on_disk = self._calls.call(lambda: self._disk.list(limit, after))
        in_memory = (row for memory in self._used for row in memory.list(limit, after))
        rows = {row.id: row for row in (*on_disk, *in_memory)}
        return tuple(sorted(rows.values(), key=lambda row: (-row.fetched_at, row.id))[:limit])

    def remembers(self, key: bytes) -> bool:
        return key in self._pending_keys or self._calls.call(lambda: self._disk.remembers(key))

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return self._calls.attempt_if_due(self._calls.reads, lambda: self._disk.vectors(keys), {})

    # State.

    def stats(self) -> StoreStats:
        disk = self._calls.attempt_if_due(self._calls.reads, self._disk.stats, None)
        if disk is None:
            return self._memory.stats()
        return add_stats(disk, self._memory.stats()) if self._used else disk

    def verify(self) -> Verification:
        result = self._calls.call(self._disk.verify)
        return replace(result, checked=result.checked + sum(memory.verify().checked for memory in self._used))

    def warning(self) -> str:
        is_degraded = self._calls.reads.is_failing or self._calls.writes.is_failing or self._has_pending()
        return KEPT_IN_MEMORY if is_degraded else self._disk.warning()

    def close(self) -> None:
        """Move everything from memory to the disk, as far as the disk accepts it, and close the disk."""
        while self._has_pending() and self._move_batch():
            pass
        self._disk.close()

    # Moving from memory to the disk.

    def _add_pending_keys(self, keys: Iterable[bytes]) -> None:
        with self._lock:
            for key in keys:
                self._pending_keys[key] = None

    def _move_if_due(self) -> None:
        """Move a batch from memory to the disk if the disk may be tried now."""
        if not (self._calls.writes.is_failing or self._has_pending()):
            return
        if self._moving.acquire(blocking=False):
            try:
                if self._calls.writes.acquire():
                    self._move_batch()
            finally:
                self._moving.release()

    def _move_batch(self) -> bool:
        """Move a batch of artifacts and URL keys to the disk; return whether the disk accepted it."""

        def move() -> bool:
            for artifact, indexed in self._next_batch():
                self._rejected_ids.add(artifact.id)
                try:
                    self._disk.put(artifact, "", indexed=indexed)
                except KeyholeError as error:
                    if error.message != FORGOTTEN:
                        raise
                else:
                    self._move_pin(artifact.id)
                self._rejected_ids.discard(artifact.id)
                self._memory.discard(artifact)
            with self._lock:
                keys = list(islice(self._pending_keys, KEYS_PER_MOVE))
            if keys:
                self._disk.remember(keys)
            with self._lock:
                for key in keys:
                    self._pending_keys.pop(key, None)
            return True

        # If memory is empty, this writes nothing, and the next artifact shows whether the disk works.
        return self._calls.attempt(self._calls.writes, move, False)

    def _move_pin(self, id: str) -> None:
        """Pin an artifact on the disk if it is pinned in memory, unless too much is pinned there."""
        if any(memory.is_pinned(id) for memory in self._used):
            try:
                self._disk.pin(id, True)
            except KeyholeError as error:
                if error.code is not Code.INVALID_ARGUMENT:
                    raise
                log.warning("artifact %s is no longer pinned: too much is pinned already", id)

    def _next_batch(self) -> tuple[tuple[Artifact, Sequence[Span] | None], ...]:
        """Return the artifacts to move next. Artifacts that the disk rejected come last: they may be too large."""
        if not self._used:
            return ()
        batch = self._memory.oldest(ARTIFACTS_PER_MOVE, self._rejected_ids)
        if not batch:
            self._rejected_ids.clear()
            batch = self._memory.oldest(ARTIFACTS_PER_MOVE)
        return batch

    def _has_pending(self) -> bool:
        return bool(self._pending_keys) or any(memory.has_artifacts() for memory in self._used)

    # Reads of one artifact.

    def _read_either(self, read: Callable[[Store], _T]) -> _T:
        """Read from memory, else from the disk. Errors about an artifact that memory dropped include its URL."""
        self._move_if_due()
        with suppress(KeyholeError):
            return self._read_memory(read)
        try:
            return self._calls.call(lambda: read(self._disk))
        except KeyholeError as error:
            disk_error = error
        try:
            # The disk may have adopted an output. If it could not store the output, that is in memory now.
            return self._read_memory(read)
        except KeyholeError as error:
            is_known = disk_error.code not in (Code.UNKNOWN_ARTIFACT, Code.STORE_UNAVAILABLE)
            raise disk_error if is_known or error.code is Code.UNKNOWN_ARTIFACT else error from None

    def _read_memory(self, read: Callable[[Store], _T]) -> _T:
        """Return the result of `read` for memory. Raises KeyholeError (unknown_artifact) while memory is not used."""
        if not self._used:
            raise KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
        return read(self._memory)


def _is_larger(text: str, max_bytes: int) -> bool:
    """Return whether a text exceeds `max_bytes` in UTF-8. A character has at most four bytes."""
    return len(text) > max_bytes // 4 and len(text.encode("utf-8", "surrogatepass")) > max_bytes
