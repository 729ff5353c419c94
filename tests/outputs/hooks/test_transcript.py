"""What Codex's transcript has of a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keyhole.outputs.hooks.event import Result
from keyhole.outputs.hooks.saved_file import CUT_NOTE, CommandRun, complete, find_run, read_run

RECORDED = Path(__file__).parent / "payloads" / "codex-transcript.jsonl"


def line(**item: object) -> bytes:
    run = {"type": "CommandExecution", "id": "call_1", "aggregated_output": "text", "exit_code": 1}
    return json.dumps({"payload": {"item": {**run, **item}}}).encode()


def test_a_recorded_transcript_has_the_output_and_the_exit_status_of_a_command() -> None:
    assert read_run(str(RECORDED), "call_2") == CommandRun("partial\nbad\n", 3)
    long = read_run(str(RECORDED), "call_7")
    assert long is not None and long.exit_status == 3 and long.output.startswith("line 1 of the flood")


def test_a_result_is_completed_with_what_the_transcript_has_of_its_call() -> None:
    found = Result("cut", "make", note="no exit status", transcript=str(RECORDED), call_id="call_2")
    completed = complete(found)
    assert (completed.text, completed.exit_status, completed.note) == ("partial\nbad\n", 3, "")
    assert complete(found._replace(call_id="call_9")) == found._replace(call_id="call_9")


def test_a_note_tells_that_codex_cut_the_output(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(line(aggregated_output="a\n... command output truncated for persistence ...\nb"))
    assert complete(Result("cut", transcript=str(path), call_id="call_1")).note == CUT_NOTE


def test_a_call_that_is_not_there_is_not_found() -> None:
    assert read_run(str(RECORDED), "call_9") is None
    assert read_run(str(RECORDED.with_name("missing")), "call_2") is None
    assert read_run("\0", "call_2") is None


def test_the_last_run_of_a_call_is_found() -> None:
    assert find_run(line(exit_code=1) + b"\n" + line(exit_code=2) + b"\n", "call_1") == CommandRun("text", 2)


def test_a_transcript_is_read_only_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(line(exit_code=1) + b"\n" + line(id="call_2") + b"\n")
    size = len(line(id="call_2")) + 1
    assert read_run(str(path), "call_2", size) == CommandRun("text", 1)
    assert read_run(str(path), "call_2", size - 3) is None
    assert read_run(str(path), "call_1", size + 20) is None


@pytest.mark.parametrize(
    "item",
    [{"id": "call_10"}, {"type": "Other"}, {"exit_code": None}, {"exit_code": True}, {"aggregated_output": None}],
)
def test_other_items_are_not_a_run(item: dict[str, object]) -> None:
    assert find_run(line(**item), "call_1") is None


@pytest.mark.parametrize("text", [b"", b"\xff", b"[]", b'"CommandExecution" call_1', b'{"payload": []}', b"[" * 10_000])
def test_text_that_is_no_transcript_has_no_run(text: bytes) -> None:
    assert find_run(text + b' "CommandExecution" call_1', "call_1") is None
