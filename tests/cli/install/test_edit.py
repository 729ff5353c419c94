"""Entries are put into files and taken out; all else stays as it was, to the byte."""

from __future__ import annotations

import difflib
import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.cli.install import jsonc_edit
from keyhole.cli.install.clients import CLIENTS, Client
from keyhole.cli.install.edit import registered, snippet, taken_out, with_entry, without_entry
from keyhole.cli.install.entries import Server
from keyhole.errors import KeyholeError
from tests.support.client_configurations import jsonc_files, toml_files

OURS = Server("/opt/keyhole/bin/keyhole-mcp", (), {"KEYHOLE_HOME": '/srv/ü "x"'})
MOVED = Server("/new/place/keyhole-mcp")
JSON = [client for client in CLIENTS.values() if client.format == "json"]
CODEX = CLIENTS["codex"]
CURSOR = CLIENTS["cursor"]


def put(client: Client, text: str, server: Server = OURS, *, force: bool = False) -> str:
    return with_entry(client, text, "keyhole", server, force=force)


def only_added(before: str, after: str) -> str:
    """What was added; fails where anything else happened to the text."""
    changes = [
        part
        for part in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if part[0] != "equal"
    ]
    assert all(kind == "insert" for kind, *_ in changes), changes
    return "".join(after[start:end] for _, _, _, start, end in changes)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(JSON).flatmap(lambda client: st.tuples(st.just(client), jsonc_files(client.place[0]))))
def test_a_json_file_keeps_every_byte_that_is_not_ours(drawn: tuple[Client, tuple[str, dict[str, Any]]]) -> None:
    client, (text, values) = drawn
    after = put(client, text)
    place = client.place[0]
    entry = registered(client, after, "keyhole")
    assert jsonc_edit.parse(after) == {**values, place: {**values.get(place, {}), "keyhole": entry}}
    lines = iter(after.splitlines())
    for line in text.splitlines() if "\n" in text.strip() else ():
        # Each line is there, in order, with at most a comma more.
        assert any(other == line or sorted(other) == sorted(line + ",") for other in lines), line
    assert put(client, after) == after
    assert without_entry(client, after, "keyhole", OURS, force=False) == text
    moved = put(client, after, MOVED)
    assert jsonc_edit.parse(moved)[place]["keyhole"] != entry
    assert without_entry(client, moved, "keyhole", OURS, force=False) == text


@settings(max_examples=150, deadline=None)
@given(toml_files("mcp_servers"))
def test_a_toml_file_keeps_every_byte_that_is_not_ours(text: str) -> None:
    after = put(CODEX, text)
    assert after.startswith(text)
    values = tomllib.loads(text)
    others = values.get("mcp_servers", {})
    entry = {"command": OURS.command, "args": [], "env": dict(OURS.env)}
    assert tomllib.loads(after) == {**values, "mcp_servers": {**others, "keyhole": entry}}
    assert put(CODEX, after) == after
    assert without_entry(CODEX, after, "keyhole", OURS, force=False) == text
    follows = "\r\n" if "\r\n" in text else "\n"
    longer = f"{after}{follows}{follows}# mine{follows}[mine]{follows}a = 1{follows}"
    assert taken_out(CODEX, put(CODEX, longer, MOVED), "keyhole", OURS, [], force=False) == without_entry(
        CODEX, longer, "keyhole", OURS, force=False
    )
    assert f"# mine{follows}[mine]{follows}a = 1{follows}" in without_entry(CODEX, longer, "keyhole", OURS, force=False)


@pytest.mark.parametrize(
    "client", [client for client in CLIENTS.values() if client.format != "yaml"], ids=lambda c: c.name
)
def test_a_file_that_was_not_there_is_not_there_again(client: Client) -> None:
    made = put(client, "")
    assert registered(client, made, "keyhole")
    assert made.endswith("\n")
    assert taken_out(client, made, "keyhole", OURS, [], force=False) is None


@pytest.mark.parametrize(
    "text", ["{}", "{ }\n", '{"mcpServers": {}}', '{ "a": 1 // c\n}', '{"mcpServers": {\n}}', "\ufeff{}\r\n"]
)
def test_any_form_of_a_file_comes_back_by_the_copy_that_was_kept(text: str) -> None:
    after = put(CURSOR, text)
    assert registered(CURSOR, after, "keyhole")
    assert taken_out(CURSOR, after, "keyhole", OURS, [text], force=False) == text
    assert without_entry(CURSOR, after, "keyhole", OURS, force=False) != after


def test_a_copy_that_had_an_older_entry_does_not_come_back() -> None:
    older = put(CURSOR, '{"a": 1}')
    newer = put(CURSOR, older, MOVED)
    assert taken_out(CURSOR, newer, "keyhole", OURS, [older], force=False) == '{"a": 1}'


def test_what_the_user_added_to_the_entry_stays() -> None:
    text = put(CURSOR, "{}").replace('"args": []', '"args": [], // none\n      "disabled": true')
    entry = registered(CURSOR, put(CURSOR, text, Server(MOVED.command, (), {"KEYHOLE_ROBOTS": "off"})), "keyhole")
    assert entry == {
        "command": MOVED.command, "args": [], "disabled": True, "env": {**OURS.env, "KEYHOLE_ROBOTS": "off"},
    }  # fmt: skip
    assert "// none" in put(CURSOR, text, MOVED)


def test_a_setting_with_an_empty_value_goes() -> None:
    after = put(CURSOR, put(CURSOR, "{}"), Server(OURS.command, (), {"KEYHOLE_HOME": ""}))
    assert registered(CURSOR, after, "keyhole") == {"command": OURS.command, "args": [], "env": {}}


@pytest.mark.parametrize(("text", "line"), [
    ('{\n  "a": 1\n  "b": 2\n}', 3), ('{"a": }', 1), ('{"a": [1 2]}', 1), ("[1]", 1),
    ('{\n"a": nope}', 2), ('{"a": 1', 1),
    ('{"a": 1} x', 1), ("{'a': 1}", 1), ('{"a": "' + "\n" + '"}', 1), ("{" * 500, 1), ('{"a"\u00a0: 1}', 1),
])  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(KeyholeError, match=f"left as it is: it cannot be read: line {line}: "):
        put(CURSOR, text)


def test_a_toml_file_that_cannot_be_read_is_refused_with_its_line() -> None:
    with pytest.raises(KeyholeError, match="line 2"):
        put(CODEX, "a = 1\nb = = 2\n")


@pytest.mark.parametrize("text", [
    '{"mcpServers": []}', '{"mcpServers": "x"}', '{"mcpServers": {"keyhole": 1}}',
    '{"mcpServers": {"keyhole": {"command": "/usr/bin/other"}}}', '{"mcpServers": {"keyhole": {"url": "http://a/mcp"}}}',
])  # fmt: skip
def test_what_is_not_ours_is_refused(text: str) -> None:
    with pytest.raises(KeyholeError, match="left as it is"):
        put(CURSOR, text)


def test_force_replaces_what_is_not_ours() -> None:
    text = '{"mcpServers": {"keyhole": {"command": "/usr/bin/other", "cwd": "/"}, "b": {"command": "c"}}}'
    after = put(CURSOR, text, force=True)
    assert json.loads(after)["mcpServers"]["keyhole"] == {"command": OURS.command, "args": [], "env": dict(OURS.env)}
    assert json.loads(after)["mcpServers"]["b"] == {"command": "c"}


@pytest.mark.parametrize("text", [
    'mcp_servers = {other = {command = "a"}} # so\nx = 1\n',
    'mcp_servers.other.command = "a" # so\nx = 1\n',
    '[mcp_servers]\nother = {command = "a"} # so\n[x]\n',
    '[mcp_servers.other]\ncommand = "a" # so\n\n[x]\n\n[mcp_servers.third]\ncommand = "b"\n',
])  # fmt: skip
def test_other_forms_of_toml_are_added_to(text: str) -> None:
    after = put(CODEX, text)
    assert tomllib.loads(after)["mcp_servers"]["keyhole"]["command"] == OURS.command
    assert "# so" in after
    assert tomllib.loads(without_entry(CODEX, after, "keyhole", OURS, force=False)) == tomllib.loads(text)


def test_an_inline_entry_is_brought_up() -> None:
    text = 'model = "m" # mine\n[mcp_servers]\nkeyhole = {command = "/old/keyhole-mcp", startup_timeout_sec = 9}\n'
    after = put(CODEX, text)
    assert tomllib.loads(after)["mcp_servers"]["keyhole"] == {
        "command": OURS.command, "args": [], "startup_timeout_sec": 9, "env": dict(OURS.env),
    }  # fmt: skip
    assert after.startswith('model = "m" # mine\n')


def test_equal_keys_are_no_reason_to_spoil_a_file() -> None:
    twice = '{"mcpServers": {"keyhole": {"command": "keyhole-mcp"}, "keyhole": {"command": "keyhole-mcp"}}}'
    with pytest.raises(KeyholeError, match="changed safely"):
        without_entry(CURSOR, twice, "keyhole", OURS, force=False)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_a_snippet_says_what_would_be_written(client: Client) -> None:
    import yaml

    shown = snippet(client, "keyhole", OURS)
    read = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}[client.format](shown)
    assert OURS.command in str(read[client.place[0]]["keyhole"])
    if client.format != "yaml":
        assert read == json.loads(
            json.dumps(jsonc_edit.parse(put(client, "")) if client.format == "json" else tomllib.loads(put(client, "")))
        )
