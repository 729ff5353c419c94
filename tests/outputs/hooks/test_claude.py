"""Claude Code's events and answers."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.outputs.hooks import claude
from tests.support.hook_events import LONG, recorded


def replaced(event: dict[str, Any], text: str = "bounded") -> Any:
    answer = claude.answer(event, text)["hookSpecificOutput"]
    assert answer["hookEventName"] == "PostToolUse"
    return answer["updatedToolOutput"]


def test_the_output_of_a_command_is_taken_from_the_file_of_the_session() -> None:
    event = recorded("claude-shell-large")
    found = claude.find(event, {})
    assert found is not None
    assert found.saved == event["tool_response"]["persistedOutputPath"]
    assert found.saved.startswith(found.saved_in + "/")
    assert found.command == event["tool_input"]["command"]
    assert found.about == event["tool_input"]["description"]


def test_the_answer_for_a_command_has_its_shape_without_the_saved_file() -> None:
    event = recorded("claude-shell-large")
    kept = {"interrupted": False, "isImage": False, "noOutputExpected": False}
    assert replaced(event) == {**kept, "stdout": "bounded", "stderr": ""}


def test_both_streams_of_a_command_are_one_text() -> None:
    event = recorded("claude-shell-small")
    event["tool_response"] |= {"stdout": "out", "stderr": "err"}
    found = claude.find(event, {})
    assert found is not None and found.text == "out\nerr"


@pytest.mark.parametrize("change", [{"isImage": True}, {"structuredContent": [{}]}, {"stdout": None}])
def test_a_command_whose_result_is_not_plain_text_is_left_alone(change: dict[str, Any]) -> None:
    event = recorded("claude-shell-large")
    event["tool_response"] |= change
    assert claude.find(event, {}) is None


def test_a_failed_command_is_left_alone() -> None:
    assert claude.find(recorded("claude-shell-failing-large"), {}) is None
    assert claude.find(recorded("claude-before-shell"), {}) is None


def test_the_output_of_a_command_in_the_background_is_bounded() -> None:
    task = {"task_id": "b1", "task_type": "local_bash", "description": "Run it", "output": LONG, "exitCode": 3}
    response = {"retrieval_status": "success", "task": task}
    event = {**recorded("claude-shell-small"), "tool_name": "TaskOutput", "tool_response": response}
    found = claude.find(event, {})
    assert found is not None and (found.text, found.about, found.exit_status) == (LONG, "Run it", 3)
    assert replaced(event) == {**response, "task": {**task, "output": "bounded"}}
    for other in ({**task, "task_type": "local_agent"}, None):
        event["tool_response"] = {"retrieval_status": "success", "task": other}
        assert claude.find(event, {}) is None


def test_a_whole_file_is_bounded_only_if_it_is_long() -> None:
    event = recorded("claude-read-large")
    found = claude.find(event, {})
    assert found is not None
    assert (found.name, found.least) == ("big.txt", 20_000)
    shown = replaced(event, "two\nlines")
    assert shown["file"] | {"content": "two\nlines", "numLines": 2} == shown["file"]
    assert shown["file"]["filePath"] == event["tool_response"]["file"]["filePath"]


def test_a_part_of_a_file_is_left_alone() -> None:
    assert claude.find(recorded("claude-read-part"), {}) is None


def test_a_search_is_bounded_with_its_pattern_as_the_command() -> None:
    event = recorded("claude-search-large")
    found = claude.find(event, {})
    assert found is not None and found.command.startswith("grep entry /home/user/project")
    assert replaced(event)["content"] == "bounded"
    assert replaced(event)["mode"] == "content"


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
def test_the_names_of_files_that_a_search_found_are_bounded(tool: str) -> None:
    event = {**recorded("claude-glob-small"), "tool_name": tool}
    event["tool_response"] |= {"mode": "files_with_matches", "filenames": ["a.txt", "b/c.txt"], "numFiles": 2}
    found = claude.find(event, {})
    assert found is not None and (found.text, found.command) == ("a.txt\nb/c.txt", f"{tool.lower()} '*.txt'")
    assert replaced(event) == {**event["tool_response"], "filenames": ["bounded"]}


@pytest.mark.parametrize("names", [[], None, "a", [1], [None]])
def test_a_search_without_names_of_files_is_left_alone(names: object) -> None:
    event = recorded("claude-glob-small")
    event["tool_response"]["filenames"] = names
    found = claude.find(event, {})
    assert found is not None and found.text == ""


def test_a_result_of_another_server_is_taken_from_the_file_that_its_message_names() -> None:
    event = recorded("claude-mcp-large")
    found = claude.find(event, {})
    assert found is not None
    assert found.saved.startswith(found.saved_in + "/mcp-other-flood-") and found.saved.endswith(".txt")
    assert replaced(event) == "bounded"


def test_the_texts_of_a_result_are_one_text_and_its_other_blocks_stay() -> None:
    image = {"type": "image", "source": {}}
    blocks = [image, {"type": "text", "text": "one", "x": 1}, image, {"type": "text", "text": "two"}]
    event = {**recorded("claude-mcp-large"), "tool_response": blocks}
    found = claude.find(event, {})
    assert found is not None and found.text == "one\ntwo"
    assert replaced(event) == [image, {"type": "text", "text": "bounded", "x": 1}, image]


def test_the_texts_of_resources_in_a_result_are_bounded() -> None:
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "one"}}
    binary = {"type": "resource", "resource": {"uri": "file:///b", "blob": "AA=="}}
    event = {**recorded("claude-mcp-large"), "tool_response": [binary, resource, {"type": "text", "text": "two"}]}
    found = claude.find(event, {})
    assert found is not None and found.text == "one\ntwo"
    assert replaced(event) == [binary, {"type": "text", "text": "bounded"}]


@pytest.mark.parametrize(
    "tool", ["mcp__keyhole__web_fetch", "mcp__plugin_keyhole_keyhole__search", "mcp__x__read_artifact"]
)
def test_the_results_of_keyhole_are_left_alone(tool: str) -> None:
    event = {**recorded("claude-mcp-large"), "tool_name": tool, "tool_response": [{"type": "text", "text": LONG}]}
    assert claude.find(event, {}) is None


def test_other_tools_are_left_alone() -> None:
    assert claude.find({**recorded("claude-shell-large"), "tool_name": "Edit"}, {}) is None
