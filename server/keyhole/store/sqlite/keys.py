"""Keys of URLs that were seen and vectors of passages, in the SQLite file. Each function is within a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sqlite_utils import Database

KEY_BYTES: Final = 80
"""About what a key takes: itself, its number, and both once more in the index."""
KNOWN_SHARE: Final = 1 / 10
"""Of the store's size that the keys of URLs may take."""
VECTORS_SHARE: Final = 1 / 4
"""Of the store's size that vectors may take."""
_KEYS_AT_ONCE: Final = 500
"""Parameters of one statement; the lowest limit of an SQLite in use is 999."""


def remember(db: Database, keys: Iterable[bytes], most: int, max_bytes: int) -> None:
    """Keep the keys of URLs, the latest of all."""
    # Replaced, a key gets the highest number: the lowest ones are the longest unseen.
    db.conn.executemany("INSERT OR REPLACE INTO known_urls (key) VALUES (?)", [(key,) for key in sorted(keys)])
    most = min(most, int(max_bytes * KNOWN_SHARE / KEY_BYTES))
    db.execute("DELETE FROM known_urls WHERE number <= (SELECT max(number) FROM known_urls) - ?", [most])


def remembers(db: Database, key: bytes) -> bool:
    """Whether a key was kept."""
    return next(iter(db.execute("SELECT 1 FROM known_urls WHERE key = ?", [key])), None) is not None


def keep_vectors(db: Database, vectors: Mapping[bytes, bytes], most: int, max_bytes: int) -> None:
    """Keep vectors, the latest of all. They are of one model, so that all are about as long as these."""
    rows = sorted(vectors.items())
    db.conn.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
    longest = KEY_BYTES + max((len(vector) for vector in vectors.values()), default=0)
    most = min(most, int(max_bytes * VECTORS_SHARE / longest))
    db.execute("DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?", [most])


def vectors(db: Database, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Those of the keys under which a vector was kept."""
    found: dict[bytes, bytes] = {}
    for at in range(0, len(keys), _KEYS_AT_ONCE):
        some = list(keys[at : at + _KEYS_AT_ONCE])
        marks = ", ".join("?" * len(some))
        sql = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - question marks
        found |= {bytes(key): bytes(vector) for key, vector in db.execute(sql, some)}
    return found
