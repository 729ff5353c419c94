"""What a registration says, in each client's words: a program with its settings, or an address. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any, Final

SCRIPT: Final = "keyhole-mcp"
"""The program that serves over stdio; the package has the same name."""


@dataclass(frozen=True, slots=True)
class Server:
    """What is registered: a program with its settings, or the address of a server that runs elsewhere."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a client writes an entry."""

    stdio: str = ""
    """What `type` says of a program; empty: there is no `type`."""
    http: str = ""
    """The same of an address."""
    url: str = "url"
    """The key of the address; empty: the file has no place for one."""
    program: str = "command"
    args: str = "args"
    """Empty: `command` is a list of the program and its arguments."""
    env: str = "env"
    more: Mapping[str, Any] = field(default_factory=dict)
    """What every entry has besides."""


def entry_of(shape: Shape, server: Server, there: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The entry of a server. Of an entry of the same kind that is `there`, what is no business of ours stays: what the
    client or its user added, and settings that are not named now. A setting named with an empty value goes."""
    own: dict[str, Any] = {"type": kind} if (kind := shape.http if server.url else shape.stdio) else {}
    own |= dict(shape.more)
    kept = there if there is not None and (shape.url in there) == bool(server.url) else {}
    if server.url:
        return {**kept, **own, shape.url: server.url}
    own |= {shape.program: server.command, shape.args: list(server.args)} if shape.args else {
        shape.program: [server.command, *server.args]
    }  # fmt: skip
    env = {**_mapping(kept.get(shape.env)), **server.env}
    env = {name: value for name, value in env.items() if value != ""}
    if env or shape.env in kept:
        own[shape.env] = env
    return {**kept, **{key: value for key, value in own.items() if key not in shape.more or key not in kept}}


def server_of(shape: Shape, entry: Mapping[str, Any]) -> Server:
    """What an entry says, as far as it can be read."""
    words = entry.get(shape.program)
    if isinstance(words, str):
        words = [words, *_texts(entry.get(shape.args))]
    command, *args = _texts(words) or [""]
    env = {name: str(value) for name, value in _mapping(entry.get(shape.env)).items()}
    url = entry.get(shape.url) if shape.url else None
    return Server(command, tuple(args), env, url if isinstance(url, str) else "")


def is_ours(server: Server) -> bool:
    """Whether a program that is registered is Keyhole, wherever it is installed. Of an address nobody can know."""
    name = PureWindowsPath(server.command).stem  # which takes both kinds of slashes
    launched = "keyhole" in server.args[1:] and server.args[server.args.index("keyhole", 1) - 1] == "-m"
    packaged = any(arg == SCRIPT or arg.startswith((f"{SCRIPT}@", f"{SCRIPT}==")) for arg in server.args)
    return name == SCRIPT or (name == "keyhole" and server.args[:1] == ("serve",)) or launched or packaged


def nested(path: Sequence[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """A value with the tables around it that a path names, the outermost first."""
    whole = dict(value)
    for key in reversed(path):
        whole = {key: whole}
    return whole


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
