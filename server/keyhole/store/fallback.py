"""The disk's store, and a bounded one in memory for as long as the disk fails. Chooses between the two; knows neither
a file nor a database."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from threading import Lock
from typing import Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, Place
from keyhole.store.base import TOO_LARGE, Clock, Store, StoreStats, Verification, Word
from keyhole.store.filters import NONE, Filters
from keyhole.store.memory import MemoryStore

log = logging.getLogger(__name__)

KEPT_IN_MEMORY: Final = "kept_in_memory"
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
"""Seconds between two tries of a disk that fails, each pause twice the one before. A disk that hangs takes seconds of
the call that tries it; one that was freed is in use again half a minute later at most."""
MOVED_AT_ONCE: Final = 4
"""Artifacts that one call moves from memory to the disk: some 20 ms each."""
KEYS_AT_ONCE: Final = 1_000
"""Keys of URLs that one call moves: some 50 ms."""
MAX_KEYS: Final = 20_000
"""Keys of URLs held for the disk, 3 MB: the links of 200 pages. The longest unseen go first."""

_ADDED: Final = ("artifacts", "contents", "text_bytes", "tombstones")
"""What memory holds counts with what the disk keeps; its size is no part of the disk's."""

_T = TypeVar("_T")


class Gate:
    """Whether a medium that failed is tried: by one call after each pause, and by all once it worked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._pause = 0.0
        self._since = 0.0

    @property
    def failing(self) -> bool:
        """Whether the last try failed."""
        return self._pause > 0

    def open(self) -> bool:
        """Whether to try now; of several that ask after a pause one may."""
        with self._lock:
            # A clock that was set back must not make the pause longer.
            if 0 <= self._clock() - self._since < self._pause:
                return False
            self._since = self._clock()
            return True

    def failed(self) -> None:
        """The try failed: the next pause is longer."""
        with self._lock:
            self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
            self._since = self._clock()

    def worked(self) -> None:
        """The try succeeded."""
        self._pause = 0.0


class FallbackStore:
    """Keeps to `disk`. What that cannot take is held in `memory` and written as soon as it can be, a bounded part with
    each call; meanwhile reads look in both.

    `prepare` is called before the disk's first use until it succeeds, since the disk may come only later.
    """

    def __init__(
        self, disk: Store, memory: MemoryStore, clock: Clock, max_bytes: int, prepare: Callable[[], None] | None = None
    ) -> None:
        self._disk = disk
        self._memory = memory
        self._max_bytes = max_bytes
        self._prepare = prepare
        # Apart, as a full disk can still be read.
        self._reads, self._writes = Gate(clock), Gate(clock)
        self._keys: OrderedDict[bytes, None] = OrderedDict()
        self._refused: set[str] = set()
        self._lock = Lock()
        self._moving = Lock()

    # What is kept.

    def put(self, artifact: Artifact, words: str, keys: Iterable[bytes] = ()) -> None:
        wanted, too_large = list(keys), list[KeyholeError]()

        def keep() -> bool:
            try:
                self._disk.put(artifact, words, wanted)
            except KeyholeError as error:
                if error.message != TOO_LARGE:
                    raise
                too_large.append(error)  # at every later try too: no fault of the disk
            return True

        if _over(artifact.text, self._max_bytes):
            keep()  # compressed it may fit; memory is no place for it
        elif self._tried(self._writes, keep, False):
            self._memory.remove(artifact.id)
            self.mend()
        else:
            self._memory.put(artifact, words)
            self._hold(wanted)
        if too_large:
            raise too_large[0]

    def renew(self, id: str, fetched_at: float) -> bool:
        self.mend()
        if self._memory.renew(id, fetched_at):
            return True
        return self._tried(self._writes, lambda: self._disk.renew(id, fetched_at), False)

    def remember(self, keys: Iterable[bytes]) -> None:
        wanted = list(keys)

        def keep() -> bool:
            self._disk.remember(wanted)
            return True

        if not self._tried(self._writes, keep, False):
            self._hold(wanted)

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        # Not held in memory: they can be made again, and they are large.
        self._tried(self._writes, lambda: self._disk.keep_vectors(vectors), None)

    def remove(self, id: str) -> bool:
        held = self._memory.remove(id)
        return self._asked(lambda: self._disk.remove(id), self._writes) or held

    def collect(self) -> int:
        return self._memory.collect() + self._asked(self._disk.collect, self._writes)

    # What is read.

    def get(self, id: str) -> Artifact:
        return self._of_either(lambda store: store.get(id))

    def part(self, id: str, start: int, end: int) -> Part:
        return self._of_either(lambda store: store.part(id, start, end))

    def recent(self, url: str, since: float) -> Artifact | None:
        self.mend()
        found = (self._memory.recent(url, since), self._tried(self._reads, lambda: self._disk.recent(url, since), None))
        return max(filter(None, found), key=lambda artifact: artifact.fetched_at, default=None)

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NONE) -> tuple[Artifact, ...]:
        self.mend()
        held = self._memory.search(words, limit, filters)
        if not held:  # then a disk that cannot be read is a fault that the caller must learn of
            return self._asked(lambda: self._disk.search(words, limit, filters))
        none: tuple[Artifact, ...] = ()
        kept = self._tried(self._reads, lambda: self._disk.search(words, limit, filters), none)
        turns = (artifact for turn in zip_longest(held, kept) for artifact in turn if artifact is not None)
        return tuple({artifact.id: artifact for artifact in turns}.values())[:limit]

    def held(self, words: Sequence[Word]) -> tuple[bool, ...]:
        kept = self._asked(lambda: self._disk.held(words))
        return tuple(one or other for one, other in zip(kept, self._memory.held(words), strict=True))

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        kept = self._asked(lambda: self._disk.list(limit, after))
        rows = {row.id: row for row in (*kept, *self._memory.list(limit, after))}
        return tuple(sorted(rows.values(), key=lambda row: (-row.fetched_at, row.id))[:limit])

    def remembers(self, key: bytes) -> bool:
        return key in self._keys or self._asked(lambda: self._disk.remembers(key))

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return self._tried(self._reads, lambda: self._disk.vectors(keys), {})

    # How it is.

    def stats(self) -> StoreStats:
        held, kept = self._memory.stats(), self._tried(self._reads, self._disk.stats, None)
        if kept is None:
            return held
        more = {name: getattr(kept, name) + getattr(held, name) for name in _ADDED}
        first, last = (kept.oldest_fetch, held.oldest_fetch), (kept.newest_fetch, held.newest_fetch)
        more["oldest_fetch"] = min((each for each in first if each is not None), default=None)
        more["newest_fetch"] = max((each for each in last if each is not None), default=None)
        return replace(kept, **more)

    def verify(self) -> Verification:
        found = self._asked(self._disk.verify)
        return replace(found, checked=found.checked + self._memory.verify().checked)

    def warning(self) -> str:
        unwell = self._reads.failing or self._writes.failing or self._holds()
        return KEPT_IN_MEMORY if unwell else self._disk.warning()

    def close(self) -> None:
        """Write what memory holds, as far as the disk takes it, and let go of the disk."""
        while self._holds() and self._move():
            pass
        self._disk.close()

    # Between the two.

    def _hold(self, keys: Iterable[bytes]) -> None:
        """Keep keys of URLs until the disk takes them."""
        with self._lock:
            for key in keys:
                self._keys[key] = None
                self._keys.move_to_end(key)
            while len(self._keys) > MAX_KEYS:
                self._keys.popitem(last=False)

    def mend(self) -> None:
        """Move a bounded part of what memory holds to the disk, where it is time to try that."""
        if not (self._writes.failing or self._holds()):
            return
        if self._moving.acquire(blocking=False):
            try:
                if self._writes.open():
                    self._move()
            finally:
                self._moving.release()

    def _move(self) -> bool:
        """Whether the disk took what was to be moved now."""

        def move() -> bool:
            for artifact, words in self._next():
                self._refused.add(artifact.id)
                self._disk.put(artifact, words)
                self._refused.discard(artifact.id)
                self._memory.forget(artifact)
            with self._lock:
                keys = list(islice(self._keys, KEYS_AT_ONCE))
            if keys:
                self._disk.remember(keys)
            with self._lock:
                for key in keys:
                    self._keys.pop(key, None)
            return True

        # Where nothing is held any more, the next thing to be kept tells whether the disk works.
        return self._attempt(self._writes, move, False)

    def _next(self) -> tuple[tuple[Artifact, str], ...]:
        """What to move now. What the disk did not take waits for all others: it may be too large for the room left."""
        some = self._memory.oldest(MOVED_AT_ONCE, self._refused)
        if not some:
            self._refused.clear()
            some = self._memory.oldest(MOVED_AT_ONCE)
        return some

    def _holds(self) -> bool:
        return bool(self._keys) or self._memory.holds_any()

    def _of_either(self, get: Callable[[Store], _T]) -> _T:
        """What memory has, else what the disk has. What memory had and lost is told by its URL."""
        self.mend()
        try:
            return get(self._memory)
        except KeyholeError as error:
            lost = error
        try:
            return self._asked(lambda: get(self._disk))
        except KeyholeError as error:
            known = error.code not in (Code.UNKNOWN_ARTIFACT, Code.STORE_UNAVAILABLE)
            raise error if known or lost.code is Code.UNKNOWN_ARTIFACT else lost from None

    def _asked(self, ask: Callable[[], _T], gate: Gate | None = None) -> _T:
        """What the disk says, which is asked even while it fails: nobody else can answer."""
        gate = gate or self._reads
        try:
            self._ready()
            found = ask()
        except KeyholeError as error:
            # Not at its own time, this try says nothing of how long the next pause should be.
            if not gate.failing or error.code is not Code.STORE_UNAVAILABLE:
                self._judge(gate, error)
            raise
        self._worked(gate)
        return found

    def _tried(self, gate: Gate, call: Callable[[], _T], instead: _T) -> _T:
        """What a call of the disk gives, or `instead` where it fails or should not be tried yet."""
        return self._attempt(gate, call, instead) if gate.open() else instead

    def _attempt(self, gate: Gate, call: Callable[[], _T], instead: _T) -> _T:
        try:
            self._ready()
            found = call()
        except KeyholeError as error:
            self._judge(gate, error)
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
            return instead
        self._worked(gate)
        return found

    def _ready(self) -> None:
        if self._prepare:
            self._prepare()
            self._prepare = None

    def _judge(self, gate: Gate, error: KeyholeError) -> None:
        if error.code is not Code.STORE_UNAVAILABLE:
            self._worked(gate)
            return
        if not gate.failing:
            log.warning("%s; what it cannot keep is kept in memory until it works again", error.message)
        gate.failed()

    def _worked(self, gate: Gate) -> None:
        if gate.failing:
            log.warning("the artifact store works again")
        gate.worked()
        if gate is self._writes:  # what can be written can be read
            self._reads.worked()


def _over(text: str, max_bytes: int) -> bool:
    return len(text) > max_bytes // 4 and len(text.encode("utf-8", "surrogatepass")) > max_bytes
