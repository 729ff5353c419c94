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
    _held: bytes = b""
    """Bytes that are too few to tell which format begins with them."""
    _over: bool = False

    def __post_init__(self) -> None:
        self.coding = self.coding.strip().lower().removeprefix("x-")
        if self.coding not in {"gzip", "deflate", *_IDENTITY}:
            raise KeyholeError(Code.UNSUPPORTED_ENCODING, f"the content coding {self.coding[:40]!r} is not understood")

    def feed(self, data: bytes) -> bytes:
        """The decoded form of the next piece.

        Raises KeyholeError: too_large or decompression_bomb past the limit, protocol_error for corrupt data.
        """
        plain = self.coding in _IDENTITY
        out = data if plain else self._inflate(data)
        self._produced += len(out)
        if self._produced > self.limit:
            code, verb = (Code.TOO_LARGE, "is") if plain else (Code.DECOMPRESSION_BOMB, "decompresses to")
            raise KeyholeError(code, f"the response {verb} more than {self.limit:,} bytes")
        return out

    @property
    def finished(self) -> bool:
        """Whether the coding's own end was seen; an unfinished one is a truncated body."""
        return self.coding in _IDENTITY or (self._inflater is not None and self._inflater.eof)

    def _inflate(self, data: bytes) -> bytes:
        out = bytearray()
        data, self._held = self._held + data, b""
        while data and not self._over:
            if self._inflater is None or self._inflater.eof:
                if len(data) < 2:
                    self._held = data
                    break
                self._begin(data)
                continue
            try:
                # One more than allowed, so that feed() sees the excess.
                out += self._inflater.decompress(data, self.limit - self._produced - len(out) + 1)
            except zlib.error as error:
                raise KeyholeError(Code.PROTOCOL_ERROR, f"the {self.coding} body is corrupt") from error
            if self._produced + len(out) > self.limit:
                break
            data = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
        return bytes(out)

    def _begin(self, data: bytes) -> None:
        """Start on what `data` begins with: the stream, or a further gzip member (RFC 1952, section 2.2)."""
        first = self._inflater is None
        if self.coding == "gzip" and (first or data.startswith(b"\x1f\x8b")):
            self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        elif first:
            # RFC 9110 means zlib's format (RFC 1950: a check in the first two bytes), but many servers send the
            # bare stream.
            zlib_format = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if zlib_format else -zlib.MAX_WBITS)
        else:
            self._over = True  # what else follows the end is ignored
