"""Compress texts into chunks that can be read separately, in memory or in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, overload

from keyhole.runtime.zstd import compression_options, zstd

LEVEL: Final = 3
"""Zstandard's default compresses 200 MB a second. Level 6 saves 5 % more and takes three times as long."""
_MAX_CHAR_BYTES: Final = 4
"""Maximum bytes of a character in UTF-8."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A compressed range of a text, which starts at character `first` of the text. The data includes a checksum."""

    first: int
    data: bytes


@dataclass(frozen=True, slots=True)
class PackedText:
    """A compressed text with its digest and sizes."""

    digest: bytes
    """SHA-256 of the text in UTF-8: identifies equal texts and verifies a whole text."""
    chars: int
    size: int
    """Bytes of the text in UTF-8."""
    chunk_chars: int
    """Characters of every chunk except the last."""
    chunks: Sequence[Chunk]

    @property
    def stored_bytes(self) -> int:
        """The number of bytes of the compressed chunks."""
        return sum(len(chunk.data) for chunk in self.chunks)


def pack(text: str, chunk_chars: int) -> PackedText:
    """Compress a text in chunks of `chunk_chars` characters. An empty text has no chunks."""
    digest, size, chunks = hashlib.sha256(), 0, []
    for first in range(0, len(text), chunk_chars):
        encoded = text[first : first + chunk_chars].encode("utf-8", "surrogatepass")
        digest.update(encoded)
        size += len(encoded)
        chunks.append(Chunk(first, compress_chunk(encoded)))
    return PackedText(digest.digest(), len(text), size, chunk_chars, tuple(chunks))


def compress_chunk(data: bytes) -> bytes:
    """Return a chunk's data compressed, with its size and a checksum."""
    return zstd.compress(data, options=compression_options(LEVEL))


def unpack(pieces: Iterable[bytes], digest: bytes, chunk_chars: int) -> str | None:
    """Return the text of all its compressed chunks, or None if it does not match `digest`."""
    # A missing or damaged chunk changes the digest.
    encoded = b"".join(piece for piece in _decompress(pieces, chunk_chars) if piece is not None)
    return encoded.decode("utf-8", "surrogatepass") if hashlib.sha256(encoded).digest() == digest else None


def unpack_range(chunks: Sequence[Chunk], start: int, end: int, chunk_chars: int) -> str | None:
    """Return the characters `[start, end)` of a text from consecutive chunks, or None if one is missing or damaged."""
    if start >= end:
        return ""
    texts: list[str] = []
    offset = chunks[0].first if chunks else end
    for chunk, data in zip(chunks, _decompress((chunk.data for chunk in chunks), chunk_chars), strict=True):
        if data is None or chunk.first != offset:
            return None
        texts.append(data.decode("utf-8", "surrogatepass"))
        offset += len(texts[-1])
    if not chunks or chunks[0].first > start or offset < end:
        return None
    return "".join(texts)[start - chunks[0].first : end - chunks[0].first]


def _decompress(pieces: Iterable[bytes], chunk_chars: int) -> Iterator[bytes | None]:
    for data in pieces:
        try:
            # The declared size is checked first, so that a damaged chunk cannot allocate all memory.
            size = zstd.get_frame_info(data).decompressed_size or 0
            decompressor = zstd.ZstdDecompressor()
            decompressed = decompressor.decompress(data) if 0 < size <= chunk_chars * _MAX_CHAR_BYTES else b""
            yield decompressed if decompressor.eof else None
        except zstd.ZstdError:
            yield None


# Files: a text that is too large for memory is compressed piece by piece, and read by ranges.

CHUNK_CHARS: Final = 32_768
"""Characters of a chunk, as in the SQLite store. Every store accepts chunks of up to this length."""


class TextFile:
    """A compressed text in a file, which is written once and then read by ranges."""

    def __init__(self, file: BinaryIO, pieces: Iterable[str]) -> None:
        self._chunks = _FileChunks(file)
        self._digest = hashlib.sha256()
        self.chars = self.lines = self.size = 0
        """Characters, lines and bytes in UTF-8 of the whole text."""
        pending, last = "", "\n"
        for piece in pieces:
            self.lines += piece.count("\n")
            last = piece[-1:] or last
            pending += piece
            for start in range(0, len(pending) - CHUNK_CHARS + 1, CHUNK_CHARS):
                self._add(pending[start : start + CHUNK_CHARS])
            pending = pending[len(pending) // CHUNK_CHARS * CHUNK_CHARS :]
        if pending:
            self._add(pending)
        self.lines += last != "\n"

    def _add(self, text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        self._digest.update(encoded)
        self._chunks.append(Chunk(self.chars, compress_chunk(encoded)))
        self.chars += len(text)
        self.size += len(encoded)

    def read(self, start: int, end: int) -> str:
        """Return the characters `[start, end)`."""
        chunks = self._chunks[start // CHUNK_CHARS : (end - 1) // CHUNK_CHARS + 1]
        text = unpack_range(chunks, start, min(end, self.chars), CHUNK_CHARS)
        if text is None:
            raise OSError("the file of a large text was changed")
        return text

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces."""
        return (self.read(start, start + CHUNK_CHARS) for start in range(0, self.chars, CHUNK_CHARS))

    def packed(self) -> PackedText:
        """Return the compressed text for a store. Its chunks are read from the file one at a time."""
        return PackedText(self._digest.digest(), self.chars, self.size, CHUNK_CHARS, self._chunks)


class _FileChunks(Sequence[Chunk]):
    """Chunks in a file. Only their positions are in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ends = [0]
        self._firsts: list[int] = []

    def append(self, chunk: Chunk) -> None:
        """Write a chunk to the end of the file."""
        self._file.seek(self._ends[-1])
        self._file.write(chunk.data)
        self._ends.append(self._ends[-1] + len(chunk.data))
        self._firsts.append(chunk.first)

    def __len__(self) -> int:
        return len(self._firsts)

    @overload
    def __getitem__(self, number: int) -> Chunk: ...
    @overload
    def __getitem__(self, number: slice) -> list[Chunk]: ...
    def __getitem__(self, number: int | slice) -> Chunk | list[Chunk]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        first = self._firsts[number]  # raises IndexError at the end, which ends an iteration
        self._file.seek(self._ends[number])
        return Chunk(first, self._file.read(self._ends[number + 1] - self._ends[number]))
