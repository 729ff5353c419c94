"""Compress texts into chunks that can be read separately, and decompress them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

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
