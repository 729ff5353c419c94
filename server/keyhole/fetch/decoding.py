"""Content codings undone within a bound. Bytes in, bytes out; no network.

httpx bounds nothing when it decompresses: 10 MB of gzip can become 10 GB. Here every step asks zlib for at
most what is still allowed.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from keyhole.errors import Code, KeyholeError

ACCEPT_ENCODING = "gzip, deflate"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_IDENTITY = frozenset({"", "identity"})


@dataclass(slots=True)
class Decoder:
    """Undoes one content coding piece by piece; `limit` bytes come out at most."""

    coding: str
    limit: int
    _produced: int = 0
    _inflater: zlib._Decompress | None = field(default=None, repr=False)
    _first: bool = True

    def __post_init__(self) -> None:
        self.coding = self.coding.strip().lower().removeprefix("x-")
        if self.coding == "gzip":
            self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        elif self.coding == "deflate":
            self._inflater = zlib.decompressobj()
        elif self.coding not in _IDENTITY:
            raise KeyholeError(Code.UNSUPPORTED_ENCODING, f"the content coding {self.coding[:40]!r} is not understood")

    def feed(self, data: bytes) -> bytes:
        """The decoded form of the next piece.

        Raises KeyholeError: decompression_bomb past the limit, protocol_error for corrupt data.
        """
        out = data if self._inflater is None else self._inflate(data)
        self._produced += len(out)
        if self._produced > self.limit:
            raise KeyholeError(Code.DECOMPRESSION_BOMB, f"the response decompresses to more than {self.limit:,} bytes")
        return out

    @property
    def finished(self) -> bool:
        """Whether the coding's own end was seen; an unfinished one is a truncated body."""
        return self._inflater is None or self._inflater.eof

    def _inflate(self, data: bytes) -> bytes:
        out = bytearray()
        while data:
            assert self._inflater is not None  # noqa: S101 - for the type checker; feed() asked already
            room = self.limit - self._produced - len(out) + 1
            try:
                out += self._inflater.decompress(data, room)
            except zlib.error as error:
                if self.coding == "deflate" and self._first:
                    # RFC 9110 means zlib's format, but many servers send the bare stream.
                    self._first = False
                    self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
                    continue
                raise KeyholeError(Code.PROTOCOL_ERROR, f"the {self.coding} body is corrupt") from error
            self._first = False
            if len(out) + self._produced > self.limit:
                break
            data = self._inflater.unconsumed_tail
            if self._inflater.eof:
                data = self._next_member()
        return bytes(out)

    def _next_member(self) -> bytes:
        """gzip files may hold several members (RFC 1952, section 2.2); what else follows the end is ignored."""
        assert self._inflater is not None  # noqa: S101
        rest = self._inflater.unused_data
        if self.coding != "gzip" or not rest.startswith(b"\x1f\x8b"):
            return b""
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        return rest
