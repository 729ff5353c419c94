"""`keyhole install` on files: the diffs, changes, backups, refusals and removals."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.extensions.install import files

Captured = pytest.CaptureFixture[str]
SECRET = "BSAabcdefghijklmnopqrstuvw"
POSIX = pytest.mark.skipif(os.name != "posix", reason="rights and links of POSIX")


def codex(home: Path, text: str = '# mine\nmodel = "m"\n') -> Path:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(text, "utf-8")
    return file


def test_the_command_that_is_registered_is_this_installation(home: Path) -> None:
    file = codex(home)
    assert main(["install", "codex", "--no-hooks"]) == 0
    entry = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]["keyhole"]
    assert entry == {"command": str(home.parent / "keyhole/bin/keyhole-reader"), "args": []}
    shown = subprocess.run([entry["command"], "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "keyhole serve" in shown


def test_a_second_run_changes_nothing_and_says_so(home: Path, capsys: Captured) -> None:
    file = codex(home)
    main(["install", "codex", "--no-hooks"])
    written = file.read_bytes()
    capsys.readouterr()
    assert main(["install", "codex", "--no-hooks"]) == 0
    assert "already" in capsys.readouterr().out
    assert file.read_bytes() == written
    assert len(files.list_backups(file)) == 1


def test_the_diff_is_shown_without_secrets(home: Path, capsys: Captured) -> None:
    codex(home, 'model = "m"\n[mcp_servers.other.env]\nOTHER_API_KEY = "sk-1234"\n')
    settings = ["--env", f"KEYHOLE_BRAVE_KEY={SECRET}", "--env", "KEYHOLE_ROBOTS=off"]
    assert main(["install", "codex", "--no-hooks", *settings]) == 0
    shown = capsys.readouterr().out
    assert (
        "+[mcp_servers.keyhole]" in shown and 'KEYHOLE_ROBOTS = "off"' in shown and "config.toml.keyhole-1.bak" in shown
    )
    assert SECRET not in shown and "sk-1234" not in shown
    assert SECRET in (home / ".codex" / "config.toml").read_text("utf-8")


def test_the_diff_is_coloured_if_the_environment_asks(
    home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex(home)
    for environment, colours in (({}, False), ({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1"}, False)):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert main(["install", "codex", "--no-hooks", "--dry-run"]) == 0
        assert ("\x1b[32m+[mcp_servers.keyhole]" in capsys.readouterr().out) is colours


def test_dry_run_and_print_write_nothing(home: Path, capsys: Captured) -> None:
    file = codex(home)
    before = file.read_bytes()
    assert main(["install", "codex", "--no-hooks", "--dry-run"]) == 0
    assert "+[mcp_servers.keyhole]" in capsys.readouterr().out
    assert main(["install", "vscode", "--print"]) == 0
    assert json.loads(capsys.readouterr().out)["servers"]["keyhole"]["type"] == "stdio"
    assert main(["install", "goose", "--print"]) == 0
    assert "extensions:" in capsys.readouterr().out
    assert file.read_bytes() == before and list(home.rglob("*")) == [file.parent, file]


def test_uninstall_restores_every_byte_of_the_file(home: Path) -> None:
    file = codex(home, 'model = "m" # no end of line')
    before = file.read_bytes()
    main(["install", "codex", "--no-hooks"])
    assert file.read_bytes() != before
    assert main(["install", "codex", "--no-hooks", "--uninstall"]) == 0
    assert file.read_bytes() == before


def test_uninstall_deletes_a_file_that_install_created(home: Path, capsys: Captured) -> None:
    main(["install", "cursor"])
    assert (home / ".cursor" / "mcp.json").exists()
    assert main(["install", "cursor", "--uninstall"]) == 0
    assert not (home / ".cursor" / "mcp.json").exists()
    capsys.readouterr()
    assert main(["install", "cursor", "--uninstall"]) == 0
    assert "no entry named keyhole" in capsys.readouterr().out


def test_uninstall_keeps_what_others_wrote_since(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {}}', "utf-8")
    main(["install", "cursor"])
    now = json.loads(file.read_text("utf-8"))
    now["mcpServers"]["later"] = {"command": "x"}
    file.write_text(json.dumps(now), "utf-8")
    main(["install", "cursor", "--uninstall"])
    assert json.loads(file.read_text("utf-8")) == {"mcpServers": {"later": {"command": "x"}}}


def test_at_most_three_backups_are_kept(home: Path) -> None:
    file = codex(home)
    for number in range(5):
        main(["install", "codex", "--no-hooks", "--env", f"KEYHOLE_TIMEOUT={number + 1}"])
    assert [path.name for path in files.list_backups(file)] == [
        f"config.toml.keyhole-{number}.bak" for number in (5, 4, 3)
    ]
    assert 'KEYHOLE_TIMEOUT = "4"' in files.list_backups(file)[0].read_text("utf-8")


@POSIX
def test_permissions_and_links_are_kept_and_a_new_file_is_private(home: Path) -> None:
    file = codex(home)
    file.chmod(0o640)
    target = home / "dotfiles.toml"
    file.rename(target)
    file.symlink_to(target)
    main(["install", "codex", "--no-hooks"])
    assert file.is_symlink() and "keyhole" in target.read_text("utf-8")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert stat.S_IMODE(files.list_backups(file)[0].stat().st_mode) == 0o640
    main(["install", "cursor"])
    assert stat.S_IMODE((home / ".cursor" / "mcp.json").stat().st_mode) == 0o600


@POSIX
def test_a_file_that_gets_a_key_and_its_backups_become_private(home: Path, capsys: Captured) -> None:
    file = codex(home)
    for mode in (0o644, 0o664, 0o640):
        file.chmod(mode)
        assert main(["install", "codex", "--no-hooks", "--env", f"KEYHOLE_BRAVE_KEY={SECRET}{mode}"]) == 0
        assert "only you can read it" in capsys.readouterr().out
        assert {stat.S_IMODE(each.stat().st_mode) for each in (file, *files.list_backups(file))} == {0o600}
    assert main(["install", "codex", "--no-hooks", "--env", f"KEYHOLE_BRAVE_KEY={SECRET}"]) == 0
    assert "can read it" not in capsys.readouterr().out, "nothing is said about a file that was private"


@POSIX
def test_a_file_with_a_registered_key_becomes_private_again(home: Path, capsys: Captured) -> None:
    file = codex(home)
    main(["install", "codex", "--no-hooks", "--env", f"KEYHOLE_BRAVE_KEY={SECRET}"])
    for option, mode, note in (
        ("--dry-run", 0o644, "the file contains a key, and other users can read it (mode 644)"),
        ("--yes", 0o600, "the file contains a key: only you can read it and its backups now"),
    ):
        for each in (file, *files.list_backups(file)):
            each.chmod(0o644)
        capsys.readouterr()
        assert main(["install", "codex", "--no-hooks", "--json", option]) == 0
        (change,) = json.loads(capsys.readouterr().out)
        assert (change["state"], change["note"]) == ("unchanged", note)
        assert {stat.S_IMODE(each.stat().st_mode) for each in (file, *files.list_backups(file))} == {mode}


@POSIX
@pytest.mark.parametrize("option", [("--uninstall",), ("--env", "KEYHOLE_BRAVE_KEY=")])
def test_the_backup_of_a_file_that_had_a_key_is_private(home: Path, capsys: Captured, option: tuple[str, ...]) -> None:
    file = codex(home)
    main(["install", "codex", "--no-hooks", "--env", f"KEYHOLE_BRAVE_KEY={SECRET}"])
    file.chmod(0o644)
    capsys.readouterr()
    assert main(["install", "codex", "--no-hooks", *option]) == 0
    assert SECRET in files.list_backups(file)[0].read_text("utf-8")
    assert {stat.S_IMODE(each.stat().st_mode) for each in files.list_backups(file)} == {0o600}
    assert "contains a key" not in capsys.readouterr().out


@POSIX
def test_a_file_system_without_permissions_is_reported(
    home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    file, really_open = codex(home), os.open
    (home.parent / "keyhole/bin").mkdir(parents=True)
    for name in ("os.chmod", "pathlib.Path.chmod", "shutil.copystat"):
        monkeypatch.setattr(name, refuse)
    monkeypatch.setattr("os.open", lambda path, flags, *_, **others: really_open(path, flags, 0o644, **others))
    assert main(["install", "codex", "--no-hooks", "--env", f"KEYHOLE_BRAVE_KEY={SECRET}"]) == 0
    assert SECRET in file.read_text("utf-8")
    assert "the file contains a key, and other users can read it (mode 644)" in capsys.readouterr().out


def test_elsewhere_the_folder_decides_who_can_read_a_file(tmp_path: Path) -> None:
    assert files.exposure(tmp_path, "nt") == "the permissions of its folder decide who can read it"
    assert files.exposure(tmp_path / "missing") == ""


@POSIX
@pytest.mark.parametrize(
    ("option", "private"),
    [
        (("--env", f"KEYHOLE_BRAVE_KEY={SECRET}"), True),
        (("--env", "KEYHOLE_STORE=postgresql://u:pass@db.example/k"), True),
        (("--env", "KEYHOLE_EMBED_URL=https://e.example/v1?api_key=pass"), True),
        (("--env", "KEYHOLE_EMBED_URL=https://e.example/v1?api-version=1"), False),
        (("--env", "KEYHOLE_ROBOTS=off"), False),
        (("--http", "https://k.example/mcp"), False),
        ((), False),
    ],
)
def test_only_a_file_that_gets_a_key_becomes_private(
    home: Path, capsys: Captured, option: tuple[str, ...], private: bool
) -> None:
    file = codex(home)
    file.chmod(0o644)
    assert main(["install", "codex", "--no-hooks", *option]) == 0
    assert stat.S_IMODE(file.stat().st_mode) == (0o600 if private else 0o644)
    assert "pass" not in capsys.readouterr().out


def test_a_byte_order_mark_and_windows_line_ends_are_kept(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    before = b'\xef\xbb\xbf{\r\n\t"mcpServers": {\r\n\t\t"a": {"command": "b"}\r\n\t}\r\n}\r\n'
    file.write_bytes(before)
    main(["install", "cursor"])
    written = file.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf{\r\n\t") and written.count(b"\n") == written.count(b"\r\n")
    assert b'\r\n\t\t"keyhole": {\r\n\t\t\t"command"' in written
    main(["install", "cursor", "--uninstall"])
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"{nonsense", b'{"mcpServers": {"keyhole": {"command": "other"}}}', b"\xff\xfe{}"])
def test_a_file_that_cannot_be_changed_safely_is_not_changed(home: Path, capsys: Captured, content: bytes) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(content)
    assert main(["install", "cursor"]) == 1
    assert "Cursor's file was not changed: " in capsys.readouterr().err
    assert file.read_bytes() == content and os.listdir(file.parent) == ["mcp.json"]  # noqa: PTH208 - names only


def test_a_file_that_changed_meanwhile_is_not_replaced(home: Path) -> None:
    file = codex(home)
    with pytest.raises(OSError, match="another program changed it"):
        files.replace(file, b"what was read", b"what would be written")
    assert os.listdir(file.parent) == ["config.toml"]  # noqa: PTH208 - names only


def test_name_adds_a_second_entry_and_force_replaces_an_entry_of_another_program(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"keyhole": {"command": "other"}}}', "utf-8")
    assert main(["install", "cursor", "--name", "keyhole-web"]) == 0
    assert set(json.loads(file.read_text("utf-8"))["mcpServers"]) == {"keyhole", "keyhole-web"}
    assert main(["install", "cursor", "--force"]) == 0
    assert json.loads(file.read_text("utf-8"))["mcpServers"]["keyhole"]["command"] != "other"


@pytest.mark.parametrize(("words", "expected"), [
    (["cursr"], "did you mean cursor?"), (["codex", "--env", "KEYHOLE_ROBOT=off"], "did you mean KEYHOLE_ROBOTS?"),
    (["codex", "--env", "KEYHOLE_ROBOTS=maybe"], "KEYHOLE_ROBOTS"),
    (["codex", "--env", "PATH=/"], "--env takes KEYHOLE_"),
    (["codex", "--env", "KEYHOLE_FETCHES=5"], "has no effect any more: a search reads 10 pages at once"),
    (["codex", "--name", "a b"], "--name takes"), (["codex", "--http", "ftp://a/"], "--http ftp://a/"),
    (["codex", "--http", "http://a/mcp", "--env", "KEYHOLE_ROBOTS=off"], "has its own settings"),
    (["--dry-run"], "name a client"),
])  # fmt: skip
def test_a_wrong_command_line_exits_with_2(home: Path, capsys: Captured, words: list[str], expected: str) -> None:
    assert main(["install", *words]) == 2
    assert expected in capsys.readouterr().err
    assert not list(home.iterdir())


def test_a_client_without_urls_or_project_file_is_refused_with_the_reason(home: Path, capsys: Captured) -> None:
    assert main(["install", "claude-desktop", "--http", "http://127.0.0.1:8765/mcp"]) == 1
    assert main(["install", "windsurf", "--scope", "project"]) == 1
    assert main(["install", "goose"]) == 1
    errors = capsys.readouterr().err
    assert "no key for a URL" in errors and "no file for a project folder" in errors and "cmd:" in errors


def test_a_url_is_registered_under_each_clients_key(home: Path, capsys: Captured) -> None:
    url = "http://127.0.0.1:8765/mcp"
    for client in ("codex", "windsurf", "opencode"):
        assert main(["install", client, "--http", url]) == 0
    assert tomllib.loads((home / ".codex/config.toml").read_text("utf-8"))["mcp_servers"]["keyhole"] == {"url": url}
    windsurf = json.loads((home / ".codeium/windsurf/mcp_config.json").read_text("utf-8"))
    assert windsurf == {"mcpServers": {"keyhole": {"serverUrl": url}}}
    opencode = json.loads((home / ".config/opencode/opencode.jsonc").read_text("utf-8"))
    assert opencode == {"mcp": {"keyhole": {"type": "remote", "url": url}}}
    assert main(["install", "codex", "--no-hooks", "--http", url]) == 0
    assert main(["install", "codex", "--no-hooks"]) == 1, "the URL may be another server's"
    capsys.readouterr()
    assert main(["install", "codex", "--no-hooks", "--uninstall"]) == 1
    assert "repeat the URL with --http, or give --force" in capsys.readouterr().err
    assert main(["install", "codex", "--no-hooks", "--http", url, "--uninstall"]) == 0


def test_project_scope_changes_the_file_in_the_current_folder(home: Path) -> None:
    assert main(["install", "claude-code", "--no-hooks", "--scope", "project"]) == 0
    assert "keyhole" in json.loads(Path(".mcp.json").read_text("utf-8"))["mcpServers"]
    assert not list(home.iterdir())


def test_all_registers_with_every_client_found(home: Path, capsys: Captured) -> None:
    assert main(["install", "--all", "--no-hooks"]) == 0
    assert "No client was found" in capsys.readouterr().out
    codex(home)
    (home / ".cursor").mkdir()
    assert main(["install", "--all", "--no-hooks", "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)
    assert [(each["client"], each["state"]) for each in changes] == [("codex", "changed"), ("cursor", "changed")]
    assert main(["install"]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines() if "yes" in line] == [
        ["codex", "yes", "registered"], ["cursor", "yes", "registered"],
    ]  # fmt: skip
    assert main(["install", "--all", "--no-hooks", "--uninstall"]) == 0
    assert main(["install", "--json"]) == 0
    assert {
        each["keyhole"] for each in json.loads(capsys.readouterr().out.partition("\n[\n")[2].join(["[\n", ""]))
    } == {"-", "by hand"}


def test_the_next_step_of_a_client_is_printed_once_for_both_of_its_files(home: Path, capsys: Captured) -> None:
    assert main(["install", "claude-code"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("  registered") == 2
    assert shown.endswith(
        "Claude Code: It is available in the next session.\n`keyhole doctor` checks that it starts.\n"
    )
    assert shown.count("next session") == shown.count("keyhole doctor") == 1


@POSIX
def test_the_listing_at_a_narrow_terminal_cuts_no_path_and_explains_its_columns(home: Path) -> None:
    import pty

    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "keyhole", "install"], stdin=inner, stdout=inner, stderr=inner
    ) as process:
        os.close(inner)
        shown = b""
        with suppress(OSError):  # raised on Linux at the end of a terminal
            while more := os.read(outer, 4_096):
                shown += more
        assert process.wait(20) == 0
    os.close(outer)
    text = shown.decode()
    assert "…" not in text and "~/.cline/data/settings/cline_mcp_settings.json" in text
    assert all(f"\n{name}" in text.replace("\r", "") for name in ("found:", "server, hook:", "wrapped servers:"))


@POSIX
@pytest.mark.parametrize(("answer", "written"), [(b"n\n", False), (b"\n", True)])
def test_at_a_terminal_the_diff_is_shown_once_and_the_question_asked_once(
    home: Path, answer: bytes, written: bool
) -> None:
    import pty
    import subprocess

    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "keyhole", "install", "codex", "--no-hooks"]
    with subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner) as process:
        os.close(inner)
        shown = b""
        while b"[Y/n]" not in shown:
            shown += os.read(outer, 4_096)
        os.write(outer, answer)
        with suppress(OSError):  # raised on Linux at the end of a terminal
            while more := os.read(outer, 4_096):
                shown += more
        assert process.wait(20) == 0
    os.close(outer)
    assert shown.count(b"+[mcp_servers.keyhole]") == 1
    assert (home / ".codex" / "config.toml").exists() is written
