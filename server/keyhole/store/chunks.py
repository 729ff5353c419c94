"""Texts as compressed chunks that can be read one by one, and back, for every medium. Pure: it knows none of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError, frame_content_size

LEVEL: Final = 3
"""Zstandard's default: 200 MB a second; level 6 saves 5 % more and takes three times as long."""
_WIDEST: Final = 4
"""Bytes of a character in UTF-8, at most."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a text from its character `first` on. The compressed bytes hold a checksum of what they become."""

    first: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Packed:
    """A text as it is kept."""

    digest: bytes
    """SHA-256 of the text in UTF-8: what two texts are equal by, and what a whole text is checked with."""
    chars: int
    size: int
    """Bytes in UTF-8."""
    chunk_chars: int
    """Characters of every chunk but the last."""
    chunks: tuple[Chunk, ...]

    @property
    def stored(self) -> int:
        """Bytes of the compressed chunks."""
        return sum(len(chunk.data) for chunk in self.chunks)


def pack(text: str, chunk_chars: int) -> Packed:
    """Compress a text in chunks; an empty one has none."""
    digest, size, chunks = hashlib.sha256(), 0, []
    compressor = ZstdCompressor(level=LEVEL, write_checksum=True)
    for first in range(0, len(text), chunk_chars):
        piece = text[first : first + chunk_chars].encode("utf-8", "surrogatepass")
        digest.update(piece)
        size += len(piece)
        chunks.append(Chunk(first, compressor.compress(piece)))
    return Packed(digest.digest(), len(text), size, chunk_chars, tuple(chunks))


def whole(pieces: Iterable[bytes], digest: bytes, chunk_chars: int) -> str | None:
    """The text of all its chunks' bytes; None when it is not what was kept."""
    # An absent or damaged chunk shows in the digest.
    joined = b"".join(piece for piece in _expanded(pieces, chunk_chars) if piece is not None)
    return joined.decode("utf-8", "surrogatepass") if hashlib.sha256(joined).digest() == digest else None


def stretch(chunks: Sequence[Chunk], start: int, end: int, chunk_chars: int) -> str | None:
    """The characters `[start, end)` of the chunks that hold them, in order; None when those are not what was kept."""
    if start >= end:
        return ""
    texts: list[str] = []
    place = chunks[0].first if chunks else end
    for chunk, data in zip(chunks, _expanded((chunk.data for chunk in chunks), chunk_chars), strict=True):
        if data is None or chunk.first != place:
            return None
        texts.append(data.decode("utf-8", "surrogatepass"))
        place += len(texts[-1])
    if not chunks or chunks[0].first > start or place < end:
        return None
    return "".join(texts)[start - chunks[0].first : end - chunks[0].first]


def _expanded(pieces: Iterable[bytes], chunk_chars: int) -> Iterator[bytes | None]:
    decompressor = ZstdDecompressor()
    for data in pieces:
        try:
            # Its size is read first: a damaged one must not ask for all memory.
            fits = 0 < frame_content_size(data) <= chunk_chars * _WIDEST
            yield decompressor.decompress(data) if fits else None
        except ZstdError:
            yield None
