"""The estimated tokens of items follow the stated rules."""

from __future__ import annotations

import base64
import os

import pytest

from keyhole.budget.items import (
    FILE_CHARS_PER_TOKEN,
    IMAGE_TOKENS,
    ITEM_TOKENS,
    count_chars,
    estimate_item,
    estimate_text,
)


def test_prose_takes_a_token_for_three_bytes() -> None:
    assert estimate_text("the quick brown fox, " * 100) == 700
    assert estimate_text("鍵穴" * 50) == 100


def test_encoded_data_takes_twice_as_many_tokens() -> None:
    data = base64.b64encode(bytes(range(256)) * 20).decode()
    assert estimate_text(data) == len(data) / 1.5
    assert estimate_text(data[:100]) == 100 / 3


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"data": "x" * 100_000}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "x" * 100_000}},
        {"type": "input_image", "image_url": "https://example.org/a.png"},
        {"type": "image_generation_call", "result": "x" * 100_000},
    ],
)
def test_an_image_takes_the_same_whatever_its_data(part: dict[str, object]) -> None:
    assert IMAGE_TOKENS <= estimate_item({"role": "user", "content": [part]}) <= IMAGE_TOKENS + 20


def test_a_file_is_counted_by_the_size_of_its_data_but_a_text_document_as_text() -> None:
    data = "x" * 400_000
    file = {"type": "document", "source": {"type": "base64", "data": data}}
    assert estimate_item({"content": [file]}) == pytest.approx(len(data) / FILE_CHARS_PER_TOKEN, rel=0.01)
    assert estimate_item({"content": [{"type": "input_file", "file_data": "x"}]}) >= IMAGE_TOKENS
    text = {"type": "document", "source": {"type": "text", "data": "some words " * 300}}
    assert estimate_item({"content": [text]}) == pytest.approx(1_100, rel=0.02)


def test_encrypted_reasoning_takes_a_token_for_four_characters() -> None:
    item = {"type": "reasoning", "summary": [], "encrypted_content": "x" * 4_000}
    assert estimate_item(item) == pytest.approx(1_000, rel=0.02)


def test_every_field_takes_something() -> None:
    assert estimate_item({}) == ITEM_TOKENS
    assert estimate_item({"a": None, "b": 3, "c": True}) > estimate_item({"a": None})


def test_characters_of_all_texts_are_counted() -> None:
    assert count_chars({"role": "user", "content": [{"text": "hello"}, 3, None]}) == len("user" + "hello")


def test_a_text_with_a_lone_surrogate_is_counted() -> None:
    assert estimate_text("\ud800") == 1
    assert estimate_text(os.linesep) > 0
