"""Split a stream of bytes into lines of bounded length: the start and the end of a longer line are all that is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from keyhole.serve.proxy.messages import EDGE_BYTES, MAX_MESSAGE

CHUNK: Final = 256 * 1024
"""Bytes that one read returns at most."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its line break, or the start and the end of a line that is too long."""

    raw: bytes
    """The line, or its first `EDGE_BYTES`."""
    tail: bytes = b""
    """The last `EDGE_BYTES` of a line that is too long."""
    length: int = 0
    """Bytes of a line that is too long, 0 for others."""


class LineSplitter:
    """Collects the chunks of a stream and returns its complete lines."""

    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._most = most
        self._chunks: list[bytes] = []
        self._length = 0
        self._tail = b""

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines that end in this chunk."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._add(end)
            lines.append(self.take())
        if rest:
            self._add(rest)
        return lines

    def take(self) -> Line:
        """Return what has been collected as a line, which the end of the stream completes."""
        whole, length, tail = b"".join(self._chunks), self._length, self._tail
        self._chunks, self._length, self._tail = [], 0, b""
        if length <= self._most:
            return Line(whole.removesuffix(b"\r"))
        return Line(whole, tail, length)

    def _add(self, chunk: bytes) -> None:
        self._length += len(chunk)
        if self._length <= self._most:
            self._chunks.append(chunk)
            return
        if not self._tail:
            whole = b"".join(self._chunks)
            self._chunks, self._tail = [(whole or chunk)[:EDGE_BYTES]], whole[-EDGE_BYTES:]
        self._tail = (self._tail + chunk)[-EDGE_BYTES:]


async def read_lines(read: Callable[[int], Awaitable[bytes]], most: int = MAX_MESSAGE) -> AsyncIterator[Line]:
    """Yield the lines of a stream; its last line may lack the line break. `read` returns b"" at the end."""
    splitter = LineSplitter(most)
    while chunk := await read(CHUNK):
        for line in splitter.feed(chunk):
            yield line
    last = splitter.take()
    if last.raw:
        yield last
