"""A bounded artifact store in memory, for KEYHOLE_STORE=memory and for the time when a disk fails."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from keyhole.records import Artifact
from keyhole.store.base import Clock, Limits, Span
from keyhole.store.sqlite import forgetting, rows, space
from keyhole.store.sqlite.store import SqliteStore
from keyhole.store.sqlite.word_index import decode_spans

TTL = 3_600.0
"""Seconds after its last access until an artifact expires: memory only bridges the time until the disk works again."""
MAX_BYTES = 64 * 1024**2
"""Memory for texts and words: some 600 pages of 150 KB, compressed."""
LIMITS = Limits(TTL, MAX_BYTES)


class MemoryStore(SqliteStore):
    """A store in memory. The least recently read artifacts are dropped first."""

    _kind = "memory"
    _too_large = "the text is larger than the size limit of the memory store"

    def __init__(self, clock: Clock, limits: Limits = LIMITS) -> None:
        super().__init__(None, clock, limits)

    def has_artifacts(self) -> bool:
        """Return whether the store contains any artifact."""
        return self._database.run(lambda db: bool(space.list_oldest(db, self._clock() - self._limits.ttl, 1)))

    def is_pinned(self, id: str) -> bool:
        """Return whether an artifact is in memory and pinned."""
        return self._database.run(lambda db: bool((row := rows.find_row(db, id)) and row["pinned"]))

    def oldest(self, count: int, exclude: Collection[str] = ()) -> tuple[tuple[Artifact, Sequence[Span] | None], ...]:
        """Return up to `count` artifacts with the ranges that are indexed, least recently read first, without excluded
        ids."""
        since = self._clock() - self._limits.ttl
        read = self._database.run(lambda db: rows.read_many(db, space.list_oldest(db, since, count, exclude)))
        return tuple((each.artifact, decode_spans(each.row["indexed"])) for each in read if each.artifact)

    def discard(self, artifact: Artifact) -> None:
        """Remove an artifact, unless it was put again since `oldest` returned it."""
        self._database.run(lambda db: forgetting.discard(db, artifact), write=True)
