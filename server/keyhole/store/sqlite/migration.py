"""Migrate a SQLite file of an older version to the current schema, in one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from sqlite_utils import Database

from keyhole.records import Artifact
from keyhole.store.sqlite.rows import insert, make_entry
from keyhole.store.sqlite.space import used_bytes, vacuum_file

WORDS_PER_TEXT_BYTE: Final = 0.8
"""Bytes of search terms for each byte of text, measured over 100,000 artifacts in many languages. To count them, the
migration would read twice as much."""
VACUUM_BELOW: Final = 64 * 1024 * 1024
"""Bytes. A smaller file is vacuumed at once, which releases the space of its uncompressed texts. In a larger file, new
artifacts fill that space until the next `collect`, because a vacuum takes as long as the migration."""
CACHE_KIB: Final = 64 * 1024
"""Page cache during the migration. With the default of 2 MB SQLite waits for the disk hundreds of times."""


def migrate(
    db: Database,
    schemas: tuple[Sequence[str], Mapping[str, str], Sequence[str]],
    read_version: Callable[[sqlite3.Connection], int],
) -> None:
    """Create the current tables with everything the older tables contain. An interrupted migration changes nothing.

    `schemas`: the SQL of each version with older tables; the SQL of each current table and index by name; the SQL of
    each version that added columns to the current tables.
    """
    older, current, added = schemas
    ((cache_size,),) = db.execute("PRAGMA cache_size")
    db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    db.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have migrated the file meanwhile.
        version = read_version(db.conn)
        if version > len(older):
            for script in added[version - len(older) - 1 :]:
                for statement in script.split(";\n"):
                    db.execute(statement)
        else:
            for script in older[version:] if version else ():
                for statement in script.split(";\n"):
                    db.execute(statement)
            _create_missing(db, current)
            if version:
                _copy_artifacts(db)
        db.execute(f"PRAGMA user_version = {len(older) + 1 + len(added)}")
        db.execute("COMMIT")
    finally:
        db.rollback()
    if 0 < version <= len(older) and used_bytes(db) < VACUUM_BELOW:
        with suppress(sqlite3.Error):  # the file is valid without the vacuum
            vacuum_file(db)
    db.execute(f"PRAGMA cache_size = {cache_size}")


def _create_missing(db: Database, current: Mapping[str, str]) -> None:
    # Older files contain the table of words, and some contain those of URLs and vectors.
    existing = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    for name, statement in current.items():
        if name not in existing:
            db.execute(statement)


def _copy_artifacts(db: Database) -> None:
    keys = db.execute("SELECT key FROM artifacts ORDER BY last_access, key")
    turns = {key: turn for turn, (key,) in enumerate(keys, start=1)}
    for row in db.query("SELECT * FROM artifacts ORDER BY key"):
        entry = make_entry(decode_older_row(row), int(row["size"] * WORDS_PER_TEXT_BYTE))
        insert(db, entry, row["key"], turns[row["key"]], row["last_access"])
    db.execute("INSERT INTO tombstones (id, url) SELECT id, url FROM dropped ORDER BY dropped_at")
    db.execute("DROP TABLE artifacts")
    db.execute("DROP TABLE dropped")


def decode_older_row(row: dict[str, Any]) -> Artifact:
    """Return the artifact of a row of schema version 1, 2 or 3. Version 1 has fewer columns."""
    names = ("id", "url", "requested_url", "title", "media_type", "language", "fetched_at")
    later_names = ("etag", "last_modified", "author", "published", "modified", "site", "replaces")
    return Artifact(
        **{name: row[name] for name in names},
        **{name: row.get(name, "") for name in later_names},
        text=bytes(row["text"]).decode("utf-8", "surrogatepass"),
        cut=bool(row["cut"]),
        notes=tuple(json.loads(row.get("notes", "{}")).items()),
    )
