"""SQL for texts in the SQLite file. Equal texts are stored once; each chunk is read and verified separately."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Final

from keyhole.store.chunks import Chunk, PackedText, unpack, unpack_range

CHUNK_CHARS: Final = 32_768
"""Characters of a chunk. A range of 8,000 spans two chunks at most, which are decompressed in 0.1 ms. Chunks of this
length take 36 % of a text, of 16,384 characters 38 %, and a text in one piece 34 %
(`python -m benchmarks.store.sqlite_store chunks`)."""
MAX_CHUNK: Final = 1 << 30
"""Upper bound of the characters of a chunk in any version; a larger number is damage."""
CHECKSUM_BYTES: Final = 8
_NUMBER_BITS: Final = 24
"""A chunk's key is the key of its text, followed by the chunk's number in this many bits."""
_LAST: Final = (1 << _NUMBER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Content:
    """A reference to a stored text."""

    key: int
    digest: bytes
    chunk_chars: int


def chunk_checksum(data: bytes, digest: bytes, chunk_chars: int, number: int) -> bytes:
    """Return the checksum of a compressed chunk. It depends on the chunk's position, so chunks cannot be exchanged."""
    position = chunk_chars.to_bytes(8, "big") + number.to_bytes(8, "big")
    return hashlib.blake2b(data, digest_size=CHECKSUM_BYTES, key=digest, person=position).digest()


def store_text(db: Connection, packed: PackedText) -> int:
    """Store a text unless an equal one is stored; return its key. A damaged text is written again."""
    for key, damaged in db.execute("SELECT key, damaged FROM contents WHERE digest = ?", [packed.digest]):
        if damaged:
            _write(db, int(key), packed)
            db.execute("UPDATE contents SET chunk_chars = ?, damaged = 0 WHERE key = ?", [packed.chunk_chars, key])
        return int(key)
    sql = "INSERT INTO contents (digest, chunk_chars) VALUES (?, ?)"
    key = int(db.execute(sql, [packed.digest, packed.chunk_chars]).lastrowid or 0)
    _write(db, key, packed)
    return key


def delete_text(db: Connection, key: int) -> None:
    """Delete a text and its chunks."""
    db.execute("DELETE FROM chunks WHERE key BETWEEN ? AND ?", _key_range(key, 0, _LAST))
    db.execute("DELETE FROM contents WHERE key = ?", [key])


def read_text(db: Connection, content: Content) -> str | None:
    """Return a whole text, or None if it is damaged."""
    chunks = _read_chunks(db, content, 0, _LAST)
    data = (chunk.data for chunk in chunks or ())
    return None if chunks is None else unpack(data, content.digest, content.chunk_chars)


def read_range(db: Connection, content: Content, start: int, end: int) -> str | None:
    """Return the characters `[start, end)` of a text, or None if they are damaged. The text must contain them."""
    if start >= end:
        return ""
    chunks = _read_chunks(db, content, start // content.chunk_chars, (end - 1) // content.chunk_chars)
    return None if chunks is None else unpack_range(chunks, start, end, content.chunk_chars)


def _write(db: Connection, key: int, packed: PackedText) -> None:
    rows = (
        (
            (key << _NUMBER_BITS) + number,
            chunk.data,
            chunk_checksum(chunk.data, packed.digest, packed.chunk_chars, number),
        )
        for number, chunk in enumerate(packed.chunks)
    )
    db.execute("DELETE FROM chunks WHERE key BETWEEN ? AND ?", _key_range(key, 0, _LAST))
    db.executemany("INSERT INTO chunks (key, data, checksum) VALUES (?, ?, ?)", rows)


def _key_range(content: int, first: int, last: int) -> list[int]:
    return [(content << _NUMBER_BITS) + first, (content << _NUMBER_BITS) + last]


def _read_chunks(db: Connection, content: Content, first: int, last: int) -> list[Chunk] | None:
    """Return the chunks numbered `first` to `last` that exist, or None if one does not match its checksum."""
    sql = "SELECT key, data, checksum FROM chunks WHERE key BETWEEN ? AND ? ORDER BY key"
    chunks = []
    for key, data, expected in db.execute(sql, _key_range(content.key, first, last)):
        # The checksum is compared first, so that only data compressed by Keyhole is ever decompressed.
        number = key & _LAST
        if not isinstance(data, bytes) or chunk_checksum(data, content.digest, content.chunk_chars, number) != expected:
            return None
        chunks.append(Chunk(number * content.chunk_chars, data))
    return chunks
