"""Small runs of the stdio benchmarks and of the overhead benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.server import artifact_args, overhead, stdio_frames
from benchmarks.server.wire import ERAS

FRAMES = [
    {"name": "empty", "latin1": ""},
    {"name": "not UTF-8", "latin1": '{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"x":"\xff\xfe"}}'},
    {"name": "lone surrogate", "latin1": '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"\\ud800"}}'},
]
ARGUMENTS = [
    ({"id": "' OR 1=1 --"}, "error:artifact_not_found"),
    ({"id": "x" * 5_000}, "error:artifact_not_found|invalid_argument"),
    ({"id": "<valid>", "offset": 10**400}, "error:invalid_argument"),
    ({"id": "<valid>", "offset": 10**18}, "ok_or_error"),
    ({"id": "<valid-unicode>", "offset": "end-1"}, "ok_exact"),
    ({"id": "<evicted-during-read>"}, "error:artifact_not_found|artifact_expired"),
    ({"id": "<other-session-same-user>"}, "ok"),
]


def rows(folder: Path, cases: list[dict[str, Any]]) -> str:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps({"id": f"row-{n}", **case}) + "\n" for n, case in enumerate(cases)))
    return str(file)


def test_the_server_survives_malformed_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stdio_frames.main([rows(tmp_path, [{"case": case} for case in FRAMES])]) == 0
    assert capsys.readouterr().out.count("3 frames, 0 faults") == 2


def test_hostile_arguments_have_the_expected_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact_args, "WALKS", 1)
    cases = [{"case": case, "expect": expect} for case, expect in ARGUMENTS]
    assert artifact_args.main([rows(tmp_path, cases)]) == 0
    capsys.readouterr()
    monkeypatch.setattr(artifact_args, "ERAS", ERAS[:1])
    assert artifact_args.main([rows(tmp_path, [{"case": {"id": "<valid>"}, "expect": "error:invalid_argument"}])]) == 1
    assert "row-0: expected ['invalid_argument']" in capsys.readouterr().out


def test_the_cost_of_a_call_is_reported_by_stage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overhead, "LONG", 50_000)
    monkeypatch.setattr(overhead, "PAGE", 10_000)
    assert overhead.main(["--calls", "2"]) in (0, 1)
    lines = capsys.readouterr().out.splitlines()
    assert "through the SDK" in lines[-1]
    assert [line.split("|")[1].strip() for line in lines[4:-2]] == [
        "fetch, 4 KB", "fetch, 10 KB", "fetch, 10 KB, query", "again, 10 KB", "again, 10 KB, new query",
        "range of 50 KB",
    ]  # fmt: skip
