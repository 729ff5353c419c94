"""Artifacts as rows of the SQLite file: made, read, checked, set aside, dropped, each within a transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from sqlite_utils import Database

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactSummary, Part, Place
from keyhole.store.chunks import Packed, pack
from keyhole.store.sqlite.texts import CHECKSUM_BYTES, CHUNK_CHARS, MAX_CHUNK, Content, free, keep, stretch, whole

MAX_TOMBSTONES: Final = 10_000
"""Dropped ids remembered with their URL, so that an agent learns what to fetch again."""
ROW_BYTES: Final = 2_048
"""About what an artifact takes beside its text and its words: its row, its places in six indexes, half a page."""
WORDS_SHARE: Final = 1.3
"""About what a byte of search terms takes: itself, and its part of the index without positions."""

_TOLD: Final = tuple(
    each.name for each in fields(Artifact) if each.name not in {"id", "text", "fetched_at", "cut", "notes"}
)
"""Columns of text that are the artifact's fields of the same names."""
_BY_ID: Final = (
    "SELECT entries.*, digest, chunk_chars FROM entries LEFT JOIN contents ON contents.key = content WHERE id = ?"
)
_BY_KEYS: Final = (
    "SELECT entries.*, digest, chunk_chars FROM json_each(?) AS wanted "
    "CROSS JOIN entries ON entries.key = wanted.value LEFT JOIN contents ON contents.key = content"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An artifact ready to be kept."""

    columns: Mapping[str, Any]
    packed: Packed


@dataclass(frozen=True, slots=True)
class Found:
    """What was read of an artifact; neither of the two where it is no longer what was kept."""

    row: Mapping[str, Any]
    artifact: Artifact | None = None
    part: Part | None = None

    @property
    def damaged(self) -> bool:
        """Whether what is stored is not what was kept."""
        return self.artifact is None


def entry_of(artifact: Artifact, words: int) -> Entry:
    """An artifact as a row and a compressed text; `words`: bytes of its search terms."""
    packed = pack(artifact.text, CHUNK_CHARS)
    columns: dict[str, Any] = {name: plain(getattr(artifact, name)) for name in _TOLD}
    columns |= {"id": plain(artifact.id), "fetched_at": artifact.fetched_at, "cut": int(artifact.cut)}
    columns |= {"notes": json.dumps(dict(artifact.notes)), "chars": packed.chars, "bytes": packed.size}
    columns |= {"size": packed.stored + int(words * WORDS_SHARE) + ROW_BYTES}
    return Entry({**columns, "checksum": _checksum(columns, packed.digest)}, packed)


def plain(text: str) -> str:
    """Text that SQLite can take: a lone surrogate matches nothing that was stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


def put(db: Database, entry: Entry, stems: str, now: float) -> int:
    """Keep an artifact, or renew the one with its id; its key."""
    id, turn = entry.columns["id"], next_turn(db)
    known = next(iter(db.execute("SELECT key, content FROM entries WHERE id = ?", [id])), None)
    if known is None:
        key = insert(db, entry, None, turn, now)
        db.execute("DELETE FROM tombstones WHERE id = ?", [id])
    else:
        key = known[0]
        content = keep(db, entry.packed)
        new = {**entry.columns, "content": content, "turn": turn, "last_access": now, "damaged": 0}
        db.execute(f"UPDATE entries SET {', '.join(f'{name} = ?' for name in new)} WHERE key = ?", [*new.values(), key])  # noqa: S608 - columns
        if content != known[1]:
            _free_unused(db, known[1])
    db.execute("INSERT OR REPLACE INTO words (rowid, stems) VALUES (?, ?)", [key, stems])
    return int(key)


def insert(db: Database, entry: Entry, key: int | None, turn: int, last_access: float) -> int:
    """A new row with its text, under a key or the next one; its key."""
    content = keep(db, entry.packed)
    row = {"key": key, "content": content, "turn": turn, "last_access": last_access, **entry.columns}
    sql = f"INSERT INTO entries ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"  # noqa: S608 - columns
    return int(db.execute(sql, list(row.values())).lastrowid or 0)


def next_turn(db: Database) -> int:
    """One more than the turn of the latest access."""
    ((latest,),) = db.execute("SELECT coalesce(max(turn), 0) FROM entries")
    return int(latest) + 1


def by_id(db: Database, id: str) -> Mapping[str, Any] | None:
    """The row of an id."""
    return next(iter(db.query(_BY_ID, [plain(id)])), None)


def tombstone(db: Database, id: str) -> str | None:
    """The URL of an artifact that was dropped."""
    return next((url for (url,) in db.execute("SELECT url FROM tombstones WHERE id = ?", [plain(id)])), None)


def by_keys(db: Database, keys: Sequence[int]) -> list[Found]:
    """The artifacts of keys, in their order."""
    rows = {row["key"]: row for row in db.query(_BY_KEYS, [json.dumps(list(keys))])}
    return [read(db, rows[key]) for key in keys if key in rows]


def read(db: Database, row: Mapping[str, Any]) -> Found:
    """The artifact of a row."""
    content = _sound_content(row)
    text = None if content is None else whole(db, content)
    return Found(row) if text is None or len(text) != row["chars"] else Found(row, _artifact(row, text))


def read_part(db: Database, row: Mapping[str, Any], start: int, end: int) -> Found:
    """A stretch of a row's artifact."""
    content = _sound_content(row)
    if content is None:
        return Found(row)
    total = int(row["chars"])
    start = min(max(0, start), total)
    text = stretch(db, content, start, min(max(start, end), total))
    if text is None:
        return Found(row)
    artifact = _artifact(row, text)
    return Found(row, artifact, Part(artifact, start, total))


def listed(db: Database, accessed: float, limit: int, after: Place | None) -> tuple[ArtifactSummary, ...]:
    """Lines of a listing, of what was read since `accessed`. A row that holds other types than were written is passed
    over."""
    kinds = (str, str, str, int, float, float, int)
    names = ("id", "url", "title", "chars", "fetched_at", "last_access", "bytes")
    behind = "AND fetched_at <= ? AND (fetched_at < ? OR id > ?)" if after else ""
    sql = (
        f"SELECT {', '.join(names)} FROM entries WHERE last_access >= ? AND NOT damaged {behind} "  # noqa: S608 - ours
        "ORDER BY fetched_at DESC, id LIMIT ?"
    )
    at = [after[0], after[0], plain(after[1])] if after else []
    values = ([row[name] for name in names] for row in db.query(sql, [accessed, *at, limit]))
    return tuple(
        ArtifactSummary(*each)
        for each in values
        if all(isinstance(value, kind) for value, kind in zip(each, kinds, strict=True))
    )


def touch(db: Database, key: int, now: float) -> None:
    """Note that an artifact was read."""
    db.execute("UPDATE entries SET last_access = ?, turn = ? WHERE key = ?", [now, next_turn(db), key])


def set_aside(db: Database, key: int) -> None:
    """Mark an artifact as damaged, with all that share its text: it stays in the file and is in no search and no list
    until the page is put again. One that somebody has put again meanwhile is left alone."""
    found = by_keys(db, [key])
    if not found or not found[0].damaged:
        return
    row = found[0].row
    # The text is written anew then. Where the row is what was written, it is the text that is not.
    db.execute("UPDATE contents SET damaged = 1 WHERE key = ?", [row["content"]])
    keys = [row["key"]]
    if _intact(row):
        keys = [key for (key,) in db.execute("SELECT key FROM entries WHERE content = ?", [row["content"]])]
    for key in keys:
        db.execute("UPDATE entries SET damaged = 1 WHERE key = ?", [key])
        db.execute("DELETE FROM words WHERE rowid = ?", [key])


def damage(row: Mapping[str, Any]) -> KeyholeError:
    """What a call for a damaged artifact is told."""
    return KeyholeError(Code.DAMAGED_ARTIFACT, "the stored text is no longer what was kept", url=str(row["url"]))


def drop(db: Database, keys: Iterable[int], *, tombstones: bool) -> int:
    """Drop artifacts with their words, and their texts where nobody else has them; how many were there."""
    dropped = 0
    for key in keys:
        for id, url, content in db.execute("SELECT id, url, content FROM entries WHERE key = ?", [key]).fetchall():
            if tombstones:
                db.execute("INSERT OR REPLACE INTO tombstones (id, url) VALUES (?, ?)", [id, url])
            db.execute("DELETE FROM entries WHERE key = ?", [key])
            db.execute("DELETE FROM words WHERE rowid = ?", [key])
            _free_unused(db, content)
            dropped += 1
    if dropped and tombstones:
        oldest = "(SELECT max(number) FROM tombstones) - ?"
        db.execute(f"DELETE FROM tombstones WHERE number <= {oldest}", [MAX_TOMBSTONES])  # noqa: S608 - constant
    return dropped


def _free_unused(db: Database, content: int) -> None:
    if next(iter(db.execute("SELECT 1 FROM entries WHERE content = ? LIMIT 1", [content])), None) is None:
        free(db, content)


def _sound_content(row: Mapping[str, Any]) -> Content | None:
    """Where a row's text is, or None where the row or its text is known to be damaged."""
    if row["damaged"] or not _intact(row) or not isinstance(row["chunk_chars"], int):
        return None
    return Content(row["content"], row["digest"], row["chunk_chars"]) if 0 < row["chunk_chars"] <= MAX_CHUNK else None


def _intact(row: Mapping[str, Any]) -> bool:
    """Whether a row says what was written."""
    kinds = {"digest": bytes, "content": int, "fetched_at": float, "last_access": float}
    sound = all(isinstance(row[name], kind) for name, kind in kinds.items())
    return sound and bool(row["checksum"] == _checksum(row, row["digest"]))


def _checksum(row: Mapping[str, Any], digest: bytes) -> bytes:
    """Of all that an artifact says, bound to its text; not of its times, which change without it."""
    said = [row[name] for name in (*_TOLD, "id", "cut", "notes", "chars")]
    encoded = json.dumps(said, default=repr).encode()
    return hashlib.blake2b(encoded, digest_size=CHECKSUM_BYTES, key=digest).digest()


def _artifact(row: Mapping[str, Any], text: str) -> Artifact:
    return Artifact(
        **{name: row[name] for name in _TOLD},
        id=row["id"],
        text=text,
        fetched_at=row["fetched_at"],
        cut=bool(row["cut"]),
        notes=tuple(json.loads(row["notes"]).items()),
    )
