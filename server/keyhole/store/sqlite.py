"""Artifacts in one SQLite file, shared by every client on the machine. The only file that knows its tables."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import sqlite_utils

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary
from keyhole.store.base import REFRESH_AFTER, Clock

SCHEMA_VERSION = 1
BUSY_TIMEOUT = 5.0
"""Seconds a writer waits for another process: writes take milliseconds, so this is a stuck disk."""
SAFE_WAL = (3, 51, 3)
"""The first SQLite in which concurrent writers cannot corrupt a write-ahead log."""
MAX_TOMBSTONES = 10_000
"""Dropped ids remembered with their URL, so that an agent learns what to fetch again."""

_TABLES = """
CREATE TABLE artifacts (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    requested_url TEXT NOT NULL,
    title TEXT NOT NULL,
    text BLOB NOT NULL,
    chars INTEGER NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    language TEXT NOT NULL,
    cut INTEGER NOT NULL,
    fetched_at REAL NOT NULL,
    last_access REAL NOT NULL
);
CREATE INDEX artifacts_by_access ON artifacts (last_access, size);
CREATE INDEX artifacts_by_fetch ON artifacts (fetched_at);
CREATE INDEX artifacts_by_request ON artifacts (requested_url, fetched_at);
CREATE TABLE dropped (id TEXT PRIMARY KEY, url TEXT NOT NULL, dropped_at REAL NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    stems, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'", detail = none
);
"""


class SqliteStore:
    """One connection per process, used by one thread at a time; other processes are waited for.

    The folder must exist (see home.py); the file is opened by the first use.
    """

    def __init__(self, folder: Path, clock: Clock, ttl: float, max_bytes: int) -> None:
        self._path = folder / "artifacts.db"
        self._clock = clock
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._db: sqlite_utils.Database | None = None

    def put(self, artifact: Artifact, words: str) -> None:
        now = self._clock()
        text = artifact.text.encode("utf-8", "surrogatepass")
        row = {
            "id": artifact.id, "url": artifact.url, "requested_url": artifact.requested_url,
            "title": artifact.title, "text": text,
            "chars": len(artifact.text), "size": len(text), "media_type": artifact.media_type,
            "language": artifact.language, "cut": int(artifact.cut),
            "fetched_at": artifact.fetched_at, "last_access": now,
        }  # fmt: skip
        with self._transaction() as db:
            known = next(db.query("SELECT key FROM artifacts WHERE id = ?", [artifact.id]), None)
            if known:
                renewed = {
                    "fetched_at": artifact.fetched_at, "last_access": now, "title": artifact.title,
                    "requested_url": artifact.requested_url,
                }  # fmt: skip
                db.table("artifacts", pk="key").update(known["key"], renewed)
                return
            key = db.table("artifacts", pk="key").insert(row).last_pk
            db.table("words").insert({"rowid": key, "stems": words})
            db.execute("DELETE FROM dropped WHERE id = ?", [artifact.id])
        self.collect()

    def get(self, id: str) -> Artifact:
        now = self._clock()
        with self._transaction(write=False) as db:
            row = next(db.query("SELECT * FROM artifacts WHERE id = ?", [id]), None)
            gone = next(db.query("SELECT url FROM dropped WHERE id = ?", [id]), None)
        if row is None and gone is None:
            raise KeyholeError(Code.UNKNOWN_ARTIFACT, "no artifact has this id")
        if row is None or row["last_access"] + self._ttl < now:
            url = (row or gone or {})["url"]
            raise KeyholeError(Code.EXPIRED_ARTIFACT, f"artifact {id} was dropped", url=url)
        if row["last_access"] + REFRESH_AFTER < now:
            with self._transaction() as db:
                db.execute("UPDATE artifacts SET last_access = ? WHERE id = ?", [now, id])
        return _artifact(row)

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = "SELECT * FROM artifacts WHERE requested_url = ? AND fetched_at >= ? ORDER BY fetched_at DESC LIMIT 1"
        with self._transaction(write=False) as db:
            row = next(db.query(sql, [url, since]), None)
        return _artifact(row) if row else None

    def search(self, words: tuple[str, ...], limit: int) -> tuple[Artifact, ...]:
        if not words:
            return ()
        match = " OR ".join('"' + word.replace('"', "") + '"' for word in words)
        sql = (
            "SELECT artifacts.* FROM words JOIN artifacts ON artifacts.key = words.rowid "
            "WHERE words MATCH ? AND last_access >= ? ORDER BY bm25(words), id LIMIT ?"
        )
        with self._transaction(write=False) as db:
            return tuple(_artifact(row) for row in db.query(sql, [match, self._clock() - self._ttl, limit]))

    def list(self, limit: int) -> tuple[ArtifactSummary, ...]:
        sql = (
            "SELECT id, url, title, chars, fetched_at, last_access FROM artifacts "
            "WHERE last_access >= ? ORDER BY fetched_at DESC, id LIMIT ?"
        )
        with self._transaction(write=False) as db:
            return tuple(ArtifactSummary(**row) for row in db.query(sql, [self._clock() - self._ttl, limit]))

    def remove(self, id: str) -> bool:
        with self._transaction() as db:
            row = next(db.query("SELECT key FROM artifacts WHERE id = ?", [id]), None)
            if row:
                _delete(db, [row["key"]])
            return row is not None

    def collect(self) -> int:
        now = self._clock()
        with self._transaction() as db:
            total = next(db.query("SELECT coalesce(sum(size), 0) AS total FROM artifacts"))["total"]
            doomed = []
            if total > self._max_bytes or self._has_expired(db, now):
                rows = db.query("SELECT key, id, url, size, last_access FROM artifacts ORDER BY last_access, key")
                doomed = doomed_rows(list(rows), total, now - self._ttl, self._max_bytes)
            for row in doomed:
                db.execute("INSERT OR REPLACE INTO dropped VALUES (?, ?, ?)", [row["id"], row["url"], now])
            _delete(db, [row["key"] for row in doomed])
            if doomed:
                db.execute(
                    "DELETE FROM dropped WHERE id NOT IN (SELECT id FROM dropped ORDER BY dropped_at DESC LIMIT ?)",
                    [MAX_TOMBSTONES],
                )
            return len(doomed)

    def _has_expired(self, db: sqlite_utils.Database, now: float) -> bool:
        oldest = next(db.query("SELECT min(last_access) AS oldest FROM artifacts"))["oldest"]
        return oldest is not None and oldest + self._ttl < now

    @contextmanager
    def _transaction(self, *, write: bool = True) -> Iterator[sqlite_utils.Database]:
        with self._lock, _as_store_error():
            # Opened by the first use and tried again by each: a disk that comes back needs no restart.
            db = self._db = self._db or _open(self._path)
            # IMMEDIATE takes the write lock first: a read that turns into a write would fail as busy at once.
            db.conn.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield db
                db.conn.execute("COMMIT")
            finally:
                db.rollback()

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()


def doomed_rows(rows: list[dict[str, Any]], total: int, expired_before: float, max_bytes: int) -> list[dict[str, Any]]:
    """Which of `rows` (least recently read first) go: the expired, then the oldest until the rest fits."""
    doomed = []
    for row in rows:
        if row["last_access"] >= expired_before and total <= max_bytes:
            break
        doomed.append(row)
        total -= row["size"]
    return doomed


def _open(path: Path) -> sqlite_utils.Database:
    # Created by us first: sqlite would give it the mode that the umask leaves.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    db = sqlite_utils.Database(connection, execute_plugins=False)
    db.execute(f"PRAGMA journal_mode = {'WAL' if sqlite3.sqlite_version_info >= SAFE_WAL else 'DELETE'}")
    db.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = next(iter(connection.execute("PRAGMA user_version")))[0]
        if version > SCHEMA_VERSION:
            raise sqlite3.DatabaseError(f"{path} was written by a newer Keyhole")
        if version == 0:
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    finally:
        db.rollback()
    return db


def _delete(db: sqlite_utils.Database, keys: list[int]) -> None:
    for key in keys:
        db.execute("DELETE FROM artifacts WHERE key = ?", [key])
        db.execute("DELETE FROM words WHERE rowid = ?", [key])


def _artifact(row: dict[str, Any]) -> Artifact:
    return Artifact(
        id=row["id"],
        url=row["url"],
        requested_url=row["requested_url"],
        title=row["title"],
        text=bytes(row["text"]).decode("utf-8", "surrogatepass"),
        media_type=row["media_type"],
        language=row["language"],
        fetched_at=row["fetched_at"],
        cut=bool(row["cut"]),
    )


@contextmanager
def _as_store_error() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {type(error).__name__}") from error
