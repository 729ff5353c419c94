"""The conversation of a request is found, and put back."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.command import read_request
from keyhole.extensions.conversations.items import estimate_item

ITEMS = [{"role": "user", "content": "hi"}]


def test_a_list_is_a_conversation() -> None:
    request = read_request(ITEMS)
    assert (request.items, request.format, request.other_tokens) == (ITEMS, None, 0)
    assert request.with_items([]) == []


@pytest.mark.parametrize(
    ("body", "format"),
    [
        ({"messages": ITEMS}, None),
        ({"messages": ITEMS, "system": "Be brief."}, "anthropic"),
        ({"input": ITEMS, "instructions": "Be brief."}, "responses"),
        ({"contents": [{"parts": [{"text": "hi"}]}], "model": "m"}, "gemini"),
    ],
)
def test_the_fields_of_a_request_tell_its_format(body: dict[str, Any], format: str | None) -> None:
    request = read_request(body)
    assert (request.items, request.format) == (body[request.field], format)
    assert request.with_items([]) == {**body, request.field: []}


def test_the_other_fields_of_a_request_are_counted() -> None:
    other = {"system": "Be brief.", "tools": [{"name": "make", "description": "Builds."}]}
    assert read_request({"messages": ITEMS, **other}).other_tokens == estimate_item(other)


def test_an_input_that_is_a_text_is_a_message_of_the_user() -> None:
    assert read_request({"input": "hi"}).items == ITEMS
    assert read_request({"contents": "hi"}).items == [{"parts": [{"text": "hi"}]}]


@pytest.mark.parametrize("value", [None, "hi", 3, {}, {"messages": 3, "input": None}, {"contents": 3}])
def test_what_has_no_conversation_is_refused(value: object) -> None:
    with pytest.raises(KeyholeError) as refused:
        read_request(value)
    assert refused.value.code is Code.INVALID_ARGUMENT
