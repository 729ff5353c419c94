"""Decode a response's Content-Encoding within a size limit.

httpx does not limit decompression: 10 MB of gzip can become 10 GB. Here the input is decoded in blocks of a fixed size,
counted from the first byte, and the output is counted after each block. The result and the reported failure therefore
do not depend on how the network split the body.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from keyhole.errors import Code, KeyholeError

# Codecs: incremental decoders of gzip, deflate, br and zstd.
#
# No decompression library limits exactly how much one call returns. Each decoder is therefore fed blocks of `BLOCK`
# bytes, which limits the output by the maximum ratio of the format. Brotli has no maximum ratio, so its output is also
# read in portions.

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
    """Decodes br, a brotli stream (RFC 7932).

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


def _open_gzip() -> Codec:
    """Return a decoder of gzip with all its members (RFC 1952, section 2.2)."""

    def open_member(data: bytes, is_first: bool) -> _Stream | None:
        return zlib.decompressobj(_GZIP_WINDOW) if is_first or data.startswith(_GZIP_MAGIC) else None

    return _MemberCodec(open_member, len(_GZIP_MAGIC))


def _open_deflate() -> Codec:
    """Return a decoder of deflate.

    RFC 9110 defines it as zlib's format (RFC 1950: a check in the first two bytes), but many servers send the stream
    without zlib's header.
    """

    def open_member(data: bytes, is_first: bool) -> _Stream | None:
        has_header = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS) if is_first else None

    return _MemberCodec(open_member, 2)


def _open_zstd() -> Codec:
    """Return a decoder of zstd with all its frames (RFC 8878); skippable frames are skipped."""
    from keyhole.runtime.zstd import zstd as library

    options: dict[int, int] = {library.DecompressionParameter.window_log_max: ZSTD_WINDOW.bit_length() - 1}

    def open_member(data: bytes, is_first: bool) -> _Stream | None:
        magic = data[: len(_ZSTD_MAGIC)]
        is_frame = is_first or magic == _ZSTD_MAGIC or magic in _ZSTD_SKIPPABLE
        return library.ZstdDecompressor(options=options) if is_frame else None

    return _MemberCodec(open_member, len(_ZSTD_MAGIC), library.ZstdError)


# Content-Encoding: the chain of codings of one response, within a size limit.

ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"
MAX_CODINGS: Final = 2
"""The server and a cache in front of it may each apply one coding. More codings are a sign of an attack."""

_CODECS: Final = {"gzip": _open_gzip, "deflate": _open_deflate, "br": _BrotliCodec, "zstd": _open_zstd}
_NO_CODINGS: Final = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "aws-chunked"})
"""Values that servers send for an uncompressed body: no coding, charsets, the transfer encodings of mail, and the
framing of an upload that object storage repeats."""
_MARKUP: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<[!?a-z]|[{\[]\s*[\"{\[\]}])", re.IGNORECASE)
"""The beginning of HTML, XML and JSON."""


@dataclass(slots=True)
class _Layer:
    """Decodes one content coding, to at most `limit` bytes."""

    coding: str
    limit: int
    _codec: Codec = field(init=False, repr=False)
    _pending: bytearray = field(default_factory=bytearray, repr=False)
    """Bytes that do not fill a block yet."""
    _has_started: bool = False
    _is_plain: bool = False
    _produced: int = 0

    def __post_init__(self) -> None:
        self._codec = _CODECS[self.coding]()

    @property
    def is_finished(self) -> bool:
        return self._is_plain or (self._codec.is_finished and not self._codec.is_broken)

    def decode(self, pieces: Iterable[bytes], is_last: bool) -> Iterator[bytes]:
        """Yield the decoded blocks lazily, so that a chain of layers holds one block at a time."""
        for piece in pieces:
            self._pending += piece
            size = len(self._pending) - len(self._pending) % BLOCK  # without the last, incomplete block
            blocks = bytes(self._pending[:size])
            del self._pending[:size]
            for start in range(0, size, BLOCK):
                yield self._decode_block(blocks[start : start + BLOCK])
        if is_last and self._pending:
            block = bytes(self._pending)
            self._pending.clear()
            yield self._decode_block(block)

    def _decode_block(self, block: bytes) -> bytes:
        out = block if self._is_plain else self._codec.decode(block, self.limit - self._produced)
        if not self._has_started and not out and self._codec.is_broken and _MARKUP.match(block):
            # The header is wrong: the page was never compressed, or an intermediary already decompressed it.
            out, self._is_plain = block, True
        self._has_started = True
        self._produced += len(out)
        if self._produced > self.limit:
            code = Code.DECOMPRESSION_BOMB
            raise KeyholeError(code, f"the response decompresses to more than {self.limit:,} bytes")
        return out


class Decoder:
    """An incremental decoder of a Content-Encoding that returns at most `limit` bytes in total.

    Call `feed` for every piece, then `close`. Of a damaged or truncated body, the part before the damage is
    returned and `is_finished` stays False. Data after a coding's end is ignored.
    """

    def __init__(self, content_encoding: str, limit: int) -> None:
        """Raises KeyholeError (unsupported_encoding) for an unknown coding and for more than `MAX_CODINGS`."""
        self._limit = limit
        self._layers = [_Layer(name, limit) for name in reversed(_parse_codings(content_encoding))]
        self._received = 0
        self._produced = 0

    @property
    def is_finished(self) -> bool:
        """True once the end of every coding was read; False for a truncated or damaged body."""
        return all(layer.is_finished for layer in self._layers)

    def feed(self, data: bytes) -> bytes:
        """Decode the next piece.

        Raises KeyholeError beyond the limit: decompression_bomb if a coding exceeded it, otherwise too_large.
        """
        self._received += len(data)
        return self._decode([data], is_last=False)

    def close(self, *, is_cut: bool = False) -> bytes:
        """Decode the bytes that did not fill a block. `is_cut`: True if the body is known to be incomplete.

        Raises KeyholeError as `feed` does, and protocol_error if bytes were received but none could be decoded, unless
        the body is cut.
        """
        out = self._decode([], is_last=True)
        if self._received and not self._produced and not self.is_finished and not is_cut:
            names = " and ".join(layer.coding for layer in self._layers)
            raise KeyholeError(Code.PROTOCOL_ERROR, f"the {names} body is corrupt or breaks off before any content")
        return out

    def _decode(self, pieces: Iterable[bytes], is_last: bool) -> bytes:
        for layer in self._layers:
            pieces = layer.decode(pieces, is_last)
        out = b"".join(pieces)
        self._produced += len(out)
        if self._produced > self._limit:
            raise KeyholeError(Code.TOO_LARGE, f"the response is more than {self._limit:,} bytes")
        return out


def _parse_codings(content_encoding: str) -> list[str]:
    """Return the codings of a header in the order in which they were applied (RFC 9110, section 8.4)."""
    listed = (name.strip().lower().removeprefix("x-") for name in content_encoding.split(","))
    names = [name for name in listed if name not in _NO_CODINGS]
    if not _CODECS.keys() >= set(names):
        raise KeyholeError(Code.UNSUPPORTED_ENCODING, f"the content coding is none of {', '.join(sorted(_CODECS))}")
    if len(names) > MAX_CODINGS:
        raise KeyholeError(
            Code.UNSUPPORTED_ENCODING, f"{len(names)} content codings are nested; at most {MAX_CODINGS} are supported"
        )
    return names
