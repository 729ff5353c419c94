"""`keyhole install CLIENT --wrap NAME` and `--unwrap NAME`: the proxy in front of a registered server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.install.clients import CLIENTS
from keyhole.cli.install.wrap import unwrap_entry, wrap_entry
from keyhole.cli.main import main
from keyhole.errors import KeyholeError

PROGRAM = ("/opt/keyhole",)
CURSOR = CLIENTS["cursor"]


def file_with(entry: dict[str, Any]) -> str:
    return json.dumps({"mcpServers": {"notes": entry}, "other": 1}, indent=2)


def entry_of(text: str) -> Any:
    return json.loads(text)["mcpServers"]["notes"]


def test_a_program_is_wrapped_and_its_other_keys_stay() -> None:
    text = file_with({"command": "npx", "args": ["-y", "notes"], "env": {"TOKEN": "x"}})
    wrapped = wrap_entry(CURSOR, text, "notes", PROGRAM)
    assert entry_of(wrapped)["command"] == "/opt/keyhole"
    assert entry_of(wrapped)["args"] == ["proxy", "--", "npx", "-y", "notes"]
    assert entry_of(wrapped)["env"] == {"TOKEN": "x"}
    assert json.loads(wrapped)["other"] == 1
    assert wrap_entry(CURSOR, wrapped, "notes", PROGRAM) == wrapped
    restored = entry_of(unwrap_entry(CURSOR, wrapped, "notes"))
    assert {**restored, "type": None} == {**entry_of(text), "type": None}


def test_a_url_is_wrapped_and_restored() -> None:
    wrapped = wrap_entry(CURSOR, file_with({"url": "https://h/mcp"}), "notes", ("python", "-m", "keyhole"))
    assert entry_of(wrapped)["args"] == ["-m", "keyhole", "proxy", "--url", "https://h/mcp"]
    assert "url" not in entry_of(wrapped)
    assert entry_of(unwrap_entry(CURSOR, wrapped, "notes"))["url"] == "https://h/mcp"


@pytest.mark.parametrize("name", sorted(set(CLIENTS) - {"goose"}))
def test_every_client_whose_file_can_be_edited_can_be_wrapped(name: str) -> None:
    from keyhole.cli.install.edit import add_entry, find_entry
    from keyhole.cli.install.entries import Server, parse_entry

    client = CLIENTS[name]
    text = add_entry(client, "", "notes", Server("npx", ("notes",), {"A": "b"}), force=True)
    wrapped = wrap_entry(client, text, "notes", PROGRAM)
    server = parse_entry(client.shape, find_entry(client, wrapped, "notes") or {})
    assert (server.command, server.args) == ("/opt/keyhole", ("proxy", "--", "npx", "notes"))
    assert server.env == {"A": "b"}
    again = parse_entry(client.shape, find_entry(client, unwrap_entry(client, wrapped, "notes"), "notes") or {})
    assert (again.command, again.args, again.env) == ("npx", ("notes",), {"A": "b"})


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"url": "https://h/mcp", "headers": {"Authorization": "s3cret"}}, "has headers"),
        ({"command": "keyhole-reader"}, "is Keyhole itself"),
        ({}, "names no program"),
    ],
)
def test_an_entry_that_cannot_be_wrapped_is_refused(entry: dict[str, Any], fault: str) -> None:
    with pytest.raises(KeyholeError, match=fault) as error:
        wrap_entry(CURSOR, file_with(entry), "notes", PROGRAM)
    assert "s3cret" not in error.value.message


def test_a_server_without_the_proxy_and_a_proxy_with_options_are_not_unwrapped() -> None:
    text = file_with({"command": "npx"})
    assert unwrap_entry(CURSOR, text, "notes") == text
    with pytest.raises(KeyholeError, match="no server named gone"):
        unwrap_entry(CURSOR, text, "gone")
    options = file_with({"command": "keyhole", "args": ["proxy", "--only", "x", "--", "npx"]})
    with pytest.raises(KeyholeError, match="has options"):
        unwrap_entry(CURSOR, options, "notes")


def test_the_command_changes_the_clients_file_and_takes_it_back(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(file_with({"command": "npx", "args": ["notes"]}))
    assert main(["install", "cursor", "--wrap", "notes", "--yes"]) == 0
    assert entry_of(file.read_text())["args"][-4:] == ["proxy", "--", "npx", "notes"]
    assert main(["install", "cursor", "--unwrap", "notes", "--yes"]) == 0
    assert entry_of(file.read_text())["command"] == "npx"
    assert main(["install", "cursor", "--wrap", "gone", "--yes"]) == 1
