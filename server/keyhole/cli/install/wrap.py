"""Put `keyhole proxy` in front of a server that a client's file registers, and take it away again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any, Final

from keyhole.cli.install.clients import Client
from keyhole.cli.install.edit import copy_entry, find_entry, put, refusal
from keyhole.cli.install.entries import PROGRAM, Server, is_keyhole, parse_entry
from keyhole.cli.install.output import mask_secrets
from keyhole.cli.install.remote_entries import Remote, read_remote, write_remote
from keyhole.errors import KeyholeError
from keyhole.serve.proxy.entries import URL_PREFIX, header_variable

COMMAND: Final = "proxy"
URL_VARIABLE: Final = "SERVER_URL"
"""Variable of a wrapped entry with a URL that contains a secret: other users can read the arguments of a program."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The parts of an entry that runs the proxy."""

    program: tuple[str, ...]
    """The words that start `keyhole`."""
    words: tuple[str, ...]
    """The words after `keyhole proxy`."""
    env: Mapping[str, str] = field(default_factory=dict)


def wrap_entry(client: Client, text: str, name: str, program: Sequence[str]) -> str:
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
    return _replace(client, text, name, entry, (*program, COMMAND, "--", server.command, *server.args))


def unwrap_entry(client: Client, text: str, name: str, backups: Sequence[str] = ()) -> str:
    """Return the text with the server's own entry; the same text if the proxy is not in front of it.

    The entry is copied from the first of the `backups` that the proxy was put in front of. Without one it has the same
    values, but perhaps other line breaks.
    """
    entry, server = _entry(client, text, name)
    wrapped = find_wrapped(server)
    if wrapped is None:
        return text
    for before in backups:
        with suppress(KeyholeError):
            own = find_entry(client, before, name)
            is_wrapped = own is not None and find_wrapped(parse_entry(client.shape, own)) is not None
            again = wrap_entry(client, before, name, wrapped.program)
            if not is_wrapped and find_entry(client, again, name) == entry:
                return copy_entry(client, before, text, name)
    if wrapped.words[0] == "--" and len(wrapped.words) > 1:
        return _replace(client, text, name, entry, wrapped.words[1:])
    remote = _unwrap_remote(client, name, entry, wrapped)
    return put(client, text, (*client.key_path, name), write_remote(client, remote))


def find_wrapped(server: Server) -> Wrapped | None:
    """Return the parts of an entry that runs the proxy, None for another entry."""
    words = (server.command, *server.args)
    for place, word in enumerate(words[1:], 1):
        if word == COMMAND and PureWindowsPath(words[place - 1]).stem == PROGRAM and place + 1 < len(words):
            return Wrapped(words[:place], words[place + 1 :], server.env)
    return None


def secret_values(client: Client, text: str, name: str) -> frozenset[str]:
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


def _entry(client: Client, text: str, name: str) -> tuple[Mapping[str, Any], Server]:
    entry = find_entry(client, text, name)
    if entry is None:
        raise refusal(client, f"it has no server named {name}")
    return entry, parse_entry(client.shape, entry)


def _wrap_remote(client: Client, remote: Remote, program: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
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


def _unwrap_remote(client: Client, name: str, entry: Mapping[str, Any], wrapped: Wrapped) -> Remote:
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


def _replace(client: Client, text: str, name: str, entry: Mapping[str, Any], words: Sequence[str]) -> str:
    """Return the text with another program in an entry; its other keys, such as the environment, stay."""
    shape = client.shape
    kind = {"type": shape.stdio} if shape.stdio and "type" not in entry else {}
    program = {shape.program: words[0], shape.args: list(words[1:])} if shape.args else {shape.program: list(words)}
    return put(client, text, (*client.key_path, name), {**kind, **entry, **program})
