"""Codex's events and answers."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from keyhole.outputs.hooks import codex
from tests.support.hook_events import all_recorded, recorded

PROGRAM = ("/opt/my tools/python", "-m", "keyhole")


def mcp(**result: Any) -> dict[str, Any]:
    return {**recorded("codex-mcp-large"), "tool_response": result}


def test_the_output_of_a_command_is_bounded_with_a_note_that_its_exit_status_is_unknown() -> None:
    event = recorded("codex-shell-failing-large")
    found = codex.find(event, {})
    assert found is not None
    assert (found.text, found.command) == (event["tool_response"], event["tool_input"]["command"])
    assert "no exit status" in found.note
    assert (found.transcript, found.call_id) == (event["transcript_path"], event["tool_use_id"])


def test_the_answer_is_the_text_that_the_model_gets() -> None:
    answer = codex.answer(recorded("codex-shell-large"), "bounded")
    assert answer == {"continue": False, "stopReason": codex.STOP, "reason": "bounded"}


def test_the_texts_of_another_servers_result_are_one_text() -> None:
    found = codex.find(mcp(content=[{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]), {})
    assert found is not None and found.text == "one\ntwo"


def test_the_text_of_a_resource_is_a_text_of_the_result() -> None:
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}}
    found = codex.find(mcp(content=[{"type": "text", "text": "one"}, resource]), {})
    assert found is not None and found.text == "one\ntwo"


def test_the_structure_is_bounded_instead_of_the_texts_if_a_result_has_both() -> None:
    found = codex.find(mcp(content=[{"type": "text", "text": "one"}], structuredContent={"rows": ["é"]}), {})
    assert found is not None and found.text == '{"rows": ["é"]}'


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "text", "text": "failed"}], "isError": True},
        {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": ""}]},
        {"content": "text"},
    ],
)
def test_a_result_that_a_text_cannot_replace_is_left_alone(result: dict[str, Any]) -> None:
    assert codex.find(mcp(**result), {}) is None


def test_the_results_of_keyhole_are_left_alone() -> None:
    assert codex.find({**recorded("codex-mcp-large"), "tool_name": "mcp__keyhole__search"}, {}) is None


def test_a_command_is_rewritten_and_approved() -> None:
    event = recorded("codex-before-shell")
    command = event["tool_input"]["command"]
    answer = codex.rewrite(event, PROGRAM)
    assert answer is not None
    output = answer["hookSpecificOutput"]
    assert (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "allow")
    words = shlex.split(output["updatedInput"]["command"])
    assert words[0].startswith(f"{codex.ENVIRONMENT}=$(")
    assert words[1:-2] == ["exec", *PROGRAM, "shell", "--", "$0"]
    assert words[-1] == command


def test_the_environment_is_no_argument_which_other_users_could_read() -> None:
    answer = codex.rewrite(recorded("codex-before-shell"), PROGRAM)
    assert answer is not None
    command = answer["hookSpecificOutput"]["updatedInput"]["command"]
    assert "environ" in command.partition(" exec ")[0]
    assert "environ" not in command.partition(" exec ")[2]


def test_a_command_is_rewritten_once() -> None:
    event = recorded("codex-before-shell")
    answer = codex.rewrite(event, PROGRAM)
    assert answer is not None
    event["tool_input"] = answer["hookSpecificOutput"]["updatedInput"]
    assert codex.rewrite(event, PROGRAM) is None


def test_a_command_that_would_be_too_long_for_an_argument_is_left_alone() -> None:
    event = recorded("codex-before-shell")
    event["tool_input"]["command"] = "'" * (codex.MAX_COMMAND // 4)
    assert codex.rewrite(event, PROGRAM) is None


@pytest.mark.parametrize("name", [name for name in all_recorded("codex") if name != "codex-before-shell"])
def test_other_events_are_not_rewritten(name: str) -> None:
    assert codex.rewrite(recorded(name), PROGRAM) is None
