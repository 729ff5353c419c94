"""SQL for the rows of the SQLite file: artifacts, tombstones, URL keys and vectors.

Each function runs within a transaction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from sqlite3 import Connection, Row
from typing import Any, Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.records import UNDIGESTED, Artifact, ArtifactPart, ArtifactSummary, Place
from keyhole.store.base import MAX_SEARCHED_CHARS, PINNED_SHARE, TOO_MUCH_PINNED, Limits, Span, Traces, main_span
from keyhole.store.chunks import PackedText, pack
from keyhole.store.filters import Scope
from keyhole.store.sqlite import texts, word_index
from keyhole.text.output_facts import is_output

T = TypeVar("T")

VERIFIED_PER_TRANSACTION: Final = 64
"""Artifacts verified in one transaction, during which no other process can write."""
MAX_TOMBSTONES: Final = 10_000
"""Dropped ids stored with their URL, so that an agent learns which page to fetch again."""
ROW_BYTES: Final = 2_048
"""Approximate bytes of an artifact beside its text and words: its row, six index entries, half a page."""
BYTES_PER_WORD_CHARACTER: Final = 0.6
"""Approximate bytes of the index for a character of the words of an artifact."""

_UNDIGESTED_NOTE: Final = json.dumps({"notice": UNDIGESTED})[1:-1]
"""The note of an undigested text as part of the column. Quotes in other notes are escaped, so that none contains it."""

LIVE: Final = "(last_access >= ? OR pinned) AND NOT damaged"
"""The condition for artifacts that are neither expired nor damaged. Its parameter is a time: artifacts last read before
it have expired."""

_TEXT_COLUMNS: Final = {
    each.name: each.name.removesuffix("_header")
    for each in fields(Artifact)
    if each.name not in {"id", "text", "fetched_at", "cut", "notes", "main_end"}
}
"""The column of each of the artifact's fields of text."""
_BY_ID: Final = (
    "SELECT entries.*, digest, chunk_chars FROM entries LEFT JOIN contents ON contents.key = content WHERE id = ?"
)
_BY_KEYS: Final = (
    "SELECT entries.*, digest, chunk_chars FROM json_each(?) AS wanted "
    "CROSS JOIN entries ON entries.key = wanted.value LEFT JOIN contents ON contents.key = content"
)


@dataclass(frozen=True, slots=True)
class EncodedArtifact:
    """An artifact encoded as columns and a compressed text."""

    columns: Mapping[str, Any]
    packed: PackedText


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A row and its decoded artifact or part. `artifact` is None if the row or its text is damaged."""

    row: Row
    artifact: Artifact | None = None
    part: ArtifactPart | None = None

    @property
    def is_damaged(self) -> bool:
        """True if the row or its text does not match its checksum."""
        return self.artifact is None


def make_entry(
    artifact: Artifact, words: str, packed: PackedText | None = None, indexed: Sequence[Span] | None = None
) -> EncodedArtifact:
    """Encode an artifact. `packed`: its compressed text, None to compress it here. `words` and `indexed`: as in
    `Store.put`."""
    packed = packed or pack(artifact.text, texts.CHUNK_CHARS)
    columns: dict[str, Any] = {column: to_storable(getattr(artifact, name)) for name, column in _TEXT_COLUMNS.items()}
    columns |= {"id": to_storable(artifact.id), "fetched_at": artifact.fetched_at, "cut": int(artifact.cut)}
    columns |= {"notes": json.dumps(dict(artifact.notes)), "chars": packed.chars, "bytes": packed.size}
    columns |= {"size": packed.stored_bytes + int(len(words) * BYTES_PER_WORD_CHARACTER) + ROW_BYTES}
    spans = main_span(artifact, words) if indexed is None else indexed
    columns |= {"main_end": artifact.main_end, "indexed": word_index.encode_spans(spans)}
    return EncodedArtifact({**columns, "checksum": _checksum(columns, packed.digest)}, packed)


def to_storable(text: str) -> str:
    """Replace lone surrogates, which SQLite cannot store, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def put(db: Connection, entry: EncodedArtifact, words: str, now: float) -> int:
    """Insert an artifact or update the artifact with its id; return its key. `words`: see word_index.add."""
    id, turn = entry.columns["id"], next_turn(db)
    existing = next(iter(db.execute("SELECT key, content, terms FROM entries WHERE id = ?", [id])), None)
    if existing is None:
        key, terms = insert(db, entry, None, turn, now), None
        db.execute("DELETE FROM tombstones WHERE id = ?", [id])
    else:
        key, old_content, terms = existing
        if terms is not None and terms != word_index.checksum(words):
            key, terms = _without_words(db, key), None
        content = texts.store_text(db, entry.packed)
        new = {**entry.columns, "content": content, "turn": turn, "last_access": now, "damaged": 0}
        db.execute(f"UPDATE entries SET {', '.join(f'{name} = ?' for name in new)} WHERE key = ?", [*new.values(), key])  # noqa: S608 - columns
        if content != old_content:
            _delete_if_unused(db, old_content)
    if words and terms is None:
        word_index.add(db, key, words)
    return int(key)


def _without_words(db: Connection, key: int) -> int:
    """Remove the words of an artifact from the index; return its key, or a new key if its words stay there."""
    if word_index.remove(db, key):
        return key
    ((latest,),) = db.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'entries'")
    db.execute("UPDATE entries SET key = ?, terms = NULL WHERE key = ?", [latest + 1, key])
    db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'entries'", [latest + 1])
    return int(latest) + 1


def drop_replaced(db: Connection, key: int, requested_url: str) -> None:
    """Drop the undigested texts that the artifact `key` replaces."""
    sql = "SELECT key FROM entries WHERE requested_url = ? AND key <> ? AND NOT pinned AND notes LIKE ?"
    keys = [other for (other,) in db.execute(sql, [requested_url, key, f"%{_UNDIGESTED_NOTE}%"])]
    drop(db, keys, tombstones=True)


def insert(db: Connection, entry: EncodedArtifact, key: int | None, turn: int, last_access: float) -> int:
    """Insert a row with its text under `key`, or under the next key for None; return the key."""
    content = texts.store_text(db, entry.packed)
    row = {"key": key, "content": content, "turn": turn, "last_access": last_access, **entry.columns}
    sql = f"INSERT INTO entries ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"  # noqa: S608 - columns
    return int(db.execute(sql, list(row.values())).lastrowid or 0)


def next_turn(db: Connection) -> int:
    """Return the number of the next access: one more than the latest."""
    ((latest,),) = db.execute("SELECT coalesce(max(turn), 0) FROM entries")
    return int(latest) + 1


def find_row(db: Connection, id: str) -> Row | None:
    """Return the row of an id, or None."""
    return next(iter(db.execute(_BY_ID, [to_storable(id)])), None)


def find_tombstone(db: Connection, id: str) -> str | None:
    """Return the URL of a dropped artifact, or None."""
    return next((url for (url,) in db.execute("SELECT url FROM tombstones WHERE id = ?", [to_storable(id)])), None)


def read_many(db: Connection, keys: Sequence[int]) -> list[ReadResult]:
    """Read the artifacts with these keys, in order, without unknown keys."""
    return [read_artifact(db, row) for row in _find_rows(db, keys)]


def read_next(db: Connection, after: int) -> tuple[list[int], list[ReadResult]]:
    """Read the artifacts with the next keys after the key `after`; return the keys too."""
    sql = "SELECT key FROM entries WHERE key > ? ORDER BY key LIMIT ?"
    keys = [key for (key,) in db.execute(sql, [after, VERIFIED_PER_TRANSACTION])]
    return keys, read_many(db, keys)


def require(value: T | None) -> T:
    """Return a part of a ReadResult. Raises KeyholeError (damaged_artifact) for None."""
    if value is None:
        raise KeyholeError(Code.DAMAGED_ARTIFACT, "the stored text does not match its checksum")
    return value


def read_found(db: Connection, keys: Sequence[int]) -> list[ReadResult]:
    """Read the artifacts that a search found, of a longer output only the first `MAX_SEARCHED_CHARS` characters."""
    return [
        read_part(db, row, 0, MAX_SEARCHED_CHARS) if is_output(str(row["url"])) else read_artifact(db, row)
        for row in _find_rows(db, keys)
    ]


def _find_rows(db: Connection, keys: Sequence[int]) -> list[Row]:
    rows = {row["key"]: row for row in db.execute(_BY_KEYS, [json.dumps(list(keys))])}
    return [rows[key] for key in keys if key in rows]


def read_artifact(db: Connection, row: Row) -> ReadResult:
    """Read the artifact of a row with its whole text."""
    content = _locate_content(row)
    text = None if content is None else texts.read_text(db, content)
    return ReadResult(row) if text is None or len(text) != row["chars"] else ReadResult(row, _decode(row, text))


def read_part(db: Connection, row: Row, start: int, end: int) -> ReadResult:
    """Read the artifact of a row with the characters `[start, end)` of its text, clamped to its length."""
    content = _locate_content(row)
    if content is None:
        return ReadResult(row)
    total = int(row["chars"])
    start = min(max(0, start), total)
    text = texts.read_range(db, content, start, min(max(start, end), total))
    if text is None:
        return ReadResult(row)
    artifact = _decode(row, text)
    return ReadResult(row, artifact, ArtifactPart(artifact, start, total))


def list_summaries(
    db: Connection, accessed_since: float, limit: int, after: Place | None
) -> tuple[ArtifactSummary, ...]:
    """Return summaries of artifacts read since `accessed_since`, newest fetch first.

    Rows with values of other types, as in a damaged file, are skipped.
    """
    types = (str, str, str, int, float, float, int, str, int)
    names = ("id", "url", "title", "chars", "fetched_at", "last_access", "bytes", "notes", "pinned")
    after_sql = "AND fetched_at <= ? AND (fetched_at < ? OR id > ?)" if after else ""
    sql = (
        f"SELECT {', '.join(names)} FROM entries WHERE {LIVE} {after_sql} "  # noqa: S608 - constants
        "ORDER BY fetched_at DESC, id LIMIT ?"
    )
    after_values = [after[0], after[0], to_storable(after[1])] if after else []
    rows = ([row[name] for name in names] for row in db.execute(sql, [accessed_since, *after_values, limit]))
    return tuple(
        ArtifactSummary(*(*row[:-2], _decode_notes(row[-2]), bool(row[-1])))
        for row in rows
        if all(isinstance(value, expected) for value, expected in zip(row, types, strict=True))
    )


def _decode_notes(notes: str) -> tuple[tuple[str, str], ...]:
    """Return the notes of a row, empty if the file was tampered with."""
    try:
        return tuple((str(name), str(value)) for name, value in json.loads(notes).items())
    except (ValueError, AttributeError):
        return ()


def touch(db: Connection, key: int, now: float) -> None:
    """Update the last access of an artifact."""
    db.execute("UPDATE entries SET last_access = ?, turn = ? WHERE key = ?", [now, next_turn(db), key])


def pin(db: Connection, id: str, pinned: bool, now: float, limits: Limits) -> bool:
    """Pin or unpin an artifact; return False for an unknown id."""
    row = find_row(db, id)
    if row is None or is_expired(row, now - limits.ttl):
        return False
    if pinned and not row["pinned"]:
        ((size,),) = db.execute("SELECT coalesce(sum(size), 0) FROM entries WHERE pinned")
        if size + row["size"] > limits.max_bytes * PINNED_SHARE:
            raise KeyholeError(Code.INVALID_ARGUMENT, TOO_MUCH_PINNED)
    db.execute("UPDATE entries SET pinned = ? WHERE key = ?", [int(pinned), row["key"]])
    touch(db, row["key"], now)
    return True


def is_expired(row: Row, expired_before: float) -> bool:
    """Return whether an artifact is not pinned and was last read before a time."""
    return isinstance(row["last_access"], float) and row["last_access"] < expired_before and not row["pinned"]


def mark_damaged(db: Connection, key: int) -> None:
    """Mark an artifact as damaged, with all that share its text, unless it was put again meanwhile.

    Damaged artifacts stay in the file, but are excluded from searches and lists until their page is put again.
    """
    results = read_many(db, [key])
    if not results or not results[0].is_damaged:
        return
    row = results[0].row
    # The next put of this text writes it again.
    db.execute("UPDATE contents SET damaged = 1 WHERE key = ?", [row["content"]])
    keys = [row["key"]]
    if _is_intact(row):  # then the damage is in the shared text
        keys = [key for (key,) in db.execute("SELECT key FROM entries WHERE content = ?", [row["content"]])]
    for key in keys:
        db.execute("UPDATE entries SET damaged = 1 WHERE key = ?", [key])


def damaged_error(row: Row) -> KeyholeError:
    """Return the error for reading a damaged artifact."""
    return KeyholeError(Code.DAMAGED_ARTIFACT, "the stored text does not match its checksum", url=str(row["url"]))


def drop(db: Connection, keys: Collection[int], *, tombstones: bool) -> int:
    """Delete artifacts with their unshared texts, and their words if they are few; return the number deleted.

    The words of many stay in the index without an artifact; see word_index.py.
    """
    dropped = 0
    for key in keys:
        for id, url, content in db.execute("SELECT id, url, content FROM entries WHERE key = ?", [key]).fetchall():
            if tombstones:
                db.execute("INSERT OR REPLACE INTO tombstones (id, url) VALUES (?, ?)", [id, url])
            if len(keys) <= word_index.MAX_REMOVED:
                word_index.remove(db, key)
            db.execute("DELETE FROM entries WHERE key = ?", [key])
            _delete_if_unused(db, content)
            dropped += 1
    if dropped and tombstones:
        oldest = "(SELECT max(number) FROM tombstones) - ?"
        db.execute(f"DELETE FROM tombstones WHERE number <= {oldest}", [MAX_TOMBSTONES])  # noqa: S608 - constant
    return dropped


def _delete_if_unused(db: Connection, content: int) -> None:
    if next(iter(db.execute("SELECT 1 FROM entries WHERE content = ? LIMIT 1", [content])), None) is None:
        texts.delete_text(db, content)


def _locate_content(row: Row) -> texts.Content | None:
    """Return the reference to a row's text, or None if the row or its text is known to be damaged."""
    chunk_chars = row["chunk_chars"]
    if row["damaged"] or not _is_intact(row) or not isinstance(chunk_chars, int):
        return None
    return texts.Content(row["content"], row["digest"], chunk_chars) if 0 < chunk_chars <= texts.MAX_CHUNK else None


def _is_intact(row: Row) -> bool:
    """Return whether a row matches its checksum."""
    types = {"digest": bytes, "content": int, "fetched_at": float, "last_access": float}
    has_types = all(isinstance(row[name], expected) for name, expected in types.items())
    return has_types and row["checksum"] == _checksum(row, row["digest"]) and _has_main_end(row)


def _has_main_end(row: Row) -> bool:
    """Return whether the end of the main part is a place in the text, or absent."""
    main_end = row["main_end"]
    return main_end is None or (isinstance(main_end, int) and 0 <= main_end <= row["chars"])


def _checksum(row: Row | Mapping[str, Any], digest: bytes) -> bytes:
    """Return the checksum of a row's fields and its text's digest.

    Times are excluded, because they change; the end of the main part, because an older Keyhole does not know it.
    """
    values = [row[name] for name in (*_TEXT_COLUMNS.values(), "id", "cut", "notes", "chars")]
    encoded = json.dumps(values, default=repr).encode()
    return hashlib.blake2b(encoded, digest_size=texts.CHECKSUM_BYTES, key=digest).digest()


def _decode(row: Row, text: str) -> Artifact:
    return Artifact(
        **{name: row[column] for name, column in _TEXT_COLUMNS.items()},
        id=row["id"],
        text=text,
        fetched_at=row["fetched_at"],
        cut=bool(row["cut"]),
        notes=tuple(json.loads(row["notes"]).items()),
        main_end=row["main_end"],
    )


# Forgetting: artifacts and their traces are deleted.


def match(db: Connection, scope: Scope) -> frozenset[str]:
    """Return the ids of the artifacts in a scope, including expired and damaged artifacts."""
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


# Keys: known URLs and passage vectors.

KEY_BYTES: Final = 80
"""Approximate bytes of a key: the key and its number, and both again in the index."""
KNOWN_SHARE: Final = 1 / 10
"""Share of the store's size limit for URL keys."""
VECTORS_SHARE: Final = 1 / 4
"""Share of the store's size limit for vectors."""
_KEYS_PER_STATEMENT: Final = 500
"""Parameters of one statement; the lowest limit of any SQLite in use is 999."""


def remember(db: Connection, keys: Iterable[bytes], max_count: int, max_bytes: int) -> None:
    """Store URL keys, and drop the least recently seen beyond `max_count` or beyond their share of `max_bytes`."""
    # REPLACE gives a key the highest number, so the lowest numbers are the least recently seen keys.
    db.executemany("INSERT OR REPLACE INTO known_urls (key) VALUES (?)", [(key,) for key in sorted(keys)])
    max_count = min(max_count, int(max_bytes * KNOWN_SHARE / KEY_BYTES))
    db.execute("DELETE FROM known_urls WHERE number <= (SELECT max(number) FROM known_urls) - ?", [max_count])


def remembers(db: Connection, key: bytes) -> bool:
    """Return whether a URL key is stored."""
    return next(iter(db.execute("SELECT 1 FROM known_urls WHERE key = ?", [key])), None) is not None


def keep_vectors(db: Connection, vectors: Mapping[bytes, bytes], max_count: int, max_bytes: int) -> None:
    """Store vectors, and drop the oldest beyond `max_count` or beyond their share of `max_bytes`."""
    # All vectors are of one model, so all are as long as the new vectors.
    rows = sorted(vectors.items())
    db.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
    longest = KEY_BYTES + max((len(vector) for vector in vectors.values()), default=0)
    max_count = min(max_count, int(max_bytes * VECTORS_SHARE / longest))
    db.execute("DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?", [max_count])


def vectors(db: Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the stored vectors for `keys`."""
    result: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _KEYS_PER_STATEMENT):
        batch = list(keys[start : start + _KEYS_PER_STATEMENT])
        placeholders = ", ".join("?" * len(batch))
        sql = f"SELECT key, vector FROM vectors WHERE key IN ({placeholders})"  # noqa: S608 - question marks
        result |= {bytes(key): bytes(vector) for key, vector in db.execute(sql, batch)}
    return result
