"""Artifacts in one SQLite file, shared by every client on the machine: the store's calls as short transactions.

What is done within a transaction is in the rooms beside: sqlite_rows.py, sqlite_texts.py, sqlite_search.py,
sqlite_space.py, sqlite_keys.py. How the file comes to be is in sqlite_schema.py, how it is lost in sqlite_damage.py.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from sqlite_utils import Database

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, Place
from keyhole.store.base import MAX_KNOWN_URLS, MAX_VECTORS, TOO_LARGE, Clock, FileState, StoreStats, Verification, Word
from keyhole.store.filters import NONE, Filters
from keyhole.store.sqlite import keys as beside
from keyhole.store.sqlite import rows, space
from keyhole.store.sqlite.damage import is_damage, look_through, move_aside, save, was_moved_aside
from keyhole.store.sqlite.folder_lock import passing
from keyhole.store.sqlite.schema import BUSY_TIMEOUT, begin, open_file
from keyhole.store.sqlite.search import Asked, held_by_any, narrowed
from keyhole.store.term_lookup import searchable

log = logging.getLogger(__name__)
T = TypeVar("T")

NOTED_AFTER: Final = 120.0
"""Seconds. A read is noted when the last noted one is longer ago: one write in two minutes, not one a read. What was
read within the last minutes is then the last in the order by which artifacts go."""
VERIFIED_AT_ONCE: Final = 64
"""Artifacts checked in one transaction, in which nobody else can write."""


class SqliteStore:
    """One connection per process, used by one thread at a time; other processes are waited for.

    The folder must exist (see home.py); the file is opened by the first use.
    """

    def __init__(self, folder: Path, clock: Clock, ttl: float, max_bytes: int) -> None:
        self._folder = folder
        self._path = folder / "artifacts.db"
        self._clock = clock
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._db: Database | None = None
        self._file: int | None = None
        """The inode of the file that was opened, or that could not be."""
        self._replaced = 0
        self._warning = ""

    # Keeping.

    def put(self, artifact: Artifact, words: str, keys: Iterable[bytes] = ()) -> None:
        now = self._clock()
        stems = " ".join(searchable(words.split()))
        entry = rows.entry_of(artifact, len(stems.encode("utf-8", "replace")))
        if entry.columns["size"] > self._max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, TOO_LARGE)

        known = list(keys)

        def keep(db: Database) -> None:
            beside.remember(db, known, MAX_KNOWN_URLS, self._max_bytes)
            key = rows.put(db, entry, rows.plain(stems), now)
            space.make_room(db, self._limits(now), spared=key)
            space.give_back(db, space.GIVEN_AT_A_PUT)

        self._run(keep, write=True)

    def renew(self, id: str, fetched_at: float) -> bool:
        now = self._clock()

        def renewed(db: Database) -> bool:
            row = rows.by_id(db, id)
            if row is None or row["damaged"] or self._expired(row, now):
                return False
            rows.touch(db, row["key"], now)
            db.execute("UPDATE entries SET fetched_at = ? WHERE key = ?", [fetched_at, row["key"]])
            return True

        return self._run(renewed, write=True)

    def remove(self, id: str) -> bool:
        def removed(db: Database) -> bool:
            row = rows.by_id(db, id)
            return row is not None and rows.drop(db, [row["key"]], tombstones=False) > 0

        return self._run(removed, write=True)

    def collect(self) -> int:
        limits, dropped = self._limits(self._clock()), 0
        # In several transactions, so that others write in between.
        for some in (
            partial(space.make_room, limits=limits, most=space.AT_ONCE),
            partial(space.drop_expired, limits=limits),
        ):
            while count := self._run(some, write=True):
                dropped += count
        if not self._run(space.gives_back):
            with suppress(KeyholeError):  # for want of room on the disk, or while others read
                self._run(space.write_anew, write=None)
        while self._run(partial(space.give_back, most=space.GIVEN_AT_ONCE), write=True):
            pass
        return dropped

    # Reading.

    def get(self, id: str) -> Artifact:
        return _the(self._found(id, rows.read).artifact)

    def part(self, id: str, start: int, end: int) -> Part:
        return _the(self._found(id, partial(rows.read_part, start=start, end=end)).part)

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = (
            "SELECT key FROM entries WHERE requested_url = ? AND fetched_at >= ? AND last_access >= ? AND NOT damaged "
            "ORDER BY fetched_at DESC LIMIT 1"
        )
        asked = [rows.plain(url), since, self._clock() - self._ttl]
        found = self._run(lambda db: rows.by_keys(db, [key for (key,) in db.execute(sql, asked)]))
        return next(iter(self._sound(found)), None)

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NONE) -> tuple[Artifact, ...]:
        now = self._clock()
        asked = Asked(filters, now, now - self._ttl)
        return self._sound(self._run(lambda db: rows.by_keys(db, narrowed(db.conn, words, limit, asked))))

    def held(self, words: Sequence[Word]) -> tuple[bool, ...]:
        return self._run(lambda db: held_by_any(db.conn, words))

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        return self._run(lambda db: rows.listed(db, self._clock() - self._ttl, limit, after))

    # The whole of it.

    def stats(self) -> StoreStats:
        sql = (
            "SELECT count(*), count(DISTINCT content), coalesce(sum(bytes), 0), min(fetched_at), max(fetched_at) "
            "FROM entries WHERE last_access >= ? AND NOT damaged"
        )

        def counted(db: Database) -> StoreStats:
            count, contents, size, oldest, newest = next(db.execute(sql, [self._clock() - self._ttl]))
            gone, damaged = next(
                db.execute("SELECT (SELECT count(*) FROM tombstones), (SELECT count(*) FROM entries WHERE damaged)")
            )
            used = space.used_bytes(db)
            return StoreStats("sqlite", count, contents, size, used, self._max_bytes, gone, damaged, oldest, newest)

        return self._run(counted)

    def verify(self) -> Verification:
        sql = "SELECT key FROM entries WHERE key > ? ORDER BY key LIMIT ?"

        def some(db: Database, after: int) -> tuple[list[int], list[rows.Found]]:
            keys = [key for (key,) in db.execute(sql, [after, VERIFIED_AT_ONCE])]
            return keys, rows.by_keys(db, keys)

        replaced, finished = self._replaced, self._run(look_through)
        checked, damaged, after = 0, [], 0
        while (read := self._run(partial(some, after=after)))[0]:
            keys, found = read
            after, checked = keys[-1], checked + len(found)
            self._sound(found)
            damaged += [str(each.row["id"]) for each in found if each.damaged]
        state: FileState = "replaced" if self._replaced > replaced else "whole" if finished else "unfinished"
        return Verification(checked, tuple(damaged), state)

    def warning(self) -> str:
        return self._warning

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()
            self._warning = ""

    # What is kept beside artifacts.

    def remember(self, keys: Iterable[bytes]) -> None:
        known = list(keys)
        self._run(lambda db: beside.remember(db, known, MAX_KNOWN_URLS, self._max_bytes), write=True)

    def remembers(self, key: bytes) -> bool:
        return self._run(lambda db: beside.remembers(db, key))

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        self._run(lambda db: beside.keep_vectors(db, vectors, MAX_VECTORS, self._max_bytes), write=True)

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return self._run(lambda db: beside.vectors(db, keys))

    # One artifact.

    def _found(self, id: str, read: Callable[[Database, Mapping[str, Any]], rows.Found]) -> rows.Found:
        """What `read` makes of the row of an id; the reading is noted."""
        now = self._clock()

        def look(db: Database) -> rows.Found:
            row = rows.by_id(db, id)
            url = rows.tombstone(db, id) if row is None else str(row["url"]) if self._expired(row, now) else None
            if url is not None:
                raise KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=url)
            if row is None:
                raise KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
            return read(db, row)

        found = self._run(look)
        if not self._sound([found]):
            raise rows.damage(found.row)
        if abs(now - found.row["last_access"]) > NOTED_AFTER:
            # A disk that cannot be written keeps nobody from reading.
            with suppress(KeyholeError):
                self._run(partial(rows.touch, key=found.row["key"], now=now), write=True)
        return found

    def _sound(self, found: Iterable[rows.Found]) -> tuple[Artifact, ...]:
        """The artifacts that are what was kept; the others are set aside."""
        sound = []
        for each in found:
            if each.artifact is not None:
                sound.append(each.artifact)
            elif not each.row["damaged"]:
                log.warning("a stored artifact is damaged and was set aside: %s", each.row["id"])
                with suppress(KeyholeError):
                    self._run(partial(rows.set_aside, key=each.row["key"]), write=True)
        return tuple(sound)

    def _expired(self, row: Mapping[str, Any], now: float) -> bool:
        return isinstance(row["last_access"], float) and row["last_access"] + self._ttl < now

    def _limits(self, now: float) -> space.Limits:
        return space.Limits(self._max_bytes, now - self._ttl)

    # The file.

    def _run(self, work: Callable[[Database], T], *, write: bool | None = False) -> T:
        """What `work` gives, done whole or not at all; in a new file where this one turns out to be damaged.

        `write` is None for work that is a transaction itself.
        """
        with self._turn(), _as_store_error():
            try:
                return self._transaction(work, write)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                if not is_damage(error):
                    raise
                self._replace(error)
            return self._transaction(work, write)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        # Other threads of this process are waited for as long as other processes are: not for a migration to end.
        if not self._lock.acquire(timeout=BUSY_TIMEOUT):
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store is busy")
        try:
            yield
        finally:
            self._lock.release()

    def _transaction(self, work: Callable[[Database], T], write: bool | None) -> T:
        with passing(self._folder, BUSY_TIMEOUT):
            try:
                db = self._opened()
                if write is not None:
                    begin(db, write=write)
                result = work(db)
                if write is not None:
                    db.execute("COMMIT")
                return result
            except (sqlite3.Error, UnicodeDecodeError):
                # Opened anew it is checked anew: a file whose tables are not ours does not stay in use.
                self._close()
                raise
            finally:
                if self._db is not None:
                    self._db.rollback()

    def _opened(self) -> Database:
        """The database, opened by the first use and again where its file went away or is another: a disk that
        comes back needs no restart, and nothing is written to a file that has lost its name."""
        file = _inode(self._path)
        if self._db is not None and file != self._file:
            self._close()
            if self._file is not None and was_moved_aside(self._path, self._file):
                self._warning = "store_replaced"
        if self._db is None:
            try:
                self._db = open_file(self._path)
            finally:
                self._file = _inode(self._path)
        return self._db

    def _replace(self, error: Exception) -> None:
        """Begin a new file, with what the damaged one still gives; unless another process has done it already."""
        with passing(self._folder, BUSY_TIMEOUT, alone=True):
            self._close()
            if _inode(self._path) == self._file:
                aside = move_aside(self._path)
                saved = save(aside, self._opened())
                log.warning(
                    "the artifact store was damaged (%s): %d artifacts saved, %s kept", error, saved, aside.name
                )
            self._replaced += 1
            self._warning = "store_replaced"

    def _close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None


def _inode(path: Path) -> int | None:
    with suppress(FileNotFoundError):
        return path.stat().st_ino
    return None


def _the(value: T | None) -> T:
    if value is None:
        raise KeyholeError(Code.DAMAGED_ARTIFACT, "the stored text is no longer what was kept")
    return value


@contextmanager
def _as_store_error() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {type(error).__name__}") from error
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        # Rows of a damaged file that SQLite reads without complaint.
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store holds what was never written") from error
