"""Texts as compressed chunks that can be read one by one, and back. Pure: no medium knows of it, and it knows none."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CHUNK_CHARS: Final = 65_536
"""Characters of a chunk. A range of 8,000 reads one or two, in well under a millisecond; a chunk of half the size would
take a tenth more space, one of twice the size would make ranges slower (`python benchmarks/postgres.py`)."""
LEVEL: Final = 3
"""Zstandard's default: higher ones take several times as long for a twentieth less."""
_WIDEST: Final = 4
"""Bytes of a character in UTF-8, at most."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a text from its character `first` on. The compressed bytes hold a checksum of what they become."""

    first: int
    data: bytes


def digest_of(text: bytes) -> bytes:
    """What a text is known by and checked against."""
    return hashlib.sha256(text).digest()


def cut(text: str) -> tuple[Chunk, ...]:
    """A text as chunks; an empty one has none."""
    from zstandard import ZstdCompressor

    compressor = ZstdCompressor(level=LEVEL, write_checksum=True)
    return tuple(
        Chunk(first, compressor.compress(text[first : first + CHUNK_CHARS].encode("utf-8", "surrogatepass")))
        for first in range(0, len(text), CHUNK_CHARS)
    )


def whole(pieces: Sequence[bytes], digest: bytes) -> str | None:
    """The text of all its chunks' bytes; None when it is not what was kept."""
    texts = [_expanded(piece) for piece in pieces]
    joined = b"".join(text for text in texts if text is not None)
    # An absent or damaged chunk shows in the digest.
    return joined.decode("utf-8", "surrogatepass") if digest_of(joined) == digest else None


def stretch(chunks: Sequence[Chunk], start: int, end: int) -> str | None:
    """The characters `[start, end)` of the chunks that hold them, in order; None when those are not what was kept."""
    if start >= end:
        return ""
    texts: list[str] = []
    place = chunks[0].first if chunks else end
    for chunk in chunks:
        data = _expanded(chunk.data)
        if data is None or chunk.first != place:
            return None
        texts.append(data.decode("utf-8", "surrogatepass"))
        place += len(texts[-1])
    if not chunks or chunks[0].first > start or place < end:
        return None
    return "".join(texts)[start - chunks[0].first : end - chunks[0].first]


def _expanded(data: bytes) -> bytes | None:
    from zstandard import ZstdDecompressor, ZstdError, frame_content_size

    try:
        # Its size is read first: a damaged one must not ask for all memory.
        if not 0 < frame_content_size(data) <= CHUNK_CHARS * _WIDEST:
            return None
        return ZstdDecompressor().decompress(data)
    except ZstdError:
        return None
