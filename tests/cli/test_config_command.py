"""`keyhole config` shows the settings and their origins, reports errors, and writes a settings file."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.config.config import SETTINGS

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the settings file, which does not exist yet."""
    path = tmp_path / "keyhole" / "config.toml"
    monkeypatch.setenv("KEYHOLE_CONFIG", str(path))
    return path


@pytest.fixture
def settings_file(path: Path) -> Path:
    """Return the path of a settings file with some settings."""
    path.parent.mkdir()
    path.write_text('max_chars = 12000\nengines = ["brave"]\nbrave_key = "k3yk3yk3y"\n', encoding="utf-8")
    path.chmod(0o600)
    return path


def test_changed_settings_are_shown_with_their_origin_and_without_secrets(
    settings_file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_TIMEOUT", "12")
    assert main(["config", "--changed"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["max_chars", "12000", f"{settings_file}:1"],
        ["timeout", "12", "KEYHOLE_TIMEOUT"],
        ["engines", "brave", f"{settings_file}:2"],
        ["brave_key", "set", f"{settings_file}:3"],
        ["File:", str(settings_file)],
    ]


def test_all_settings_are_shown_in_the_order_of_the_table(settings_file: Path, capsys: Captured) -> None:
    assert main(["config"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [setting.field for setting in SETTINGS]
    assert main(["config", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["settings"]["max_chars"] == {
        "value": 12_000,
        "from": f"{settings_file}:1",
        "variable": "KEYHOLE_MAX_CHARS",
    }
    assert facts["settings"]["brave_key"]["value"] == "set"
    assert facts["settings"]["timeout"]["from"] == "default"
    assert "k3yk3yk3y" not in json.dumps(facts)


def test_init_writes_a_private_file_and_never_overwrites_one(path: Path, capsys: Captured) -> None:
    assert main(["config", "--check"]) == 2  # KEYHOLE_CONFIG names a file that does not exist
    assert main(["config", "--init"]) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    capsys.readouterr()
    assert main(["config", "--check"]) == 0
    assert capsys.readouterr().out == f"0 settings from the environment, 0 from {path}; no errors.\n"
    path.write_text("max_chars = 12000\n", encoding="utf-8")
    assert main(["config", "--init"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "max_chars = 12000\n"


def test_check_reports_every_error_and_returns_2(
    settings_file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file.write_text('max_char = 3\ntimeout = "x"\n', encoding="utf-8")
    monkeypatch.setenv("KEYHOLE_HOMME", "x")
    monkeypatch.setenv("KEYHOLE_ENGINES", "brave,gogle")
    assert main(["config", "--check"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert "'gogle' is not one of searxng, brave" in lines.pop()
    assert lines == [
        f"keyhole: {settings_file}:1: unknown setting max_char; did you mean max_chars?",
        "keyhole: unknown setting KEYHOLE_HOMME; did you mean KEYHOLE_HOME?",
        f"keyhole: {settings_file}:2: timeout='x': must be a number",
    ]


def test_a_setting_of_an_earlier_version_is_a_warning(
    settings_file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_MAX_REDIRECTS", "5")
    for words in (["config"], ["config", "--check"]):
        assert main(words) == 0
        warning = "keyhole: KEYHOLE_MAX_REDIRECTS has no effect any more: 10 redirects are followed\n"
        assert capsys.readouterr().err == warning


def test_other_commands_stop_at_the_first_error_of_the_file(settings_file: Path, capsys: Captured) -> None:
    settings_file.write_text("\nmax_char = 3\n", encoding="utf-8")
    assert main(["artifacts", "stats"]) == 2
    assert capsys.readouterr().err == f"keyhole: {settings_file}:2: unknown setting max_char; did you mean max_chars?\n"


def test_the_path_is_printed_even_if_the_file_is_wrong(
    settings_file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file.write_text("nonsense", encoding="utf-8")
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{settings_file}\n"
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == "KEYHOLE_CONFIG=off: no file is read\n"
    assert main(["config", "--changed"]) == 0
    assert capsys.readouterr().out == "All settings have their defaults. File: no file (KEYHOLE_CONFIG=off)\n"
    assert main(["config", "--init"]) == 2


def test_a_file_with_a_key_that_others_can_read_is_reported_by_every_command(
    settings_file: Path,
    tmp_path: Path,
    capsys: Captured,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "home"))
    settings_file.chmod(0o644)
    assert main(["config", "--check"]) == 0
    assert f"{settings_file} contains a key and other users can read it" in capsys.readouterr().err
    assert main(["artifacts", "stats"]) == 0
    assert f"{settings_file} contains a key and other users can read it" in caplog.text


def test_errors_are_printed_below_the_list(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("max_char = 5\n", encoding="utf-8")
    command = [sys.executable, "-m", "keyhole", "config"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert run.returncode == 2
    assert run.stdout.splitlines()[-1] == f"keyhole: {path}:1: unknown setting max_char; did you mean max_chars?"


def test_a_missing_file_is_shown_with_the_command_that_creates_it(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("KEYHOLE_CONFIG", raising=False)
    monkeypatch.setattr("keyhole.cli.config_command.settings_path", lambda _environment: tmp_path / "config.toml")
    main(["config"])
    assert capsys.readouterr().out.endswith("config.toml (does not exist); keyhole config --init creates it\n")
    main(["config", "--changed"])
    assert "--init" not in capsys.readouterr().out
