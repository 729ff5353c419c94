"""Run transactions on an SQLite file, or in memory. A damaged file is set aside, and replaced by a new one."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection
from threading import Lock
from typing import Final, Protocol, TypeVar
from weakref import finalize

from keyhole.errors import Code, KeyholeError
from keyhole.store.sqlite.damage import is_damage, move_aside, was_moved_aside
from keyhole.store.sqlite.schema import BUSY_TIMEOUT, run_transaction

# Lock the store's folder: shared while the database file is in use, exclusive while it is replaced.

RETRY_PAUSE: Final = 0.01
"""Seconds between two attempts. Waiting is rare: only while a damaged file is replaced."""


@contextmanager
def lock_folder(folder: Path, seconds: float, *, exclusive: bool = False) -> Iterator[None]:
    """Hold a shared or exclusive lock of a folder. Raises OSError, and TimeoutError after `seconds`."""
    if os.name != "posix":  # other systems do not rename open files, so no lock is needed
        yield
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _wait(handle, seconds, exclusive)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, seconds: float, exclusive: bool) -> None:
    import fcntl

    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise TimeoutError("the store is being replaced by another process") from None
            time.sleep(RETRY_PAUSE)
        else:
            return


# Run transactions on an SQLite file, or in memory. A damaged file is set aside, and replaced by a new one.

log = logging.getLogger(__name__)
T = TypeVar("T")

STORE_REPLACED: Final = "store_replaced"
ERASE_SECONDS: Final = 60.0
"""Seconds for which `rewrite` tries again while other processes use the file. Their transactions take milliseconds."""
ERASE_PAUSE: Final = 0.05
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class SqliteDatabase(Protocol):
    """An SQLite database with one connection, used by one thread at a time. Every failure is a KeyholeError."""

    replacements: int
    """How often a damaged file was replaced."""
    warning: str
    """`store_replaced` if this or another process has replaced the file, else ""."""

    def run(self, work: Callable[[Connection], T], *, write: bool | None = False) -> T:
        """Return the result of `work`, run in one transaction. If the file is damaged, `work` runs again on its
        replacement.

        `write`: None for work that cannot run in a transaction. Raises KeyholeError (store_unavailable).
        """
        ...

    def close(self) -> None:
        """Close the file. The next transaction opens it again."""
        ...


Salvage = Callable[[Path, Connection], str]
"""Copies the readable rows of a damaged file into a new file, and returns a description of the saved rows."""


def open_database(
    path: Path | None, name: str, connect: Callable[[Path | None], Connection], salvage: Salvage | None = None
) -> SqliteDatabase:
    """Return the database of a file, or a database in memory for None. It is opened by its first transaction.

    `name`: what messages call it. `connect` opens it, and creates its tables if they are missing. `salvage`: None for a
    file that begins anew if it is damaged.
    """
    return DatabaseFile(path, name, connect, salvage) if path else DatabaseInMemory(name, lambda: connect(None))


class DatabaseFile:
    """A database in a file.

    Processes that share the file hold a shared lock of its folder during a transaction, and an exclusive one to replace
    a damaged file.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        connect: Callable[[Path], Connection],
        salvage: Salvage | None,
    ) -> None:
        self._path = path
        self._name = name
        self._connect = connect
        self._salvage = salvage
        self._lock = Lock()
        self._connection: Connection | None = None
        self._inode: int | None = None
        """The inode of the file that was last opened, even if opening failed."""
        self.replacements = 0
        self.warning = ""

    def run(self, work: Callable[[Connection], T], *, write: bool | None = False) -> T:
        with hold(self._lock, self._name), translate_errors(self._name):
            try:
                return self._transaction(work, write)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                if not is_damage(error):
                    raise
                self._replace(error)
            return self._transaction(work, write)

    def close(self) -> None:
        with self._lock:
            self._close()
            self.warning = ""

    def _transaction(self, work: Callable[[Connection], T], write: bool | None) -> T:
        with lock_folder(self._path.parent, BUSY_TIMEOUT):
            try:
                return run_transaction(self._open(), work, write=write)
            except (sqlite3.Error, UnicodeDecodeError):
                # Opening the file again also checks its tables again, so a wrong file does not stay in use.
                self._close()
                raise

    def _open(self) -> Connection:
        """Return the connection; open the file first if it is closed, or was moved or replaced by another process.

        So a disk that was mounted again needs no restart, and nothing is written to a file that was moved.
        """
        if self._connection is not None and find_inode(self._path) != self._inode:
            self._close()
            if self._inode is not None and was_moved_aside(self._path, self._inode):
                self.warning = STORE_REPLACED
        if self._connection is None:
            try:
                self._connection = self._connect(self._path)
            finally:
                self._inode = find_inode(self._path)
        return self._connection

    def _replace(self, error: Exception) -> None:
        """Replace a damaged file by a new file with the rows that can be saved, unless another process has done so."""
        with lock_folder(self._path.parent, BUSY_TIMEOUT, exclusive=True):
            self._close()
            if find_inode(self._path) == self._inode:
                damaged_file = move_aside(self._path)
                saved = self._salvage(damaged_file, self._open()) if self._salvage else "it begins anew"
                message = "%s was damaged (%s): %s; the damaged file is kept as %s"
                log.warning(message, self._name, error, saved, damaged_file.name)
            self.replacements += 1
            self.warning = STORE_REPLACED

    def _close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


class DatabaseInMemory:
    """A database of this process, created by the first transaction."""

    def __init__(self, name: str, create: Callable[[], Connection]) -> None:
        self._name = name
        self._create = create
        self._connection: Connection | None = None
        self._lock = Lock()
        self.replacements = 0
        self.warning = ""

    def run(self, work: Callable[[Connection], T], *, write: bool | None = False) -> T:
        with hold(self._lock, self._name), translate_errors(self._name):
            if self._connection is None:
                self._connection = self._create()
                finalize(self, self._connection.close)  # with the last reference to the store of a tenant
            return run_transaction(self._connection, work, write=write)

    def close(self) -> None:
        pass


@contextmanager
def hold(lock: Lock, name: str) -> Iterator[None]:
    """Hold the lock of a database. A thread waits for it as long as a process waits for the file.

    Raises KeyholeError (store_unavailable) if it stays busy.
    """
    if not lock.acquire(timeout=BUSY_TIMEOUT):
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"{name} is busy")
    try:
        yield
    finally:
        lock.release()


def find_inode(path: Path) -> int | None:
    """Return the inode of a file, None if there is none."""
    with suppress(FileNotFoundError):
        return path.stat().st_ino
    return None


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Raise KeyholeError (store_unavailable) for every failure of a file. `name`: the name of the file in messages."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"{name} failed: {type(error).__name__}") from error
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        # Rows of a damaged file that SQLite reads without an error.
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"{name} contains invalid values") from error


def rewrite(connection: Connection) -> None:
    """Rewrite the file without its free pages, and empty its write-ahead log. Must be called outside a transaction.

    A deleted row stays in a free part of a page, and in the write-ahead log, until other data overwrites it.

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
