"""Run transactions on an SQLite file that may be lost: if it is damaged, it is set aside, and an empty one begins."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.store.sqlite.damage import is_damage, move_aside
from keyhole.store.sqlite.folder_lock import lock_folder
from keyhole.store.sqlite.schema import BUSY_TIMEOUT

log = logging.getLogger(__name__)
T = TypeVar("T")

ERASE_SECONDS: Final = 60.0
"""Seconds for which `rewrite` tries again while other processes use the file. Their transactions take milliseconds."""
ERASE_PAUSE: Final = 0.05
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class LosableFile:
    """An SQLite file with one connection, used by one thread at a time. Every failure is a KeyholeError.

    Processes that share the file hold a shared lock of its folder during a transaction, and an exclusive one to replace
    a damaged file.
    """

    def __init__(self, path: Path, name: str, open_file: Callable[[Path], sqlite3.Connection]) -> None:
        """`name`: what messages call the file. `open_file` opens it, and creates its tables if they are missing."""
        self._path = path
        self._name = name
        self._open_file = open_file
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        """The inode of the file that was last opened, even if opening failed."""

    def run(self, work: Callable[[sqlite3.Connection], T], *, write: bool | None = False) -> T:
        """Return the result of `work`, run in one transaction. With a damaged file it runs again, on an empty one.

        `write`: None for work that cannot run in a transaction. Raises KeyholeError (store_unavailable).
        """
        # Wait for other threads as long as for other processes.
        if not self._lock.acquire(timeout=BUSY_TIMEOUT):
            raise KeyholeError(Code.STORE_UNAVAILABLE, f"{self._name} is busy")
        try:
            with translate_errors(self._name):
                try:
                    return self._transaction(work, write)
                except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                    if not is_damage(error):
                        raise
                    self._replace(error)
                return self._transaction(work, write)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the file. The next transaction opens it again."""
        with self._lock:
            self._close()

    def _transaction(self, work: Callable[[sqlite3.Connection], T], write: bool | None) -> T:
        with lock_folder(self._path.parent, BUSY_TIMEOUT):
            try:
                connection = self._open()
                if write is None:
                    return work(connection)
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                result = work(connection)
                connection.execute("COMMIT")
                return result
            except (sqlite3.Error, UnicodeDecodeError):
                # Opening the file again also checks its tables again, so a wrong file does not stay in use.
                self._close()
                raise
            finally:
                if self._connection is not None and self._connection.in_transaction:
                    self._connection.rollback()

    def _open(self) -> sqlite3.Connection:
        """Return the connection; open the file first if it is closed, or was moved or replaced by another process."""
        if self._connection is not None and find_inode(self._path) != self._inode:
            self._close()
        if self._connection is None:
            try:
                self._connection = self._open_file(self._path)
            finally:
                self._inode = find_inode(self._path)
        return self._connection

    def _replace(self, error: Exception) -> None:
        """Set the damaged file aside, unless another process has done so."""
        with lock_folder(self._path.parent, BUSY_TIMEOUT, exclusive=True):
            self._close()
            if find_inode(self._path) == self._inode:
                log.warning(
                    "%s was damaged (%s) and begins anew; the file is kept as %s",
                    self._name, error, move_aside(self._path).name,
                )  # fmt: skip

    def _close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def find_inode(path: Path) -> int | None:
    """Return the inode of a file, None if there is none."""
    with suppress(FileNotFoundError):
        return path.stat().st_ino
    return None


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Raise KeyholeError (store_unavailable) for every failure of a file. `name`: what messages call it."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"{name} failed: {type(error).__name__}") from error
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        # Rows of a damaged file that SQLite reads without an error.
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"{name} contains invalid values") from error


def rewrite(connection: sqlite3.Connection) -> None:
    """Rewrite the file without its free pages, and empty its write-ahead log. Must be called outside a transaction.

    A deleted row stays in a free part of a page, and in the write-ahead log, until others are written there.

    Raises sqlite3.OperationalError if other processes use the file for too long.
    """
    until = time.monotonic() + ERASE_SECONDS
    while True:
        try:
            connection.execute("VACUUM")
            is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not is_busy:
                return
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BUSY or time.monotonic() > until:
                raise
        if time.monotonic() > until:
            raise sqlite3.OperationalError("other processes use the file")
        time.sleep(ERASE_PAUSE)
