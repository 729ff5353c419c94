"""Images as descriptions: sizes, embedded text, SVG drawings, damaged headers."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.records import Document
from tests.support.machine import allowed

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "formats"
PNG = (FOLDER / "square.png").read_bytes()
JPEG = (FOLDER / "square.jpg").read_bytes()
IMAGES = sorted(
    path.name for path in FOLDER.iterdir() if path.suffix in {".png", ".jpg", ".gif", ".webp", ".avif", ".bmp"}
)


def read(body: bytes, content_type: str = "") -> Document:
    return extract(body, url="", content_type=content_type)


@pytest.mark.parametrize("name", [name for name in IMAGES if name != "cut.png"])
def test_an_image_is_described_by_format_size_and_length(name: str) -> None:
    body = (FOLDER / name).read_bytes()
    line = read(body, "image/png").text.split("\n")[0]
    assert line.startswith("Image: ")
    assert line.endswith(f", 64 x 48 pixels, {len(body):,} bytes")


def test_embedded_text_is_read() -> None:
    document = read(PNG)
    assert document.title == "A blue square"
    assert document.metadata.author == "The Keyhole authors"
    assert "- Description: Ein blaues Rechteck über Rot\n" in document.text
    assert "- Comment: drawn by a program\n" in read(JPEG).text
    assert read(JPEG).metadata.description == "A blue square on red"


@pytest.mark.parametrize("name", [*IMAGES, "square.ico"])
def test_a_damaged_image_gives_a_description_or_an_error_code(name: str) -> None:
    body = (FOLDER / name).read_bytes()
    for length in range(12, min(len(body), 200)):  # shorter than a signature, it may be text
        try:
            assert read(body[:length], "image/png").text.startswith("Image: ")
        except KeyholeError as error:
            assert error.code in {Code.EXTRACTION_FAILED, Code.UNSUPPORTED_MEDIA}


def test_an_image_without_a_size_is_damaged() -> None:
    with pytest.raises(KeyholeError, match="the PNG image is damaged") as caught:
        read(PNG[:16] + bytes(8) + PNG[24:])
    assert caught.value.code is Code.EXTRACTION_FAILED


def test_many_small_parts_are_fast_to_read() -> None:
    started = time.process_time()
    assert "64 x 48" in read(PNG[:33] + (struct.pack(">I", 0) + b"tEXt" + bytes(4)) * 300_000).text
    with pytest.raises(KeyholeError):
        read(JPEG[:2] + b"\xff\xfe\0\2" * 500_000)
    assert time.process_time() - started < allowed(1)


def test_the_texts_of_a_drawing_keep_their_order() -> None:
    document = read(
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 480"><title>Chart</title><desc>Sales by year</desc>'
        b"<script>alert(1)</script><g><text>20<tspan>25</tspan></text></g></svg>",
        "image/svg+xml",
    )
    assert document.title == "Chart"
    assert document.text == (
        "Image: SVG, 640 x 480 pixels, 178 bytes\n\n- Title: Chart\n- Description: Sales by year\n- Text: 20 25\n"
    )


@pytest.mark.parametrize(
    "body", [b"<svg", b"<svg/>", b"<svg><text>a", b"<svg width='a' height='b'><ti:/>", b"<a/>", b"{}"]
)
def test_a_broken_drawing_is_read_as_far_as_possible(body: bytes) -> None:
    assert read(body, "image/svg+xml").text.strip()


def test_a_drawing_loads_no_entities() -> None:
    body = b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg><text>&a;</text></svg>'
    assert "root:" not in read(body, "image/svg+xml").text


def test_markdown_in_the_texts_of_a_drawing_is_escaped() -> None:
    words = b"<title>![a](https://a.example)</title><desc>[r]: https://a.example</desc><text>&lt;img src=x></text>"
    body = b"<svg>" + words + b"</svg>"
    text = read(body, "image/svg+xml").text
    assert not any(live in text for live in ("![a](", "[r]: ", "<img"))
