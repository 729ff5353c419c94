"""A damaged SQLite file: known by its error, moved aside under a name that keeps it, what is readable saved."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Timer
from typing import Any, Final
from urllib.parse import quote

from sqlite_utils import Database

from keyhole.store.sqlite.migration import older_artifact
from keyhole.store.sqlite.rows import by_keys, entry_of, insert, plain

SAVING_SECONDS: Final = 4.0
"""For saving what is readable: less than others wait for their turn, so that none of them fails."""
KEPT_ASIDE: Final = 3
"""Damaged files that are kept; the oldest go."""
SAVED_AT_ONCE: Final = 200
"""Artifacts of one transaction."""
_BESIDE: Final = ("-journal", "-wal", "-shm")
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_TOLD: Final = ("no such fts5 table", "invalid fts5 file format", "unsupported file format")
"""How messages begin of damage that SQLite has no code for: it says SQLITE_ERROR, as for a statement that is wrong."""
LOOKING_SECONDS: Final = 3.0
"""For a look at the whole file, meanwhile nobody can write: less than they wait."""
_UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file fails with: Python cannot decode every message about one."""
_ORDERS: Final = {
    # Every index tells of all keys, the first in the order that matters most: the latest read first.
    "entries": ("INDEXED BY entries_by_turn ORDER BY turn DESC", "INDEXED BY entries_by_fetch", "NOT INDEXED"),
    "artifacts": ("INDEXED BY artifacts_by_access ORDER BY last_access DESC", "NOT INDEXED"),
}


def is_damage(error: Exception) -> bool:
    """Whether the file is not what SQLite wrote; a file that is locked, unreadable or full is not damaged."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    told = code == sqlite3.SQLITE_ERROR and str(error).startswith(_TOLD)
    # Python's own errors, for a text that is no longer UTF-8 and for a name in it that is not.
    undecodable = isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode to UTF-8")
    return code in _DAMAGE or told or undecodable


def look_through(db: Database, seconds: float = LOOKING_SECONDS) -> bool:
    """Whether there was time to compare all tables and indexes of the file with each other.

    Raises sqlite3.DatabaseError (damage) where they are not what SQLite wrote.
    """
    late = Event()

    def stop() -> None:
        late.set()
        db.conn.interrupt()

    # From outside: all of the look is one of the steps after which SQLite would ask whether to go on.
    end = Timer(seconds, stop)
    end.start()
    try:
        ((found,),) = db.execute("PRAGMA integrity_check(1)")
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_INTERRUPT:
            raise
        return False
    finally:
        end.cancel()
        end.join()
    if found != "ok" and not late.is_set():
        raise corrupt(f"the file is not whole: {found}")
    return bool(found == "ok")


def corrupt(message: str) -> sqlite3.DatabaseError:
    """The error of a damage that SQLite itself did not fail with."""
    error = sqlite3.DatabaseError(message)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def move_aside(path: Path) -> Path:
    """Give a damaged file, with what SQLite keeps beside it, a name that keeps it; the new name."""
    there = sorted(_numbers(path))
    aside = _aside(path, there[-1] + 1 if there else 1)
    path.rename(aside)
    for end in _BESIDE:
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(aside.with_name(aside.name + end))
    for number in there[: len(there) + 1 - KEPT_ASIDE]:
        for end in ("", *_BESIDE):
            with suppress(FileNotFoundError):
                _aside(path, number).with_name(_aside(path, number).name + end).unlink()
    return aside


def was_moved_aside(path: Path, inode: int) -> bool:
    """Whether the file that was open under this number was damaged and moved aside by another process."""
    for number in _numbers(path):
        with suppress(FileNotFoundError):
            if _aside(path, number).stat().st_ino == inode:
                return True
    return False


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{number}")


def _numbers(path: Path) -> list[int]:
    ends = (each.name.removeprefix(f"{path.name}.damaged-") for each in path.parent.glob(f"{path.name}.damaged-*"))
    return [int(end) for end in ends if end.isdecimal()]


def save(aside: Path, db: Database, seconds: float = SAVING_SECONDS) -> int:
    """Copy what is readable of a damaged file into a new one, as far as the time goes; how many artifacts.

    Never raises sqlite3.Error: what cannot be saved is left in the file that was moved aside.
    """
    until = time.monotonic() + seconds
    saved = 0
    # As it is: no lock, no journal, and nothing in it is changed.
    with suppress(*_UNREADABLE), closing(sqlite3.connect(f"file:{quote(str(aside))}?immutable=1", uri=True)) as file:
        source = Database(file, execute_plugins=False)
        saved = _save_artifacts(source, db, until)
        _save_urls(source, db)
    with suppress(sqlite3.Error):
        db.rollback()
    return saved


def _save_artifacts(source: Database, db: Database, until: float) -> int:
    table = next((name for name in _ORDERS if _readable(source, name)), "")
    saved = 0
    db.execute("BEGIN IMMEDIATE")
    for turn, key in enumerate(_keys(source, table)):
        if time.monotonic() > until:
            break
        # ValueError and the like: a row that holds other types than were written.
        with suppress(sqlite3.DatabaseError, ValueError, TypeError, LookupError, AttributeError):
            saved += _save_one(source, table, key, db, -turn)
        if turn % SAVED_AT_ONCE == SAVED_AT_ONCE - 1:
            db.execute("COMMIT")
            db.execute("BEGIN IMMEDIATE")
    db.execute("COMMIT")
    return saved


def _readable(source: Database, table: str) -> bool:
    with suppress(*_UNREADABLE):
        source.execute(f"SELECT key FROM {table} LIMIT 0")  # noqa: S608 - one of ours
        return True
    return False


def _keys(source: Database, table: str) -> Iterator[int]:
    """All keys that any index or the table still tells of, each once."""
    seen: set[int] = set()
    for order in _ORDERS.get(table, ()):
        with suppress(*_UNREADABLE):
            for (key,) in source.execute(f"SELECT key FROM {table} {order}"):  # noqa: S608 - constants
                if isinstance(key, int) and key not in seen:
                    seen.add(key)
                    yield key


def _save_one(source: Database, table: str, key: int, db: Database, turn: int) -> int:
    row: dict[str, Any] = {}
    if table == "entries":
        (found,) = by_keys(source, [key])
        artifact, row = found.artifact, dict(found.row)
    else:
        (row,) = source.query("SELECT * FROM artifacts WHERE key = ?", [key])
        artifact = older_artifact(row)
    if artifact is None:
        # The text is lost; where it was is not.
        lost = [plain(row["id"]), plain(row["url"])]
        db.execute("INSERT OR IGNORE INTO tombstones (id, url) VALUES (?, ?)", lost)
        return 0
    stems = _words(source, key)
    insert(db, entry_of(artifact, len(stems)), key, turn, float(row["last_access"]))
    db.execute("INSERT INTO words (rowid, stems) VALUES (?, ?)", [key, stems])
    return 1


def _words(source: Database, key: int) -> str:
    with suppress(*_UNREADABLE):
        for (stems,) in source.execute("SELECT stems FROM words WHERE rowid = ?", [key]):
            return str(stems)
    return ""


def _save_urls(source: Database, db: Database) -> None:
    """What is known beside the artifacts, as far as it is readable; vectors are made again."""
    db.execute("BEGIN IMMEDIATE")
    for read, write in (
        ("SELECT key FROM known_urls ORDER BY number", "INSERT OR IGNORE INTO known_urls (key) VALUES (?)"),
        ("SELECT id, url FROM tombstones ORDER BY number", "INSERT OR IGNORE INTO tombstones (id, url) VALUES (?, ?)"),
    ):
        with suppress(*_UNREADABLE):
            for row in source.execute(read):
                db.execute(write, row)
    db.execute("COMMIT")
