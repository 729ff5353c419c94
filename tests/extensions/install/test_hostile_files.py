"""Configuration files that are damaged, hostile or not files are refused unchanged, and no secret is shown."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.errors import KeyholeError
from keyhole.extensions.install import edit, files
from keyhole.extensions.install.clients import CLIENTS, Server
from keyhole.extensions.install.output import diff_lines, mask_command, mask_secrets

Captured = pytest.CaptureFixture[str]
POSIX = pytest.mark.skipif(os.name != "posix", reason="pipes and links of POSIX")
S = "S3CRETS3CRET"


@pytest.mark.parametrize("depth", [100, 900, 3_000])
@pytest.mark.parametrize(
    ("client", "before", "after"),
    [("cursor", '{"a":' + "[", "]}"), ("cursor", '{"a":', "}"), ("codex", "a = [", "]\n"), ("codex", "a", " = 1\n")],
)
def test_a_file_nested_however_deeply_is_changed_or_refused(client: str, before: str, after: str, depth: int) -> None:
    inner = {"a": ".a" * depth, '{"a":': '{"a":' * depth + "1" + "}" * depth}.get(before, "[" * depth + "]" * depth)
    try:
        edit.add_entry(CLIENTS[client], before + inner + after, "keyhole", Server("/k"), force=False)
    except KeyholeError as error:
        assert "was not changed" in error.message


@POSIX
def test_a_pipe_a_device_and_a_symlink_loop_are_not_changed(home: Path, capsys: Captured) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    for make in (os.mkfifo, lambda path: path.symlink_to(os.devnull), lambda path: path.symlink_to(path), Path.mkdir):
        make(file)
        assert main(["install", "cursor"]) == 1
        assert main(["install"]) == 0, "the list still works"
        assert "unreadable" in capsys.readouterr().out
        file.rmdir() if file.is_dir() else file.unlink()
    assert not Path(os.devnull).is_file()


def test_a_file_that_is_too_large_is_not_read(home: Path, capsys: Captured) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    with file.open("wb") as whole:
        whole.truncate(files.MAX_BYTES + 1)
    assert main(["install", "cursor"]) == 1
    assert "larger than" in capsys.readouterr().err


@POSIX
def test_a_backup_follows_no_link_and_has_the_files_permissions(tmp_path: Path) -> None:
    file, other = tmp_path / "mcp.json", tmp_path / "others"
    file.write_bytes(b"{}")
    file.chmod(0o600)
    other.write_bytes(b"theirs")
    (tmp_path / "mcp.json.keyhole-999999999.bak").write_bytes(b"")
    (tmp_path / "mcp.json.keyhole-1000000000.bak").symlink_to(other)
    with pytest.raises(FileExistsError):
        files.replace(file, b"{}", b'{"a": 1}')
    assert (other.read_bytes(), file.read_bytes()) == (b"theirs", b"{}")
    (tmp_path / "mcp.json.keyhole-999999999.bak").unlink()
    backup = files.replace(file, b"{}", b'{"a": 1}')
    assert backup and backup.read_bytes() == b"{}" and stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_a_file_that_another_program_changed_meanwhile_is_not_removed(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(b"theirs")
    with pytest.raises(OSError, match="meanwhile"):
        files.remove(file, b"ours")
    assert file.read_bytes() == b"theirs"


def test_an_invalid_path_does_not_stop_the_listing(
    home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", "x" * 5_000)
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", "x" * 5_000)
    assert main(["install"]) == 0
    assert "codex" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        f"api_key = '{S}'", f'token = """{S}"""', f"token = '''{S}", f'"API_KEY":["{S}"]', f'"password.x": "{S}"',
        f'"args": ["--api-key", "{S}"]', f'"args": ["--api-key={S}"]', f'"--header", "Authorization: token {S}"',
        f'"-H", "X: Bearer {S}"', f'"url": "https://x/mcp?token={S}"', f'"url": "https://u:{S}@x/mcp"',
        f'"KEYHOLE_STORE": "postgresql://u:{S}@h/db"', f'"pat": "ghp_{S}"',
        f'"Authorization": "Bearer \\"{S}\\""', f"api_key = {S}",
    ],
)  # fmt: skip
def test_a_secret_is_masked_in_every_form(line: str) -> None:
    assert S not in mask_secrets(line)
    assert S not in "".join(diff_lines("", f"{line}\n"))


def test_the_argument_after_a_secret_option_on_the_line_before_is_masked() -> None:
    before, after = (json.dumps({"args": ["--token", S + end, "--mode", "fast"]}, indent=1) for end in "ab")
    shown = "\n".join(diff_lines(before, after))
    assert S not in shown and '"--token"' in shown
    assert mask_command(["p", "--token", S, "--mode", f"--key={S}"]) == ["p", "--token", "•••", "--mode", "--key=•••"]


@pytest.mark.parametrize("line", ['"KEYHOLE_MAX_CHARS": "9000"', '"auth": {', 'command = "/x/keyhole-reader"', "# a"])
def test_other_values_are_not_masked(line: str) -> None:
    assert mask_secrets(line) == line


def test_a_large_file_is_compared_only_around_its_change() -> None:
    lines = [f'"a{number % 50}": {number % 7},' for number in range(100_000)]
    shown = diff_lines("\n".join(lines), "\n".join([*lines[:70_000], '"new": 1,', *lines[70_000:]]))
    assert shown == ["@@ -70000,2 +70000,3 @@", f" {lines[69_999]}", '+"new": 1,', f" {lines[70_000]}"]


def test_a_listing_for_programs_shows_no_secret(home: Path, capsys: Captured) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"keyhole": {"url": f"https://u:{S}@h.example/mcp?key={S}"}}}), "utf-8")
    main(["install", "--json"])
    shown = capsys.readouterr().out
    assert S not in shown and "h.example/mcp" in shown
