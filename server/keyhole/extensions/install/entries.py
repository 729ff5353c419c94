"""Convert a server to and from the entries of each client's configuration file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any, Final

SCRIPT: Final = "keyhole-reader"
"""Name of the script that serves over stdio, and of the distribution."""
PROGRAM: Final = "keyhole"
"""Name of the script with all commands, and of the package."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server to register: a program with its settings, or the URL of a server that runs elsewhere."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """The keys of a client's entries."""

    stdio: str = ""
    """Value of `type` for a program; "" if entries have no `type`."""
    http: str = ""
    """Value of `type` for a URL; "" if entries have no `type`."""
    url: str = "url"
    """Key of the URL; "" if the client accepts no URLs."""
    program: str = "command"
    """Key of the program."""
    args: str = "args"
    """Key of the arguments; "" if `program` is a list of the program and its arguments."""
    env: str = "env"
    """Key of the settings."""
    headers: str = "headers"
    """Key of the headers for a URL."""
    header_variables: str = ""
    """Key of the headers whose values are in variables of the client; "" if it has none."""
    token_variable: str = ""
    """Key of the variable with the bearer token for a URL; "" if the client has none."""
    forwarded: str = ""
    """Key of the variables of the client that a program gets; "" if it gets all or the client has no such key."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every entry."""


@dataclass(frozen=True, slots=True)
class Value:
    """The place of a value in the text of a file, by offsets of characters."""

    start: int
    end: int
    items: tuple[tuple[int, int], ...] | None = None
    """The places of the items of a list, None for another value."""


def build_entry(shape: Shape, server: Server, existing: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the entry of a server.

    Keys and settings of an `existing` entry of the same kind are kept unless `server` has other values for them. A
    setting with an empty value is removed.
    """
    entry: dict[str, Any] = {"type": kind} if (kind := shape.http if server.url else shape.stdio) else {}
    entry |= dict(shape.extra)
    old = existing if existing is not None and (shape.url in existing) == bool(server.url) else {}
    if server.url:
        return {**old, **entry, shape.url: server.url}
    entry |= {shape.program: server.command, shape.args: list(server.args)} if shape.args else {
        shape.program: [server.command, *server.args]
    }  # fmt: skip
    env = {**_as_mapping(old.get(shape.env)), **server.env}
    env = {name: value for name, value in env.items() if value != ""}
    if env or shape.env in old:
        entry[shape.env] = env
    return {**old, **{key: value for key, value in entry.items() if key not in shape.extra or key not in old}}


def parse_entry(shape: Shape, entry: Mapping[str, Any]) -> Server:
    """Return the server of an entry, ignoring values of unexpected types."""
    words = entry.get(shape.program)
    if isinstance(words, str):
        words = [words, *_as_strings(entry.get(shape.args))]
    command, *args = _as_strings(words) or [""]
    env = {name: str(value) for name, value in _as_mapping(entry.get(shape.env)).items()}
    url = entry.get(shape.url) if shape.url else None
    return Server(command, tuple(args), env, url if isinstance(url, str) else "")


def is_keyhole(server: Server) -> bool:
    """Return True if a registered program is Keyhole, in any installation and under any name; False for a URL."""
    name = _program_name(server)
    is_module = "keyhole" in server.args[1:] and server.args[server.args.index("keyhole", 1) - 1] == "-m"
    is_serve = name == "keyhole" and server.args[:1] == ("serve",)
    return is_module or is_serve or _runs_script(server, SCRIPT)


def _runs_script(server: Server, script: str) -> bool:
    """Return True if the program is `script`, or a package runner such as uvx with `script` as an argument."""
    is_package = any(arg == script or arg.startswith((f"{script}@", f"{script}==")) for arg in server.args)
    return _program_name(server) == script or is_package


def _program_name(server: Server) -> str:
    return PureWindowsPath(server.command).stem  # PureWindowsPath accepts both kinds of slashes


def nest(path: Sequence[str | int], value: Mapping[str, Any]) -> Any:
    """Return `value` inside nested tables with the keys of `path`, the outermost first; an index makes a list."""
    nested: Any = dict(value)
    for key in reversed(path):
        nested = [nested] if isinstance(key, int) else {key: nested}
    return nested


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
