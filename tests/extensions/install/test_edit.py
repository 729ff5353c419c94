"""Entries are added to files and removed; the rest of the file keeps every byte."""

from __future__ import annotations

import difflib
import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.errors import KeyholeError
from keyhole.extensions.install import jsonc_edit
from keyhole.extensions.install.clients import CLIENTS, McpClient, Server
from keyhole.extensions.install.edit import add_entry, find_entry, format_snippet, remove_entry, uninstall_entry
from tests.support.client_configurations import jsonc_files, toml_files

OURS = Server("/opt/keyhole/bin/keyhole-reader", (), {"KEYHOLE_HOME": '/srv/ü "x"'})
MOVED = Server("/new/place/keyhole-reader")
JSON = [client for client in CLIENTS.values() if client.format == "json"]
CODEX = CLIENTS["codex"]
CURSOR = CLIENTS["cursor"]


def put(client: McpClient, text: str, server: Server = OURS, *, force: bool = False) -> str:
    return add_entry(client, text, "keyhole", server, force=force)


def added_text(before: str, after: str) -> str:
    """Return the added text; fail if anything else was changed."""
    changes = [
        part
        for part in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if part[0] != "equal"
    ]
    assert all(kind == "insert" for kind, *_ in changes), changes
    return "".join(after[start:end] for _, _, _, start, end in changes)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(JSON).flatmap(lambda client: st.tuples(st.just(client), jsonc_files(client.key_path[0]))))
def test_a_json_file_keeps_every_byte_outside_the_entry(
    drawn: tuple[McpClient, tuple[str, dict[str, Any]]],
) -> None:
    client, (text, values) = drawn
    after = put(client, text)
    place = client.key_path[0]
    entry = find_entry(client, after, "keyhole")
    assert jsonc_edit.parse(after) == {**values, place: {**values.get(place, {}), "keyhole": entry}}
    lines = iter(after.splitlines())
    for line in text.splitlines() if "\n" in text.strip() else ():
        # Each line is still there, in order, with at most one more comma.
        assert any(other == line or sorted(other) == sorted(line + ",") for other in lines), line
    assert put(client, after) == after
    assert remove_entry(client, after, "keyhole", OURS, force=False) == text
    moved = put(client, after, MOVED)
    assert jsonc_edit.parse(moved)[place]["keyhole"] != entry
    assert remove_entry(client, moved, "keyhole", OURS, force=False) == text


@settings(max_examples=150, deadline=None)
@given(toml_files("mcp_servers"))
def test_a_toml_file_keeps_every_byte_outside_the_entry(text: str) -> None:
    after = put(CODEX, text)
    assert after.startswith(text)
    values = tomllib.loads(text)
    others = values.get("mcp_servers", {})
    entry = {"command": OURS.command, "args": [], "env": dict(OURS.env)}
    assert tomllib.loads(after) == {**values, "mcp_servers": {**others, "keyhole": entry}}
    assert put(CODEX, after) == after
    assert remove_entry(CODEX, after, "keyhole", OURS, force=False) == text
    follows = "\r\n" if "\r\n" in text else "\n"
    longer = f"{after}{follows}{follows}# mine{follows}[mine]{follows}a = 1{follows}"
    assert uninstall_entry(CODEX, put(CODEX, longer, MOVED), "keyhole", OURS, [], force=False) == remove_entry(
        CODEX, longer, "keyhole", OURS, force=False
    )
    assert f"# mine{follows}[mine]{follows}a = 1{follows}" in remove_entry(CODEX, longer, "keyhole", OURS, force=False)


@pytest.mark.parametrize(
    "client", [client for client in CLIENTS.values() if client.format != "yaml"], ids=lambda c: c.name
)
def test_a_file_that_install_created_is_deleted_again(client: McpClient) -> None:
    made = put(client, "")
    assert find_entry(client, made, "keyhole")
    assert made.endswith("\n")
    assert uninstall_entry(client, made, "keyhole", OURS, [], force=False) is None


@pytest.mark.parametrize(
    "text", ["{}", "{ }\n", '{"mcpServers": {}}', '{ "a": 1 // c\n}', '{"mcpServers": {\n}}', "\ufeff{}\r\n"]
)
def test_uninstalling_restores_a_file_of_any_form_from_its_backup(text: str) -> None:
    after = put(CURSOR, text)
    assert find_entry(CURSOR, after, "keyhole")
    assert uninstall_entry(CURSOR, after, "keyhole", OURS, [text], force=False) == text
    assert remove_entry(CURSOR, after, "keyhole", OURS, force=False) != after


def test_a_backup_with_an_older_entry_is_not_restored() -> None:
    older = put(CURSOR, '{"a": 1}')
    newer = put(CURSOR, older, MOVED)
    assert uninstall_entry(CURSOR, newer, "keyhole", OURS, [older], force=False) == '{"a": 1}'


def test_keys_that_the_user_added_to_the_entry_are_kept() -> None:
    text = put(CURSOR, "{}").replace('"args": []', '"args": [], // none\n      "disabled": true')
    entry = find_entry(CURSOR, put(CURSOR, text, Server(MOVED.command, (), {"KEYHOLE_ROBOTS": "off"})), "keyhole")
    assert entry == {
        "command": MOVED.command, "args": [], "disabled": True, "env": {**OURS.env, "KEYHOLE_ROBOTS": "off"},
    }  # fmt: skip
    assert "// none" in put(CURSOR, text, MOVED)


def test_a_setting_with_an_empty_value_is_removed() -> None:
    after = put(CURSOR, put(CURSOR, "{}"), Server(OURS.command, (), {"KEYHOLE_HOME": ""}))
    assert find_entry(CURSOR, after, "keyhole") == {"command": OURS.command, "args": [], "env": {}}


@pytest.mark.parametrize(("text", "line"), [
    ('{\n  "a": 1\n  "b": 2\n}', 3), ('{"a": }', 1), ('{"a": [1 2]}', 1), ("[1]", 1),
    ('{\n"a": nope}', 2), ('{"a": 1', 1),
    ('{"a": 1} x', 1), ("{'a': 1}", 1), ('{"a": "' + "\n" + '"}', 1), ("{" * 500, 1), ('{"a"\u00a0: 1}', 1),
])  # fmt: skip
def test_invalid_json_is_refused_with_the_line_number(text: str, line: int) -> None:
    with pytest.raises(KeyholeError, match=f"was not changed: it cannot be parsed: line {line}: "):
        put(CURSOR, text)


def test_invalid_toml_is_refused_with_the_line_number() -> None:
    with pytest.raises(KeyholeError, match="line 2"):
        put(CODEX, "a = 1\nb = = 2\n")


@pytest.mark.parametrize("text", [
    '{"mcpServers": []}', '{"mcpServers": "x"}', '{"mcpServers": {"keyhole": 1}}',
    '{"mcpServers": {"keyhole": {"command": "/usr/bin/other"}}}', '{"mcpServers": {"keyhole": {"url": "http://a/mcp"}}}',
])  # fmt: skip
def test_an_entry_of_another_program_is_refused(text: str) -> None:
    with pytest.raises(KeyholeError, match="was not changed"):
        put(CURSOR, text)


def test_force_replaces_an_entry_of_another_program() -> None:
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
def test_tables_in_other_forms_of_toml_get_the_entry(text: str) -> None:
    after = put(CODEX, text)
    assert tomllib.loads(after)["mcp_servers"]["keyhole"]["command"] == OURS.command
    assert "# so" in after
    assert tomllib.loads(remove_entry(CODEX, after, "keyhole", OURS, force=False)) == tomllib.loads(text)


def test_an_inline_table_is_updated() -> None:
    text = 'model = "m" # mine\n[mcp_servers]\nkeyhole = {command = "/old/keyhole-reader", startup_timeout_sec = 9}\n'
    after = put(CODEX, text)
    assert tomllib.loads(after)["mcp_servers"]["keyhole"] == {
        "command": OURS.command, "args": [], "startup_timeout_sec": 9, "env": dict(OURS.env),
    }  # fmt: skip
    assert after.startswith('model = "m" # mine\n')


def test_a_file_with_duplicate_keys_is_refused() -> None:
    twice = '{"mcpServers": {"keyhole": {"command": "keyhole-reader"}, "keyhole": {"command": "keyhole-reader"}}}'
    with pytest.raises(KeyholeError, match="changed safely"):
        remove_entry(CURSOR, twice, "keyhole", OURS, force=False)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_a_snippet_is_the_text_that_would_be_written(client: McpClient) -> None:
    import yaml

    shown = format_snippet(client, "keyhole", OURS)
    read = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}[client.format](shown)
    assert OURS.command in str(read[client.key_path[0]]["keyhole"])
    if client.format != "yaml":
        assert read == json.loads(
            json.dumps(jsonc_edit.parse(put(client, "")) if client.format == "json" else tomllib.loads(put(client, "")))
        )
