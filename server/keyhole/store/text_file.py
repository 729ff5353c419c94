"""A text that is too large for memory: compressed into a file piece by piece, read by ranges, and put into a store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Final, overload

from keyhole.store.chunks import Chunk, PackedText, compress_chunk, unpack_range

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
