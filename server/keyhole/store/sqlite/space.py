"""How much of the SQLite file is used, dropping what exceeds its size or has expired, and giving pages back.

What is used is counted by SQLite itself, in pages: texts, words, indexes, keys and vectors alike. The count is kept in
the file's header, within the same transaction as what it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlite_utils import Database

from keyhole.store.eviction import Held, doomed
from keyhole.store.sqlite.rows import drop

AT_A_PUT: Final = 32
"""Artifacts dropped by one put: it adds one, so that this keeps up, and no put waits for the expiry of thousands."""
AT_ONCE: Final = 500
"""Artifacts dropped in one transaction: some 0.2 s, in which nobody else writes."""
SPARE_PAGES: Final = 1_024
"""Free pages that stay in the file, 4 MB: the next artifacts fill them without making the file longer."""
GIVEN_AT_A_PUT: Final = 64
"""Free pages given back by one put, some 2 ms; twice the pages of a long text."""
GIVEN_AT_ONCE: Final = 2_048
"""Free pages given back in one transaction, some 50 ms."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What may stay."""

    max_bytes: int
    expired_before: float


def used_bytes(db: Database) -> int:
    """Bytes of the file that hold something."""
    return (_pragma(db, "page_count") - _pragma(db, "freelist_count")) * _pragma(db, "page_size")


def make_room(db: Database, limits: Limits, most: int = AT_A_PUT, spared: int = 0) -> int:
    """Drop what must go of the `most` longest unread artifacts; how many were dropped."""
    rows = db.execute("SELECT key, size, last_access FROM entries ORDER BY turn LIMIT ?", [most])
    held = [Held(*row) for row in rows]
    excess = used_bytes(db) - limits.max_bytes
    return drop(db, doomed(held, excess, limits.expired_before, spared), tombstones=True)


def drop_expired(db: Database, limits: Limits) -> int:
    """Drop artifacts that expired, wherever they stand in the order of access: a clock may have been wrong."""
    sql = "SELECT key FROM entries INDEXED BY entries_by_turn WHERE last_access < ? LIMIT ?"
    keys = [key for (key,) in db.execute(sql, [limits.expired_before, AT_ONCE]).fetchall()]
    return drop(db, keys, tombstones=True)


def give_back(db: Database, most: int) -> int:
    """Shorten the file by its free pages but some; how many."""
    pages = min(most, _pragma(db, "freelist_count") - SPARE_PAGES)
    if pages <= 0 or not gives_back(db):
        return 0
    for _ in range(pages):
        # One at a time: Python's sqlite3 takes a single step of a statement without columns, which is one page.
        db.execute("PRAGMA incremental_vacuum(1)")
    return pages


def gives_back(db: Database) -> bool:
    """Whether the file can be shortened page by page; one from before that could must be written anew first."""
    return _pragma(db, "auto_vacuum") != 0


def write_anew(db: Database) -> None:
    """Write the whole file anew, without its free pages, so that it can be shortened from then on. Not within a
    transaction; it is one."""
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    db.execute("VACUUM")


def _pragma(db: Database, name: str) -> int:
    return int(next(db.execute(f"PRAGMA {name}"))[0])
