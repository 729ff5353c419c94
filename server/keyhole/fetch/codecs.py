"""The content codings, each undone a short block at a time. Bytes in, bytes out; no limits and no network.

None of the libraries bounds what one call gives, or none exactly. So all are fed the same way, in blocks of `BLOCK`
bytes, which bounds it by the formats themselves; brotli, whose format bounds nothing, is also asked in portions.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import Any, Final, Protocol

BLOCK: Final = 64
"""Bytes. Deflate makes at most 1,032 of one (zlib's technical notes), so 66 KB of a block. The smallest block of zstd
is four bytes, the largest holds 128 KB (RFC 8878, 3.1.1.2), so at most 2 MB. 10 MB in such steps take 0.1 s."""
ZSTD_WINDOW: Final = 8 * 2**20
"""Bytes: RFC 9659 forbids more in a content coding. The format itself allows 3.75 TB."""
_PORTION: Final = 64 * 1024
"""Bytes asked of brotli at once. It takes the number loosely and gives up to twice as much."""
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE: Final = frozenset(bytes([low, 0x2A, 0x4D, 0x18]) for low in range(0x50, 0x60))


class Codec(Protocol):
    """One coding being undone."""

    broken: bool
    """What came was not, or is no longer, in this coding; nothing more will be decoded."""

    @property
    def ended(self) -> bool:
        """Whether the coding's own end was seen."""

    def decode(self, block: bytes, room: int) -> bytes:
        """The decoded form of the next block. Well over `room` bytes the rest may be missing."""


class _Stream(Protocol):
    """What zlib and zstandard give to decode one member or frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _Members:
    """gzip, deflate and zstd: members (frames) one after the other, until something else follows."""

    def __init__(
        self, begin: Callable[[bytes, bool], _Stream | None], head: int, fault: type[Exception] = zlib.error
    ) -> None:
        self.broken = False
        self._begin = begin
        self._head = head
        """Bytes that tell what begins with them."""
        self._fault = fault
        self._stream: _Stream | None = None
        self._held = b""
        self._over = False

    @property
    def ended(self) -> bool:
        return self._stream is not None and self._stream.eof

    def decode(self, block: bytes, room: int) -> bytes:  # noqa: ARG002
        out = bytearray()
        data, self._held = self._held + block, b""
        while data and not (self._over or self.broken):
            if self._stream is None or self._stream.eof:
                if len(data) < self._head:
                    self._held = data
                    break
                following = self._begin(data, self._stream is None)
                self._over = following is None  # what else follows the end is ignored
                self._stream = following or self._stream
                continue
            try:
                out += self._stream.decompress(data)
            except self._fault:
                self.broken = True
            else:
                data = self._stream.unused_data if self._stream.eof else b""
        return bytes(out)


class _Brotli:
    """br: one stream. Its library cannot say where the stream ended, so the bytes are kept to try again."""

    def __init__(self) -> None:
        import brotli

        self.broken = False
        self._brotli = brotli
        self._stream: Any = brotli.Decompressor()
        self._fed = bytearray()

    @property
    def ended(self) -> bool:
        return not self.broken and bool(self._stream.is_finished())  # which raises after a fault

    def decode(self, block: bytes, room: int) -> bytes:
        if self.broken or self.ended:
            return b""
        try:
            out = self._portions(block, room)
        except self._brotli.error:
            return self._again(block, room)
        self._fed += block
        return out

    def _portions(self, block: bytes, room: int) -> bytes:
        out = bytearray(self._stream.process(block, output_buffer_limit=_PORTION))
        while len(out) <= room and (more := self._stream.process(b"", output_buffer_limit=_PORTION)):
            out += more
        return bytes(out)

    def _again(self, block: bytes, room: int) -> bytes:
        """What a faulty block holds up to the fault, which may be no more than something after the end."""
        self._stream = self._brotli.Decompressor()
        for start in range(0, len(self._fed), BLOCK):
            self._portions(bytes(self._fed[start : start + BLOCK]), sys.maxsize)  # fitted the room before
        out = bytearray()
        try:
            for index in range(len(block)):
                if self.ended:
                    break
                out += self._portions(block[index : index + 1], room - len(out))
        except self._brotli.error:
            self.broken = True
        return bytes(out)


def gzip() -> Codec:
    """gzip with all its members (RFC 1952, section 2.2)."""

    def begin(data: bytes, first: bool) -> _Stream | None:
        return zlib.decompressobj(_GZIP_WINDOW) if first or data.startswith(_GZIP_MAGIC) else None

    return _Members(begin, len(_GZIP_MAGIC))


def deflate() -> Codec:
    """RFC 9110 means zlib's format (RFC 1950: a check in the first two bytes); many servers send the bare stream."""

    def begin(data: bytes, first: bool) -> _Stream | None:
        in_zlib = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if in_zlib else -zlib.MAX_WBITS) if first else None

    return _Members(begin, 2)


def brotli() -> Codec:
    """br (RFC 7932)."""
    return _Brotli()


def zstd() -> Codec:
    """zstd with all its frames (RFC 8878), the skippable ones skipped."""
    import zstandard

    frames = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)

    def begin(data: bytes, first: bool) -> _Stream | None:
        magic = data[: len(_ZSTD_MAGIC)]
        return frames.decompressobj() if first or magic == _ZSTD_MAGIC or magic in _ZSTD_SKIPPABLE else None

    return _Members(begin, len(_ZSTD_MAGIC), zstandard.ZstdError)
