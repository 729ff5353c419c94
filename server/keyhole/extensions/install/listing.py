"""List the clients of this machine with what of Keyhole is registered in each."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Final, NamedTuple

from keyhole.cli.table import Column, print_json, print_table
from keyhole.extensions.install import discover
from keyhole.extensions.install.clients import Machine
from keyhole.extensions.install.output import mask_command, mask_secrets

NAMES: Final = ("client", "found", "server", "hook", "wrapped servers", "file")
COLUMNS: Final = (*(Column(name, unshortened=True) for name in NAMES[:-1]), Column(NAMES[-1]))
HINT: Final = "\nRegister with one client: keyhole install CLIENT; with all found: --all. Both show a diff first."


class Listed(NamedTuple):
    """A client with its registration, the state of its hook, and the names of its servers behind the proxy."""

    registration: discover.Registration
    found: bool
    hook: str
    hook_file: str
    wrapped: tuple[str, ...]


def list_clients(machine: Machine, name: str, *, json: bool) -> int:
    """Print the clients, and return the exit code. `name`: name of the entry."""
    rows = find_clients(machine, name)
    if json:
        print_json([_json_facts(each) for each in rows])
        return 0
    cells = [_cells(each) for each in rows]
    print_table(COLUMNS, cells if sys.stdout.isatty() else [NAMES, *cells])
    if sys.stdout.isatty():  # programs need no hint
        print(HINT)
    return 0


def find_clients(machine: Machine, name: str) -> list[Listed]:
    """Return every client of the table."""
    programs = discover.these_programs()
    hooks = {each.hooks.client.name: each for each in discover.find_hook_files(machine)}
    wrapped: defaultdict[str, list[str]] = defaultdict(list)
    for proxied in discover.find_proxied(machine):
        wrapped[proxied.client.name].append(proxied.name)
    found = []
    for registration in discover.find_registrations(machine, name):
        hook = hooks.get(registration.client.name)
        state = hook.state(programs, machine.platform) if hook else "none"
        path, is_found = (str(hook.path), hook.found) if hook else ("", False)
        names = tuple(wrapped[registration.client.name])
        found.append(Listed(registration, registration.found or is_found, state, path, names))
    return found


def _cells(each: Listed) -> tuple[str, ...]:
    registration = each.registration
    names = ", ".join(each.wrapped) or "-"
    is_found = "yes" if each.found else "-"
    return registration.client.name, is_found, registration.state, each.hook, names, _abbreviate(registration.path)


def _abbreviate(path: Path) -> str:
    home = Path.home()
    return str(Path("~") / path.relative_to(home) if path.is_relative_to(home) else path)


def _json_facts(each: Listed) -> dict[str, object]:
    registration, server = each.registration, each.registration.server
    command = mask_command([server.command, *server.args]) if server and server.command else []
    return {
        "client": registration.client.name, "found": each.found, "keyhole": registration.state,
        "file": str(registration.path), "command": command, "url": mask_secrets(server.url) if server else "",
        "fault": registration.fault, "hook": each.hook, "hook_file": each.hook_file, "wrapped": list(each.wrapped),
    }  # fmt: skip
