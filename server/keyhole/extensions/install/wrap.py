"""Put `keyhole proxy` in front of a server that a client's file registers, and take it away again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from types import ModuleType
from typing import Any, Final

from keyhole.config.wrapped import URL_PREFIX, header_variable
from keyhole.errors import KeyholeError
from keyhole.extensions.install.clients import McpClient
from keyhole.extensions.install.command_words import add_words, remove_words
from keyhole.extensions.install.edit import (
    copy_entry,
    edit_entry,
    find_entry,
    list_entries,
    put,
    refusal,
    replace_entry,
)
from keyhole.extensions.install.entries import PROGRAM, Server, is_keyhole, parse_entry
from keyhole.extensions.install.output import mask_secrets
from keyhole.extensions.install.remote_entries import Remote, read_remote, write_remote

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
    """Return for each backup, latest first, whether it is the latest that has a wrapped entry of the text unwrapped."""
    missing, needed = set(find_wrapped_names(client, text)), []
    for before in backups:
        found = {name for name in missing if _is_unwrapped(client, before, name)}
        missing -= found
        needed.append(bool(found))
    return needed


def differs_by_proxies(client: McpClient, text: str, before: str, backups: Sequence[str]) -> bool:
    """Return whether the text has no proxies and a backup differs from it by proxies only."""
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
    """Return the program of an entry and its arguments, as the entry has them."""
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
