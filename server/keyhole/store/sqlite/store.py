"""The artifact store in one SQLite file, shared by all processes on the machine.

Every call is a short transaction, or a few. The SQL is in the modules beside this one, by subject.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlite_utils import Database

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, Place
from keyhole.store.base import (
    MAX_KNOWN_URLS,
    MAX_VECTORS,
    TOO_LARGE,
    Clock,
    FileState,
    Span,
    StoreStats,
    Traces,
    Verification,
    Word,
)
from keyhole.store.filters import NO_FILTERS, Filters
from keyhole.store.forget_mark import FORGOTTEN, Mark, read_mark, write_mark
from keyhole.store.scope import Scope
from keyhole.store.sqlite import forgetting, rows, space, word_index
from keyhole.store.sqlite import keys as key_tables
from keyhole.store.sqlite.damage import check_integrity, is_damage, move_aside, salvage, was_moved_aside
from keyhole.store.sqlite.file import find_inode, rewrite, translate_errors
from keyhole.store.sqlite.folder_lock import lock_folder
from keyhole.store.sqlite.schema import BUSY_TIMEOUT, begin_transaction, open_file
from keyhole.store.sqlite.search import SearchScope, contains_words, search_keys

if TYPE_CHECKING:
    from keyhole.store.chunks import PackedText

log = logging.getLogger(__name__)
T = TypeVar("T")

TOUCH_AFTER: Final = 120.0
"""Seconds between two recorded reads of an artifact, so that not every read is a write. An artifact that was read in
the last minutes is still among the last to be evicted."""
WORDS_MADE_PER_PUT: Final = 4
"""Artifacts without words that one put indexes, in some 40 ms, after an update of Keyhole that makes other words."""
NAME: Final = "the artifact store"


class SqliteStore:
    """A store in the file `artifacts.db` of a folder, with one connection used by one thread at a time.

    The folder must exist (see store/home.py); the file is opened by the first call.
    """

    def __init__(self, folder: Path, clock: Clock, ttl: float, max_bytes: int) -> None:
        self._folder = folder
        self._path = folder / "artifacts.db"
        self._clock = clock
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._db: Database | None = None
        self._inode: int | None = None
        """The inode of the file that was last opened, even if opening failed."""
        self._replacements = 0
        self._warning = ""

    # Writes.

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
        now = self._clock()
        entry = rows.make_entry(artifact, words, packed, indexed)
        if entry.columns["size"] > self._max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, TOO_LARGE)

        url_keys = list(keys)

        def put_entry(db: Database) -> None:
            # In the transaction, so that a command that forgets sees this text, or this transaction sees its mark.
            if artifact.fetched_at < read_mark(self._folder).before and not is_import:
                raise KeyholeError(Code.STORE_UNAVAILABLE, FORGOTTEN)
            key_tables.remember(db, url_keys, MAX_KNOWN_URLS, self._max_bytes)
            key = rows.put(db, entry, words, now)
            rows.drop_replaced(db, key, entry.columns["requested_url"])
            space.make_room(db, space.Limits(self._max_bytes, now - self._ttl), protected_key=key)
            space.shrink_file(db, space.PAGES_FREED_PER_PUT)
            word_index.make_missing(db, WORDS_MADE_PER_PUT)

        self._run(put_entry, write=True)

    def renew(self, id: str, fetched_at: float) -> bool:
        now = self._clock()

        def renew_row(db: Database) -> bool:
            row = rows.find_row(db, id)
            if row is None or row["damaged"] or rows.is_expired(row, now - self._ttl):
                return False
            rows.touch(db, row["key"], now)
            db.execute("UPDATE entries SET fetched_at = ? WHERE key = ?", [fetched_at, row["key"]])
            return True

        return self._run(renew_row, write=True)

    def pin(self, id: str, pinned: bool) -> bool:
        now, limits = self._clock(), (self._ttl, self._max_bytes)
        return self._run(lambda db: rows.pin(db, id, pinned, now, limits), write=True)

    def remove(self, *ids: str) -> frozenset[str]:
        return self._run(lambda db: forgetting.remove(db, ids), write=True)

    def match(self, scope: Scope) -> frozenset[str]:
        # With the write lock, so that it waits for those who have not seen the mark.
        return self._run(lambda db: forgetting.match(db, scope), write=True)

    def add_mark(self, mark: Mark) -> None:
        with translate_errors(NAME):
            write_mark(self._folder, mark)

    def last_mark(self) -> Mark:
        with translate_errors(NAME):
            return read_mark(self._folder)

    def remove_traces(self, scope: Scope) -> Traces:
        return self._run(lambda db: forgetting.remove_traces(db, scope), write=True)

    def erase(self) -> None:
        self._rebuild_words(0.0)
        self._run(forgetting.merge_words, write=True)
        self._run(lambda db: rewrite(db.conn), write=None)

    def _rebuild_words(self, most: float) -> None:
        """Make the index anew if more than a share of it belongs to no artifact, in several transactions."""
        if self._run(word_index.unknown_share) > most:
            self._run(word_index.rebuild, write=True)
        while self._run(word_index.make_missing, write=True):
            pass

    def collect(self) -> int:
        limits, dropped = space.Limits(self._max_bytes, self._clock() - self._ttl), 0
        # In several transactions, so that other processes can write between them.
        for drop_batch in (
            partial(space.make_room, limits=limits, max_count=space.EVICTED_PER_TRANSACTION),
            partial(space.drop_expired, limits=limits),
        ):
            while count := self._run(drop_batch, write=True):
                dropped += count
        if not self._run(space.is_shrinkable):
            with suppress(KeyholeError):  # the disk is too full, or other processes are reading
                self._run(space.vacuum_file, write=None)
        self._rebuild_words(word_index.UNKNOWN_SHARE)
        while self._run(partial(space.shrink_file, max_count=space.PAGES_FREED_PER_TRANSACTION), write=True):
            pass
        return dropped

    # Reads.

    def get(self, id: str) -> Artifact:
        return rows.require(self._read(id, rows.read_artifact).artifact)

    def part(self, id: str, start: int, end: int) -> Part:
        return rows.require(self._read(id, partial(rows.read_part, start=start, end=end)).part)

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = (
            f"SELECT key FROM entries WHERE {rows.LIVE} AND requested_url = ? AND fetched_at >= ? "  # noqa: S608 - constant
            "ORDER BY fetched_at DESC LIMIT 1"
        )
        values = [self._clock() - self._ttl, rows.to_storable(url), since]
        results = self._run(lambda db: rows.read_many(db, [key for (key,) in db.execute(sql, values)]))
        return next(iter(self._filter_damaged(results)), None)

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        scope = SearchScope(filters, now := self._clock(), now - self._ttl)
        if self._run(word_index.has_missing):
            self._run(word_index.make_missing, write=True)
        found = self._run(lambda db: rows.read_found(db, search_keys(db.conn, words, limit, scope)))
        return self._filter_damaged(found)

    def contains_words(self, words: Sequence[Word]) -> tuple[bool, ...]:
        return self._run(lambda db: contains_words(db.conn, words))

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        return self._run(lambda db: rows.list_summaries(db, self._clock() - self._ttl, limit, after))

    # State.

    def stats(self) -> StoreStats:
        return self._run(partial(space.read_stats, max_bytes=self._max_bytes, now=self._clock(), ttl=self._ttl))

    def verify(self) -> Verification:
        replacements, finished = self._replacements, self._run(check_integrity)
        checked, damaged, after = 0, [], 0
        while (batch := self._run(partial(rows.read_next, after=after)))[0]:
            keys, results = batch
            after, checked = keys[-1], checked + len(results)
            self._filter_damaged(results)
            damaged += [str(each.row["id"]) for each in results if each.is_damaged]
        state: FileState = "replaced" if self._replacements > replacements else "whole" if finished else "unfinished"
        return Verification(checked, tuple(damaged), state)

    def warning(self) -> str:
        return self._warning

    def close(self) -> None:
        with self._lock:
            self._close()
            self._warning = ""

    # URL keys and vectors.

    def remember(self, keys: Iterable[bytes]) -> None:
        url_keys = list(keys)
        self._run(lambda db: key_tables.remember(db, url_keys, MAX_KNOWN_URLS, self._max_bytes), write=True)

    def remembers(self, key: bytes) -> bool:
        return self._run(lambda db: key_tables.remembers(db, key))

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        self._run(lambda db: key_tables.keep_vectors(db, vectors, MAX_VECTORS, self._max_bytes), write=True)

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return self._run(lambda db: key_tables.vectors(db, keys))

    # Helpers for reading artifacts.

    def _read(self, id: str, read: Callable[[Database, Mapping[str, Any]], rows.ReadResult]) -> rows.ReadResult:
        """Return the result of `read` for the row of an id, and update its last access. Raises as `get` does."""
        now = self._clock()

        def read_row(db: Database) -> rows.ReadResult:
            row = rows.find_row(db, id)
            if row is not None and not rows.is_expired(row, now - self._ttl):
                return read(db, row)
            url = rows.find_tombstone(db, id) if row is None else str(row["url"])
            if url is None:
                raise KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
            raise KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=url)

        result = self._run(read_row)
        if not self._filter_damaged([result]):
            raise rows.damaged_error(result.row)
        if abs(now - result.row["last_access"]) > TOUCH_AFTER:
            # A disk that cannot be written can still be read.
            with suppress(KeyholeError):
                self._run(partial(rows.touch, key=result.row["key"], now=now), write=True)
        return result

    def _filter_damaged(self, results: Iterable[rows.ReadResult]) -> tuple[Artifact, ...]:
        """Return the undamaged artifacts, and mark the others as damaged."""
        artifacts = []
        for each in results:
            if each.artifact is not None:
                artifacts.append(each.artifact)
            elif not each.row["damaged"]:
                log.warning("stored artifact %s is damaged and was set aside", each.row["id"])
                with suppress(KeyholeError):
                    self._run(partial(rows.mark_damaged, key=each.row["key"]), write=True)
        return tuple(artifacts)

    # Transactions and the file.

    def _run(self, work: Callable[[Database], T], *, write: bool | None = False) -> T:
        """Return the result of `work`, run in one transaction. A damaged file is replaced and `work` runs again.

        `write`: None for work that cannot run in a transaction.
        """
        with self._exclusive(), translate_errors(NAME):
            try:
                return self._transaction(work, write)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                if not is_damage(error):
                    raise
                self._replace(error)
            return self._transaction(work, write)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        # Wait for other threads as long as for other processes, but not until a migration ends.
        if not self._lock.acquire(timeout=BUSY_TIMEOUT):
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store is busy")
        try:
            yield
        finally:
            self._lock.release()

    def _transaction(self, work: Callable[[Database], T], write: bool | None) -> T:
        with lock_folder(self._folder, BUSY_TIMEOUT):
            try:
                db = self._open()
                if write is not None:
                    begin_transaction(db, write=write)
                result = work(db)
                if write is not None:
                    db.execute("COMMIT")
                return result
            except (sqlite3.Error, UnicodeDecodeError):
                # Opening the file again also checks its tables again, so a wrong file does not stay in use.
                self._close()
                raise
            finally:
                if self._db is not None:
                    self._db.rollback()

    def _open(self) -> Database:
        """Return the open database, and open it first if it is closed or its file was moved or replaced.

        So a disk that was mounted again needs no restart, and nothing is written to a file that was moved.
        """
        inode = find_inode(self._path)
        if self._db is not None and inode != self._inode:
            self._close()
            if self._inode is not None and was_moved_aside(self._path, self._inode):
                self._warning = "store_replaced"
        if self._db is None:
            try:
                self._db = open_file(self._path)
            finally:
                self._inode = find_inode(self._path)
        return self._db

    def _replace(self, error: Exception) -> None:
        """Replace a damaged file by a new file with the readable artifacts, unless another process has done so."""
        with lock_folder(self._folder, BUSY_TIMEOUT, exclusive=True):
            self._close()
            if find_inode(self._path) == self._inode:
                damaged_file = move_aside(self._path)
                saved = salvage(damaged_file, self._open())
                message = "the artifact store was damaged (%s): %d artifacts saved, the damaged file is kept as %s"
                log.warning(message, error, saved, damaged_file.name)
            self._replacements += 1
            self._warning = "store_replaced"

    def _close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None
