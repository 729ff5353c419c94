"""`keyhole compact`: a conversation or a request in a file or a pipe."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.main import main
from keyhole.extensions.conversations.arguments import CONVERSATION_FORMATS, DEFAULT_KEEP_LAST, DEFAULT_TARGET
from keyhole.extensions.conversations.compact import KEEP_LAST, TARGET
from keyhole.extensions.conversations.formats import FORMATS
from keyhole.extensions.conversations.items import estimate_item
from tests.support.pairing import faults_of_anthropic, faults_of_chat

LOG = "".join(f"step {number} done\n" for number in range(900)) + "error: disk full\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")


def chat(turns: int = 12) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Build"}]
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "make", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"run {number}\n{LOG}"})
    return messages


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, value: object, *words: str) -> Any:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(value).encode())))
    assert main(["compact", "-", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_list_of_messages_is_printed_within_the_budget_and_the_named_calls_read_the_rest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = chat()
    printed = run(capsys, monkeypatch, messages, "--max-tokens", "30000")
    assert sum(map(estimate_item, printed)) <= 30_000
    assert faults_of_chat(printed) == []
    stub = next(item["content"] for item in printed if "left out this result" in str(item["content"]))
    assert "error: disk full" in stub
    [id] = re.findall(r'read_artifact\(id="(\w+)", offset=0\)', stub)
    assert main(["read", id, "--find", "step 417 done"]) == 0
    assert "step 417 done" in capsys.readouterr().out


def test_a_conversation_within_the_budget_is_printed_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(capsys, monkeypatch, chat(), "--max-tokens", "1000000") == chat()


def test_what_else_a_request_has_counts_and_is_passed_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: list[dict[str, Any]] = [{"role": "user", "content": "Build"}]
    for number in range(12):
        call = {"type": "tool_use", "id": f"t{number}", "name": "make", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": LOG}
        blocks += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    request = {"model": "m", "system": "Be brief. " * 3_000, "tools": [{"name": "make"}], "messages": blocks}
    printed = run(capsys, monkeypatch, request, "--max-tokens", "30000")
    assert {**printed, "messages": blocks} == request
    assert estimate_item({"system": request["system"]}) > 6_000
    assert sum(map(estimate_item, printed["messages"])) <= 30_000 - 6_000
    assert faults_of_anthropic(printed["messages"]) == []


def test_a_request_that_is_too_long_without_its_conversation_fails_with_the_figures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"instructions": "Be brief. " * 3_000, "input": "Build"}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(body).encode())))
    assert main(["compact", "-", "--max-tokens", "5000"]) == 1
    assert re.match(r"over_budget: the request takes 7,\d\d\d tokens of 5,000", capsys.readouterr().err)


def test_a_compacted_conversation_is_printed_as_it_was_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = chat()
    messages[3]["content"] = f"\x1b[31m{LOG}\x1b[0m"
    compacted = run(capsys, monkeypatch, messages, "--max-tokens", "30000")
    assert compacted != messages
    assert run(capsys, monkeypatch, compacted, "--restore") == messages


def test_the_other_fields_of_a_request_stay_when_its_conversation_is_restored(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "Build"}]}]}
    for number in range(12):
        call = {"functionCall": {"name": "make", "args": {}}}
        response = {"functionResponse": {"name": "make", "response": {"output": f"run {number}\n{LOG}"}}}
        request["contents"] += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [response]}]  # type: ignore[operator]
    compacted = run(capsys, monkeypatch, request, "--max-tokens", "30000")
    assert (compacted["model"], compacted["contents"] != request["contents"]) == ("m", True)
    assert run(capsys, monkeypatch, compacted, "--restore") == request


def test_a_conversation_that_was_not_compacted_is_printed_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(capsys, monkeypatch, chat(), "--restore") == chat()


def test_without_a_budget_a_conversation_is_not_compacted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(chat(1)), encoding="utf-8")
    assert main(["compact", str(tmp_path / "chat.json")]) == 2
    assert "--max-tokens is missing" in capsys.readouterr().err


def test_the_summary_counts_what_was_left_out_and_what_was_not_understood(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [*chat(4), {"role": "critic", "content": "no"}]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(messages).encode())))
    assert main(["compact", "-", "--max-tokens", "10000", "--keep-last", "1"]) == 0
    summary = capsys.readouterr().err
    assert re.match(
        r"keyhole: about \d\d,\d\d\d tokens of conversation, now \d,\d\d\d; left out: \d tool results", summary
    )
    assert summary.endswith("not understood and kept: 1\n")


def test_json_adds_the_report(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    printed = run(capsys, monkeypatch, chat(), "--max-tokens", "30000", "--json", "--keep-last", "1", "--target", "0.3")
    assert printed["report"]["tokens_after"] == sum(map(estimate_item, printed["result"]))
    assert len(printed["report"]["stubs"]) > 3


def test_nothing_is_stored_and_no_call_is_named_if_outputs_are_not_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KEYHOLE_KEEP_OUTPUTS", "off")
    printed = run(capsys, monkeypatch, chat(), "--max-tokens", "30000")
    assert "left out this result" in json.dumps(printed)
    assert "read_artifact" not in json.dumps(printed)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ('"hi"', "a conversation is"), ('{"a": 1}', "a conversation is"), ("[1]", "items must be")],
)
def test_a_file_without_a_conversation_is_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "chat.json").write_text(text, encoding="utf-8")
    assert main(["compact", str(tmp_path / "chat.json"), "--max-tokens", "1000"]) == 2
    assert message in capsys.readouterr().err


def test_the_defaults_of_the_command_are_those_of_the_function() -> None:
    assert ("auto", *FORMATS) == CONVERSATION_FORMATS
    assert (DEFAULT_KEEP_LAST, DEFAULT_TARGET) == (KEEP_LAST, TARGET)
