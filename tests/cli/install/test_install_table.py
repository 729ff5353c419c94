"""The table of clients: paths on each platform, entries in each client's words, and which program is registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.cli.install.clients import CLIENTS
from keyhole.cli.install.entries import Server, Shape, entry_of, is_ours, server_of
from keyhole.cli.install.launch import Installation, this_server
from keyhole.cli.install.output import difference
from keyhole.cli.install.paths import Machine

HOME = Path("/home/me")
SERVER = Server("/bin/keyhole-mcp", ("-x",), {"KEYHOLE_ROBOTS": "off"})


def paths(client: str, platform: str, **environment: str) -> list[str]:
    machine = Machine(platform, HOME, Path("/work"), environment)
    return [path.as_posix().removeprefix("/home/me/") for path in CLIENTS[client].user(machine)]


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
def test_variables_of_the_clients_are_followed(client: str, variable: str, path: str) -> None:
    assert paths(client, "linux", **{variable: "/x"})[0] == path
    assert paths(client, "linux", **{variable: " "}) == paths(client, "linux")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_an_entry_says_what_was_put_into_it(client: object) -> None:
    shape: Shape = client.shape  # type: ignore[attr-defined]
    assert server_of(shape, entry_of(shape, SERVER)) == SERVER
    if shape.url:
        assert server_of(shape, entry_of(shape, Server(url="http://a/mcp"))) == Server(url="http://a/mcp")


def test_a_program_that_becomes_an_address_keeps_nothing_of_it() -> None:
    shape = CLIENTS["claude-code"].shape
    there = entry_of(shape, SERVER)
    assert entry_of(shape, Server(url="http://a/mcp"), there) == {"type": "http", "url": "http://a/mcp"}


def test_what_a_user_narrowed_stays_narrowed() -> None:
    shape = CLIENTS["copilot"].shape
    assert entry_of(shape, SERVER, {"tools": ["search"], "command": "keyhole-mcp"})["tools"] == ["search"]


@pytest.mark.parametrize(("command", "args", "ours"), [
    ("/opt/x/bin/keyhole-mcp", (), True), ("C:\\x\\Scripts\\keyhole-mcp.exe", (), True), ("keyhole", ("serve",), True),
    ("/usr/bin/python3", ("-m", "keyhole", "serve"), True), ("uvx", ("keyhole-mcp@0.1.0",), True),
    ("uvx", ("keyhole-mcp",), True),
    ("uvx", ("--from", "x", "keyhole-mcp"), True), ("keyhole", (), False),
    ("npx", ("keyhole",), False), ("", (), False),
    ("uvx", ("keyhole-mcp-other",), False), ("python", ("keyhole",), False),
])  # fmt: skip
def test_which_programs_are_keyhole(command: str, args: tuple[str, ...], ours: bool) -> None:
    assert is_ours(Server(command, args)) is ours


CACHED = "/home/me/.cache/uv/archive-v0/Xy12"


@pytest.mark.parametrize(("installation", "server"), [
    (Installation("/v/bin/python", "/v/bin/keyhole-mcp", "/v", "1.2"), Server("/v/bin/keyhole-mcp")),
    (Installation("/v/bin/python", "", "/v", "1.2"), Server("/v/bin/python", ("-m", "keyhole", "serve"))),
    (Installation(f"{CACHED}/bin/python", f"{CACHED}/bin/keyhole-mcp", CACHED, "1.2", "", "/u/uvx"),
     Server("/u/uvx", ("keyhole-mcp@1.2",))),
    (Installation(f"{CACHED}/bin/python", "", CACHED, "1.2", "file:///w/k.whl"),
     Server("uvx", ("--from", "file:///w/k.whl", "keyhole-mcp"))),
])  # fmt: skip
def test_what_is_registered_starts_this_very_installation(installation: Installation, server: Server) -> None:
    assert this_server(installation) == server


def test_a_shown_change_has_no_secret_and_no_endless_line() -> None:
    before = '{"a": {"x": "1"}}\n'
    after = (
        '{"a": {"x": "1"}, "Authorization": "Bearer \\"s3\\"", "KEYHOLE_EXA_KEY":"s3", "KEYHOLE_HOME": "/h"'
        + " " * 300
        + "}\x1b\n"
    )
    shown = "\n".join(difference(before, after))
    assert "s3" not in shown and '"/h"' in shown and "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 160
