"""Messages of LangChain, as `model_dump` writes them."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.conversations.formats.langchain import is_own, read_item, text_part, text_path, user_item
from keyhole.extensions.conversations.formats.values import ToolResult

COMMON: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}
CALL = {
    **COMMON,
    "content": "I run it.",
    "type": "ai",
    "tool_calls": [{"name": "sh", "args": {"command": "make"}, "id": "c1", "type": "tool_call"}],
    "invalid_tool_calls": [],
    "usage_metadata": None,
}
RESULT = {
    **COMMON, "content": "done", "type": "tool", "name": "sh", "tool_call_id": "c1", "artifact": None,
    "status": "success",
}  # fmt: skip


def test_calls_and_their_results_are_read() -> None:
    assert read_item(CALL, 1).calls == (("c1",),)
    assert read_item(RESULT, 2).results == (ToolResult(2, ("content",), ("c1",), "done"),)


def test_types_are_told_apart() -> None:
    types = ["human", "HumanMessageChunk", "ai", "AIMessageChunk", "system", "tool", "remove"]
    kinds = [read_item({**COMMON, "type": kind, "content": "hi"}, 0).kind for kind in types]
    assert kinds == ["user", "user", "model", "model", "system", "result", "unknown"]


def test_the_blocks_of_a_provider_are_not_read() -> None:
    facts = read_item({**CALL, "content": [{"type": "hologram"}]}, 0)
    assert (facts.unknown, facts.calls) == ((), (("c1",),))


@pytest.mark.parametrize(
    ("item", "unknown"),
    [
        ({"type": "remove", "content": ""}, "remove"),
        ({"type": "human", "content": 3}, "human"),
        ({"type": "ai", "content": "", "tool_calls": "none"}, "tool_calls"),
        ({"type": "tool", "data": RESULT}, "tool"),
    ],
)
def test_messages_that_are_not_understood_are_named(item: dict[str, Any], unknown: str) -> None:
    assert read_item(item, 0).unknown == (unknown,)


def test_a_message_is_recognised_by_its_type() -> None:
    assert is_own(CALL)
    assert is_own(RESULT)
    assert not is_own({"lc": 1, "type": "constructor", "id": ["langchain"], "kwargs": {"content": "hi"}})
    assert not is_own({"type": "message", "role": "user", "content": "hi"})


def test_messages_of_the_user_are_written() -> None:
    assert user_item("hi") == {"type": "human", "content": "hi"}
    assert text_path(user_item("hi")) == ("content",)
    assert text_part("hi") == {"type": "text", "text": "hi"}
