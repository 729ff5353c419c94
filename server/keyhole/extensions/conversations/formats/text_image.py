"""Make a small image that carries a text, for places where a provider takes only an image. Pure.

A result of OpenAI's computer tool must be a screenshot. The image has 64 by 64 white pixels, and the text in a chunk
`iTXt` (https://www.w3.org/TR/png/#11iTXt).
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final

PIXELS: Final = 64
PREFIX: Final = "data:image/png;base64,"
_KEYWORD: Final = b"Comment\0\0\0\0\0"
"""The keyword of the chunk, then: no compression, no language, no translated keyword."""


def text_image(text: str) -> str:
    """Return a data URL of an image with a text."""
    header = struct.pack(">IIBBBBB", PIXELS, PIXELS, 1, 0, 0, 0, 0)  # one bit of grey a pixel
    rows = zlib.compress((b"\0" + b"\xff" * (PIXELS // 8)) * PIXELS, 9)
    chunks = ((b"IHDR", header), (b"iTXt", _KEYWORD + text.encode()), (b"IDAT", rows), (b"IEND", b""))
    image = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)
    return PREFIX + base64.b64encode(image).decode("ascii")


def image_text(url: object) -> str:
    """Return the text in an image that `text_image` made, or ""."""
    if not isinstance(url, str) or not url.startswith(PREFIX) or len(url) > 10_000:
        return ""
    try:
        before, found, after = base64.b64decode(url[len(PREFIX) :]).partition(b"iTXt" + _KEYWORD)
        size = int.from_bytes(before[-4:], "big") - len(_KEYWORD)
        return after[:size].decode() if found else ""
    except ValueError:  # no base64, or no UTF-8
        return ""


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
