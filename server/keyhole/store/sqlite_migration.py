"""Brings a SQLite file of an older Keyhole up to today's tables, in one transaction. Nothing else of a store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlite_utils import Database

from keyhole.records import Artifact
from keyhole.store.sqlite_rows import entry_of, insert


def bring_up(
    db: Database,
    released: Sequence[str],
    current: Mapping[str, str],
    checked_version: Callable[[sqlite3.Connection], int],
) -> None:
    """Today's tables, with all that the older ones held. What is interrupted leaves the file as it was."""
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
    if 0 < version <= len(released):
        # Gives the room of the uncompressed texts back, and lets the file give room back from now on. It is whole
        # without this: where the disk has no room for it or somebody reads, new artifacts fill the free pages.
        with suppress(sqlite3.Error):
            db.execute("VACUUM")


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
        ((words,),) = db.execute("SELECT coalesce(max(length(stems)), 0) FROM words WHERE rowid = ?", [row["key"]])
        insert(db, entry_of(older_artifact(row), words), row["key"], turns[row["key"]], row["last_access"])
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
