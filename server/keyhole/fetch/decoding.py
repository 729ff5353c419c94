"""Content codings undone within a bound, in whatever pieces the bytes arrive. Bytes in, bytes out; no network.

httpx bounds nothing when it decompresses: 10 MB of gzip can become 10 GB. Here bytes are decoded in steps of a fixed
size, counted from the first byte, and counted again after each step: so how a body was cut into pieces on its way
changes nothing, neither what comes out nor which failure is named.
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
"""Servers and a cache in front of them may each apply one; nothing honest applies more."""

_CODECS: Final = {"gzip": codecs.gzip, "deflate": codecs.deflate, "br": codecs.brotli, "zstd": codecs.zstd}
_NO_CODINGS: Final = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "aws-chunked"})
"""No coding at all, and what servers write there that is none: charsets, mail's transfer encodings, an upload's
framing that a store of files repeats."""
_MARKUP: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<[!?a-z]|[{\[]\s*[\"{\[\]}])", re.IGNORECASE)
"""How HTML, XML and JSON begin."""


@dataclass(slots=True)
class _Layer:
    """Undoes one content coding."""

    coding: str
    limit: int
    _codec: codecs.Codec = field(init=False, repr=False)
    _held: bytearray = field(default_factory=bytearray, repr=False)
    """Bytes that do not yet make a step."""
    _begun: bool = False
    _plain: bool = False
    _produced: int = 0

    def __post_init__(self) -> None:
        self._codec = _CODECS[self.coding]()

    @property
    def finished(self) -> bool:
        return self._plain or (self._codec.ended and not self._codec.broken)

    def decoded(self, pieces: Iterable[bytes], last: bool) -> Iterator[bytes]:
        """The decoded pieces, each made when it is asked for, so that a chain holds no more than one."""
        for piece in pieces:
            self._held += piece
            whole = len(self._held) - len(self._held) % codecs.BLOCK
            blocks = bytes(self._held[:whole])
            del self._held[:whole]
            for start in range(0, whole, codecs.BLOCK):
                yield self._step(blocks[start : start + codecs.BLOCK])
        if last and self._held:
            block = bytes(self._held)
            self._held.clear()
            yield self._step(block)

    def _step(self, block: bytes) -> bytes:
        out = block if self._plain else self._codec.decode(block, self.limit - self._produced)
        if not self._begun and not out and self._codec.broken and _MARKUP.match(block):
            # The header is wrong: the page was never compressed, or its compression already undone on the way.
            out, self._plain = block, True
        self._begun = True
        self._produced += len(out)
        if self._produced > self.limit:
            code = Code.DECOMPRESSION_BOMB
            raise KeyholeError(code, f"the response decompresses to more than {self.limit:,} bytes")
        return out


class Decoder:
    """Undoes a Content-Encoding piece by piece; `limit` bytes come out at most.

    Feed it every piece, then close it. Damaged and truncated bodies give what they hold up to there and are not
    `finished`; what follows a coding's own end is ignored.
    """

    def __init__(self, content_encoding: str, limit: int) -> None:
        """Raises KeyholeError (unsupported_encoding) for an unknown coding and for a chain of more than two."""
        self._limit = limit
        self._layers = [_Layer(name, limit) for name in reversed(_codings(content_encoding))]
        self._received = 0
        self._produced = 0

    @property
    def finished(self) -> bool:
        """Whether every coding's own end was seen; an unfinished one is a truncated or a damaged body."""
        return all(layer.finished for layer in self._layers)

    def feed(self, data: bytes) -> bytes:
        """What the next piece adds.

        Raises KeyholeError past the limit: too_large, or decompression_bomb if it was decoding that went past it.
        """
        self._received += len(data)
        return self._decoded([data], last=False)

    def close(self) -> bytes:
        """What was still held back for a whole step.

        Raises KeyholeError as `feed` does, and protocol_error if bytes came, but none that could be decoded.
        """
        out = self._decoded([], last=True)
        if self._received and not self._produced and not self.finished:
            names = " and ".join(layer.coding for layer in self._layers)
            raise KeyholeError(Code.PROTOCOL_ERROR, f"the {names} body is corrupt or breaks off before any content")
        return out

    def _decoded(self, pieces: Iterable[bytes], last: bool) -> bytes:
        for layer in self._layers:
            pieces = layer.decoded(pieces, last)
        out = b"".join(pieces)
        self._produced += len(out)
        if self._produced > self._limit:
            raise KeyholeError(Code.TOO_LARGE, f"the response is more than {self._limit:,} bytes")
        return out


def _codings(content_encoding: str) -> list[str]:
    """The codings of a header in the order in which they were applied (RFC 9110, section 8.4)."""
    listed = (name.strip().lower().removeprefix("x-") for name in content_encoding.split(","))
    names = [name for name in listed if name not in _NO_CODINGS]
    unknown = next((name for name in names if name not in _CODECS), None)
    if unknown is not None:
        raise KeyholeError(Code.UNSUPPORTED_ENCODING, f"the content coding {unknown[:40]!r} is not understood")
    if len(names) > MAX_CODINGS:
        raise KeyholeError(
            Code.UNSUPPORTED_ENCODING,
            f"{len(names)} content codings on top of each other; at most {MAX_CODINGS} are undone",
        )
    return names
