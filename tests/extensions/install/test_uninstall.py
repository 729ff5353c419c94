"""`keyhole uninstall --all` on a temporary home: it lists and removes what Keyhole wrote, and nothing else."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.runtime.installation import removal_command

Captured = pytest.CaptureFixture[str]
CODEX = '# mine\nmodel = "m"\n'
GEMINI = '{\n  "theme": "dark",\n  "mcpServers": {"github": {"command": "npx", "args": ["-y", "github"]}}\n}\n'


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def before(home: Path) -> dict[str, bytes]:
    """Register Keyhole with two clients, in front of a server too; return the files as they were."""
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(CODEX, "utf-8")
    (home / ".codex/config.toml.bak").write_text("the user's own backup", "utf-8")
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text(GEMINI, "utf-8")
    before = files_of(home)
    assert main(["install", "codex"]) == main(["install", "gemini"]) == 0
    assert main(["install", "gemini", "--wrap", "github"]) == 0
    assert len(files_of(home)) > len(before)
    (home.parent / "keyhole/models/tiny").mkdir(parents=True)
    (home.parent / "keyhole/models/tiny/weights").write_bytes(bytes(3_000_000))
    return before


def test_everything_that_keyhole_wrote_is_removed_and_the_rest_is_as_before(
    home: Path, before: dict[str, bytes], capsys: Captured
) -> None:
    capsys.readouterr()
    assert main(["uninstall", "--all", "--yes"]) == 0
    assert files_of(home) == before
    assert not (home.parent / "keyhole").exists()
    shown = capsys.readouterr().out
    assert "proxy before github, Gemini CLI: " in shown and "entry or hook, Codex: " in shown
    assert "of which models 3.0 MB" in shown
    assert shown.splitlines()[-1].endswith(f": {removal_command()}")


def test_a_dry_run_only_lists_what_would_be_removed(home: Path, before: dict[str, bytes], capsys: Captured) -> None:
    written = files_of(home.parent)
    capsys.readouterr()
    assert main(["uninstall", "--all", "--dry-run"]) == 0
    assert files_of(home.parent) == written != before
    shown = capsys.readouterr().out
    assert f"backups, Codex: {home}/.codex/config.toml" in shown and f"{home.parent}/keyhole" in shown


def test_without_a_terminal_nothing_is_removed_unless_the_command_says_so(
    home: Path, before: dict[str, bytes], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = files_of(home.parent)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["uninstall", "--all"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert files_of(home.parent) == written


@pytest.mark.parametrize("name", ["notes.txt", "bin/my-tool", "binaries/x"])
def test_a_data_folder_with_files_of_others_stays(
    home: Path, before: dict[str, bytes], name: str, capsys: Captured
) -> None:
    path = home.parent / "keyhole" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine", "utf-8")
    kept = files_of(home.parent / "keyhole")
    assert main(["uninstall", "--all", "--yes"]) == 1
    assert files_of(home.parent / "keyhole").keys() >= kept.keys()
    assert name.partition("/")[0] in capsys.readouterr().err
    assert files_of(home) == before


def test_links_in_the_data_folder_are_removed_and_not_followed(home: Path, before: dict[str, bytes]) -> None:
    models = home.parent / "keyhole/models"
    mine = home.parent / "models of mine"
    models.rename(mine)
    models.symlink_to(mine)
    assert main(["uninstall", "--all", "--yes"]) == 0
    assert (mine / "tiny/weights").exists() and not models.parent.exists()


def test_a_file_that_cannot_be_changed_keeps_its_backups(home: Path, before: dict[str, bytes]) -> None:
    file = home / ".gemini/settings.json"
    file.write_text("{ damaged", "utf-8")
    backups = sorted(path.name for path in file.parent.glob("*.bak"))
    assert main(["uninstall", "--all", "--yes"]) == 1
    assert sorted(path.name for path in file.parent.glob("*.bak")) == backups
    assert (home / ".codex/config.toml").read_text("utf-8") == CODEX


def test_a_settings_file_stays_and_is_named(home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "settings.toml"
    file.write_text("robots = 'off'\n", "utf-8")
    monkeypatch.setenv("KEYHOLE_CONFIG", str(file))
    assert main(["uninstall", "--all", "--yes"]) == 0
    assert file.exists() and f"stays: {file}" in capsys.readouterr().out


def test_one_client_is_removed_as_install_does(home: Path, before: dict[str, bytes], capsys: Captured) -> None:
    assert main(["uninstall", "codex", "--yes"]) == 0
    assert (home / ".codex/config.toml").read_text("utf-8") == CODEX
    assert "keyhole" in json.loads((home / ".gemini/settings.json").read_text("utf-8"))["mcpServers"]


def test_a_client_or_all_is_needed(home: Path, capsys: Captured) -> None:
    assert main(["uninstall"]) == 2
    assert "name a client, or give --all" in capsys.readouterr().err
