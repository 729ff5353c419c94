"""A file has its bytes again after `install --wrap` and `--unwrap`, in every form that a person or a client writes."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.cli.main import main
from keyhole.extensions.install import files
from keyhole.extensions.install.clients import CLIENTS
from keyhole.extensions.install.edit import find_entry
from keyhole.extensions.install.wrap import find_wrapped_names, unwrap_entry, wrap_entry

PROGRAM = ("/opt/key hole", "-m", "keyhole")
EDITABLE = sorted(set(CLIENTS) - {"goose"})
JSON_CLIENTS = sorted(set(EDITABLE) - {"codex"})
SPACES = st.sampled_from(["", " ", "  ", "\n", "\n\t", "\r\n  ", " /* c */ ", " // c, \"x\"\n", "\n\n"])  # fmt: skip
ANY_WORD = st.text(max_size=12) | st.sampled_from(
    ["-y", "--", "proxy", "a b", '"', "\\", "é\n", "${HOME}/x", "//", "#"]
)
WORDS = ANY_WORD.filter(lambda word: "keyhole" not in word)
"""Words of other programs: Keyhole itself is not wrapped."""


def write(value: Any, spaces: Iterator[str], *, is_ascii: bool, comma: str) -> str:
    """Return a value as JSON with these spaces and comments. `comma`: after the last item."""
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=is_ascii)
    marks = "{}" if isinstance(value, dict) else "[]"
    pairs = list(value.items()) if isinstance(value, dict) else [(None, each) for each in value]
    items = [
        f"{next(spaces)}{'' if key is None else f'{json.dumps(key)}{next(spaces)}:{next(spaces)}'}"
        f"{write(each, spaces, is_ascii=is_ascii, comma=comma)}{next(spaces)}"
        for key, each in pairs
    ]
    return f"{marks[0]}{','.join(items)}{comma if items else ''}{next(spaces)}{marks[1]}"


@st.composite
def entries(draw: Any, name: str) -> dict[str, Any]:
    """Draw the entry of a program as a client has it, with its keys in any order."""
    shape = CLIENTS[name].shape
    command, arguments = draw(st.sampled_from(["npx", "/usr/bin/no tes", "é"])), draw(st.lists(WORDS, max_size=4))
    entry: dict[str, Any] = {shape.program: command} if shape.args else {shape.program: [command, *arguments]}
    if shape.args and draw(st.booleans()):
        entry[shape.args] = arguments
    if shape.stdio and draw(st.booleans()):
        entry["type"] = shape.stdio
    if draw(st.booleans()):
        entry[shape.env] = draw(st.dictionaries(st.sampled_from(["A", "args", "command"]), WORDS, max_size=2))
    if draw(st.booleans()):
        entry["disabled"] = False
    return dict(draw(st.permutations(list(entry.items()))))


def nested(name: str, servers: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = servers
    for key in reversed(CLIENTS[name].key_path):
        value = {key: value}
    return value


@st.composite
def json_files(draw: Any) -> tuple[str, str]:
    """Draw a client with a file of JSON, and the text of the file."""
    name = draw(st.sampled_from(JSON_CLIENTS))
    servers = {"a": draw(entries(name)), "notes": draw(entries(name)), "z": draw(entries(name))}
    spaces = cycle(draw(st.lists(SPACES, min_size=1, max_size=7)))
    value = {"x": [1], **nested(name, servers), "y": "é"}
    text = write(value, spaces, is_ascii=draw(st.booleans()), comma=draw(st.sampled_from(["", ","])))
    return name, draw(st.sampled_from(["", "\ufeff"])) + text + next(spaces)


def wrapped_in(name: str, text: str, *names: str) -> str:
    for each in names:
        text = wrap_entry(CLIENTS[name], text, each, PROGRAM)
    assert find_wrapped_names(CLIENTS[name], text) == sorted(names)
    return text


def unwrapped_in(name: str, text: str, *names: str) -> str:
    for each in names:
        text = unwrap_entry(CLIENTS[name], text, each)
    return text


@given(json_files())
def test_json_of_any_form_changes_in_its_command_only_and_has_its_bytes_again(
    file: tuple[str, str],
) -> None:
    name, before = file
    wrapped = wrapped_in(name, before, "notes")
    assert unwrapped_in(name, wrapped, "notes") == before
    assert unwrapped_in(name, wrapped_in(name, before, "a", "notes", "z"), "notes", "a", "z") == before
    client = CLIENTS[name]
    own, changed = (find_entry(client, text, "notes") or {} for text in (before, wrapped))
    keys = {client.shape.program, client.shape.args}
    assert {key: value for key, value in own.items() if key not in keys} == {
        key: value for key, value in changed.items() if key not in keys
    }
    for other in ("a", "z"):
        assert find_entry(client, wrapped, other) == find_entry(client, before, other)


QUOTED = st.sampled_from(['"npx"', "'npx'", '"""npx"""', "'''npx'''", '"n\\u0070x"'])
ITEMS = st.lists(st.sampled_from(['"-y"', "'a#b'", '"a, ]"', '"""x"""', "'''\ny'''", '""']), max_size=4)
GAPS = st.sampled_from(["", " ", "\n  ", "  # why, \"not\"\n"])  # fmt: skip


@st.composite
def toml_files(draw: Any) -> str:
    """Draw a configuration of Codex with one server, `notes`, among others."""
    items, gap = draw(ITEMS), draw(GAPS)
    comma = draw(st.sampled_from(["", ","])) if items else ""
    array = f"[{gap}" + f",{gap}".join(items) + f"{comma}{draw(GAPS)}]"
    sign = draw(st.sampled_from([" = ", "=", "  ="]))
    lines = [f"command{sign}{draw(QUOTED)}"]
    if draw(st.booleans()):
        lines.append(f"args{sign}{array}")
    if draw(st.booleans()):
        lines += ["env = { A = 'b' }", "startup_timeout_sec = 20  # slow"][: draw(st.integers(1, 2))]
    lines = draw(st.permutations(lines))
    if draw(st.booleans()):
        lines += ["", "[mcp_servers.notes.tools]", "args = ['no', 'command']", "command = 'x'"]
    indent = draw(st.sampled_from(["", "  ", "\t"]))
    before = draw(st.sampled_from(["", "model = 'o4'\n\n", "# mine\n[mcp_servers.a]\ncommand = 'a'\nargs = ['a']\n"]))
    after = draw(
        st.sampled_from(["", "\n", "\n\n# theirs\n[mcp_servers.z]\nargs = []\ncommand = 'z'\n", "\n[[other]]"])
    )
    header = draw(st.sampled_from(["[mcp_servers.notes]", "[ mcp_servers . 'notes' ]  # the team's"]))
    text = before + header + "\n" + "\n".join(indent + line for line in lines) + after
    return str(text.replace("\n", "\r\n") if draw(st.booleans()) else text)


@given(toml_files())
def test_toml_of_any_form_has_its_bytes_again_without_a_backup(before: str) -> None:
    assert unwrapped_in("codex", wrapped_in("codex", before, "notes"), "notes") == before


@pytest.mark.parametrize(
    "before",
    [
        'mcp_servers.notes = { command = "npx", args = ["-y"] }\n',
        '[mcp_servers]\nnotes = { command = "npx" }  # one line',
        '[mcp_servers]\nnotes.command = "npx"\nnotes.args = []\r\n',
        '[mcp_servers.notes]\n"command" = "npx"\n',
    ],
)
def test_other_forms_of_toml_have_their_bytes_again_from_a_backup(before: str) -> None:
    wrapped = wrapped_in("codex", before, "notes")
    assert unwrap_entry(CLIENTS["codex"], wrapped, "notes", [wrapped, before]) == before


EDITS = [
    ('"-y"', '"-y", "--verbose"'),
    ('"TOKEN": "x"', '"TOKEN": "y", "NEW": "z"'),
    ("// mine", "// mine, as of today"),
    ('"other": 1', '"other": [2]'),
    ('"a": {}', '"a": {"url": "https://h/mcp"}'),
]
EDITED = """{
    // mine
    "mcpServers": {
        "notes": {"command": "npx", "args": ["-y",
            "notes"], "env": {"TOKEN": "x"}, },
        "a": {}
    }, "other": 1
}"""


@pytest.mark.parametrize(("old", "new"), EDITS)
@pytest.mark.parametrize("has_backup", [True, False])
def test_what_was_edited_in_between_stays(old: str, new: str, has_backup: bool) -> None:
    wrapped = wrapped_in("cursor", EDITED, "notes")
    assert old in wrapped
    backups = [EDITED] if has_backup else []
    unwrapped = unwrap_entry(CLIENTS["cursor"], wrapped.replace(old, new), "notes", backups)
    assert unwrapped == EDITED.replace(old, new)


REMOTE = """{"mcpServers": {
  "notes": {"url": "https://h/mcp",   "headers": {"X-Key": "k"}}, // ours
  "a": {"command": "a"}}}
"""


def test_an_edited_file_keeps_the_edit_and_the_own_form_of_a_server_with_a_url() -> None:
    wrapped = wrapped_in("cursor", REMOTE, "notes")
    edited = wrapped.replace('"command": "a"', '"command": "b"')
    unwrapped = unwrap_entry(CLIENTS["cursor"], edited, "notes", [REMOTE])
    assert unwrapped == REMOTE.replace('"command": "a"', '"command": "b"')
    renewed = wrapped.replace('"k"', '"new"')
    assert unwrap_entry(CLIENTS["cursor"], renewed, "notes", [REMOTE]) == REMOTE.replace('"k"', '"new"')


SERVERS = {
    "one": {"command": "npx", "args": []},
    "two": {"command": "npx"},
    "three": {"url": "https://h/mcp", "headers": {"X-Key": "k"}},
    "four": {"args": ["-y", "four"], "command": "npx"},
    "five": {"url": "https://h/five"},
}


def lines_of(servers: dict[str, Any]) -> str:
    """Return a file with each server on a line."""
    return (
        '{"mcpServers": {\r\n' + ",\r\n".join(f"\t{json.dumps(k)}:{json.dumps(v)}" for k, v in servers.items()) + "}}"
    )


def install(*words: str) -> None:
    assert main(["install", "cursor", *words, "--yes"]) == 0


@pytest.fixture
def file(home: Path) -> Path:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(lines_of(SERVERS).encode())
    return path


@pytest.mark.parametrize("names", [["one"], ["three"], list(SERVERS), list(reversed(SERVERS))])
def test_after_the_last_proxy_the_folder_is_as_before(file: Path, names: list[str]) -> None:
    before = file.read_bytes()
    for name in SERVERS:
        if name in names:
            install("--wrap", name)
    assert file.read_bytes() != before
    for name in names:
        install("--unwrap", name)
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_backups_that_differ_by_more_than_proxies_stay(file: Path) -> None:
    install("--wrap", "one")
    file.write_bytes(file.read_bytes().replace(b"h/five", b"h/5"))
    install("--unwrap", "one")
    assert file.read_bytes() == lines_of(SERVERS).encode().replace(b"h/five", b"h/5")
    (backup,) = files.list_backups(file)
    assert backup.read_bytes() == lines_of(SERVERS).encode()


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o444, 0o664, 0o755, 0o4640])
def test_a_file_keeps_its_permissions(file: Path, mode: int) -> None:
    file.chmod(mode)
    for option in ("--wrap", "--unwrap"):
        install(option, "two")
        assert stat.S_IMODE(file.stat().st_mode) == mode
        assert all(stat.S_IMODE(each.stat().st_mode) == mode for each in files.list_backups(file))
    assert file.read_bytes() == lines_of(SERVERS).encode()


def test_a_link_to_a_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "cursor.json"
    target.parent.mkdir()
    file.rename(target)
    file.symlink_to(target)
    install("--wrap", "one")
    install("--unwrap", "one")
    assert file.readlink() == target
    assert target.read_bytes() == lines_of(SERVERS).encode()
    assert list(target.parent.iterdir()) == [target]


def test_wrapping_twice_changes_nothing_more(file: Path) -> None:
    install("--wrap", "one")
    once = file.read_bytes()
    install("--wrap", "one")
    assert file.read_bytes() == once
    install("--unwrap", "one")
    install("--unwrap", "one")
    assert file.read_bytes() == lines_of(SERVERS).encode()


def test_a_backup_that_cannot_be_read_prevents_no_wrapping(file: Path) -> None:
    file.with_name("mcp.json.keyhole-1.bak").write_bytes(b"\xff")
    install("--wrap", "one")
    assert find_wrapped_names(CLIENTS["cursor"], file.read_text()) == ["one"]
