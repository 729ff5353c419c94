"""`keyhole install` of hooks on files: the diff, what is written, a second run, the removal, refusals and listings."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.extensions.install import files
from keyhole.extensions.install.hooks import HOOK_CLIENTS
from tests.extensions.install.test_hostile_files import POSIX

Captured = pytest.CaptureFixture[str]
FILES = {
    "claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "copilot": ".copilot/hooks/keyhole.json",
    "opencode": ".config/opencode/plugin/keyhole.js",
}  # fmt: skip
SETTINGS = '{\n    "hooks": {\n        "PostToolUse": [{"hooks": [{"type": "command", "command": "a"}]}]\n    }\n}'


def claude(home: Path, text: str = SETTINGS) -> Path:
    file = home / FILES["claude-code"]
    file.parent.mkdir()
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize("client", FILES)
def test_a_hook_is_added_once_and_removed_without_a_trace(home: Path, capsys: Captured, client: str) -> None:
    file = home / FILES[client]
    assert main(["install", client, "--hooks-only"]) == 0
    written = file.read_bytes()
    assert str(home.parent / "keyhole/bin/keyhole").encode() in written
    shown = capsys.readouterr().out
    assert f"hook{'' if client == 'opencode' else ' '}" in shown and "registered" in shown
    assert main(["install", client, "--hooks-only"]) == 0
    assert "already registered" in capsys.readouterr().out and file.read_bytes() == written
    assert main(["install", client, "--hooks-only", "--remove"]) == 0
    assert not file.exists()
    assert main(["install", client, "--hooks-only", "--uninstall"]) == 0
    assert "no hook of Keyhole" in capsys.readouterr().out


def test_the_hooks_of_others_are_restored_to_the_byte(home: Path, capsys: Captured) -> None:
    file = claude(home)
    assert main(["install", "claude-code", "--hooks-only"]) == 0
    assert len(json.loads(file.read_text("utf-8"))["hooks"]["PostToolUse"]) == 2
    assert "settings.json.keyhole-1.bak" in capsys.readouterr().out and len(files.list_backups(file)) == 1
    assert main(["install", "claude-code", "--hooks-only", "--uninstall"]) == 0
    assert file.read_text("utf-8") == SETTINGS and "hook removed" in capsys.readouterr().out


def test_the_hook_and_the_server_of_a_client_are_registered_in_their_own_files(home: Path) -> None:
    assert main(["install", "codex", "--no-hooks"]) == main(["install", "codex", "--hooks-only"]) == 0
    assert {path.name for path in (home / ".codex").iterdir()} == {"config.toml", "hooks.json"}
    assert main(["install", "codex", "--hooks-only", "--remove"]) == 0
    assert {path.name for path in (home / ".codex").iterdir()} == {"config.toml"}


@pytest.mark.parametrize("client", FILES)
def test_one_command_registers_the_server_and_the_hook_and_one_removes_both(home: Path, client: str) -> None:
    before = set(home.rglob("*"))
    assert main(["install", client]) == 0
    assert (home / FILES[client]).exists()
    main(["install", client, "--hooks-only", "--remove"])
    assert main(["install", client]) == 0
    assert main(["install", client, "--uninstall"]) == 0
    assert {path for path in home.rglob("*") if path.is_file()} == {path for path in before if path.is_file()}


def test_a_client_without_hooks_and_a_server_elsewhere_get_the_server_alone(home: Path, capsys: Captured) -> None:
    assert main(["install", "cursor", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1
    assert main(["install", "codex", "--http", "http://127.0.0.1:8765/mcp"]) == 0
    assert not (home / FILES["codex"]).exists()


def test_codex_needs_the_users_trust_and_says_so(home: Path, capsys: Captured) -> None:
    assert main(["install", "codex", "--hooks-only"]) == 0
    assert "skips the hook, without a message, until you trust it: start codex" in capsys.readouterr().out
    main(["install", "codex", "--hooks-only", "--remove"])
    capsys.readouterr()
    assert main(["install", "codex", "--hooks-only", "--json"]) == 0
    (change,) = json.loads(capsys.readouterr().out)
    assert change["state"] == "changed" and "/hooks" in change["next_step"]
    file = home / FILES["codex"]
    hooks = json.loads(file.read_text("utf-8"))
    hooks["hooks"]["PostToolUse"].append({"hooks": [{"type": "command", "command": "a"}]})
    file.write_text(json.dumps(hooks), "utf-8")
    assert main(["install", "codex", "--hooks-only", "--remove"]) == 0
    assert "Codex asks for your trust again in the hooks after it" in capsys.readouterr().out


def test_rewriting_commands_of_codex_is_an_option_that_tells_what_it_approves(home: Path, capsys: Captured) -> None:
    assert main(["install", "codex", "--hooks-only"]) == 0
    assert "without asking" not in capsys.readouterr().out
    assert main(["install", "codex", "--hooks-only", "--rewrite-commands"]) == 0
    assert "From then on, Codex runs every command without asking you" in capsys.readouterr().out
    text = (home / FILES["codex"]).read_text("utf-8")
    assert main(["install", "codex", "--hooks-only", "--rewrite-commands", "--print"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(text)
    hooks = json.loads(text)["hooks"]
    assert hooks["PreToolUse"][0]["hooks"][0]["command"].endswith(" hook codex --rewrite-commands || exit 0")
    assert main(["install", "codex", "--hooks-only", "--remove"]) == 0
    assert not (home / FILES["codex"]).exists()


@pytest.mark.parametrize("client", FILES)
def test_dry_run_and_print_write_nothing(home: Path, capsys: Captured, client: str) -> None:
    assert main(["install", client, "--hooks-only", "--dry-run"]) == 0
    assert "nothing was written" in capsys.readouterr().out
    assert main(["install", client, "--hooks-only", "--print"]) == 0
    assert HOOK_CLIENTS[client].argument in capsys.readouterr().out
    assert not list(home.iterdir())


def test_project_scope_writes_to_the_current_folder(home: Path) -> None:
    for client, hooks in HOOK_CLIENTS.items():
        assert main(["install", client, "--hooks-only", "--scope", "project"]) == 0
        assert Path(hooks.client.project).exists()
    assert not list(home.iterdir())


def test_all_registers_with_the_clients_found_and_the_listing_shows_them(home: Path, capsys: Captured) -> None:
    assert main(["install", "--all", "--hooks-only"]) == 0
    assert "No client was found" in capsys.readouterr().out
    claude(home)
    (home / ".codex").mkdir()
    assert main(["install", "--all", "--hooks-only", "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)
    assert [(each["client"], each["state"]) for each in changes] == [("claude-code", "changed"), ("codex", "changed")]
    assert main(["install"]) == 0
    lines = [line.split()[:4] for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["client", "found", "server", "hook"]
    assert {line[0]: line[1:] for line in lines if line[0] in ("claude-code", "codex", "copilot", "cursor")} == {
        "claude-code": ["yes", "-", "registered"], "codex": ["yes", "-", "registered"], "copilot": ["-", "-", "-"],
        "cursor": ["-", "-", "none"],
    }  # fmt: skip
    (home / FILES["codex"]).write_text("{", "utf-8")
    claude_file = home / FILES["claude-code"]
    text = claude_file.read_text("utf-8")
    hook = {"hooks": [{"type": "command", "command": "/old/keyhole hook claude"}]}
    claude_file.write_text(json.dumps({"hooks": {"PostToolUse": [hook]}}), "utf-8")
    main(["install", "--json"])
    states = [each["hook"] for each in json.loads(capsys.readouterr().out) if each["hook"] != "none"]
    assert states == ["other copy", "unreadable", "-", "-"]
    assert main(["install", "claude-code", "--hooks-only"]) == 0
    assert "/old/keyhole" not in claude_file.read_text("utf-8")
    assert " hook claude" in text


@pytest.mark.parametrize(("words", "expected"), [
    (["cursor", "--hooks-only"], "Cursor runs no hook that can replace output; known: claude-code, codex"),
    (["copilt", "--hooks-only"], "did you mean copilot?"), (["--hooks-only", "--remove"], "name a client"),
    (["codex", "--hooks-only", "--env", "KEYHOLE_ROBOTS=off"], "--hooks-only takes no --env"),
    (["codex", "--hooks-only", "--http", "http://a/mcp"], "--hooks-only takes"),
    (["codex", "--hooks-only", "--name", "x"], "takes"),
    (["codex", "--no-hooks", "--rewrite-commands"], "is for the hook of codex"),
    (["claude-code", "--hooks-only", "--rewrite-commands"], "is for the hook of codex"),
])  # fmt: skip
def test_a_wrong_command_line_exits_with_2(home: Path, capsys: Captured, words: list[str], expected: str) -> None:
    assert main(["install", *words]) == 2
    assert expected in capsys.readouterr().err
    assert not list(home.iterdir())


@pytest.mark.parametrize(
    "content", [b"{nonsense", b'{"hooks": []}', b'{"hooks": {"PostToolUse": {}}}', b"\xff\xfe{}", b"[]"]
)
def test_a_file_that_cannot_be_changed_safely_is_not_changed(home: Path, capsys: Captured, content: bytes) -> None:
    for client in ("claude-code", "codex", "copilot"):
        file = home / FILES[client]
        file.parent.mkdir(parents=True)
        content = content.replace(b"PostToolUse", HOOK_CLIENTS[client].event.encode())
        file.write_bytes(content)
        assert main(["install", client, "--hooks-only"]) == 1
        assert (
            f"keyhole: {file}: {HOOK_CLIENTS[client].client.title}'s file was not changed: " in capsys.readouterr().err
        )
        assert file.read_bytes() == content and os.listdir(file.parent) == [file.name]  # noqa: PTH208 - names only
    assert main(["install", "--hooks-only"]) == 0


@POSIX
def test_a_pipe_a_device_and_a_symlink_loop_are_not_changed(home: Path, capsys: Captured) -> None:
    for client in FILES:
        file = home / FILES[client]
        file.parent.mkdir(parents=True)
        for make in (
            os.mkfifo,
            lambda path: path.symlink_to(os.devnull),
            lambda path: path.symlink_to(path),
            Path.mkdir,
        ):
            make(file)
            assert main(["install", client, "--hooks-only"]) == 1
            assert main(["install", "--hooks-only"]) == 0 and "unreadable" in capsys.readouterr().out
            file.rmdir() if file.is_dir() else file.unlink()


@POSIX
def test_a_file_that_cannot_be_written_is_named_with_the_reason(home: Path, capsys: Captured) -> None:
    (home / ".claude").write_text("not a folder", "utf-8")
    assert main(["install", "claude-code", "--hooks-only"]) == 1
    reason = f"keyhole: {home / FILES['claude-code']}: Claude Code's file was not changed: "
    assert capsys.readouterr().err in {f"{reason}{text}\n" for text in ("File exists", "Not a directory")}


@POSIX
def test_the_registered_command_runs_in_the_users_shell(home: Path) -> None:
    assert main(["install", "codex", "--hooks-only"]) == 0
    (group,) = json.loads((home / FILES["codex"]).read_text("utf-8"))["hooks"]["PostToolUse"]
    command = group["hooks"][0]["command"]
    done = subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.parametrize("client", ["claude-code", "copilot", "opencode"])
def test_the_built_in_fetch_is_refused_only_if_asked_and_removed_without_a_trace(home: Path, client: str) -> None:
    file = home / FILES[client]
    assert main(["install", client, "--hooks-only"]) == 0
    plain = file.read_text("utf-8")
    assert "--prefer keyhole" not in plain and 'PREFERS = "keyhole"' not in plain
    assert main(["install", client, "--prefer"]) == 0
    preferring = file.read_text("utf-8")
    assert ("--prefer keyhole" in preferring) != ('PREFERS = "keyhole"' in preferring)
    assert main(["install", client]) == 0
    assert file.read_text("utf-8") == preferring
    assert main(["install", client, "--hooks-only", "--force"]) == 0
    assert file.read_text("utf-8") == plain
    assert main(["install", client, "--prefer"]) == main(["install", client, "--uninstall"]) == 0
    assert not file.exists()


def test_the_hooks_of_others_stay_when_the_built_in_fetch_is_refused(home: Path) -> None:
    file = claude(home)
    assert main(["install", "claude-code", "--prefer"]) == 0
    hooks = json.loads(file.read_text("utf-8"))["hooks"]
    assert (len(hooks["PostToolUse"]), hooks["PreToolUse"][0]["matcher"]) == (2, "^(WebFetch|WebSearch)$")
    assert main(["install", "claude-code", "--uninstall"]) == 0
    assert file.read_text("utf-8") == SETTINGS


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["codex"], "at its provider"), (["cursor"], "claude-code, copilot, opencode"), (["--all"], "one client"),
        (["claude-code", "--no-hooks"], "one client"),
    ],
)  # fmt: skip
def test_a_client_whose_fetch_no_hook_refuses_says_so(
    home: Path, capsys: Captured, words: list[str], reason: str
) -> None:
    assert main(["install", *words, "--prefer"]) == 2
    assert reason in capsys.readouterr().err
    assert not list(home.rglob("*.json"))
