"""The format of a conversation is recognised from its items."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extract.conversations import dialect, read_conversation, recognise


@pytest.mark.parametrize(
    ("items", "format"),
    [
        ([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "a", "content": ""}], "chat"),
        ([{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}], "chat"),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}], "anthropic"),
        ([{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}], "responses"),
        ([{"role": "user", "content": "hi"}, {"type": "function_call", "call_id": "a"}], "responses"),
        ([{"type": "message", "role": "user", "content": "hi"}], "responses"),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}], "chat"),
        ([], "chat"),
    ],
)
def test_the_format_is_recognised_by_the_first_item_that_only_one_format_has(
    items: list[dict[str, Any]], format: str
) -> None:
    assert recognise(items) == format
    assert read_conversation(items).format == format


def test_a_format_that_is_named_is_not_recognised() -> None:
    assert read_conversation([{"role": "user", "content": "hi"}], "anthropic").format == "anthropic"


def test_each_format_tells_where_results_are() -> None:
    assert (dialect("responses").RESULT_FIELD, dialect("responses").TEXT_PART) == ("output", "input_text")
    assert (dialect("chat").RESULT_FIELD, dialect("anthropic").TEXT_PART) == ("content", "text")
