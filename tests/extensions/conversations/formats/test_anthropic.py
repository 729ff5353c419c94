"""Messages of Anthropic's API."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.conversations.formats.anthropic import is_own, read_item, text_part, text_path, user_item
from keyhole.extensions.conversations.formats.values import ToolResult


def read(role: str, *blocks: Any, index: int = 0) -> Any:
    return read_item({"role": role, "content": list(blocks)}, index)


def test_calls_of_the_client_and_of_the_provider_are_told_apart() -> None:
    facts = read(
        "assistant",
        {"type": "tool_use", "id": "a"},
        {"type": "server_tool_use", "id": "s"},
        {"type": "mcp_tool_use", "id": "m"},
        {"type": "tool_use", "id": "b"},
    )
    assert (facts.calls, facts.hosted) == ((("a",), ("b",)), ("s", "m"))


def test_a_result_is_found_by_the_number_of_its_block() -> None:
    blocks = [{"type": "text", "text": "so"}, {"type": "tool_result", "tool_use_id": "a", "content": "done"}]
    facts = read("user", *blocks, index=4)
    assert (facts.kind, facts.has_user_text) == ("result", True)
    assert facts.results == (ToolResult(4, ("content", 1, "content"), ("a",), "done"),)
    assert facts.results[0].place == (4, 1)


def test_a_message_with_results_alone_has_no_text_of_the_user() -> None:
    facts = read("user", {"type": "tool_result", "tool_use_id": "a"})
    assert (facts.results[0].content, facts.has_user_text) == (None, False)


def test_a_result_of_the_provider_closes_its_call_and_that_of_an_mcp_server_can_be_replaced() -> None:
    facts = read(
        "assistant",
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {"type": "mcp_tool_result", "tool_use_id": "m", "content": [{"type": "text", "text": "done"}]},
    )
    assert facts.closes == ("s", "m")
    assert [(result.names, result.path) for result in facts.results] == [(("m",), ("content", 1, "content"))]


def test_a_call_names_the_program_that_made_it() -> None:
    caller = {"type": "code_execution_20260120", "tool_id": "s"}
    assert read("assistant", {"type": "tool_use", "id": "a", "caller": caller}).references == ("s",)
    assert read("assistant", {"type": "tool_use", "id": "a", "caller": {"type": "direct"}}).references == ()


def test_roles_are_told_apart() -> None:
    kinds = [read_item({"role": role, "content": "hi"}, 0).kind for role in ("system", "user", "assistant", "critic")]
    assert kinds == ["system", "user", "model", "unknown"]


def test_blocks_that_are_not_understood_are_named_and_their_message_has_no_results() -> None:
    facts = read("assistant", "text", {"type": "hologram"}, {"type": "tool_use", "id": "a"})
    assert (facts.unknown, facts.calls) == (("block str", "block hologram"), (("a",),))
    result = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
    assert read("user", result, {"type": "hologram"}).results == ()


@pytest.mark.parametrize(
    ("item", "unknown"),
    [({"role": "critic", "content": "hi"}, "role critic"), ({"role": "user", "content": 3}, "content")],
)
def test_messages_that_are_not_understood_are_named(item: dict[str, Any], unknown: str) -> None:
    assert read_item(item, 0).unknown == (unknown,)


def test_a_block_that_changes_the_state_of_the_model_is_fixed() -> None:
    assert read("assistant", {"type": "compaction", "content": "so far"}).is_fixed
    assert not read("assistant", {"type": "text", "text": "so"}).is_fixed


@pytest.mark.parametrize("kind", ["tool_use", "tool_result", "server_tool_use", "thinking", "search_result"])
def test_a_message_is_recognised_by_its_blocks(kind: str) -> None:
    assert is_own({"role": "assistant", "content": [{"type": kind}]})
    assert not is_own({"content": [{"type": kind}]})


def test_a_response_is_recognised_as_it_came() -> None:
    response = {"type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "hi"}]}
    assert is_own(response)
    assert not is_own({**response, "type": "other"})


def test_plain_texts_and_images_are_not_recognised() -> None:
    assert not is_own({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]})
    assert not is_own({"role": "user", "content": "hi"})


def test_messages_of_the_user_are_written() -> None:
    assert user_item("hi") == {"role": "user", "content": "hi"}
    assert text_path(user_item("hi")) == ("content",)
    assert text_part("hi") == {"type": "text", "text": "hi"}
