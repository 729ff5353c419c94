"""Add an entry to the text of a client's file, or remove it.

Each result is parsed again and compared with the expected values. An edit that would change anything else is refused,
so that a file in an unexpected form is never damaged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from types import ModuleType
from typing import Any

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.install import jsonc_edit, toml_edit
from keyhole.extensions.install.clients import McpClient, Server, build_entry, is_keyhole, nest, parse_entry

BYTE_ORDER_MARK = "\ufeff"
"""Character that some editors on Windows write at the beginning of a file."""


def find_entry(client: McpClient, text: str, name: str) -> Mapping[str, Any] | None:
    """Return the entry of this name, or None. Raises KeyholeError if the text cannot be parsed."""
    value: Any = parse(client, text)
    for key in (*client.key_path, name):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value if isinstance(value, Mapping) else {}


def list_entries(client: McpClient, text: str) -> list[str]:
    """Return the names of all entries. Raises KeyholeError if the text cannot be parsed."""
    value: Any = parse(client, text) if text else {}
    for key in client.key_path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return list(value) if isinstance(value, Mapping) else []


def add_entry(client: McpClient, text: str, name: str, server: Server, *, force: bool) -> str:
    """Return the text with this server registered; the same text if it already is.

    Raises KeyholeError if the text cannot be parsed or edited, or if the entry of this name is not Keyhole's and
    `force` is False.
    """
    existing = find_entry(client, text, name)
    _check_owner(client, existing, name, server, force)
    entry = build_entry(client.shape, server, None if force else existing)
    return text if entry == existing else put(client, text, (*client.key_path, name), entry)


def remove_entry(client: McpClient, text: str, name: str, server: Server, *, force: bool) -> str:
    """Return the text without the entry of this name; the same text if there is none."""
    existing = find_entry(client, text, name)
    if existing is None:
        return text
    _check_owner(client, existing, name, server, force)
    return drop(client, text, (*client.key_path, name))


def uninstall_entry(
    client: McpClient, text: str, name: str, server: Server, backups: Sequence[str], *, force: bool
) -> str | None:
    """Return the text as it was before the entry was added, or without the entry; None if there was no file."""
    existing = find_entry(client, text, name)
    if existing is None:
        return text
    remaining = remove_entry(client, text, name, server, force=force)
    registered = parse_entry(client.shape, existing)

    def add(before: str) -> str:
        is_new = find_entry(client, before, name) is None
        return add_entry(client, before, name, registered, force=False) if is_new else ""

    return restore(text, remaining, backups, add)


def restore(text: str, remaining: str, backups: Sequence[str], add: Callable[[str], str]) -> str | None:
    """Return the text before an addition; None if there was no file.

    If adding to one of the `backups`, or to an empty file, gives exactly this text, return that backup. Otherwise the
    file has changed since the backup: return `remaining`, the text with the addition removed.
    """
    for before in (*backups, ""):
        with suppress(KeyholeError):
            if add(before) == text:
                return before or None
    return remaining


def format_snippet(client: McpClient, name: str, server: Server) -> str:
    """Return the text of the entry, for adding it to the file by hand."""
    entry = build_entry(client.shape, server)
    if client.format == "toml":
        return toml_edit.put("", (*client.key_path, name), entry).rstrip("\n")
    tables = nest((*client.key_path, name), entry)
    return _format_yaml(tables) if client.format == "yaml" else json.dumps(tables, indent=2, ensure_ascii=False)


def _format_yaml(value: Mapping[str, Any], indent: str = "") -> str:
    """Return nested tables as YAML, with scalars and lists written as JSON, which YAML allows."""
    lines = []
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            lines += [f"{indent}{key}:", _format_yaml(item, indent + "  ")]
        else:
            lines.append(f"{indent}{key}: {json.dumps(item, ensure_ascii=False)}")
    return "\n".join(lines)


def put(client: McpClient, text: str, path: Sequence[str | int], value: Mapping[str, Any]) -> str:
    """Return the text with `value` at `path`; the index after the last item of a list adds an item."""
    mark, body = _split_mark(text)
    expected = parse(client, text)
    place: Any = expected
    for key, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        place = place.setdefault(key, empty) if isinstance(place, dict) else place[key]
        if not isinstance(place, type(empty)):
            raise refusal(client, f"{key!r} in it is not a {'table' if empty == {} else 'list'}")
    if path[-1] == len(place) and isinstance(place, list):
        place.append(value)
    else:
        place[path[-1]] = value
    return mark + _apply(client, lambda: _editor(client).put(body, path, value), expected)


def drop(client: McpClient, text: str, path: Sequence[str | int]) -> str:
    """Return the text without the value at `path`, and in JSON without parents that become empty."""
    mark, body = _split_mark(text)
    expected = parse(client, text)
    places: list[Any] = [expected]
    for key in path[:-1]:
        places.append(places[-1][key])
    for place, key in zip(reversed(places), reversed(path), strict=True):
        del place[key]
        if place:
            break
    return mark + _apply(client, lambda: _editor(client).drop(body, path), expected)


def copy_entry(client: McpClient, source: str, text: str, name: str) -> str:
    """Return the text with an entry exactly as another text has it."""
    entry, own = find_entry(client, source, name) or {}, _split_mark(source)[1]
    return edit_entry(client, text, name, entry, lambda editor, body, path: str(editor.copy(own, body, path)))


EditText = Callable[[ModuleType, str, Sequence[str]], str]
"""Changes a text, given the module that edits its format and the path of the entry."""


def replace_entry(client: McpClient, text: str, name: str, entry: Mapping[str, Any], edit: EditText) -> str:
    """Return the text with this entry under a name. Use `edit`, or `put` if `edit` refuses the form of the text."""
    with suppress(KeyholeError):
        return edit_entry(client, text, name, entry, edit)
    return put(client, text, (*client.key_path, name), entry)


def edit_entry(client: McpClient, text: str, name: str, entry: Mapping[str, Any], edit: EditText) -> str:
    """Return the text that `edit` makes. Raises KeyholeError unless it differs by the values of this entry only."""
    mark, body = _split_mark(text)
    path, expected = (*client.key_path, name), parse(client, text)
    place: Any = expected
    for key in client.key_path:
        place = place[key]
    place[name] = dict(entry)
    return mark + _apply(client, lambda: edit(_editor(client), body, path), expected)


def _editor(client: McpClient) -> ModuleType:
    if client.format == "yaml":
        raise refusal(client, "Keyhole cannot edit YAML")
    return toml_edit if client.format == "toml" else jsonc_edit


def parse(client: McpClient, text: str) -> dict[str, Any]:
    """Return the values in the text. Raises KeyholeError if it cannot be parsed."""
    try:
        values: dict[str, Any] = _editor(client).parse(text.removeprefix(BYTE_ORDER_MARK))
    except ValueError as error:
        raise refusal(client, f"it cannot be parsed: {error}") from error
    except RecursionError as error:
        raise refusal(client, "it is nested too deeply") from error
    return values


def _apply(client: McpClient, edit: Callable[[], str], expected: Mapping[str, Any]) -> str:
    """Return the edited text. Raises KeyholeError unless it parses to the expected values."""
    try:
        text = edit()
        is_expected = _without_empty(_editor(client).parse(text)) == _without_empty(expected)
    # tomlkit raises ValueError and LookupError
    except (ValueError, LookupError, TypeError, AssertionError, RecursionError) as error:
        raise refusal(client, "it is written in a form that cannot be changed safely") from error
    if not is_expected:
        raise refusal(client, "it is written in a form that cannot be changed safely")
    return text


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Remove empty tables, which clients treat as missing."""
    tables = {key: _without_empty(item) if isinstance(item, Mapping) else item for key, item in values.items()}
    return {key: item for key, item in tables.items() if item != {}}


def _check_owner(client: McpClient, existing: Mapping[str, Any] | None, name: str, server: Server, force: bool) -> None:
    """Raise KeyholeError if an existing entry is not Keyhole's and `force` is False."""
    if existing is None or force:
        return
    registered = parse_entry(client.shape, existing)
    if not is_keyhole(registered) and not (server.url and registered.url == server.url):
        reason, fix = "that is not Keyhole's", "replace it with --force, or choose another name with --name"
        if registered.url:
            reason, fix = "with a URL, which may be another server's", "repeat the URL with --http, or give --force"
        raise refusal(client, f"it has an entry {name!r} {reason}; {fix}")


def refusal(client: McpClient, reason: str) -> KeyholeError:
    """Return the error for a file that is left unchanged."""
    return KeyholeError(Code.INVALID_ARGUMENT, f"{client.title}'s file was not changed: {reason}")


def _split_mark(text: str) -> tuple[str, str]:
    """Return the byte order mark, or "", and the rest of the text."""
    return (BYTE_ORDER_MARK, text[1:]) if text.startswith(BYTE_ORDER_MARK) else ("", text)
