"""The estimated tokens of items follow the stated rules."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from keyhole.extensions.conversations.items import (
    ITEM_TOKENS,
    UNKNOWN_TOKENS,
    count_chars,
    estimate_item,
    estimate_media,
    estimate_value,
    image_size,
)
from keyhole.render.tokens import estimate


def test_the_texts_of_an_item_are_estimated_as_any_text() -> None:
    text = "The pump runs at 40 rpm. " * 100
    assert estimate_item({"role": "user", "content": text}) == pytest.approx(estimate(text), abs=15)
    assert estimate_value([{"type": "text", "text": text}]) == pytest.approx(estimate(text), abs=15)


def test_the_data_of_an_image_are_no_text() -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "x" * 100_000}}
    assert estimate_item({"role": "user", "content": [part]}) < 2_000


def test_encrypted_reasoning_takes_a_token_for_four_characters() -> None:
    item = {"type": "reasoning", "summary": [], "encrypted_content": "x" * 4_000}
    assert estimate_item(item) == pytest.approx(1_000, rel=0.02)


def test_every_field_takes_something() -> None:
    assert estimate_item({}) == ITEM_TOKENS
    assert estimate_item({"a": None, "b": 3, "c": True}) > estimate_item({"a": None})


def test_characters_of_all_texts_are_counted() -> None:
    assert count_chars({"role": "user", "content": [{"text": "hello"}, 3, None]}) == len("user" + "hello")


def test_a_text_with_a_lone_surrogate_is_counted() -> None:
    assert estimate_value("\ud800" * 20) > 10


# Media


def picture(width: int, height: int, format: str = "PNG", **options: Any) -> str:
    file = io.BytesIO()
    Image.new("RGB", (width, height)).save(file, format, **options)
    return base64.b64encode(file.getvalue()).decode()


def anthropic(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def responses(data: str, **more: str) -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:image/png;base64,{data}", **more}


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("PNG", {}),
        ("GIF", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
    ],
)
def test_the_size_of_an_image_is_read_from_its_beginning(format: str, options: dict[str, Any]) -> None:
    assert image_size(picture(1_280, 720, format, **options)) == (1_280, 720)


def test_the_size_of_a_jpeg_with_a_long_comment_is_found() -> None:
    assert image_size(picture(300, 200, "JPEG", comment=b"x" * 30_000)) == (300, 200)


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: base64.b64encode(raw).decode()))
def test_data_that_is_no_image_has_no_size(data: str) -> None:
    assert image_size(data) is None or data.startswith(("R0lGOD", "iVBOR", "/9j", "UklGR"))


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (anthropic(picture(1_092, 1_092)), 39 * 39),
        (anthropic(picture(200, 200)), 64),
        (anthropic(picture(4_000, 3_000)), 4_784),
        (responses(picture(1_024, 1_024)), 1_024),
        (responses(picture(2_048, 4_096)), 1_536),
        (responses(picture(64, 64)), 255),
        (responses(picture(2_048, 4_096), detail="low"), 85),
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture(512, 512)}"}}, 256),
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}, 85),
        ({"type": "computer_screenshot", "image_url": f"data:image/png;base64,{picture(1_024, 768)}"}, 768),
        ({"inlineData": {"mimeType": "image/png", "data": picture(800, 600)}}, 1_120),
        ({"inline_data": {"mime_type": "image/png", "data": picture(3_072, 3_072)}}, 16 * 258),
    ],
)
def test_an_image_counts_as_its_provider_counts_it(part: dict[str, Any], tokens: int) -> None:
    assert estimate_media(part) == tokens


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_generation_call", "result": "x" * 100_000},
        {"fileData": {"fileUri": "gs://bucket/a.mp4"}},
        {"type": "input_file", "file_data": "x"},
    ],
)
def test_media_of_unknown_size_counts_as_a_large_image(part: dict[str, Any]) -> None:
    assert estimate_media(part) == UNKNOWN_TOKENS


def test_a_file_is_counted_by_the_size_of_its_data_but_a_text_document_as_text() -> None:
    data = "x" * 400_000
    assert estimate_media({"type": "document", "source": {"type": "base64", "data": data}}) == pytest.approx(
        10_000, rel=0.01
    )
    assert estimate_media({"inlineData": {"mimeType": "application/pdf", "data": data}}) == 10_000
    assert estimate_media({"type": "document", "source": {"type": "text", "data": data}}) is None
    assert estimate_media({"type": "text", "text": data}) is None
