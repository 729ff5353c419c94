"""A store that adopts outputs, which other processes left in the spool folder, before it is read or listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, Place
from keyhole.store.base import Span, Store, StoreStats, Traces, Verification, Word
from keyhole.store.calls.base import CallLog
from keyhole.store.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from keyhole.store.chunks import PackedText
    from keyhole.store.forget_mark import Mark
    from keyhole.store.scope import Scope

Adopt = Callable[[str, Store, bytes, str], int]
"""Moves the outputs of a folder into a store with a secret, or only the output with an id if it is not "", and returns
their number."""

AdoptCalls = Callable[[str, CallLog], int]
"""Moves the records of calls of a folder into a log, and returns their number."""

_T = TypeVar("_T")


class AdoptingStore:
    """A store that looks for an unknown artifact among the outputs to adopt, and adopts all before it is listed.

    `folder`: the spool folder.
    """

    def __init__(self, store: Store, folder: str, adopt: Callable[[str], int]) -> None:
        self._store = store
        self.folder = folder
        self._adopt = adopt

    # Calls that adopt.

    def get(self, id: str) -> Artifact:
        return self._read(id, lambda: self._store.get(id))

    def part(self, id: str, start: int, end: int) -> Part:
        return self._read(id, lambda: self._store.part(id, start, end))

    def renew(self, id: str, fetched_at: float) -> bool:
        return self._store.renew(id, fetched_at)

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        self._adopt("")
        return self._store.search(words, limit, filters)

    def contains_words(self, words: Sequence[Word]) -> tuple[bool, ...]:
        self._adopt("")
        return self._store.contains_words(words)

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        self._adopt("")
        return self._store.list(limit, after)

    def remove(self, *ids: str) -> frozenset[str]:
        self._adopt(ids[0] if len(ids) == 1 else "")
        return self._store.remove(*ids)

    def match(self, scope: Scope) -> frozenset[str]:
        self._adopt("")
        return self._store.match(scope)

    def pin(self, id: str, pinned: bool) -> bool:
        self._adopt(id)
        return self._store.pin(id, pinned)

    def collect(self) -> int:
        self._adopt("")
        return self._store.collect()

    def stats(self) -> StoreStats:
        self._adopt("")
        return self._store.stats()

    def _read(self, id: str, read: Callable[[], _T]) -> _T:
        try:
            return read()
        except KeyholeError as error:
            # An output that was dropped or is damaged may have been written again.
            if error.code not in (Code.UNKNOWN_ARTIFACT, Code.EXPIRED_ARTIFACT, Code.DAMAGED_ARTIFACT):
                raise
        self._adopt(id)
        return read()  # also if there was nothing to adopt: another thread or process may just have adopted it

    # Calls that do not.

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
        is_import: bool = False,
    ) -> None:
        self._store.put(artifact, words, keys, packed, indexed=indexed, is_import=is_import)

    def recent(self, url: str, since: float) -> Artifact | None:
        return self._store.recent(url, since)

    def verify(self) -> Verification:
        return self._store.verify()

    def add_mark(self, mark: Mark) -> None:
        self._store.add_mark(mark)

    def last_mark(self) -> Mark:
        return self._store.last_mark()

    def remove_traces(self, scope: Scope) -> Traces:
        return self._store.remove_traces(scope)

    def erase(self) -> None:
        self._store.erase()

    def warning(self) -> str:
        return self._store.warning()

    def close(self) -> None:
        self._store.close()

    def remember(self, keys: Iterable[bytes]) -> None:
        self._store.remember(keys)

    def remembers(self, key: bytes) -> bool:
        return self._store.remembers(key)

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        self._store.keep_vectors(vectors)

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return self._store.vectors(keys)
