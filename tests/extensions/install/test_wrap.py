"""`keyhole install CLIENT --wrap NAME` and `--unwrap NAME`: the proxy in front of a registered server."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from keyhole.cli.main import main
from keyhole.errors import KeyholeError
from keyhole.extensions.install.clients import CLIENTS
from keyhole.extensions.install.wrap import unwrap_entry, wrap_entry

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
    from keyhole.extensions.install.clients import Server, parse_entry
    from keyhole.extensions.install.edit import add_entry, find_entry

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
        ({"url": "https://h/mcp", "headersHelper": "s3cret"}, "has headersHelper: write its proxy by hand"),
        ({"url": "https://h/sse", "type": "sse"}, "has the type sse; the proxy speaks streamable HTTP only"),
        ({"url": "https://h/mcp", "headers": {"X-A": "1", "X_A": "2"}}, "names differ only in their signs"),
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


SECRET = "s3cret-of-the-notes"
WITH_HEADERS = {"url": "https://h/mcp", "headers": {"Authorization": f"Bearer {SECRET}", "X-Team": "blue"}}


def test_the_headers_of_a_url_become_variables_of_the_proxy_and_come_back() -> None:
    wrapped = wrap_entry(CURSOR, file_with(WITH_HEADERS), "notes", PROGRAM)
    entry = entry_of(wrapped)
    assert entry["args"] == ["proxy", "--url", "https://h/mcp", "--header", "Authorization", "--header", "X-Team"]
    assert entry["env"] == {"HEADER_AUTHORIZATION": f"Bearer {SECRET}", "HEADER_X_TEAM": "blue"}
    assert entry_of(unwrap_entry(CURSOR, wrapped, "notes")) == WITH_HEADERS


def test_a_url_with_a_secret_becomes_a_variable_too() -> None:
    url = "https://h/mcp?api_key=12345678"
    wrapped = wrap_entry(CURSOR, file_with({"url": url}), "notes", PROGRAM)
    assert entry_of(wrapped)["args"] == ["proxy", "--url", "env:SERVER_URL"]
    assert entry_of(wrapped)["env"] == {"SERVER_URL": url}
    assert entry_of(unwrap_entry(CURSOR, wrapped, "notes")) == {"url": url}


def test_the_proxy_starts_with_the_headers_of_a_wrapped_entry() -> None:
    from keyhole.cli.commands import build_parser
    from keyhole.extensions.proxy.proxy_command import read_server

    entry = entry_of(wrap_entry(CURSOR, file_with(WITH_HEADERS), "notes", PROGRAM))
    server = read_server(build_parser().parse_args(entry["args"]), entry["env"])
    assert server.url == "https://h/mcp"
    assert dict(server.headers) == WITH_HEADERS["headers"]


CODEX_FILE = """\
model = "o4"

[mcp_servers.notes]  # the team's
url = 'https://h/mcp'
bearer_token_env_var = "NOTES_TOKEN"
startup_timeout_sec = 20
http_headers = { "X-Team" = "blue" }
env_http_headers = { "X-User" = "USER_ID" }

[other]
a = 1
"""


def test_codex_hands_on_the_variables_that_its_entry_names() -> None:
    codex = CLIENTS["codex"]
    wrapped = wrap_entry(codex, CODEX_FILE, "notes", PROGRAM)
    entry = tomllib.loads(wrapped)["mcp_servers"]["notes"]
    assert entry == {
        "command": "/opt/keyhole",
        "args": [
            "proxy", "--url", "https://h/mcp", "--header", "X-Team", "--header", "X-User: ${USER_ID}",
            "--header", "Authorization: Bearer ${NOTES_TOKEN}",
        ],
        "env": {"HEADER_X_TEAM": "blue"},
        "env_vars": ["USER_ID", "NOTES_TOKEN"],
        "startup_timeout_sec": 20,
    }  # fmt: skip
    assert tomllib.loads(unwrap_entry(codex, wrapped, "notes")) == tomllib.loads(CODEX_FILE)
    assert unwrap_entry(codex, wrapped, "notes", [CODEX_FILE]) == CODEX_FILE


FORMS = (
    '{"mcpServers": {"notes": {"url": "https://h/mcp", "headers": {"X-Key": "1"}}, "b": {"command": "b"}}}',
    '{\n\t"mcpServers": {\n\t\t"notes": {"args": ["-y",  "x"], "command": "npx"}, // ours\n\t},\n}\n',
    '\ufeff{"mcpServers":\r\n {"notes": {\r\n  "command": "npx", "env": {}, "args": [\r\n"x"]}}}',
)


@pytest.mark.parametrize("before", FORMS)
def test_the_file_has_its_bytes_again_after_the_proxy_is_taken_away(before: str) -> None:
    wrapped = wrap_entry(CURSOR, before, "notes", PROGRAM)
    assert wrapped != before
    assert unwrap_entry(CURSOR, wrapped, "notes", ["{}", wrapped, before]) == before


TEXTS = st.text(max_size=20)
REMOTES = st.fixed_dictionaries(
    {"url": st.sampled_from(["https://h/mcp", "https://h/mcp?token=12345678", "http://user:pass@h/mcp"])},
    optional={
        "headers": st.dictionaries(st.from_regex(r"X-[A-Za-z]{1,8}", fullmatch=True), TEXTS, min_size=1, max_size=3),
        "timeout": st.integers(0, 9),
    },
)
PROGRAMS = st.fixed_dictionaries(
    {"command": st.sampled_from(["npx", "/usr/bin/notes"]), "args": st.lists(TEXTS, max_size=4)},
    optional={"env": st.dictionaries(TEXTS.filter(bool), TEXTS, min_size=1, max_size=2), "cwd": TEXTS},
)


@given(REMOTES | PROGRAMS, st.sampled_from([None, 2, 4]))
def test_any_entry_comes_back_with_its_values_and_from_a_backup_with_its_bytes(entry: Any, indent: int | None) -> None:
    before = json.dumps({"mcpServers": {"a": {"command": "a"}, "notes": entry}}, indent=indent)
    assume(len({name.upper() for name in entry.get("headers", {})}) == len(entry.get("headers", {})))
    wrapped = wrap_entry(CURSOR, before, "notes", PROGRAM)
    assert entry_of(unwrap_entry(CURSOR, wrapped, "notes")) == entry
    assert unwrap_entry(CURSOR, wrapped, "notes", [before]) == before


def test_servers_that_are_unwrapped_in_any_order_have_their_bytes_again() -> None:
    before = FORMS[0]
    first = wrap_entry(CURSOR, before, "notes", PROGRAM)
    both = wrap_entry(CURSOR, first, "b", PROGRAM)
    without_first = unwrap_entry(CURSOR, both, "notes", [first, before])
    assert unwrap_entry(CURSOR, without_first, "b", [both, first, before]) == before


def test_an_entry_that_was_changed_since_keeps_its_change() -> None:
    before = file_with({"command": "npx", "args": ["notes"]})
    changed = wrap_entry(CURSOR, before, "notes", PROGRAM).replace('"notes"\n', '"others"\n')
    assert entry_of(unwrap_entry(CURSOR, changed, "notes", [before]))["args"] == ["others"]


@pytest.mark.parametrize("name", sorted(set(CLIENTS) - {"goose", "claude-desktop"}))
def test_every_client_whose_entries_have_urls_can_be_wrapped_with_headers(name: str) -> None:
    from keyhole.extensions.install.edit import find_entry, put

    client = CLIENTS[name]
    kind = {"type": client.shape.http} if client.shape.http else {}
    entry = {**kind, client.shape.url: "https://h/mcp", client.shape.headers: {"X-Key": SECRET}}
    before = put(client, "", (*client.key_path, "notes"), entry)
    wrapped = wrap_entry(client, before, "notes", PROGRAM)
    own = find_entry(client, wrapped, "notes") or {}
    assert own[client.shape.env] == {"HEADER_X_KEY": SECRET}
    assert find_entry(client, unwrap_entry(client, wrapped, "notes"), "notes") == entry
    assert unwrap_entry(client, wrapped, "notes", [before]) == before


def test_the_command_changes_the_clients_file_and_takes_it_back(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(file_with({"command": "npx", "args": ["notes"]}))
    assert main(["install", "cursor", "--wrap", "notes", "--yes"]) == 0
    assert entry_of(file.read_text())["args"][-4:] == ["proxy", "--", "npx", "notes"]
    assert main(["install", "cursor", "--unwrap", "notes", "--yes"]) == 0
    assert entry_of(file.read_text())["command"] == "npx"
    assert main(["install", "cursor", "--wrap", "gone", "--yes"]) == 1


def test_no_output_shows_the_headers_of_a_server(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    before = file_with({"url": "https://h/mcp", "headers": {"X-Team": "blue-of-h", "Authorization": "s3cret"}})
    file.write_text(before)
    for words in (["--wrap", "notes", "--json"], ["--unwrap", "notes"]):
        assert main(["install", "cursor", *words, "--yes"]) == 0
        output = "".join(capsys.readouterr())
        assert "•••" in output or "\\u2022" in output
        assert "blue-of-h" not in output
        assert "s3cret" not in output
    assert file.read_text() == before
