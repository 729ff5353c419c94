"""Incremental decoders of the content codings gzip, deflate, br and zstd.

No decompression library limits exactly how much one call returns. Each decoder is therefore fed blocks of `BLOCK`
bytes, which limits the output by the maximum ratio of the format. Brotli has no maximum ratio, so its output is also
read in portions.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import Any, Final, Protocol

BLOCK: Final = 64
"""Bytes. Deflate expands one byte to at most 1,032 (zlib's technical notes), so 64 bytes to 66 KB. A zstd block of four
bytes may contain 128 KB (RFC 8878, 3.1.1.2), so 64 bytes may give 2 MB. 10 MB in such blocks take 0.1 s to decode."""
ZSTD_WINDOW: Final = 8 * 2**20
"""Bytes: RFC 9659 forbids larger windows in a content coding. The format itself allows 3.75 TB."""
_PORTION: Final = 64 * 1024
"""Bytes requested from brotli at once. It may return up to twice as many."""
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE: Final = frozenset(bytes([low, 0x2A, 0x4D, 0x18]) for low in range(0x50, 0x60))


class Codec(Protocol):
    """An incremental decoder of one content coding."""

    is_broken: bool
    """True once invalid input was found. Nothing after it is decoded."""

    @property
    def is_finished(self) -> bool:
        """True once the coding's own end was read."""

    def decode(self, block: bytes, limit: int) -> bytes:
        """Decode the next block. The result may stop anywhere beyond `limit` bytes."""


class _Stream(Protocol):
    """A zlib or zstd decompressor of one member or frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _MemberCodec:
    """Decodes gzip, deflate and zstd: members (frames) in sequence, until other data follows."""

    def __init__(
        self,
        open_member: Callable[[bytes, bool], _Stream | None],
        magic_size: int,
        error_type: type[Exception] = zlib.error,
    ) -> None:
        """Create a decoder.

        `open_member` takes the first bytes of a member, at least `magic_size`, and whether it is the first member. It
        returns None if no member begins there.
        """
        self.is_broken = False
        self._open_member = open_member
        self._magic_size = magic_size
        self._error_type = error_type
        self._stream: _Stream | None = None
        self._pending = b""
        self._has_ended = False

    @property
    def is_finished(self) -> bool:
        return self._stream is not None and self._stream.eof

    def decode(self, block: bytes, limit: int) -> bytes:  # noqa: ARG002
        out = bytearray()
        data, self._pending = self._pending + block, b""
        while data and not (self._has_ended or self.is_broken):
            if self._stream is None or self._stream.eof:
                if len(data) < self._magic_size:
                    self._pending = data
                    break
                member = self._open_member(data, self._stream is None)
                self._has_ended = member is None  # data after the last member is ignored
                self._stream = member or self._stream
                continue
            try:
                out += self._stream.decompress(data)
            except self._error_type:
                self.is_broken = True
            else:
                data = self._stream.unused_data if self._stream.eof else b""
        return bytes(out)


class _BrotliCodec:
    """Decodes a brotli stream.

    The library does not report where the stream ended, so the input is kept to decode it again after an error.
    """

    def __init__(self) -> None:
        import brotli

        self.is_broken = False
        self._brotli = brotli
        self._stream: Any = brotli.Decompressor()
        self._input = bytearray()

    @property
    def is_finished(self) -> bool:
        return not self.is_broken and bool(self._stream.is_finished())  # is_finished() raises after an error

    def decode(self, block: bytes, limit: int) -> bytes:
        if self.is_broken or self.is_finished:
            return b""
        try:
            out = self._decode_portions(block, limit)
        except self._brotli.error:
            return self._decode_bytewise(block, limit)
        self._input += block
        return out

    def _decode_portions(self, block: bytes, limit: int) -> bytes:
        out = bytearray(self._stream.process(block, output_buffer_limit=_PORTION))
        while len(out) <= limit and (more := self._stream.process(b"", output_buffer_limit=_PORTION)):
            out += more
        return bytes(out)

    def _decode_bytewise(self, block: bytes, limit: int) -> bytes:
        """Decode a faulty block up to its error, which may be only data after the end of the stream."""
        self._stream = self._brotli.Decompressor()
        for start in range(0, len(self._input), BLOCK):
            # No limit: this output was within the limit before.
            self._decode_portions(bytes(self._input[start : start + BLOCK]), sys.maxsize)
        out = bytearray()
        try:
            for index in range(len(block)):
                if self.is_finished:
                    break
                out += self._decode_portions(block[index : index + 1], limit - len(out))
        except self._brotli.error:
            self.is_broken = True
        return bytes(out)


def gzip() -> Codec:
    """Return a decoder of gzip with all its members (RFC 1952, section 2.2)."""

    def open_member(data: bytes, is_first: bool) -> _Stream | None:
        return zlib.decompressobj(_GZIP_WINDOW) if is_first or data.startswith(_GZIP_MAGIC) else None

    return _MemberCodec(open_member, len(_GZIP_MAGIC))


def deflate() -> Codec:
    """Return a decoder of deflate.

    RFC 9110 defines it as zlib's format (RFC 1950: a check in the first two bytes), but many servers send the stream
    without zlib's header.
    """

    def open_member(data: bytes, is_first: bool) -> _Stream | None:
        has_header = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS) if is_first else None

    return _MemberCodec(open_member, 2)


def brotli() -> Codec:
    """Return a decoder of br (RFC 7932)."""
    return _BrotliCodec()


def zstd() -> Codec:
    """Return a decoder of zstd with all its frames (RFC 8878); skippable frames are skipped."""
    from keyhole.runtime.zstd import zstd as library

    options: dict[int, int] = {library.DecompressionParameter.window_log_max: ZSTD_WINDOW.bit_length() - 1}

    def open_member(data: bytes, is_first: bool) -> _Stream | None:
        magic = data[: len(_ZSTD_MAGIC)]
        is_frame = is_first or magic == _ZSTD_MAGIC or magic in _ZSTD_SKIPPABLE
        return library.ZstdDecompressor(options=options) if is_frame else None

    return _MemberCodec(open_member, len(_ZSTD_MAGIC), library.ZstdError)
