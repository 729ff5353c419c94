"""Messages of Chat Completions."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.conversations.formats.chat import PARTS, is_own, read_item, text_part, text_path, user_item
from keyhole.extensions.conversations.formats.values import ItemFacts, ToolResult


def test_a_result_names_its_call() -> None:
    content = [{"type": "text", "text": "done"}]
    facts = read_item({"role": "tool", "tool_call_id": "a", "content": content}, 2)
    assert facts == ItemFacts("result", results=(ToolResult(2, ("content",), ("a",), content),))
    assert facts.results[0].place == (2, None)


def test_all_parallel_calls_of_a_message_are_read() -> None:
    assert read_item({"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}, 0).calls == (("a",), ("b",))


def test_the_older_form_of_a_call_is_paired_by_the_name_of_the_function() -> None:
    call = read_item({"role": "assistant", "function_call": {"name": "make", "arguments": "{}"}}, 0)
    result = read_item({"role": "function", "name": "make", "content": "done"}, 1)
    assert call.calls == (result.results[0].names,) == (("make",),)


def test_roles_are_told_apart() -> None:
    kinds = [read_item({"role": role}, 0).kind for role in ("system", "developer", "user", "assistant", "critic")]
    assert kinds == ["system", "system", "user", "model", "unknown"]


def test_calls_that_are_not_understood_are_named() -> None:
    facts = read_item({"role": "assistant", "tool_calls": "none", "function_call": 3}, 0)
    assert (facts.calls, facts.unknown) == ((), ("tool_calls",))
    assert read_item({"role": "assistant", "tool_calls": [3]}, 0).unknown == ("tool_calls",)


@pytest.mark.parametrize(
    ("item", "unknown"),
    [
        ({"role": "critic", "content": "no"}, "role critic"),
        ({"role": "user", "content": 3}, "content"),
        ({"role": "user", "content": [{"type": "hologram"}]}, "block hologram"),
        ({"role": "tool", "tool_call_id": "a", "content": [{"type": "hologram"}]}, "block hologram"),
    ],
)
def test_messages_that_are_not_understood_are_named_and_have_no_results(item: dict[str, Any], unknown: str) -> None:
    facts = read_item(item, 0)
    assert (facts.unknown, facts.results) == ((unknown,), ())


@pytest.mark.parametrize("kind", sorted(PARTS))
def test_parts_of_all_known_types_are_understood(kind: str) -> None:
    assert read_item({"role": "user", "content": [{"type": kind}]}, 0) == ItemFacts("user", has_user_text=True)


def test_a_message_is_recognised_by_its_calls_and_results() -> None:
    assert is_own({"role": "tool", "tool_call_id": "a", "content": ""})
    assert is_own({"role": "assistant", "tool_calls": [{"id": "a"}]})
    assert not is_own({"role": "assistant", "content": "hi", "tool_calls": None})


def test_messages_of_the_user_are_written() -> None:
    assert user_item("hi") == {"role": "user", "content": "hi"}
    assert text_path(user_item("hi")) == ("content",)
    assert text_part("hi") == {"type": "text", "text": "hi"}
