"""Decode a response's Content-Encoding within a size limit.

httpx does not limit decompression: 10 MB of gzip can become 10 GB. Here the input is decoded in blocks of a fixed size,
counted from the first byte, and the output is counted after each block. The result and the reported failure therefore
do not depend on how the network split the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.fetch import codecs

ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"
MAX_CODINGS: Final = 2
"""The server and a cache in front of it may each apply one coding. More codings are a sign of an attack."""

_CODECS: Final = {"gzip": codecs.gzip, "deflate": codecs.deflate, "br": codecs.brotli, "zstd": codecs.zstd}
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
    _codec: codecs.Codec = field(init=False, repr=False)
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
            size = len(self._pending) - len(self._pending) % codecs.BLOCK  # without the last, incomplete block
            blocks = bytes(self._pending[:size])
            del self._pending[:size]
            for start in range(0, size, codecs.BLOCK):
                yield self._decode_block(blocks[start : start + codecs.BLOCK])
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
        the reason is that the others never came.
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
