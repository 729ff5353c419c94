"""Put `keyhole proxy` in front of a server that a client's file registers, and take it away again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any, Final

from keyhole.cli.install.clients import Client
from keyhole.cli.install.edit import find_entry, put, refusal
from keyhole.cli.install.entries import PROGRAM, Server, is_keyhole, parse_entry

COMMAND: Final = "proxy"
PLAIN_KEYS: Final = frozenset({"type", "enabled", "disabled"})
"""Keys of an entry with a URL that a program's entry has too, or that its kind decides."""


def wrap_entry(client: Client, text: str, name: str, program: Sequence[str]) -> str:
    """Return the text with the proxy in front of a server; the same text if it is there already.

    `program`: the words that start `keyhole`. Raises KeyholeError if there is no such entry or it cannot be wrapped.
    """
    entry, server = _entry(client, text, name)
    if _wrapped_words(server) is not None:
        return text
    if is_keyhole(server):
        raise refusal(client, f"{name} is Keyhole itself, whose results are bounded already")
    if server.url:
        _check_plain(client, name, entry)
        return _replace(client, text, name, {}, (*program, COMMAND, "--url", server.url))
    if not server.command:
        raise refusal(client, f"the entry {name} names no program")
    return _replace(client, text, name, entry, (*program, COMMAND, "--", server.command, *server.args))


def unwrap_entry(client: Client, text: str, name: str) -> str:
    """Return the text with the server's own entry; the same text if the proxy is not in front of it."""
    entry, server = _entry(client, text, name)
    words = _wrapped_words(server)
    if words is None:
        return text
    if words[0] == "--url" and len(words) == 2:
        kind = {"type": client.shape.http} if client.shape.http else {}
        return put(client, text, (*client.key_path, name), {**kind, client.shape.url: words[1]})
    if words[0] != "--" or len(words) < 2:
        raise refusal(client, f"the proxy of {name} has options, which its own entry cannot keep; edit it by hand")
    return _replace(client, text, name, entry, words[1:])


def _entry(client: Client, text: str, name: str) -> tuple[Mapping[str, Any], Server]:
    entry = find_entry(client, text, name)
    if entry is None:
        raise refusal(client, f"it has no server named {name}")
    return entry, parse_entry(client.shape, entry)


def _wrapped_words(server: Server) -> tuple[str, ...] | None:
    """Return the words after `keyhole proxy` in an entry, None if it does not run the proxy."""
    words = (server.command, *server.args)
    for place, word in enumerate(words[1:], 1):
        if word == COMMAND and PureWindowsPath(words[place - 1]).stem == PROGRAM and place + 1 < len(words):
            return words[place + 1 :]
    return None


def _check_plain(client: Client, name: str, entry: Mapping[str, Any]) -> None:
    others = sorted(set(entry) - PLAIN_KEYS - {client.shape.url})
    if others:
        message = f"the entry {name} has {', '.join(others)[:80]}: write its proxy by hand, with --url and --header"
        raise refusal(client, message)


def _replace(client: Client, text: str, name: str, entry: Mapping[str, Any], words: Sequence[str]) -> str:
    """Return the text with another program in an entry; its other keys, such as the environment, stay."""
    shape = client.shape
    kind = {"type": shape.stdio} if shape.stdio and "type" not in entry else {}
    program = {shape.program: words[0], shape.args: list(words[1:])} if shape.args else {shape.program: list(words)}
    return put(client, text, (*client.key_path, name), {**kind, **entry, **program})
