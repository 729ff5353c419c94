"""SQL that forgets artifacts and their traces in the SQLite file. Each function runs within a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from keyhole.records import Artifact
from keyhole.store.base import Traces
from keyhole.store.scope import Scope
from keyhole.store.sqlite import word_index
from keyhole.store.sqlite.rows import drop, find_row


def match(db: Connection, scope: Scope) -> frozenset[str]:
    """Return the ids of the artifacts in a scope, also of expired and damaged ones."""
    rows = db.execute("SELECT id, url, requested_url, fetched_at FROM entries")
    return frozenset(
        str(id)
        for id, url, requested, at in rows
        # A damaged row can have values of other types, which cannot be compared. Only the scope of everything includes
        # it.
        if scope.is_all or (isinstance(at, float) and scope.includes_text((str(url), str(requested)), at))
    )


def remove(db: Connection, ids: Sequence[str]) -> frozenset[str]:
    """Delete artifacts without tombstones; return the ids of those that were stored."""
    keys = {id: row["key"] for id in ids if (row := find_row(db, id)) is not None}
    drop(db, keys.values(), tombstones=False)
    if len(keys) > word_index.MAX_REMOVED and word_index.unknown_share(db) == 1:
        word_index.rebuild(db)  # nothing is left to be indexed
    return frozenset(keys)


def discard(db: Connection, artifact: Artifact) -> None:
    """Delete an artifact without a tombstone, unless it was fetched again."""
    row = find_row(db, artifact.id)
    if row is not None and row["fetched_at"] == artifact.fetched_at:
        drop(db, [row["key"]], tombstones=False)


def remove_traces(db: Connection, scope: Scope) -> Traces:
    """Delete the tombstones in a scope, and all URL keys and vectors; return their numbers."""
    tombstones = db.execute("SELECT number, url FROM tombstones").fetchall()
    dropped = [(number,) for number, url in tombstones if scope.includes_trace(str(url))]
    db.executemany("DELETE FROM tombstones WHERE number = ?", dropped)
    return Traces(len(dropped), *(db.execute(f"DELETE FROM {table}").rowcount for table in ("known_urls", "vectors")))  # noqa: S608


def merge_words(db: Connection) -> None:
    """Merge the search index. Removed words stay in it until it is merged."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")
