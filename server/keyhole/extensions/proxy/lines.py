"""Split a stream of bytes into lines of bounded length: of a longer line, only its outline is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from keyhole.extensions.proxy.messages import MAX_MESSAGE
from keyhole.extensions.proxy.outline import CHUNK, Outline


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its line break, or the outline of a line that is too long."""

    raw: bytes
    """The line, empty if it is too long."""
    outline: bytes = b""
    """The top level of a message that is too long."""
    length: int = 0
    """Bytes of a line that is too long, 0 for others."""


class LineSplitter:
    """Collects the chunks of a stream and returns its complete lines."""

    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._most = most
        self._chunks: list[bytes] = []
        self._length = 0
        self._outline = Outline()

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
        """Return the bytes collected so far as a line. Called at each line break and at the end of the stream."""
        chunks, length, outline = self._chunks, self._length, self._outline
        self._chunks, self._length, self._outline = [], 0, Outline()
        if length <= self._most:
            return Line(b"".join(chunks).removesuffix(b"\r"))
        return Line(b"", outline.text, length)

    def _add(self, chunk: bytes) -> None:
        self._length += len(chunk)
        self._chunks.append(chunk)
        if self._length > self._most:
            for each in self._chunks:
                self._outline.feed(each)
            self._chunks.clear()


async def read_lines(read: Callable[[int], Awaitable[bytes]], most: int = MAX_MESSAGE) -> AsyncIterator[Line]:
    """Yield the lines of a stream; its last line may lack the line break. `read` returns b"" at the end."""
    splitter = LineSplitter(most)
    while chunk := await read(CHUNK):
        for line in splitter.feed(chunk):
            yield line
    last = splitter.take()
    if last.raw or last.length:
        yield last
