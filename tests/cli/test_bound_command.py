"""`keyhole bound`: an output through a pipe."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from keyhole.cli.commands import DEFAULT_BOUND_CHARS, OUTPUT_KINDS
from keyhole.cli.main import main
from keyhole.outputs.bound import BUDGET
from keyhole.outputs.read import KINDS

OUTPUT = "".join(f"test_{number} PASSED\n" for number in range(900)) + "E   assert 4 == 5\n1 failed\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_a_long_output_is_shortened_and_the_named_call_reads_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, OUTPUT)
    assert main(["bound", "--of", "pytest -v", "--budget", "1000"]) == 0
    printed = capsys.readouterr().out
    assert len(printed) <= 1_001
    assert "E   assert 4 == 5" in printed
    id, offset, limit = re.findall(r'id="(\w+)", offset=(\d+), limit=(\d+)', printed)[0]
    assert main(["read", id, "--offset", offset, "--limit", limit]) == 0
    assert OUTPUT[int(offset) : int(offset) + 300] in capsys.readouterr().out


def test_the_facts_of_a_command_are_stored_with_its_output(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pipe(monkeypatch, OUTPUT)
    assert main(["bound", "--of", "pytest -v", "--exit", "1", "--json"]) == 0
    bounded = json.loads(capsys.readouterr().out)
    assert bounded["text"].startswith("Output of `pytest -v` (test run), exit status 1: ")
    assert main(["artifacts", "show", bounded["id"], "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    assert stored["notes"] == {"command": "pytest -v", "exit": "1", "folder": str(tmp_path)}


def test_explain_prints_the_kinds_that_were_weighed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, OUTPUT)
    assert main(["bound", "--of", "pytest -v", "--explain"]) == 0
    assert "4 test: the command prints this kind\n" in capsys.readouterr().err


def test_a_short_output_is_printed_unchanged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("two\r\nlines\n", "\x1b[1mno line feed at its end"):
        pipe(monkeypatch, text)
        assert main(["bound"]) == 0
        assert capsys.readouterr().out == text


def test_a_short_output_that_is_no_text_is_printed_unchanged(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9\x00")
    assert main(["bound", str(tmp_path / "latin")]) == 0
    assert capfdbinary.readouterr().out == b"caf\xe9\x00"


def test_a_file_is_read_by_its_name_and_json_gives_the_facts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "build.log").write_text(OUTPUT, encoding="utf-8")
    assert main(["bound", str(tmp_path / "build.log"), "--json", "--query", "test_417"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["total"]) == ("log", len(OUTPUT))
    assert "test_417 PASSED" in facts["text"]


def test_nothing_is_stored_if_the_settings_keep_no_outputs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYHOLE_KEEP_OUTPUTS", "off")
    pipe(monkeypatch, OUTPUT)
    assert main(["bound"]) == 0
    assert "Next:" not in capsys.readouterr().out
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("copies", [1, 300])
def test_the_output_is_shown_without_recovery_if_the_store_fails(
    copies: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "home" / "artifacts.db").mkdir(parents=True)
    pipe(monkeypatch, copies * OUTPUT)  # in memory, and more than that
    assert main(["bound"]) == 0
    printed = capsys.readouterr().out
    assert ("Next:" in printed, printed.endswith("[end]\n")) == (False, True)
    assert "the output is not stored: " in caplog.text


def test_a_file_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "no/such/file"]) == 2
    assert "cannot read no/such/file: No such file" in capsys.readouterr().err


def test_the_command_line_names_the_kinds_and_the_budget_of_the_library() -> None:
    assert OUTPUT_KINDS == KINDS
    assert DEFAULT_BOUND_CHARS == BUDGET
