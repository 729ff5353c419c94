"""What is on this machine: the running program, the clients, and what they have registered. Changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keyhole._version import __version__
from keyhole.cli.install import edit, files
from keyhole.cli.install.clients import CLIENTS, Client
from keyhole.cli.install.entries import SCRIPT, Server, is_ours, server_of
from keyhole.cli.install.launch import Installation, this_server
from keyhole.cli.install.paths import Machine
from keyhole.errors import KeyholeError


@dataclass(frozen=True, slots=True)
class Registration:
    """One client on this machine. `state`: -, registered, other copy (of Keyhole), address, name taken (by another
    server), unreadable, by hand."""

    client: Client
    path: Path
    found: bool
    state: str
    server: Server | None = None
    fault: str = ""


def this_machine() -> Machine:
    """Where we are."""
    return Machine(sys.platform, Path.home(), Path.cwd(), os.environ)


def this_installation() -> Installation:
    """The running program."""
    suffix = ".exe" if os.name == "nt" else ""
    beside = [Path(sys.executable).with_name(SCRIPT + suffix), Path(sysconfig.get_path("scripts")) / (SCRIPT + suffix)]
    script = next((str(path) for path in beside if os.access(path, os.X_OK)), "")
    uv = os.environ.get("UV", "")  # uvx tells what it starts where it is itself
    beside_uv = str(Path(uv).with_name("uvx" + suffix)) if uv else None
    uvx = shutil.which("uvx") or (beside_uv and shutil.which(beside_uv)) or ""
    return Installation(sys.executable, script, sys.prefix, __version__, _source(), uvx)


def path_of(client: Client, machine: Machine, scope: str = "user") -> Path | None:
    """The client's file; None where it has none for one folder."""
    if scope == "project":
        return machine.project / client.project if client.project else None
    paths = client.user(machine)
    return next((path for path in paths if _is(path.exists)), paths[0])


def look(machine: Machine, name: str) -> list[Registration]:
    """Every client that is known, in the order of the table."""
    ours = this_server(this_installation())
    return [_registration(client, machine, name, ours) for client in CLIENTS.values()]


def _registration(client: Client, machine: Machine, name: str, ours: Server) -> Registration:
    path = path_of(client, machine)
    assert path is not None  # noqa: S101 - for the type checker; every client has a file of the user
    # The folder of its file is its own, unless that is the user's home.
    own = path.parent not in (machine.home, machine.home.parent) and _is(path.parent.is_dir)
    found = _is(path.exists) or own or bool(client.program and shutil.which(client.program))
    if client.format == "yaml":
        return Registration(client, path, found, "by hand")
    try:
        content = files.read(path)
        entry = edit.registered(client, content.decode("utf-8"), name) if content else None
    except (OSError, ValueError, KeyholeError) as error:
        said = error.message if isinstance(error, KeyholeError) else str(error)
        return Registration(client, path, found, "unreadable", fault=said)
    if entry is None:
        return Registration(client, path, found, "-")
    server = server_of(client.shape, entry)
    return Registration(client, path, found, _state(server, ours), server)


def _is(look: Callable[[], bool]) -> bool:
    """What may not be looked at, or can have no such name, is not there for us."""
    try:
        return look()
    except (OSError, ValueError):
        return False


def _state(server: Server, ours: Server) -> str:
    if server.url:
        return "address"
    if (server.command, server.args) == (ours.command, ours.args):
        return "registered"
    return "other copy" if is_ours(server) else "name taken"


def _source() -> str:
    """What the package was installed from, where that was a folder, a file or a repository."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        told: Any = json.loads(distribution(SCRIPT).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    url = str(told.get("url", ""))
    return f"{told['vcs_info']['vcs']}+{url}@{told['vcs_info']['commit_id']}" if "vcs_info" in told else url
