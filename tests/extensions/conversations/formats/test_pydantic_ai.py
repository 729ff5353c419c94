"""Messages of pydantic-ai, as `ModelMessagesTypeAdapter` writes them."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.conversations.formats.pydantic_ai import is_own, read_item, text_part, text_path, user_item
from keyhole.extensions.conversations.formats.values import ToolResult

TIME = "2026-11-24T14:00:23.386271Z"
SYSTEM = {"content": "Be brief.", "timestamp": TIME, "dynamic_ref": None, "part_kind": "system-prompt"}
PROMPT = {"content": "Build it.", "timestamp": TIME, "part_kind": "user-prompt"}
CALL = {"tool_name": "sh", "args": {"command": "make"}, "tool_call_id": "c1", "id": None, "part_kind": "tool-call"}
TEXT = {"content": "I run it.", "id": None, "part_kind": "text"}
RETURN = {
    "tool_name": "sh", "content": "done", "tool_call_id": "c1", "metadata": None, "timestamp": TIME,
    "outcome": "success", "part_kind": "tool-return",
}  # fmt: skip
RETRY = {"content": "wrong", "tool_name": "sh", "tool_call_id": "c2", "timestamp": TIME, "part_kind": "retry-prompt"}


def request(*parts: Any) -> dict[str, Any]:
    return {"parts": list(parts), "timestamp": None, "instructions": None, "kind": "request", "run_id": None}


def response(*parts: Any) -> dict[str, Any]:
    return {"parts": list(parts), "usage": {}, "model_name": None, "timestamp": TIME, "kind": "response"}


def test_calls_are_read() -> None:
    facts = read_item(response({"content": "hm", "part_kind": "thinking"}, TEXT, CALL), 1)
    assert (facts.kind, facts.calls, facts.unknown) == ("model", (("c1",),), ())


def test_calls_that_the_provider_runs_need_no_result() -> None:
    assert read_item(response({**CALL, "part_kind": "builtin-tool-call"}), 1).calls == ()


def test_results_and_the_failures_of_calls_are_read() -> None:
    facts = read_item(request(RETURN, RETRY), 2)
    assert (facts.kind, facts.has_user_text) == ("result", False)
    assert facts.results == (
        ToolResult(2, ("parts", 0, "content"), ("c1",), "done"),
        ToolResult(2, ("parts", 1, "content"), ("c2",), "wrong"),
    )


def test_a_failure_that_names_no_tool_is_text_for_the_model() -> None:
    facts = read_item(request({**RETRY, "tool_name": None}), 2)
    assert (facts.kind, facts.results, facts.has_user_text) == ("user", (), True)


def test_a_request_with_results_may_have_a_prompt() -> None:
    facts = read_item(request(RETURN, PROMPT), 2)
    assert (facts.kind, facts.has_user_text) == ("result", True)


def test_a_request_with_the_systems_text_is_fixed() -> None:
    assert read_item(request(SYSTEM, PROMPT), 0).is_fixed
    assert not read_item(request(PROMPT), 0).is_fixed


@pytest.mark.parametrize(
    ("item", "unknown"),
    [
        ({"kind": "note", "parts": []}, "kind note"),
        ({"kind": "request"}, "kind request"),
        (request(RETURN, {"part_kind": "hologram"}), "part hologram"),
        (request("hi"), "part None"),
        (response(PROMPT), "part user-prompt"),
    ],
)
def test_messages_that_are_not_understood_are_named_and_have_no_results(item: dict[str, Any], unknown: str) -> None:
    facts = read_item(item, 0)
    assert (facts.unknown, facts.results) == ((unknown,), ())


def test_a_message_is_recognised_by_its_kind() -> None:
    assert is_own(request(PROMPT))
    assert is_own(response(TEXT))
    assert not is_own({"role": "user", "parts": []})


def test_the_text_of_a_request_is_that_of_its_last_prompt() -> None:
    assert text_path(request(SYSTEM, PROMPT, PROMPT)) == ("parts", 2, "content")
    assert user_item("hi") == {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]}
    assert text_part("hi") == "hi"
