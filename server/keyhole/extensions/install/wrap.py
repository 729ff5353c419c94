"""Put `keyhole proxy` in front of a server that a client's file registers, and take it away again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from types import ModuleType
from typing import Any, Final

from keyhole.errors import KeyholeError
from keyhole.extensions.install.clients import (
    PROGRAM,
    EntryKeys,
    McpClient,
    Server,
    ValuePosition,
    is_keyhole,
    parse_entry,
)
from keyhole.extensions.install.edit import (
    copy_entry,
    edit_entry,
    find_entry,
    list_entries,
    put,
    refusal,
    replace_entry,
)
from keyhole.extensions.install.output import mask_secrets
from keyhole.runtime.extensions import URL_PREFIX, header_variable

# Read and write the entries of servers with a URL, whose headers each client writes in its own way.

COMMON_KEYS: Final = frozenset(
    {
        "enabled", "disabled", "timeout", "trust", "description", "required", "tools", "alwaysAllow", "autoApprove",
        "disabledTools", "includeTools", "excludeTools", "enabled_tools", "disabled_tools", "startup_timeout_sec",
        "tool_timeout_sec", "default_tools_approval_mode",
    }
)  # fmt: skip
"""Keys with the same meaning for a program and a URL. An entry with other keys is not wrapped, because they would be
lost: for instance the keys of a sign-in, which clients make only for a URL."""
URL_KEYS: Final = ("url", "serverUrl", "httpUrl")
"""Other keys of a URL that some clients accept."""
HTTP_TYPES: Final = frozenset({"http", "streamableHttp", "streamable-http", "streamable_http", "remote"})
BEARER: Final = "Bearer "
_VARIABLE: Final = re.compile(r"(Bearer )?\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Remote:
    """A server with a URL."""

    url: str
    headers: Mapping[str, str]
    """Headers whose values are in the file; they may be secrets."""
    templates: Mapping[str, str]
    """Headers whose values are in variables of the client, as `${NAME}` or `Bearer ${NAME}`."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the entry, which are valid for a program too."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the headers need."""
        return tuple(found[2] for value in self.templates.values() if (found := _VARIABLE.fullmatch(value)))


def read_remote(client: McpClient, name: str, entry: Mapping[str, Any]) -> Remote | None:
    """Return the server of an entry with a URL, None for a program. Raises KeyholeError if it cannot be wrapped."""
    shape = client.shape
    key = next((key for key in (shape.url, *URL_KEYS) if key and isinstance(entry.get(key), str)), "")
    if not key:
        return None
    if (kind := entry.get("type", "http")) not in HTTP_TYPES:
        raise refusal(client, f"the entry {name} has the type {str(kind)[:40]}; the proxy speaks streamable HTTP only")
    headers = _strings(entry.get(shape.headers))
    templates = {header: f"${{{variable}}}" for header, variable in _strings(entry.get(shape.header_variables)).items()}
    if isinstance(token := entry.get(shape.token_variable), str):
        templates["Authorization"] = f"{BEARER}${{{token}}}"
    known = {"type", key, shape.headers, shape.header_variables, shape.token_variable}
    others = {key: value for key, value in entry.items() if key not in known}
    if unknown := sorted(set(others) - COMMON_KEYS):
        keys = ", ".join(unknown)[:80]
        raise refusal(client, f"the entry {name} has {keys}: write its proxy by hand, with --url and --header")
    return Remote(entry[key], headers, templates, others)


def write_remote(client: McpClient, remote: Remote) -> dict[str, Any]:
    """Return the entry of a server with a URL. Raises KeyholeError if the client's format cannot hold its headers."""
    shape = client.shape
    entry: dict[str, Any] = {**({"type": shape.http} if shape.http else {}), **remote.others, shape.url: remote.url}
    named: dict[str, str] = {}
    for header, value in remote.templates.items():
        found = _VARIABLE.fullmatch(value)
        if found and found[1] and header == "Authorization" and shape.token_variable:
            entry[shape.token_variable] = found[2]
        elif found and not found[1] and shape.header_variables:
            named[header] = found[2]
        else:
            raise refusal(client, f"the header {header} has a value that its own entry cannot keep; edit it by hand")
    return {
        **entry,
        **({shape.headers: dict(remote.headers)} if remote.headers else {}),
        **({shape.header_variables: named} if named else {}),
    }


def _strings(value: object) -> dict[str, str]:
    return {str(key): str(each) for key, each in value.items()} if isinstance(value, Mapping) else {}


# Put words in front of the command of an entry, and take them away: no other byte of the text changes.

TextEdit = tuple[int, int, str]
"""The start and the end of a part of the text, and its replacement."""


def add_words(editor: ModuleType, text: str, path: Sequence[str], shape: EntryKeys, words: Sequence[str]) -> str:
    """Return the text with `words` in front of the command of the entry at `path`.

    Raises ValueError if the command is not written in a form that is known.
    """
    program = _locate(editor, text, path, shape.program)
    if not shape.args:
        return _apply(text, [_insertion(program, [_quote(word) for word in words])])
    own = text[program.start : program.end]
    items = [*map(_quote, words[1:]), own]
    arguments = editor.locate(text, [*path, shape.args])
    if arguments is None:
        added = f"{editor.separator(text, program, shape.args)}[{', '.join(items)}]"
        return _apply(text, [(program.start, program.end, _quote(words[0]) + added)])
    return _apply(text, [(program.start, program.end, _quote(words[0])), _insertion(arguments, items)])


def remove_words(editor: ModuleType, text: str, path: Sequence[str], shape: EntryKeys, count: int) -> str:
    """Return the text without the first `count` words of the command of the entry at `path`.

    Raises ValueError if the command is not written in a form that is known.
    """
    program = _locate(editor, text, path, shape.program)
    if not shape.args:
        return _apply(text, [_removal(program, count)])
    arguments = _locate(editor, text, path, shape.args)
    start, end = _items(arguments)[count - 1]
    own = text[start:end]
    separator = editor.separator(text, program, shape.args)
    if len(_items(arguments)) == count and text[program.end : arguments.start] == separator:
        return _apply(text, [(program.start, arguments.end, own)])
    return _apply(text, [(program.start, program.end, own), _removal(arguments, count)])


def _locate(editor: ModuleType, text: str, path: Sequence[str], key: str) -> ValuePosition:
    value = editor.locate(text, [*path, key])
    if not isinstance(value, ValuePosition):
        raise ValueError(f"{key!r} is written in a form that is not known")
    return value


def _items(value: ValuePosition) -> tuple[tuple[int, int], ...]:
    if value.items is None:
        raise ValueError("there is no list")
    return value.items


def _insertion(value: ValuePosition, words: Sequence[str]) -> TextEdit:
    """Return the insertion of words at the beginning of a list, on the line of its first item."""
    items = _items(value)
    place = items[0][0] if items else value.start + 1
    return place, place, ", ".join(words) + (", " if items else "")


def _removal(value: ValuePosition, count: int) -> TextEdit:
    items = _items(value)
    return items[0][0], items[count][0] if count < len(items) else items[-1][1], ""


def _apply(text: str, edits: Sequence[TextEdit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _quote(word: Any) -> str:
    """Return a word as a string literal of JSON, which is valid in TOML too."""
    return json.dumps(word, ensure_ascii=False)


# Put `keyhole proxy` in front of a server that a client's file registers, and take it away again.

COMMAND: Final = "proxy"
URL_VARIABLE: Final = "SERVER_URL"
"""Variable for the URL of a wrapped entry if it contains a secret: other users can read a program's arguments."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The parts of an entry that runs the proxy."""

    program: tuple[str, ...]
    """The words that start `keyhole`."""
    words: tuple[str, ...]
    """The words after `keyhole proxy`."""
    env: Mapping[str, str] = field(default_factory=dict)


def wrap_entry(client: McpClient, text: str, name: str, program: Sequence[str]) -> str:
    """Return the text with the proxy in front of a server; the same text if it is there already.

    `program`: the words that start `keyhole`. Raises KeyholeError if there is no such entry or it cannot be wrapped.
    """
    entry, server = _entry(client, text, name)
    if find_wrapped(server) is not None:
        return text
    if is_keyhole(server):
        raise refusal(client, f"{name} is Keyhole itself, whose results are bounded already")
    if remote := read_remote(client, name, entry):
        return _replace(client, text, name, *_wrap_remote(client, remote, program))
    if not server.command:
        raise refusal(client, f"the entry {name} names no program")
    words = (*program, COMMAND, "--")
    changed, shape = _with_words(client, entry, [*words, *_words(client, entry)]), client.shape
    return replace_entry(
        client, text, name, changed, lambda editor, body, path: add_words(editor, body, path, shape, words)
    )


def unwrap_entry(client: McpClient, text: str, name: str, backups: Sequence[str] = ()) -> str:
    """Return the text with the server's own entry; the same text if the proxy is not in front of it.

    If one of the `backups` is the text before, return it. Else only this entry changes: a program gets its own words
    back; a server with a URL gets its own entry from the newest of the backups that has it, with the present values.
    """
    entry, server = _entry(client, text, name)
    wrapped = find_wrapped(server)
    if wrapped is None:
        return text
    own = [before for before in backups if _is_unwrapped(client, before, name)]
    for before in own:
        with suppress(KeyholeError):
            if wrap_entry(client, before, name, wrapped.program) == text:
                return before
    if wrapped.words[0] == "--" and len(wrapped.words) > 1:
        return _unwrap_program(client, text, name, entry, len(wrapped.program) + 2)
    remote = write_remote(client, _unwrap_remote(client, name, entry, wrapped))
    for before in own[:1]:
        with suppress(KeyholeError):
            text = copy_entry(client, before, text, name)
    return put(client, text, (*client.key_path, name), remote)


def _is_unwrapped(client: McpClient, text: str, name: str) -> bool:
    with suppress(KeyholeError):
        entry = find_entry(client, text, name)
        return entry is not None and find_wrapped(parse_entry(client.shape, entry)) is None
    return False


def find_wrapped_names(client: McpClient, text: str) -> list[str]:
    """Return the names of the entries that run the proxy. Raises KeyholeError if the text cannot be parsed."""
    entries = {name: find_entry(client, text, name) or {} for name in list_entries(client, text)}
    return [name for name, entry in entries.items() if find_wrapped(parse_entry(client.shape, entry)) is not None]


def needed_backups(client: McpClient, text: str, backups: Sequence[str]) -> list[bool]:
    """Return for each backup, latest first, whether it is the latest with the original of a wrapped entry."""
    missing, needed = set(find_wrapped_names(client, text)), []
    for before in backups:
        found = {name for name in missing if _is_unwrapped(client, before, name)}
        missing -= found
        needed.append(bool(found))
    return needed


def differs_by_proxies(client: McpClient, text: str, before: str, backups: Sequence[str]) -> bool:
    """Return whether the text has no proxies and a backup equals it except for proxies."""
    with suppress(KeyholeError):
        if find_wrapped_names(client, text):
            return False
        for name in find_wrapped_names(client, before):
            before = unwrap_entry(client, before, name, [text, *backups])
        return before == text
    return False


def find_wrapped(server: Server) -> Wrapped | None:
    """Return the parts of an entry that runs the proxy, None for another entry."""
    words = (server.command, *server.args)
    for place, word in enumerate(words[1:], 1):
        if word == COMMAND and PureWindowsPath(words[place - 1]).stem == PROGRAM and place + 1 < len(words):
            return Wrapped(words[:place], words[place + 1 :], server.env)
    return None


def secret_values(client: McpClient, text: str, name: str) -> frozenset[str]:
    """Return the values of an entry's headers, which no output shows."""
    with suppress(KeyholeError):
        entry, server = _entry(client, text, name)
        if (wrapped := find_wrapped(server)) is not None:
            prefix = header_variable("")
            own = {key: value for key, value in wrapped.env.items() if key.startswith(prefix) or key == URL_VARIABLE}
            return frozenset(own.values())
        if remote := read_remote(client, name, entry):
            return frozenset(remote.headers.values())
    return frozenset()


def _entry(client: McpClient, text: str, name: str) -> tuple[Mapping[str, Any], Server]:
    entry = find_entry(client, text, name)
    if entry is None:
        raise refusal(client, f"it has no server named {name}")
    return entry, parse_entry(client.shape, entry)


def _wrap_remote(client: McpClient, remote: Remote, program: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the keys and the words of the entry that runs the proxy in front of a URL."""
    env = {header_variable(name): value for name, value in remote.headers.items()}
    if len(env) < len(remote.headers):
        raise refusal(client, "it has two headers whose names differ only in their signs")
    options = [word for name in remote.headers for word in ("--header", name)]
    options += [word for name, value in remote.templates.items() for word in ("--header", f"{name}: {value}")]
    url = remote.url
    if mask_secrets(url) != url:
        env[URL_VARIABLE], url = url, f"{URL_PREFIX}{URL_VARIABLE}"
    variables = {client.shape.env: env} if env else {}
    forwarded = {client.shape.forwarded: list(remote.variables)} if remote.variables else {}
    return {**remote.others, **variables, **forwarded}, (*program, COMMAND, "--url", url, *options)


def _unwrap_remote(client: McpClient, name: str, entry: Mapping[str, Any], wrapped: Wrapped) -> Remote:
    """Return the server behind a proxy with a URL. Raises KeyholeError if the proxy has other options."""
    words = wrapped.words
    if words[0] != "--url" or len(words) % 2 or set(words[2::2]) - {"--header"}:
        raise refusal(client, f"the proxy of {name} has options, which its own entry cannot keep; edit it by hand")
    named = [value.partition(":") for value in words[3::2]]
    headers = {header: wrapped.env.get(header_variable(header), "") for header, colon, _ in named if not colon}
    templates = {header: template.strip() for header, colon, template in named if colon}
    shape = client.shape
    own = {URL_VARIABLE, *map(header_variable, headers)}
    env = {key: value for key, value in wrapped.env.items() if key not in own}
    dropped = {"type", shape.program, shape.args, shape.env, shape.forwarded if templates else ""}
    others = {key: value for key, value in entry.items() if key not in dropped} | ({shape.env: env} if env else {})
    url = wrapped.env.get(URL_VARIABLE, "") if words[1].startswith(URL_PREFIX) else words[1]
    return Remote(url, headers, templates, others)


def _unwrap_program(client: McpClient, text: str, name: str, entry: Mapping[str, Any], count: int) -> str:
    """Return the text without the first `count` words of a command."""
    words, shape = _words(client, entry)[count:], client.shape
    changed = _with_words(client, entry, words)

    def edit(editor: ModuleType, body: str, path: Sequence[str]) -> str:
        return remove_words(editor, body, path, shape, count)

    if shape.args and len(words) == 1:  # the list of arguments may be the one that was added
        bare = {key: value for key, value in changed.items() if key != shape.args}
        with suppress(KeyholeError):
            return edit_entry(client, text, name, bare, edit)
    return replace_entry(client, text, name, changed, edit)


def _words(client: McpClient, entry: Mapping[str, Any]) -> list[Any]:
    """Return the program of an entry and its arguments, unchanged."""
    program, arguments = entry[client.shape.program], entry.get(client.shape.args)
    return [*(program if isinstance(program, list) else [program]), *(arguments if isinstance(arguments, list) else ())]


def _with_words(client: McpClient, entry: Mapping[str, Any], words: Sequence[Any]) -> dict[str, Any]:
    """Return an entry with another program and other arguments."""
    shape = client.shape
    program = {shape.program: words[0], shape.args: list(words[1:])} if shape.args else {shape.program: list(words)}
    return {**entry, **program}


def _replace(client: McpClient, text: str, name: str, entry: Mapping[str, Any], words: Sequence[str]) -> str:
    """Return the text with a program in an entry that had a URL."""
    kind = {"type": client.shape.stdio} if client.shape.stdio and "type" not in entry else {}
    return put(client, text, (*client.key_path, name), {**kind, **_with_words(client, entry, words)})
