"""The table of clients: paths on each platform, entries of each client, and the command that is registered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keyhole.extensions.install.clients import CLIENTS, EntryKeys, Machine, Server, build_entry, is_keyhole, parse_entry
from keyhole.extensions.install.discover import Installation, this_program, this_server
from keyhole.extensions.install.hooks import HOOK_CLIENTS, parse_line
from keyhole.extensions.install.output import diff_lines

HOME = Path("/home/me")
SERVER = Server("/bin/keyhole-reader", ("-x",), {"KEYHOLE_ROBOTS": "off"})


def paths(client: str, platform: str, **environment: str) -> list[str]:
    machine = Machine(platform, HOME, Path("/work"), environment)
    return [path.as_posix().removeprefix("/home/me/") for path in CLIENTS[client].user_paths(machine)]


@pytest.mark.parametrize(("client", "linux", "mac", "windows"), [
    ("claude-desktop", ".config/Claude/claude_desktop_config.json",
     "Library/Application Support/Claude/claude_desktop_config.json",
     "AppData/Roaming/Claude/claude_desktop_config.json"),
    ("claude-code", ".claude.json", ".claude.json", ".claude.json"),
    ("codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
    ("vscode", ".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json",
     "AppData/Roaming/Code/User/mcp.json"),
    ("zed", ".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
    ("windsurf", *[".codeium/windsurf/mcp_config.json"] * 3),
    ("goose", ".config/goose/config.yaml", ".config/goose/config.yaml",
     "AppData/Roaming/Block/goose/config/config.yaml"),
])  # fmt: skip
def test_each_platform_has_its_path(client: str, linux: str, mac: str, windows: str) -> None:
    assert [paths(client, platform)[0] for platform in ("linux", "darwin", "win32")] == [linux, mac, windows]


@pytest.mark.parametrize(("client", "variable", "path"), [
    ("claude-code", "CLAUDE_CONFIG_DIR", "/x/.claude.json"), ("codex", "CODEX_HOME", "/x/config.toml"),
    ("gemini", "GEMINI_CLI_HOME", "/x/.gemini/settings.json"), ("copilot", "COPILOT_HOME", "/x/mcp-config.json"),
    ("opencode", "XDG_CONFIG_HOME", "/x/opencode/opencode.jsonc"),
    ("opencode", "OPENCODE_CONFIG_DIR", "/x/opencode.jsonc"),
    ("zed", "XDG_CONFIG_HOME", "/x/zed/settings.json"), ("cline", "CLINE_MCP_SETTINGS_PATH", "/x"),
])  # fmt: skip
def test_environment_variables_of_the_clients_move_their_files(client: str, variable: str, path: str) -> None:
    assert paths(client, "linux", **{variable: "/x"})[0] == path
    assert paths(client, "linux", **{variable: " "}) == paths(client, "linux")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_an_entry_is_parsed_back_to_the_same_server(client: object) -> None:
    shape: EntryKeys = client.shape  # type: ignore[attr-defined]
    assert parse_entry(shape, build_entry(shape, SERVER)) == SERVER
    if shape.url:
        assert parse_entry(shape, build_entry(shape, Server(url="http://a/mcp"))) == Server(url="http://a/mcp")


def test_an_entry_changed_from_a_program_to_a_url_has_no_key_of_the_program() -> None:
    shape = CLIENTS["claude-code"].shape
    there = build_entry(shape, SERVER)
    assert build_entry(shape, Server(url="http://a/mcp"), there) == {"type": "http", "url": "http://a/mcp"}


def test_a_value_that_the_user_changed_is_kept() -> None:
    shape = CLIENTS["copilot"].shape
    assert build_entry(shape, SERVER, {"tools": ["search"], "command": "keyhole-reader"})["tools"] == ["search"]


@pytest.mark.parametrize(("command", "args", "ours"), [
    ("/opt/x/bin/keyhole-reader", (), True), ("C:\\x\\Scripts\\keyhole-reader.exe", (), True),
    ("keyhole", ("serve",), True), ("/usr/bin/python3", ("-m", "keyhole", "serve"), True),
    ("uvx", ("keyhole-reader@0.1.0",), True),
    ("uvx", ("keyhole-reader",), True), ("/opt/x/bin/keyhole-mcp", (), False), ("uvx", ("keyhole-mcp@0.1.0",), False),
    ("uvx", ("--from", "x", "keyhole-reader"), True), ("keyhole", (), False),
    ("npx", ("keyhole",), False), ("", (), False),
    ("uvx", ("keyhole-reader-other",), False), ("python", ("keyhole",), False),
])  # fmt: skip
def test_registered_programs_are_recognized_as_keyhole(command: str, args: tuple[str, ...], ours: bool) -> None:
    assert is_keyhole(Server(command, args)) is ours


CACHED = "/home/me/.cache/uv/archive-v0/Xy12"


@pytest.mark.parametrize(("installation", "server"), [
    (Installation("/v/bin/python", "/v/bin/keyhole-reader", "/v", "1.2"), Server("/v/bin/keyhole-reader")),
    (Installation("/v/bin/python", "", "/v", "1.2"), Server("/v/bin/python", ("-P", "-m", "keyhole", "serve"))),
    (Installation(f"{CACHED}/bin/python", f"{CACHED}/bin/keyhole-reader", CACHED, "1.2", "", "/u/uvx"),
     Server("/u/uvx", ("keyhole-reader@1.2",))),
    (Installation(f"{CACHED}/bin/python", "", CACHED, "1.2", "file:///w/k.whl"),
     Server("uvx", ("--from", "file:///w/k.whl", "keyhole-reader"))),
])  # fmt: skip
def test_the_registered_command_starts_this_installation(installation: Installation, server: Server) -> None:
    assert this_server(installation) == server


@pytest.mark.parametrize(("installation", "words"), [
    (Installation("/v/bin/python", "", "/v", "1.2", program="/v/bin/keyhole"), ("/v/bin/keyhole",)),
    (Installation("/v/bin/python", "/v/bin/keyhole-reader", "/v", "1.2"), ("/v/bin/python", "-P", "-m", "keyhole")),
    (Installation(f"{CACHED}/bin/python", "", CACHED, "1.2", "", "/u/uvx", f"{CACHED}/bin/keyhole"),
     ("/u/uvx", "--from", "keyhole-reader@1.2", "keyhole")),
    (Installation(f"{CACHED}/bin/python", "", CACHED, "1.2", "file:///w/k.whl"),
     ("uvx", "--from", "file:///w/k.whl", "keyhole")),
])  # fmt: skip
def test_a_hook_starts_this_installation(installation: Installation, words: tuple[str, ...]) -> None:
    assert this_program(installation) == words
    line = HOOK_CLIENTS["claude-code"].line(words, "linux")
    assert (parsed := parse_line(line.text)) and parsed.words == words


@pytest.mark.parametrize(("client", "variable", "path"), [
    ("claude-code", "CLAUDE_CONFIG_DIR", "/x/settings.json"), ("codex", "CODEX_HOME", "/x/hooks.json"),
    ("copilot", "COPILOT_HOME", "/x/hooks/keyhole.json"), ("opencode", "OPENCODE_CONFIG_DIR", "/x/plugin/keyhole.js"),
    ("opencode", "XDG_CONFIG_HOME", "/x/opencode/plugin/keyhole.js"),
])  # fmt: skip
def test_environment_variables_move_the_files_of_hooks_too(client: str, variable: str, path: str) -> None:
    machine = Machine("linux", HOME, Path("/work"), {variable: "/x"})
    assert HOOK_CLIENTS[client].client.user_paths(machine)[0].as_posix() == path


def test_a_diff_has_no_secrets_and_no_overlong_lines_that_stay() -> None:
    other = '"other": "' + "x" * 300 + '",\n'
    before = other + '{"a": {"x": "1"}}\n'
    after = (
        other
        + '{"a": {"x": "1"}, "Authorization": "Bearer \\"s3\\"", "KEYHOLE_EXA_KEY":"s3", "KEYHOLE_HOME": "/h"}\x1b\n'
    )
    shown = "\n".join(diff_lines(before, after))
    assert "s3" not in shown and '"/h"' in shown and "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 160


LONG = '"a": ["' + "y" * 400 + '"], '
CHANGE = '"b": "' + "z" * 12_000 + '"'


@pytest.mark.parametrize("start", ["", LONG, LONG * 50])
@pytest.mark.parametrize("end", ["", ", " + LONG * 50])
@pytest.mark.parametrize("added", [CHANGE, CHANGE + ",\n" + CHANGE, "\n" + CHANGE])
def test_what_changes_is_shown_whole(start: str, end: str, added: str) -> None:
    before, after = f"{{\n{start}{end}\n}}", f"{{\n{start}{added}{end}\n}}"
    for lines in (diff_lines(before, after), diff_lines(after, before)):
        assert sum(line.count("z") for line in lines) == added.count("z")
        assert sum(line.count("y") for line in lines) <= 1_000


def test_what_changes_at_both_ends_of_a_long_line_is_shown() -> None:
    middle = LONG * 3
    _, old, new, *_ = diff_lines(
        '{"command": "npx", ' + middle + '"args": []}', '{"command": "k", ' + middle + '"args": [1]}'
    )
    assert '"npx"' in old and '"args": []' in old
    assert '"k"' in new and '"args": [1]' in new


def test_the_diff_of_a_file_on_one_line_shows_the_change() -> None:
    before = json.dumps({"api_key": "s3" * 50, "permissions": ["read"] * 100})
    after = json.dumps({"api_key": "s3" * 50, "permissions": ["read"] * 100, "hooks": ["/opt/keyhole hook claude"]})
    _, old, new = diff_lines(before, after)
    assert old.startswith("-…") and old.endswith('"read"]}') and len(old) < 30
    assert new.startswith("+…") and new.endswith('"read"], "hooks": ["/opt/keyhole hook claude"]}') and len(new) < 80
    assert "s3" not in "".join(diff_lines(before, before.replace("s3s3", "s3s4"))), (
        "a change of a secret shows none of it"
    )
