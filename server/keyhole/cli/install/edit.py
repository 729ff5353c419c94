"""An entry put into a client's file or taken out of it, or why not. Text in, text out; no file is touched.

Whatever an edit did, its result is read again and compared: it must say what the file said, and the entry, and
nothing else. So a form of a file that nobody thought of is refused and never spoiled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

from keyhole.cli.install import jsonc_edit, toml_edit
from keyhole.cli.install.clients import Client
from keyhole.cli.install.entries import Server, entry_of, is_ours, nested, server_of
from keyhole.errors import Code, KeyholeError

MARK = "\ufeff"
"""A byte order mark, which Windows' own editor writes before the text."""


def registered(client: Client, text: str, name: str) -> Mapping[str, Any] | None:
    """The entry of this name, if there is one. Raises KeyholeError for a text that cannot be read."""
    there: Any = _parsed(client, text.removeprefix(MARK))
    for key in (*client.place, name):
        if not isinstance(there, Mapping) or key not in there:
            return None
        there = there[key]
    return there if isinstance(there, Mapping) else {}


def with_entry(client: Client, text: str, name: str, server: Server, *, force: bool) -> str:
    """The text with this server registered; the same text where it is already.

    Raises KeyholeError for a text that cannot be read or added to, and for an entry of this name that is another's.
    """
    there = registered(client, text, name)
    _refuse_others(client, there, name, server, force)
    entry = entry_of(client.shape, server, None if force else there)
    if entry == there:
        return text
    mark, body = _split(text)
    wanted = _parsed(client, body)
    inner = wanted
    for key in client.place:
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            raise _refusal(client, f"{key!r} in it is not a table of servers")
    inner[name] = entry
    return mark + _checked(client, lambda: _editor(client).put(body, (*client.place, name), entry), wanted)


def without_entry(client: Client, text: str, name: str, server: Server, *, force: bool) -> str:
    """The text without the entry of this name; the same text where there is none."""
    there = registered(client, text, name)
    if there is None:
        return text
    _refuse_others(client, there, name, server, force)
    mark, body = _split(text)
    wanted = _parsed(client, body)
    inner = wanted
    for key in client.place:
        inner = inner[key]
    del inner[name]
    return mark + _checked(client, lambda: _editor(client).drop(body, (*client.place, name)), wanted)


def taken_out(
    client: Client, text: str, name: str, server: Server, earlier: Sequence[str], *, force: bool
) -> str | None:
    """The text as it should be without the entry; None where there should be no file, as there was none before.

    `earlier`: what the file held before its last change. Where registering makes the text of that, or of nothing, it
    comes back as it was, to the byte; else the entry is cut out of what was written since.
    """
    there = registered(client, text, name)
    if there is None:
        return text
    without = without_entry(client, text, name, server, force=force)
    said = server_of(client.shape, there)
    for before in (*earlier, ""):
        with suppress(KeyholeError):
            fresh = registered(client, before, name) is None
            if fresh and with_entry(client, before, name, said, force=False) == text:
                return before or None
    return without


def snippet(client: Client, name: str, server: Server) -> str:
    """What a person would add by hand."""
    entry = entry_of(client.shape, server)
    if client.format == "toml":
        return toml_edit.put("", (*client.place, name), entry).rstrip("\n")
    whole = nested((*client.place, name), entry)
    return _yaml(whole) if client.format == "yaml" else json.dumps(whole, indent=2, ensure_ascii=False)


def _yaml(value: Mapping[str, Any], indent: str = "") -> str:
    """Nested tables as YAML, whose scalars and lists may be written as in JSON."""
    lines = []
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            lines += [f"{indent}{key}:", _yaml(item, indent + "  ")]
        else:
            lines.append(f"{indent}{key}: {json.dumps(item, ensure_ascii=False)}")
    return "\n".join(lines)


def _editor(client: Client) -> ModuleType:
    if client.format == "yaml":
        raise _refusal(client, "Keyhole does not change YAML")
    return toml_edit if client.format == "toml" else jsonc_edit


def _parsed(client: Client, text: str) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = _editor(client).parse(text)
    except ValueError as error:
        raise _refusal(client, f"it cannot be read: {error}") from error
    except RecursionError as error:
        raise _refusal(client, "it is nested too deeply") from error
    return parsed


def _checked(client: Client, edit: Callable[[], str], wanted: Mapping[str, Any]) -> str:
    try:
        text = edit()
        same = _full(_editor(client).parse(text)) == _full(wanted)
    # tomlkit's are ValueError and LookupError
    except (ValueError, LookupError, TypeError, AssertionError, RecursionError) as error:
        raise _refusal(client, "it is written in a form that cannot be changed safely") from error
    if not same:
        raise _refusal(client, "it is written in a form that cannot be changed safely")
    return text


def _full(values: Mapping[str, Any]) -> dict[str, Any]:
    """Tables without the empty ones, which no client tells from none."""
    tables = {key: _full(item) if isinstance(item, Mapping) else item for key, item in values.items()}
    return {key: item for key, item in tables.items() if item != {}}


def _refuse_others(client: Client, there: Mapping[str, Any] | None, name: str, server: Server, force: bool) -> None:
    if there is None or force:
        return
    found = server_of(client.shape, there)
    if not is_ours(found) and not (server.url and found.url == server.url):
        why, way = "that is not Keyhole's", "--force replaces it, --name gives ours another name"
        if found.url:
            why, way = "with an address, which may be another's", "name the same with --http URL, or give --force"
        raise _refusal(client, f"it has an entry {name!r} {why}; {way}")


def _refusal(client: Client, why: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, f"{client.title}'s file was left as it is: {why}")


def _split(text: str) -> tuple[str, str]:
    return (MARK, text[1:]) if text.startswith(MARK) else ("", text)
