"""The records of the outputs that `keyhole bound` and `keyhole run` have bounded."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from keyhole.cli.build import open_stores
from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.store.base import LOCAL
from keyhole.store.calls.base import CallLog
from tests.support.postgresql import Cluster

OUTPUT = "".join(f"test_{number} PASSED\n" for number in range(900)) + "E   assert 4 == 5\n1 failed\n"
PRINT = "print('line\\n' * 5_000, 'ERROR: the disk is full')"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CallLog:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OUTPUT.encode())))
    return open_stores(Config(home=tmp_path / "home")).calls_for(LOCAL)


def test_a_bounded_output_of_a_pipe_is_recorded(log: CallLog, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--of", "pytest -v", "--exit", "1", "-q", "assert", "--budget", "1000"]) == 0
    printed = capsys.readouterr().out
    (call,) = log.calls(9)
    record = log.get(call.id)
    assert record is not None
    assert (call.origin, call.tool, call.target, call.query) == ("pipe", "pytest", "pytest -v", "assert")
    assert record.result == printed.removesuffix("\n")
    assert (record.texts[0].chars, call.shown_chars > 0) == (len(OUTPUT), True)
    assert dict(record.notes) == {"command": "pytest -v", "exit": "1", "folder": str(Path.cwd()), "kind": "test"}
    assert (call.session, call.folder) == (call.id, str(Path.cwd()))


def test_a_bounded_file_is_recorded_by_its_name(log: CallLog, tmp_path: Path) -> None:
    file = tmp_path / "build.log"
    file.write_text(OUTPUT)
    assert main(["bound", str(file), "--json"]) == 0
    (call,) = log.calls(9)
    assert (call.tool, call.target) == ("build.log", "build.log")


def test_a_command_is_recorded_with_its_exit_status_and_its_time(
    log: CallLog, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--timeout", "60", "--", sys.executable, "-c", f"{PRINT}; raise SystemExit(3)"]) == 3
    printed = capsys.readouterr().out
    (call,) = log.calls(9)
    record = log.get(call.id)
    assert record is not None
    assert (call.origin, call.tool) == ("run", Path(sys.executable).name)
    assert dict(record.notes)["exit"] == "3"
    assert record.result == printed.removesuffix("\n")
    assert call.seconds > 0


@pytest.mark.parametrize("variable", ["KEYHOLE_RECORD", "KEYHOLE_KEEP_OUTPUTS"])
def test_nothing_is_recorded_if_the_settings_say_so(
    variable: str, log: CallLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "off")
    assert main(["bound"]) == 0
    assert log.calls(9) == ()


def test_an_output_that_stays_unchanged_is_not_recorded(log: CallLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"short\n")))
    assert main(["bound"]) == 0
    assert log.calls(9) == ()


def test_a_record_that_cannot_be_written_changes_nothing(
    log: CallLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "spool").write_text("not a folder")
    assert main(["bound", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"]


def test_an_output_in_postgresql_is_recorded_there(
    log: CallLog, postgresql: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgresql.database()
    monkeypatch.setenv("KEYHOLE_STORE", url)
    assert main(["bound", "--of", "make"]) == 0
    stores = open_stores(Config(store=url))
    assert [call.tool for call in stores.calls_for(LOCAL).calls(9)] == ["make"]
    stores.close()
    assert log.calls(9) == ()
