"""Measure the used space of the SQLite file, evict artifacts, and shrink the file.

SQLite counts the used pages of all tables and indexes. The count is in the file's header and changes in the same
transaction as the pages.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Final

from keyhole.store.base import Limits, StoreStats, expiry_times
from keyhole.store.sqlite.rows import LIVE, drop

EVICTED_PER_PUT: Final = 32
"""Maximum artifacts evicted by one put. A put adds one, so this suffices, and no put waits for a thousand evictions."""
EVICTED_PER_TRANSACTION: Final = 50
"""Artifacts evicted in one transaction: some 0.5 s, during which no other process can write. Removing the words of one
takes 10 ms."""
SPARE_PAGES: Final = 1_024
"""Free pages left in the file, 4 MB: new artifacts fill them before the file grows."""
PAGES_FREED_PER_PUT: Final = 64
"""Free pages released by one put, some 2 ms; twice the pages of a long text."""
PAGES_FREED_PER_TRANSACTION: Final = 2_048
"""Free pages released in one transaction, some 50 ms."""


@dataclass(frozen=True, slots=True)
class EvictionCandidate:
    """A stored artifact that may be evicted."""

    key: int
    size: int
    """Approximate bytes freed by dropping it."""
    last_access: float


def choose_evictions(
    candidates: Sequence[EvictionCandidate], excess: int, expired_before: float, protected_key: int = 0
) -> list[int]:
    """Return the keys to evict: all expired artifacts, then the least recently read until `excess` bytes are freed.

    `candidates`: least recently read first, by the order of reads rather than by time, because the clock may be set
    back. `protected_key`: the artifact that was just put.
    """
    expired = [each for each in candidates if each.last_access < expired_before and each.key != protected_key]
    excess -= sum(each.size for each in expired)
    keys = {each.key for each in expired}
    for each in candidates:
        if excess <= 0:
            break
        if each.key not in keys and each.key != protected_key:
            keys.add(each.key)
            excess -= each.size
    return [each.key for each in candidates if each.key in keys]


def used_bytes(db: Connection) -> int:
    """Return the bytes of the file's used pages."""
    return (_read_pragma(db, "page_count") - _read_pragma(db, "freelist_count")) * _read_pragma(db, "page_size")


def list_oldest(db: Connection, accessed_since: float, count: int, exclude: Collection[str] = ()) -> list[int]:
    """Return the keys of the least recently read artifacts, without excluded ids."""
    sql = f"SELECT key FROM entries WHERE {LIVE} AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY turn LIMIT ?"  # noqa: S608 - constant
    return [key for (key,) in db.execute(sql, [accessed_since, json.dumps(list(exclude)), count])]


def make_room(
    db: Connection, limits: Limits, now: float, max_count: int = EVICTED_PER_PUT, protected_key: int = 0
) -> int:
    """Evict expired and excess artifacts among the `max_count` least recently read; return the number evicted.

    Pinned artifacts stay.
    """
    rows = db.execute("SELECT key, size, last_access FROM entries WHERE NOT pinned ORDER BY turn LIMIT ?", [max_count])
    candidates = [EvictionCandidate(*row) for row in rows]
    excess = used_bytes(db) - limits.max_bytes
    keys = choose_evictions(candidates, excess, now - limits.ttl, protected_key)
    return drop(db, keys, tombstones=True)


def drop_expired(db: Connection, limits: Limits, now: float) -> int:
    """Drop expired artifacts even if they are not the least recently read, after a wrong clock; return their number."""
    sql = "SELECT key FROM entries INDEXED BY entries_by_turn WHERE last_access < ? AND NOT pinned LIMIT ?"
    keys = [key for (key,) in db.execute(sql, [now - limits.ttl, EVICTED_PER_TRANSACTION]).fetchall()]
    return drop(db, keys, tombstones=True)


def shrink_file(db: Connection, max_count: int) -> int:
    """Release up to `max_count` free pages, keeping SPARE_PAGES; return the number released."""
    pages = min(max_count, _read_pragma(db, "freelist_count") - SPARE_PAGES)
    if pages <= 0:
        return 0
    for _ in range(pages):
        # One page at a time: Python's sqlite3 runs a single step of a statement without columns, which is one page.
        db.execute("PRAGMA incremental_vacuum(1)")
    return pages


def _read_pragma(db: Connection, name: str) -> int:
    return int(next(db.execute(f"PRAGMA {name}"))[0])


def read_stats(db: Connection, kind: str, limits: Limits, now: float) -> StoreStats:
    """Return the contents and size of the store."""
    times = expiry_times(now, limits.ttl)
    expiring = ", ".join("coalesce(sum(last_access < ? AND NOT pinned), 0)" for _ in times)
    sql = (
        "SELECT count(*), count(DISTINCT content), coalesce(sum(bytes), 0), min(fetched_at), max(fetched_at), "  # noqa: S608 - constants
        f"coalesce(sum(pinned), 0), {expiring} FROM entries WHERE {LIVE}"
    )
    artifacts, contents, size, oldest, newest, pinned, *counts = next(db.execute(sql, [*times, now - limits.ttl]))
    tombstones, damaged = next(
        db.execute("SELECT (SELECT count(*) FROM tombstones), (SELECT count(*) FROM entries WHERE damaged)")
    )
    used, most = used_bytes(db), limits.max_bytes
    return StoreStats(
        kind, artifacts, contents, size, used, most, tombstones, damaged, oldest, newest, pinned, tuple(counts)
    )
