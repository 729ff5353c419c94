"""SQL for the words of artifacts in the SQLite file: an FTS5 index with positions and without the words themselves.

The index has the words of a title and those of a text as two columns, which bm25() weighs. It keeps no copy of the
words. So to remove an artifact's words, they are made again from its title and the indexed ranges of its text. Where
that is impossible, because the text is damaged or words are now made in another way, they stay in the index without an
artifact, and a search finds nothing by them. `rebuild` removes them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from sqlite3 import Connection, Row
from typing import Final

from keyhole.store.base import Span
from keyhole.store.sqlite import texts
from keyhole.store.term_lookup import make_words, select_indexable, split_words

VERSION: Final = 3
"""The version of the words that `index_terms` in passages/stems.py makes. An index of another version is rebuilt."""
MADE_PER_TRANSACTION: Final = 50
"""Artifacts whose words are made in one transaction, in about half a second."""
MAX_REMOVED: Final = 100
"""Artifacts whose words are removed in one transaction, in about a second, during which no other process can write."""
UNKNOWN_SHARE: Final = 0.1
"""`collect` rebuilds the index if more than this share of it belongs to no artifact."""

_ROW: Final = (
    "SELECT entries.key, title, indexed, terms, content, digest, chunk_chars FROM entries "
    "JOIN contents ON contents.key = content WHERE "
)
_MISSING: Final = f"{_ROW} indexed IS NOT NULL AND terms IS NULL AND NOT entries.damaged LIMIT ?"
"""The artifacts whose words are not in the index but should be."""


def encode_spans(spans: Iterable[Span] | None) -> str | None:
    """Encode the indexed ranges of a text for the database; None for no range."""
    return None if spans is None else json.dumps([list(span) for span in spans])


def decode_spans(indexed: str | None) -> Sequence[Span] | None:
    """Decode the indexed ranges of a text; None for no range."""
    return None if indexed is None else [(int(start), int(end)) for start, end in json.loads(indexed)]


def checksum(words: str) -> int:
    """Return the checksum of an artifact's words."""
    return zlib.crc32(words.encode("utf-8", "replace"))


def add(db: Connection, key: int, words: str) -> None:
    """Index the words of an artifact without indexed words. `words`: as in `Store.put`."""
    db.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", [key, *_columns(words)])
    db.execute("UPDATE entries SET terms = ? WHERE key = ?", [checksum(words), key])


def remove(db: Connection, key: int) -> bool:
    """Remove the words of an artifact. Return False if they are not known, so that they stay in the index."""
    row = next(iter(db.execute(f"{_ROW} entries.key = ?", [key])), None)
    if row is None or row["terms"] is None:
        return True
    words = _make_words(db, row)
    if words is None or checksum(words) != row["terms"]:
        return False
    db.execute("INSERT INTO words (words, rowid, title, body) VALUES ('delete', ?, ?, ?)", [key, *_columns(words)])
    db.execute("UPDATE entries SET terms = NULL WHERE key = ?", [key])
    return True


def make_missing(db: Connection, count: int = MADE_PER_TRANSACTION) -> int:
    """Index up to `count` artifacts whose words are not in the index but should be; return their number."""
    rows = list(db.execute(_MISSING, [count]))
    for row in rows:
        words = _make_words(db, row)
        if words is None:
            db.execute("UPDATE entries SET indexed = NULL WHERE key = ?", [row["key"]])
        else:
            add(db, row["key"], words)
    return len(rows)


def has_missing(db: Connection) -> bool:
    """Return whether `make_missing` has something to do."""
    return next(iter(db.execute(_MISSING, [1])), None) is not None


def unknown_share(db: Connection) -> float:
    """Return the share of the index whose words belong to no artifact."""
    known = "SELECT key FROM entries WHERE terms IS NOT NULL"
    sql = f"SELECT count(*), coalesce(sum(id NOT IN ({known})), 0) FROM words_docsize"  # noqa: S608 - constant
    ((count, unknown),) = db.execute(sql)
    return float(unknown / count) if count else 0.0


def rebuild(db: Connection) -> None:
    """Empty the index, so that `make_missing` makes it anew."""
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    db.execute("UPDATE entries SET terms = NULL WHERE terms IS NOT NULL")


def _columns(words: str) -> tuple[str, str]:
    """Return the words of the title and those of the text, without words that the index cannot hold."""
    title, body = split_words(words.encode("utf-8", "replace").decode())
    return " ".join(select_indexable(title)), " ".join(select_indexable(body))


def _make_words(db: Connection, row: Row) -> str | None:
    """Return the words of a row, None if its text is damaged."""
    content = texts.Content(row["content"], row["digest"], row["chunk_chars"])
    pieces = [texts.read_range(db, content, *span) for span in decode_spans(row["indexed"]) or ()]
    known = [piece for piece in pieces if piece is not None]
    return make_words(row["title"], known) if len(known) == len(pieces) else None
