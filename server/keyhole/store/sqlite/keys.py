"""SQL for known URL keys and passage vectors in the SQLite file. Each function runs within a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Final

KEY_BYTES: Final = 80
"""Approximate bytes of a key: the key and its number, and both again in the index."""
KNOWN_SHARE: Final = 1 / 10
"""Share of the store's size limit for URL keys."""
VECTORS_SHARE: Final = 1 / 4
"""Share of the store's size limit for vectors."""
_KEYS_PER_STATEMENT: Final = 500
"""Parameters of one statement; the lowest limit of any SQLite in use is 999."""


def remember(db: Connection, keys: Iterable[bytes], max_count: int, max_bytes: int) -> None:
    """Store URL keys, and drop the least recently seen beyond `max_count` or beyond their share of `max_bytes`."""
    # REPLACE gives a key the highest number, so the lowest numbers are the least recently seen keys.
    db.executemany("INSERT OR REPLACE INTO known_urls (key) VALUES (?)", [(key,) for key in sorted(keys)])
    max_count = min(max_count, int(max_bytes * KNOWN_SHARE / KEY_BYTES))
    db.execute("DELETE FROM known_urls WHERE number <= (SELECT max(number) FROM known_urls) - ?", [max_count])


def remembers(db: Connection, key: bytes) -> bool:
    """Return whether a URL key is stored."""
    return next(iter(db.execute("SELECT 1 FROM known_urls WHERE key = ?", [key])), None) is not None


def keep_vectors(db: Connection, vectors: Mapping[bytes, bytes], max_count: int, max_bytes: int) -> None:
    """Store vectors, and drop the oldest beyond `max_count` or beyond their share of `max_bytes`."""
    # All vectors are of one model, so all are as long as the new vectors.
    rows = sorted(vectors.items())
    db.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
    longest = KEY_BYTES + max((len(vector) for vector in vectors.values()), default=0)
    max_count = min(max_count, int(max_bytes * VECTORS_SHARE / longest))
    db.execute("DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?", [max_count])


def vectors(db: Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the stored vectors for `keys`."""
    result: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _KEYS_PER_STATEMENT):
        batch = list(keys[start : start + _KEYS_PER_STATEMENT])
        placeholders = ", ".join("?" * len(batch))
        sql = f"SELECT key, vector FROM vectors WHERE key IN ({placeholders})"  # noqa: S608 - question marks
        result |= {bytes(key): bytes(vector) for key, vector in db.execute(sql, batch)}
    return result
