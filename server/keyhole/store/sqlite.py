"""Artifacts in one SQLite file, shared by every client on the machine. Only sqlite_search.py knows its tables too."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import sqlite_utils

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, StoreStats, Verification
from keyhole.store.base import MAX_KNOWN_URLS, MAX_VECTORS, REFRESH_AFTER, Clock, Word
from keyhole.store.filters import NONE, Filters
from keyhole.store.journal import sweep_journal
from keyhole.store.narrow import searchable
from keyhole.store.sqlite_search import Asked, held_by_any, narrowed

BUSY_TIMEOUT = 5.0
"""Seconds a writer waits for another process: writes take milliseconds, so this is a stuck disk."""
SAFE_WAL = (3, 51, 3)
"""The first SQLite in which concurrent writers cannot corrupt a write-ahead log."""
MAX_TOMBSTONES = 10_000
"""Dropped ids remembered with their URL, so that an agent learns what to fetch again."""

_MIGRATIONS = (
    """
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
    stems, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S*'", detail = none
)""",
    """
ALTER TABLE artifacts ADD COLUMN etag TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN last_modified TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN published TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN modified TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN site TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN replaces TEXT NOT NULL DEFAULT '';
ALTER TABLE artifacts ADD COLUMN notes TEXT NOT NULL DEFAULT '{}'""",
    # What a search filters by, apart from the texts, which SQLite reads through to reach the columns after them.
    "CREATE INDEX artifacts_by_key ON artifacts (key, last_access, fetched_at, published, language, chars, url)",
)
"""What leads from each version of the schema to the next, the first from an empty file. A released one never changes;
a file is brought up in one transaction, and an older Keyhole that has it open still writes: columns have defaults."""
SCHEMA_VERSION = len(_MIGRATIONS)

_OF_THE_TEXT = frozenset({"id", "url", "text", "chars", "size"})
"""Columns that cannot differ between two artifacts with one id; all others are renewed when it is put again."""

# Beside the versioned tables: no other table refers to it, and a file without it gets it when it is opened.
_KNOWN_URLS = "CREATE TABLE IF NOT EXISTS known_urls (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE)"
_VECTORS = (
    "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
)
_KEYS_AT_ONCE = 500
"""Parameters of one statement; the lowest limit of an SQLite in use is 999."""

_OF_KEYS = "SELECT artifacts.* FROM json_each(?) AS wanted CROSS JOIN artifacts ON artifacts.key = wanted.value"


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
        self._file = 0

    def put(self, artifact: Artifact, words: str) -> None:
        now = self._clock()
        text = artifact.text.encode("utf-8", "surrogatepass")
        if len(text) > self._max_bytes:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the text is larger than the whole store may be")
        stems = " ".join(searchable(words.split()))
        row = {
            "id": artifact.id, "url": artifact.url, "requested_url": artifact.requested_url,
            "title": artifact.title, "text": text,
            "chars": len(artifact.text), "size": len(text), "media_type": artifact.media_type,
            "language": artifact.language, "cut": int(artifact.cut),
            "fetched_at": artifact.fetched_at, "last_access": now,
            "etag": artifact.etag, "last_modified": artifact.last_modified, "author": artifact.author,
            "published": artifact.published, "modified": artifact.modified, "site": artifact.site,
            "replaces": artifact.replaces, "notes": json.dumps(dict(artifact.notes)),
        }  # fmt: skip
        with self._transaction() as db:
            known = next(db.query("SELECT key FROM artifacts WHERE id = ?", [artifact.id]), None)
            if known:
                renewed = {name: value for name, value in row.items() if name not in _OF_THE_TEXT}
                db.table("artifacts", pk="key").update(known["key"], renewed)
                db.execute("UPDATE words SET stems = ? WHERE rowid = ?", [stems, known["key"]])
                return
            key = db.table("artifacts", pk="key").insert(row).last_pk
            db.table("words").insert({"rowid": key, "stems": stems})
            db.execute("DELETE FROM dropped WHERE id = ?", [artifact.id])
        self.collect()

    def get(self, id: str) -> Artifact:
        now, id = self._clock(), _plain(id)
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

    def part(self, id: str, start: int, end: int) -> Part:
        artifact = self.get(id)
        start = min(max(0, start), len(artifact.text))
        return Part(replace(artifact, text=artifact.text[start : max(start, end)]), start, len(artifact.text))

    def recent(self, url: str, since: float) -> Artifact | None:
        sql = (
            "SELECT * FROM artifacts WHERE requested_url = ? AND fetched_at >= ? AND last_access >= ? "
            "ORDER BY fetched_at DESC LIMIT 1"
        )
        with self._transaction(write=False) as db:
            row = next(db.query(sql, [_plain(url), since, self._clock() - self._ttl]), None)
        return _artifact(row) if row else None

    def renew(self, id: str, fetched_at: float) -> bool:
        now = self._clock()
        with self._transaction() as db:
            sql = "UPDATE artifacts SET fetched_at = ?, last_access = ? WHERE id = ? AND last_access >= ?"
            return bool(db.execute(sql, [fetched_at, now, _plain(id), now - self._ttl]).rowcount)

    def search(self, words: Sequence[Word], limit: int, filters: Filters = NONE) -> tuple[Artifact, ...]:
        now = self._clock()
        with self._transaction(write=False) as db:
            keys = narrowed(db.conn, words, limit, Asked(filters, now, now - self._ttl))
            rows = {row["key"]: row for row in db.query(_OF_KEYS, [json.dumps(keys)])}
        return tuple(_artifact(rows[key]) for key in keys)

    def held(self, words: Sequence[Word]) -> tuple[bool, ...]:
        with self._transaction(write=False) as db:
            return held_by_any(db.conn, words)

    def list(self, limit: int) -> tuple[ArtifactSummary, ...]:
        sql = (
            "SELECT id, url, title, chars, fetched_at, last_access FROM artifacts "
            "WHERE last_access >= ? ORDER BY fetched_at DESC, id LIMIT ?"
        )
        with self._transaction(write=False) as db:
            return tuple(ArtifactSummary(**row) for row in db.query(sql, [self._clock() - self._ttl, limit]))

    def remove(self, id: str) -> bool:
        with self._transaction() as db:
            row = next(db.query("SELECT key FROM artifacts WHERE id = ?", [_plain(id)]), None)
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

    def stats(self) -> StoreStats:
        sql = "SELECT count(*), coalesce(sum(size), 0), min(fetched_at), max(fetched_at) FROM artifacts"
        with self._transaction(write=False) as db:
            count, size, oldest, newest = next(db.execute(sql))
            (gone,) = next(db.execute("SELECT count(*) FROM dropped"))
        return StoreStats("sqlite", count, count, size, size, self._max_bytes, gone, 0, oldest, newest)

    def verify(self) -> Verification:
        with self._transaction(write=False) as db:
            (count,) = next(db.execute("SELECT count(*) FROM artifacts"))
        return Verification(count, ())

    def warning(self) -> str:
        return ""

    def remember(self, keys: Iterable[bytes]) -> None:
        with self._transaction() as db:
            # Replaced, a key gets the highest number: the lowest ones are the longest unseen.
            rows = [(key,) for key in sorted(keys)]
            db.conn.executemany("INSERT OR REPLACE INTO known_urls (key) VALUES (?)", rows)
            db.execute(
                "DELETE FROM known_urls WHERE number <= (SELECT max(number) FROM known_urls) - ?", [MAX_KNOWN_URLS]
            )

    def remembers(self, key: bytes) -> bool:
        with self._transaction(write=False) as db:
            return next(db.query("SELECT 1 FROM known_urls WHERE key = ?", [key]), None) is not None

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        with self._transaction() as db:
            rows = sorted(vectors.items())
            db.conn.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
            db.execute("DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?", [MAX_VECTORS])

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        with self._transaction(write=False) as db:
            for at in range(0, len(keys), _KEYS_AT_ONCE):
                some = list(keys[at : at + _KEYS_AT_ONCE])
                marks = ", ".join("?" * len(some))
                sql = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - question marks
                found |= {bytes(key): bytes(vector) for key, vector in db.execute(sql, some)}
        return found

    def _has_expired(self, db: sqlite_utils.Database, now: float) -> bool:
        oldest = next(db.query("SELECT min(last_access) AS oldest FROM artifacts"))["oldest"]
        return oldest is not None and oldest + self._ttl < now

    @contextmanager
    def _transaction(self, *, write: bool = True) -> Iterator[sqlite_utils.Database]:
        with self._lock, _as_store_error():
            db = self._opened()
            # IMMEDIATE takes the write lock first: a read that turns into a write would fail as busy at once.
            db.conn.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield db
                db.conn.execute("COMMIT")
            finally:
                db.rollback()

    def _opened(self) -> sqlite_utils.Database:
        """The database, opened by the first use and again where its file went away or is another: a disk that
        comes back needs no restart, and nothing is written to a file that has lost its name."""
        file = None
        if self._db is not None:
            with suppress(FileNotFoundError):
                file = self._path.stat().st_ino
            if file != self._file:
                self.close()
        if self._db is None:
            self._db = _open(self._path)
            self._file = self._path.stat().st_ino
        return self._db

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
            self._db = None


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
    with ExitStack() as undo:
        undo.callback(connection.close)
        # Before anything is set: a file that we do not understand is left as it is.
        _check_version(connection)
        connection.execute(f"PRAGMA journal_mode = {'WAL' if sqlite3.sqlite_version_info >= SAFE_WAL else 'DELETE'}")
        # More than FULL: a commit is the removal of the journal, and that too must outlast a power cut.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("BEGIN IMMEDIATE")
        if (version := _check_version(connection)) < SCHEMA_VERSION:
            for statement in ";\n".join(_MIGRATIONS[version:]).split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute(_KNOWN_URLS)
        connection.execute(_VECTORS)
        connection.execute("COMMIT")
        sweep_journal(connection, path)
        undo.pop_all()
    return sqlite_utils.Database(connection, execute_plugins=False)


def _check_version(connection: sqlite3.Connection) -> int:
    version = int(next(connection.execute("PRAGMA user_version"))[0])
    if version > SCHEMA_VERSION:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store was written by a newer Keyhole")
    return version


def _plain(text: str) -> str:
    """Text that SQLite can take: a lone surrogate matches nothing that was stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


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
        etag=row["etag"],
        last_modified=row["last_modified"],
        author=row["author"],
        published=row["published"],
        modified=row["modified"],
        site=row["site"],
        replaces=row["replaces"],
        notes=tuple(json.loads(row["notes"]).items()),
    )


@contextmanager
def _as_store_error() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {type(error).__name__}") from error
