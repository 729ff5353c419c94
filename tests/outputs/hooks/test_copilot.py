"""Copilot CLI's events and answers."""

from __future__ import annotations

import pytest

from keyhole.outputs.hooks import copilot
from tests.support.hook_events import LONG, recorded

ENVIRONMENT = {"TMPDIR": "/var/tmp/"}  # noqa: S108 - the folder of the recorded events


@pytest.mark.parametrize("name", ["copilot-shell-large", "copilot-mcp-large"])
def test_a_long_result_is_taken_from_the_file_that_its_message_names(name: str) -> None:
    event = recorded(name)
    found = copilot.find(event, ENVIRONMENT)
    assert found is not None
    assert found.saved_in == "/var/tmp"  # noqa: S108
    assert found.saved.startswith("/var/tmp/1795") and found.saved.endswith(".txt")  # noqa: S108
    assert found.beginning and found.beginning in event["toolResult"]["textResultForLlm"]
    assert not found.beginning.endswith(">")


def test_a_preview_that_ends_in_half_a_character_is_the_beginning_of_the_file() -> None:
    event = recorded("copilot-mcp-large")
    event["toolResult"]["textResultForLlm"] += "\ufffd"
    found = copilot.find(event, ENVIRONMENT)
    assert found is not None and found.saved and not found.beginning.endswith("\ufffd")


@pytest.mark.parametrize("arguments", ['{"command": "make all"}', {"command": "make all"}])
def test_the_arguments_of_a_call_can_be_a_text(arguments: object) -> None:
    found = copilot.find({**recorded("copilot-shell-small"), "toolArgs": arguments}, ENVIRONMENT)
    assert found is not None and found.command == "make all"


@pytest.mark.parametrize("tool", ["grep", "glob"])
def test_searches_are_bounded(tool: str) -> None:
    event = {"toolName": tool, "toolArgs": {"pattern": "*.py"}, "toolResult": {"textResultForLlm": LONG}}
    found = copilot.find(event, ENVIRONMENT)
    assert found is not None and (found.text, found.command) == (LONG, f"{tool} '*.py'")


def test_the_line_with_the_exit_status_stays() -> None:
    found = copilot.find(recorded("copilot-shell-failing-large"), ENVIRONMENT)
    assert found is not None
    assert found.ending == "\n<shellId: 3 completed with exit code 3>"
    assert found.exit_status == 3


def test_the_line_about_a_command_that_is_still_running_stays() -> None:
    event = recorded("copilot-shell-small")
    line = (
        "\n<command with shellId: s9 is still running after 30 seconds. The command is still running. You will be "
        "automatically notified when it completes; if you need the command to complete end your response with no tool "
        "calls to wait for the notification. Use stop_bash to stop it.>"
    )
    event["toolResult"]["textResultForLlm"] = f"{LONG}{line}"
    found = copilot.find(event, ENVIRONMENT)
    assert found is not None and (found.text, found.ending, found.exit_status) == (LONG, line, None)


def test_the_answer_has_the_shape_of_the_result() -> None:
    answer = copilot.answer(recorded("copilot-shell-large"), "bounded")
    assert answer == {"modifiedResult": {"resultType": "success", "textResultForLlm": "bounded"}}


def test_a_text_without_a_file_is_the_whole_text() -> None:
    event = recorded("copilot-shell-small")
    event["toolResult"]["textResultForLlm"] = LONG
    found = copilot.find(event, ENVIRONMENT)
    assert found is not None and (found.text, found.saved, found.ending) == (LONG, "", "")


@pytest.mark.parametrize(
    "text",
    [
        "Output too large to read at once (9 KB). Saved to: /etc/passwd\nx\n\nPreview (first 500 chars):\n" + "a" * 500,
        "Output too large to read at once (9 KB). Saved to: /var/tmp/1-copilot-tool-output-a.txt\n",
        "before\nOutput too large to read at once (9 KB). Saved to: /var/tmp/1-copilot-tool-output-a.txt\nx\n\n"
        "Preview (first 500 chars):\n" + "a" * 500,
    ],
)
def test_a_message_of_another_form_names_no_file(text: str) -> None:
    event = recorded("copilot-shell-small")
    event["toolResult"]["textResultForLlm"] = text
    found = copilot.find(event, ENVIRONMENT)
    assert found is not None and not found.saved


def test_a_whole_file_is_bounded_only_if_it_is_long_and_a_part_never() -> None:
    event = recorded("copilot-read-refused")
    event["toolArgs"]["forceReadLargeFiles"] = True
    found = copilot.find(event, ENVIRONMENT)
    assert found is not None and (found.name, found.least) == ("big.txt", 20_000) and "view_range" in found.note
    event["toolArgs"]["view_range"] = [1, 900]
    assert copilot.find(event, ENVIRONMENT) is None


@pytest.mark.parametrize("name", ["copilot-read-part", "copilot-before-shell"])
def test_other_events_are_left_alone(name: str) -> None:
    assert copilot.find(recorded(name), ENVIRONMENT) is None


def test_the_results_of_keyhole_are_left_alone() -> None:
    assert copilot.find({**recorded("copilot-mcp-large"), "toolName": "keyhole-web_fetch"}, ENVIRONMENT) is None
