"""Detect a damaged SQLite file, move it aside, and salvage its readable artifacts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from sqlite3 import Connection, Row
from threading import Event, Timer
from typing import Final
from urllib.parse import quote

from keyhole.store.sqlite.rows import insert, make_entry, read_many, to_storable

SALVAGE_SECONDS: Final = 4.0
"""Time limit for salvaging artifacts: shorter than other processes wait for the lock, so that none of them fails."""
MAX_DAMAGED_FILES: Final = 3
"""Damaged files kept beside the store; the oldest are deleted."""
SALVAGED_PER_TRANSACTION: Final = 200
"""Artifacts salvaged in one transaction."""
_COMPANION_SUFFIXES: Final = ("-journal", "-wal", "-shm")
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_DAMAGE_MESSAGES: Final = ("no such fts5 table", "invalid fts5 file format", "unsupported file format")
"""Prefixes of messages about damage that SQLite reports as SQLITE_ERROR, like an error in a statement."""
CHECK_SECONDS: Final = 3.0
"""Time limit for checking the whole file: shorter than other processes wait to write."""
_READ_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""Errors when reading a damaged file. Python cannot decode every such message."""
_KEY_ORDERS: Final = ("INDEXED BY entries_by_turn ORDER BY turn DESC", "INDEXED BY entries_by_fetch", "NOT INDEXED")
"""Every index contains all keys. The first order is the most important: the latest read first."""


def is_damage(error: Exception) -> bool:
    """Return whether an error shows that the file is corrupt, rather than locked, unreadable or full."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    has_damage_message = code == sqlite3.SQLITE_ERROR and str(error).startswith(_DAMAGE_MESSAGES)
    # Python's own errors, for a text and for a name that are not valid UTF-8.
    is_undecodable = isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode to UTF-8")
    return code in _DAMAGE or has_damage_message or is_undecodable


def check_integrity(db: Connection, seconds: float = CHECK_SECONDS) -> bool:
    """Compare all tables and indexes of the file with each other; return whether the check finished in time.

    Raises sqlite3.DatabaseError (SQLITE_CORRUPT) if the file is damaged.
    """
    is_late = Event()

    def stop() -> None:
        is_late.set()
        db.interrupt()

    # A timer, because SQLite's progress handler is not called during the check.
    timer = Timer(seconds, stop)
    timer.start()
    try:
        ((result,),) = db.execute("PRAGMA integrity_check(1)")
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_INTERRUPT:
            raise
        return False
    finally:
        timer.cancel()
        timer.join()
    if result != "ok" and not is_late.is_set():
        raise corruption_error(f"the integrity check failed: {result}")
    return bool(result == "ok")


def corruption_error(message: str) -> sqlite3.DatabaseError:
    """Return an SQLITE_CORRUPT error for damage that SQLite itself did not report."""
    error = sqlite3.DatabaseError(message)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def move_aside(path: Path) -> Path:
    """Rename a damaged file and its journals to `….damaged-N`, and delete the oldest; return the new path."""
    numbers = sorted(_list_damaged(path))
    new_number = numbers[-1] + 1 if numbers else 1
    new_path = path.rename(_damaged_path(path, new_number))
    for suffix in _COMPANION_SUFFIXES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(_damaged_path(path, new_number, suffix))
    for number in numbers[: len(numbers) + 1 - MAX_DAMAGED_FILES]:
        for suffix in ("", *_COMPANION_SUFFIXES):
            _damaged_path(path, number, suffix).unlink(missing_ok=True)
    return new_path


def was_moved_aside(path: Path, inode: int) -> bool:
    """Return whether the file with this inode was damaged and moved aside by another process."""
    for number in _list_damaged(path):
        with suppress(FileNotFoundError):
            if _damaged_path(path, number).stat().st_ino == inode:
                return True
    return False


def _damaged_path(path: Path, number: int, suffix: str = "") -> Path:
    return path.with_name(f"{path.name}.damaged-{number}{suffix}")


def _list_damaged(path: Path) -> list[int]:
    """Return the numbers of the damaged files."""
    suffixes = (each.name.removeprefix(f"{path.name}.damaged-") for each in path.parent.glob(f"{path.name}.damaged-*"))
    return [int(suffix) for suffix in suffixes if suffix.isdecimal()]


def salvage(damaged_file: Path, db: Connection, seconds: float = SALVAGE_SECONDS) -> str:
    """Copy readable artifacts and keys from a damaged file within `seconds`; say how many artifacts were copied.

    Never raises sqlite3.Error: anything unreadable stays in the damaged file.
    """
    until = time.monotonic() + seconds
    saved = 0
    # immutable: SQLite takes no lock, ignores journals and changes nothing.
    uri = f"file:{quote(str(damaged_file))}?immutable=1"
    with suppress(*_READ_ERRORS), closing(sqlite3.connect(uri, uri=True)) as source:
        source.row_factory = Row
        saved = _salvage_artifacts(source, db, until)
        _salvage_urls(source, db)
    with suppress(sqlite3.Error):
        db.rollback()
    return f"{saved} artifacts saved"


def _salvage_artifacts(source: Connection, db: Connection, until: float) -> int:
    saved = 0
    db.execute("BEGIN IMMEDIATE")
    for turn, key in enumerate(_list_keys(source)):
        if time.monotonic() > until:
            break
        # ValueError and the other Python errors: a row with values of wrong types.
        with suppress(sqlite3.DatabaseError, ValueError, TypeError, LookupError, AttributeError):
            saved += _salvage_artifact(source, key, db, -turn)
        if turn % SALVAGED_PER_TRANSACTION == SALVAGED_PER_TRANSACTION - 1:
            db.execute("COMMIT")
            db.execute("BEGIN IMMEDIATE")
    db.execute("COMMIT")
    return saved


def _list_keys(source: Connection) -> Iterator[int]:
    """Yield each key that can be read from the table or one of its indexes once."""
    seen: set[int] = set()
    for order in _KEY_ORDERS:
        with suppress(*_READ_ERRORS):
            for (key,) in source.execute(f"SELECT key FROM entries {order}"):  # noqa: S608 - constants
                if isinstance(key, int) and key not in seen:
                    seen.add(key)
                    yield key


def _salvage_artifact(source: Connection, key: int, db: Connection, turn: int) -> int:
    """Copy an artifact, or its id and URL as a tombstone if its text is damaged; return the artifacts copied."""
    (result,) = read_many(source, [key])
    artifact, row = result.artifact, result.row
    if artifact is None:
        tombstone = [to_storable(row["id"]), to_storable(row["url"])]
        db.execute("INSERT OR IGNORE INTO tombstones (id, url) VALUES (?, ?)", tombstone)
        return 0
    insert(db, make_entry(artifact, ""), key, turn, float(row["last_access"]))
    # Its words are made from its text later.
    sql = "UPDATE entries SET pinned = ?, indexed = ? WHERE key = ?"
    db.execute(sql, [int(bool(row["pinned"])), row["indexed"], key])
    return 1


def _salvage_urls(source: Connection, db: Connection) -> None:
    """Copy readable URL keys and tombstones. Vectors are not copied: they can be recomputed."""
    db.execute("BEGIN IMMEDIATE")
    for read, write in (
        ("SELECT key FROM known_urls ORDER BY number", "INSERT OR IGNORE INTO known_urls (key) VALUES (?)"),
        ("SELECT id, url FROM tombstones ORDER BY number", "INSERT OR IGNORE INTO tombstones (id, url) VALUES (?, ?)"),
    ):
        with suppress(*_READ_ERRORS):
            for row in source.execute(read):
                db.execute(write, row)
    db.execute("COMMIT")
