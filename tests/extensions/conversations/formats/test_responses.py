"""Items of the Responses API."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.conversations.formats.responses import CALLS, is_own, read_item, text_part, text_path, user_item
from keyhole.extensions.conversations.formats.values import ItemFacts, ToolResult


@pytest.mark.parametrize("kind", sorted(CALLS))
def test_every_type_of_call_has_a_result_of_the_same_name(kind: str) -> None:
    assert read_item({"type": kind, "call_id": "a"}, 0) == ItemFacts("model", calls=((f"{kind} a", "a"),))
    result = read_item({"type": f"{kind}_output", "call_id": "a", "output": "done"}, 1)
    expected = ToolResult(1, ("output",), (f"{kind} a", "a"), "done", is_replaceable=kind != "apply_patch_call")
    assert result == ItemFacts("result", results=(expected,))


def test_a_call_with_an_id_is_tied_to_its_reasoning() -> None:
    facts = read_item({"type": "function_call", "call_id": "a", "id": "fc_1"}, 0)
    assert (facts.is_tied, facts.calls[0][-2:]) == (True, ("a", "fc_1"))


def test_the_result_of_a_local_shell_names_its_call_by_its_own_id() -> None:
    call = read_item({"type": "local_shell_call", "call_id": "a", "id": "lsh_1"}, 0)
    result = read_item({"type": "local_shell_call_output", "id": "a", "output": "done"}, 1)
    assert result.results[0].names[0] in call.calls[0]


def test_the_parts_of_a_result_are_its_content() -> None:
    parts = [{"type": "input_text", "text": "one"}, {"type": "input_image"}, {"type": "input_text", "text": "two"}]
    item = {"type": "function_call_output", "call_id": "a", "output": parts}
    assert read_item(item, 0).results[0].content == parts


def test_a_call_that_the_provider_runs_has_its_result_in_itself() -> None:
    facts = read_item({"type": "mcp_call", "id": "m", "output": "done", "approval_request_id": "r"}, 3)
    assert (facts.kind, facts.calls, facts.is_tied) == ("model", (), True)
    assert (facts.results, facts.references) == ((ToolResult(3, ("output",), (), "done"),), ("r",))
    assert read_item({"type": "mcp_call", "id": "m", "output": None}, 3).results == ()


def test_an_approval_closes_its_request() -> None:
    request = read_item({"type": "mcp_approval_request", "id": "r", "name": "send"}, 0)
    answer = read_item({"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}, 1)
    assert (request.kind, request.hosted) == ("model", ("r",))
    assert (answer.kind, answer.closes) == ("result", ("r",))


@pytest.mark.parametrize(("execution", "kind", "hosted"), [("client", "result", ("a",)), ("server", "model", ())])
def test_a_search_for_tools_is_answered_by_who_ran_it(execution: str, kind: str, hosted: tuple[str, ...]) -> None:
    call = read_item({"type": "tool_search_call", "call_id": "a", "execution": execution}, 0)
    output = read_item({"type": "tool_search_output", "call_id": "a", "execution": execution, "tools": []}, 1)
    assert (call.hosted, output.kind, output.closes) == (hosted, kind, ("a",))


def test_a_call_of_a_program_names_the_program() -> None:
    caller = {"type": "program", "caller_id": "p"}
    program = read_item({"type": "program", "id": "prog_1", "call_id": "p", "code": "…"}, 0)
    assert program.hosted == ("p", "prog_1")
    assert read_item({"type": "function_call", "call_id": "a", "caller": caller}, 1).references == ("p",)
    assert "p" in read_item({"type": "program_output", "id": "po_1", "call_id": "p", "result": "…"}, 2).closes


def test_reasoning_is_of_the_model() -> None:
    assert read_item({"type": "reasoning", "encrypted_content": "x"}, 0) == ItemFacts("model", is_reasoning=True)


def test_roles_are_told_apart_and_messages_may_have_no_type() -> None:
    kinds = [read_item({"role": role, "content": ""}, 0).kind for role in ("developer", "user", "assistant", "critic")]
    assert kinds == ["system", "user", "model", "unknown"]


@pytest.mark.parametrize("kind", ["compaction", "mcp_list_tools", "additional_tools"])
def test_an_item_that_changes_the_state_of_the_model_is_kept_as_text_of_the_system(kind: str) -> None:
    assert read_item({"type": kind}, 0) == ItemFacts("system")


@pytest.mark.parametrize(
    ("item", "unknown"),
    [
        ({"type": "hologram", "role": "user"}, "hologram"),
        ({"role": "critic", "content": ""}, "role critic"),
        ({"role": "user", "content": [{"type": "hologram"}]}, "block hologram"),
    ],
)
def test_items_that_are_not_understood_are_named(item: dict[str, Any], unknown: str) -> None:
    assert read_item(item, 0).unknown == (unknown,)


def test_items_are_recognised_by_their_type_and_their_parts() -> None:
    assert is_own({"type": "function_call", "call_id": "a"})
    assert is_own({"type": "message", "role": "user", "content": "hi"})
    assert is_own({"role": "user", "content": [{"type": "input_text", "text": "hi"}]})
    assert not is_own({"role": "user", "content": [{"type": "text", "text": "hi"}]})
    assert not is_own({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]})
    assert not is_own({"type": "hologram"})


def test_messages_of_the_user_are_written() -> None:
    assert user_item("hi") == {"role": "user", "content": "hi"}
    assert text_path(user_item("hi")) == ("content",)
    assert text_part("hi") == {"type": "input_text", "text": "hi"}
