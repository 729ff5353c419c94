"""`keyhole doctor` checks the servers that clients run behind the proxy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from keyhole.cli.main import main
from keyhole.cli.terminal import Level
from keyhole.extensions.install.doctor import servers
from tests.extensions.proxy.client import SERVER
from tests.extensions.proxy.test_http_upstream import http_server


def register(home: Path, **entries: dict[str, Any]) -> Path:
    """Put the proxy in front of these servers of Cursor, and return its file."""
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": entries}))
    for name in entries:
        assert main(["install", "cursor", "--wrap", name, "--yes"]) == 0
    return file


def levels(*, offline: bool = False) -> dict[str, tuple[Level, str]]:
    return {each.name: (each.level, each.message) for each in servers.check_proxied_servers(offline=offline)}


def test_a_server_behind_the_proxy_is_started(home: Path) -> None:
    file = register(home, notes={"command": SERVER[0], "args": SERVER[1:]})
    level, message = levels()["cursor notes"]
    assert (level, message[:9]) == (Level.OK, "starts in")
    program = json.loads(file.read_text())["mcpServers"]["notes"]["command"]
    copy = home / "keyhole"
    copy.symlink_to(program)
    file.write_text(file.read_text().replace(program, str(copy)))
    assert levels()["cursor notes"] == (Level.WARN, "behind another copy of Keyhole")


def test_a_server_that_cannot_start_is_named(home: Path) -> None:
    register(
        home,
        gone={"command": "/gone/notes"},
        ends={"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
        url={"url": "http://127.0.0.1:1/mcp"},
    )
    found = levels()
    assert found["cursor gone"] == (Level.FAIL, "its program /gone/notes does not exist")
    assert found["cursor ends"][0] is Level.FAIL and "ended with exit status 3" in found["cursor ends"][1]
    assert found["cursor url"][0] is Level.FAIL and "cannot be reached" in found["cursor url"][1]
    assert levels(offline=True)["cursor url"] == (Level.NOTE, "not checked, because it may be elsewhere")


def test_a_server_that_needs_an_authorization_is_named_with_the_next_step(home: Path) -> None:
    with http_server("token") as url:
        register(home, notes={"url": url}, others={"url": url, "headers": {"Authorization": "Bearer t0ken"}})
        found = {each.name: each for each in servers.check_proxied_servers(offline=False)}
    assert found["cursor others"].level is Level.OK
    assert (found["cursor notes"].level, found["cursor notes"].message) == (
        Level.FAIL,
        "the server needs an authorization",
    )
    assert found["cursor notes"].fix.startswith("keyhole install cursor --unwrap notes; then put the header")


def test_without_such_servers_nothing_is_said(home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{broken")
    assert levels() == {}
