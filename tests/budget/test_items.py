"""The estimated tokens of items follow the stated rules."""

from __future__ import annotations

import pytest

from keyhole.budget.items import ITEM_TOKENS, count_chars, estimate_item, estimate_value
from keyhole.budget.tokens import estimate


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
