"""Messages of Anthropic's API."""

from __future__ import annotations

from keyhole.extract.conversations.anthropic import read_item
from keyhole.extract.conversations.values import Result


def test_calls_of_the_caller_are_read_but_not_those_that_the_provider_runs() -> None:
    blocks = [{"type": "tool_use", "id": "a"}, {"type": "server_tool_use", "id": "s"}, {"type": "tool_use", "id": "b"}]
    assert read_item({"role": "assistant", "content": blocks}, 0).calls == ("a", "b")


def test_a_result_is_found_by_the_number_of_its_block() -> None:
    blocks = [{"type": "text", "text": "so"}, {"type": "tool_result", "tool_use_id": "a", "content": "done"}]
    facts = read_item({"role": "user", "content": blocks}, 4)
    assert (facts.kind, facts.results, facts.has_user_text) == ("result", (Result(4, 1, "a", "done"),), True)


def test_a_message_with_results_alone_has_no_text_of_the_user() -> None:
    facts = read_item({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}, 0)
    assert (facts.results[0].text, facts.has_user_text) == ("", False)


def test_messages_are_told_by_role() -> None:
    kinds = [read_item({"role": role, "content": "hi"}, 0).kind for role in ("system", "user", "assistant", "critic")]
    assert kinds == ["system", "user", "model", "unknown"]


def test_elements_that_are_no_blocks_are_passed_over() -> None:
    assert read_item({"role": "assistant", "content": ["text", 3, {"type": "tool_use", "id": "a"}]}, 0).calls == ("a",)
