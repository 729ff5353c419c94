"""Texts in the SQLite file: equal ones kept once, their chunks (chunks.py) read and checked alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from sqlite_utils import Database

from keyhole.store import chunks
from keyhole.store.chunks import Chunk, Packed

CHUNK_CHARS: Final = 32_768
"""Characters. A stretch of 8,000 lies in two of them at most, which are unpacked in 0.1 ms. Chunks of this length take
36 % of a text, those of 16,384 take 38 % and a text in one piece 34 % (`python -m benchmarks.store.sqlite_store chunks`)."""
MAX_CHUNK: Final = 1 << 30
"""Characters of a chunk that any version may have written; a larger number is damage."""
CHECKSUM_BYTES: Final = 8
_NUMBER_BITS: Final = 24
"""A chunk's key is its content's with this many bits below it for its number: one tree, read in order."""
_LAST: Final = (1 << _NUMBER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Content:
    """A text that is kept, but for the text itself."""

    key: int
    digest: bytes
    chunk_chars: int


def checksum(data: bytes, digest: bytes, chunk_chars: int, number: int) -> bytes:
    """Of a compressed chunk, bound to its place in its text: no other chunk in that place is taken for it."""
    place = chunk_chars.to_bytes(8, "big") + number.to_bytes(8, "big")
    return hashlib.blake2b(data, digest_size=CHECKSUM_BYTES, key=digest, person=place).digest()


def keep(db: Database, packed: Packed) -> int:
    """Keep a text, or find the equal one that is kept; its key. One that was damaged is written anew."""
    for key, damaged in db.execute("SELECT key, damaged FROM contents WHERE digest = ?", [packed.digest]):
        if damaged:
            _write(db, int(key), packed)
            db.execute("UPDATE contents SET chunk_chars = ?, damaged = 0 WHERE key = ?", [packed.chunk_chars, key])
        return int(key)
    sql = "INSERT INTO contents (digest, chunk_chars) VALUES (?, ?)"
    key = int(db.execute(sql, [packed.digest, packed.chunk_chars]).lastrowid or 0)
    _write(db, key, packed)
    return key


def free(db: Database, key: int) -> None:
    """Drop a text."""
    db.execute("DELETE FROM chunks WHERE key BETWEEN ? AND ?", _keys(key, 0, _LAST))
    db.execute("DELETE FROM contents WHERE key = ?", [key])


def whole(db: Database, content: Content) -> str | None:
    """A text, or None where it is no longer what was kept."""
    found = _chunks(db, content, 0, _LAST)
    if found is None:
        return None
    return chunks.whole((chunk.data for chunk in found), content.digest, content.chunk_chars)


def stretch(db: Database, content: Content, start: int, end: int) -> str | None:
    """The characters `[start, end)` of a text that has them, or None where they are no longer what was kept."""
    if start >= end:
        return ""
    found = _chunks(db, content, start // content.chunk_chars, (end - 1) // content.chunk_chars)
    return None if found is None else chunks.stretch(found, start, end, content.chunk_chars)


def _write(db: Database, key: int, packed: Packed) -> None:
    rows = [
        ((key << _NUMBER_BITS) + number, each.data, checksum(each.data, packed.digest, packed.chunk_chars, number))
        for number, each in enumerate(packed.chunks)
    ]
    db.execute("DELETE FROM chunks WHERE key BETWEEN ? AND ?", _keys(key, 0, _LAST))
    db.conn.executemany("INSERT INTO chunks (key, data, checksum) VALUES (?, ?, ?)", rows)


def _keys(content: int, first: int, last: int) -> list[int]:
    return [(content << _NUMBER_BITS) + first, (content << _NUMBER_BITS) + last]


def _chunks(db: Database, content: Content, first: int, last: int) -> list[Chunk] | None:
    """Some chunks of a text, or None where one is not what was kept in its place."""
    sql = "SELECT key, data, checksum FROM chunks WHERE key BETWEEN ? AND ? ORDER BY key"
    found = []
    for key, data, expected in db.execute(sql, _keys(content.key, first, last)):
        # The checksum first: what passes it is what we compressed, so that nothing else is ever unpacked.
        number = key & _LAST
        if not isinstance(data, bytes) or checksum(data, content.digest, content.chunk_chars, number) != expected:
            return None
        found.append(Chunk(number * content.chunk_chars, data))
    return found
