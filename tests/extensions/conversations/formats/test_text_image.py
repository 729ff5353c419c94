"""A small image carries a text."""

from __future__ import annotations

import base64
import struct
import zlib

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.conversations.formats.contents import PIXELS, PREFIX, image_text, text_image


def chunks(image: bytes) -> list[tuple[bytes, bytes]]:
    """Return the chunks of a PNG file, and check the sum of each."""
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    found, start = [], 8
    while start < len(image):
        [size] = struct.unpack(">I", image[start : start + 4])
        name, data = image[start + 4 : start + 8], image[start + 8 : start + 8 + size]
        assert struct.unpack(">I", image[start + 8 + size : start + 12 + size]) == (zlib.crc32(name + data),)
        found.append((name, data))
        start += 12 + size
    return found


def test_the_image_is_a_white_png() -> None:
    image = chunks(base64.b64decode(text_image("left out").removeprefix(PREFIX)))
    assert [name for name, _ in image] == [b"IHDR", b"iTXt", b"IDAT", b"IEND"]
    assert struct.unpack(">II", image[0][1][:8]) == (PIXELS, PIXELS)
    assert zlib.decompress(image[2][1]) == (b"\0" + b"\xff" * (PIXELS // 8)) * PIXELS


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_the_text_of_an_image_is_read_back(text: str) -> None:
    assert image_text(text_image(text)) == text


def test_the_image_is_small() -> None:
    assert len(text_image("x" * 300)) < 800


def test_other_images_have_no_text() -> None:
    url = text_image("left out")
    image = base64.b64decode(url.removeprefix(PREFIX))
    no_utf8 = PREFIX + base64.b64encode(image.replace(b"left", b"\xff\xfe\xfd\xfc")).decode()
    for other in (
        None,
        3,
        "",
        "https://example.org/a.png",
        PREFIX,
        f"{PREFIX}…",
        url[:90],
        no_utf8,
        url + "A" * 10_000,
    ):
        assert image_text(other) == "", other
