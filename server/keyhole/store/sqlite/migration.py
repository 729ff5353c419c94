"""Brings a SQLite file of an older Keyhole up to today's tables, in one transaction. Nothing else of a store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from sqlite_utils import Database

from keyhole.records import Artifact
from keyhole.store.sqlite.rows import entry_of, insert
from keyhole.store.sqlite.space import used_bytes, write_anew

WORDS_OF_TEXT: Final = 0.8
"""Bytes of search terms for each byte of text, measured over 100,000 artifacts in many languages: to count them all
would be to read as much again as the texts."""

SMALL: Final = 64 * 1024 * 1024
"""Bytes. A file of this size is written anew at once, which gives back the room of its uncompressed texts; of a larger
one new artifacts fill that room until somebody collects: it would take as long again as the migration."""
CACHE_KIB: Final = 64 * 1024
"""Pages held in memory meanwhile: each time they are too many SQLite waits for the disk, with its usual 2 MB hundreds
of times."""


def bring_up(
    db: Database,
    released: Sequence[str],
    current: Mapping[str, str],
    checked_version: Callable[[sqlite3.Connection], int],
) -> None:
    """Today's tables, with all that the older ones held. What is interrupted leaves the file as it was."""
    ((usual,),) = db.execute("PRAGMA cache_size")
    db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    db.execute("BEGIN IMMEDIATE")
    try:
        # Again, now that nobody else can: another process may have done it while this one waited.
        version = checked_version(db.conn)
        if version <= len(released):
            for statement in released[version:] if version else ():
                _each(db, statement)
            _create(db, current)
            if version:
                _carry_over(db)
            db.execute(f"PRAGMA user_version = {len(released) + 1}")
        db.execute("COMMIT")
    finally:
        db.rollback()
    if 0 < version <= len(released) and used_bytes(db) < SMALL:
        with suppress(sqlite3.Error):  # the file is whole without this
            write_anew(db)
    db.execute(f"PRAGMA cache_size = {usual}")


def _each(db: Database, script: str) -> None:
    for statement in script.split(";\n"):
        db.execute(statement)


def _create(db: Database, current: Mapping[str, str]) -> None:
    # Some older files have the tables of URLs and vectors, and all have the one of words.
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    for name, statement in current.items():
        if name not in there:
            db.execute(statement)


def _carry_over(db: Database) -> None:
    keys = db.execute("SELECT key FROM artifacts ORDER BY last_access, key")
    turns = {key: turn for turn, (key,) in enumerate(keys, start=1)}
    for row in db.query("SELECT * FROM artifacts ORDER BY key"):
        entry = entry_of(older_artifact(row), int(row["size"] * WORDS_OF_TEXT))
        insert(db, entry, row["key"], turns[row["key"]], row["last_access"])
    db.execute("INSERT INTO tombstones (id, url) SELECT id, url FROM dropped ORDER BY dropped_at")
    db.execute("DROP TABLE artifacts")
    db.execute("DROP TABLE dropped")


def older_artifact(row: dict[str, Any]) -> Artifact:
    """An artifact of the schemas 1 to 3, the first of which know less of it."""
    names = ("id", "url", "requested_url", "title", "media_type", "language", "fetched_at")
    later = ("etag", "last_modified", "author", "published", "modified", "site", "replaces")
    return Artifact(
        **{name: row[name] for name in names},
        **{name: row.get(name, "") for name in later},
        text=bytes(row["text"]).decode("utf-8", "surrogatepass"),
        cut=bool(row["cut"]),
        notes=tuple(json.loads(row.get("notes", "{}")).items()),
    )
