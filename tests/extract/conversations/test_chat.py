"""Messages of Chat Completions."""

from __future__ import annotations

from keyhole.extract.conversations.chat import read_item
from keyhole.extract.conversations.values import ItemFacts, Result


def test_a_result_names_its_call() -> None:
    facts = read_item({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "done"}]}, 2)
    assert facts == ItemFacts("result", results=(Result(2, None, "a", "done"),))


def test_all_parallel_calls_of_a_message_are_read() -> None:
    assert read_item({"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}, 0).calls == ("a", "b")


def test_the_older_form_of_a_call_is_paired_by_the_name_of_the_function() -> None:
    call = read_item({"role": "assistant", "function_call": {"name": "make", "arguments": "{}"}}, 0)
    result = read_item({"role": "function", "name": "make", "content": "done"}, 1)
    assert call.calls == (result.results[0].call,) == ("make",)


def test_messages_are_told_by_role() -> None:
    kinds = [read_item({"role": role}, 0).kind for role in ("system", "developer", "user", "assistant", "critic")]
    assert kinds == ["system", "system", "user", "model", "unknown"]


def test_malformed_calls_are_no_calls() -> None:
    assert read_item({"role": "assistant", "tool_calls": "none", "function_call": 3}, 0).calls == ()
