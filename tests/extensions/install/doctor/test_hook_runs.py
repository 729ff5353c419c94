"""The doctor runs the hooks that are registered, and reports each problem with its fix."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.cli.terminal import Finding, Level
from keyhole.extensions.install.doctor import hook_runs
from keyhole.extensions.install.doctor.hook_runs import ERROR, hook_hash
from keyhole.extensions.install.hooks import HOOK_CLIENTS, find_hooks

POSIX = pytest.mark.skipif(os.name != "posix", reason="scripts of POSIX")
CLAUDE, CODEX = ".claude/settings.json", ".codex/hooks.json"


@pytest.fixture(autouse=True)
def shell_programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the shell find its programs."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def check() -> dict[str, Finding]:
    return {finding.name.removesuffix(" hook"): finding for finding in hook_runs.check()}


def register(home: Path, command: str, client: str = "claude") -> None:
    """Register a command as the hook of a client."""
    path = home / (CLAUDE if client == "claude" else CODEX)
    path.parent.mkdir(exist_ok=True)
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": f"{command} hook {client}", "timeout": 10}]}
    path.write_text(json.dumps({"hooks": {"PostToolUse": [group]}}), "utf-8")


def script(home: Path, text: str) -> Path:
    """Return a program named `keyhole` that runs this shell script."""
    program = home / "a copy" / "keyhole"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    program.chmod(0o755)
    return program


def test_the_hooks_that_install_registers_fire(home: Path) -> None:
    for client in ("claude-code", "codex", "copilot", "opencode"):
        assert main(["install", client, "--hooks-only"]) == 0
    findings = check()
    without_server = {f"{client} server" for client in HOOK_CLIENTS}
    assert set(findings) == {"claude-code", "codex", "copilot", "opencode"} | without_server
    for client in ("claude-code", "copilot", "opencode"):
        assert findings[client].level is Level.OK and " ms" in findings[client].message, findings[client]
    assert findings["codex"].level is Level.WARN and "you have not trusted it yet" in findings["codex"].message
    assert "/hooks" in findings["codex"].fix
    assert {path.name for path in (home.parent / "kept").iterdir()} == {"bin"}, "checking stores nothing"


def test_hooks_without_the_server_are_a_warning_until_it_is_registered(home: Path) -> None:
    assert main(["install", "claude-code", "--hooks-only"]) == 0
    finding = check()["claude-code server"]
    assert (finding.level, finding.fix) == (Level.WARN, "keyhole install claude-code")
    assert main(["install", "claude-code"]) == 0
    assert "claude-code server" not in check()


def test_a_hook_that_codex_trusts_is_fine_and_a_changed_one_is_not(home: Path) -> None:
    assert main(["install", "codex", "--hooks-only"]) == 0
    (hook,) = find_hooks(HOOK_CLIENTS["codex"], (home / CODEX).read_text("utf-8"))
    trusted = hook_hash(hook)
    state = f'[hooks.state."{home / CODEX}:post_tool_use:0:0"]\ntrusted_hash = "{trusted}"\n'
    (home / ".codex/config.toml").write_text(state, "utf-8")
    assert check()["codex"].level is Level.OK
    (home / ".codex/config.toml").write_text(state.replace(trusted, "sha256:0"), "utf-8")
    assert "changed since you trusted it" in check()["codex"].message
    assert main(["install", "codex", "--hooks-only", "--rewrite-commands"]) == 0
    (home / ".codex/config.toml").write_text(state, "utf-8")
    assert "have not trusted it" in check()["codex"].message, "the second hook is not trusted"
    (home / CODEX).write_text((home / CODEX).read_text("utf-8").replace("PostToolUse", "Stop"), "utf-8")
    assert "no hook for PostToolUse" in check()["codex"].message


@pytest.mark.parametrize("client", HOOK_CLIENTS)
def test_the_hook_of_a_project_is_checked_too(
    home: Path, tmp_path: Path, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["install", client, "--hooks-only", "--scope", "project"]) == 0
    (finding,) = check().values()
    file = HOOK_CLIENTS[client].client.project
    assert finding.message.startswith(f"in {file}: {'works, but' if client == 'codex' else 'leaves a small output'}")
    if client == "claude-code":
        Path(file).write_text(Path(file).read_text("utf-8").replace('command": "', 'command": "/gone'), "utf-8")
        (finding,) = check().values()
        assert finding.message.startswith(f"in {file}: /gone") and "does not exist" in finding.message
        assert finding.fix.startswith("keyhole install claude-code --hooks-only --scope project writes")


def test_a_hook_whose_settings_are_wrong_does_not_fire(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["install", "claude-code", "--hooks-only"]) == 0
    monkeypatch.setenv("KEYHOLE_KEEP_OUTPUTS", "maybe")
    finding = check()["claude-code"]
    assert finding.level is Level.FAIL and "it does not answer" in finding.message and "keyhole bound" in finding.fix


def test_clients_without_a_hook_are_a_note_and_absent_ones_are_not_listed(home: Path) -> None:
    assert check() == {}
    (home / ".codex").mkdir()
    (finding,) = check().values()
    assert (finding.level, finding.fix) == (Level.NOTE, "keyhole install codex --hooks-only")


@POSIX
@pytest.mark.parametrize(("program", "message"), [
    ("exit 3", "it exits with 3"), ("echo lost >&2; exit 1", "it exits with 1; its last output: lost"),
    ("cat >/dev/null", "it does not answer to 100,000 characters"), ("echo 3", "has not the form"),
    ('echo \'{"hookSpecificOutput": {"updatedToolOutput": {"stdout": "x"}}}\'', "is not a bounded text"),
])  # fmt: skip
def test_a_hook_that_does_not_fire_is_a_failure(home: Path, program: str, message: str) -> None:
    register(home, f"'{script(home, program)}'")
    finding = check()["claude-code"]
    assert finding.level is Level.FAIL and message in finding.message, finding
    assert finding.fix.startswith("keyhole install claude-code --hooks-only")


@POSIX
def test_a_hook_that_hangs_is_stopped_with_the_processes_that_it_started(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_runs, "TIMEOUT", 0.3)
    copy = script(home, "cat /dev/zero >/dev/null & wait")
    register(home, f"'{copy}'")
    assert "no answer within 0.3 s" in check()["claude-code"].message


@POSIX
def test_a_missing_program_another_copy_and_a_change_of_small_outputs_are_reported(home: Path) -> None:
    register(home, "/gone/keyhole")
    finding = check()["claude-code"]
    assert finding.level is Level.FAIL and "/gone/keyhole does not exist" in finding.message
    register(home, "keyhole")
    assert "keyhole is not found" in check()["claude-code"].message
    copy = script(home, "").with_name("keyhole")
    copy.write_text("#!/gone/python\n", "utf-8")
    register(home, f"'{copy}'")
    assert f"{copy} cannot be started" in check()["claude-code"].message
    copy = script(home, f"exec '{sys.executable}' -m keyhole \"$@\"")
    register(home, f"'{copy}'")
    finding = check()["claude-code"]
    assert finding.level is Level.WARN and "runs another copy of Keyhole, version " in finding.message
    answer = json.dumps({"hookSpecificOutput": {"updatedToolOutput": {"stdout": ERROR}}})
    copy = script(home, f"cat >/dev/null; echo '{answer}'")
    register(home, f"'{copy}'")
    assert "it changes a small output too" in check()["claude-code"].message


def test_hooks_that_are_switched_off_and_unreadable_files_are_reported(home: Path) -> None:
    assert main(["install", "claude-code", "--hooks-only"]) == 0
    file = home / CLAUDE
    file.write_text(file.read_text("utf-8").replace("{", '{"disableAllHooks": true,', 1), "utf-8")
    assert "disableAllHooks is set" in check()["claude-code"].message
    file.write_text("{", "utf-8")
    finding = check()["claude-code"]
    assert finding.level is Level.FAIL and str(file) in finding.fix
