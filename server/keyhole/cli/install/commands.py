"""`keyhole install`: looks at the clients of this machine, shows what would change, and changes it.

Prints and asks; what an entry says and where it goes is decided elsewhere.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from keyhole.cli.colours import has_colours
from keyhole.cli.install import discover, edit, files
from keyhole.cli.install.clients import CLIENTS, Client
from keyhole.cli.install.entries import Server
from keyhole.cli.install.launch import this_server
from keyhole.cli.install.output import colored, difference, mask, masked
from keyhole.cli.install.paths import Machine
from keyhole.cli.table import Column, print_json, print_table
from keyhole.config.config import load
from keyhole.config.parsers import http_url
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import meant

OK, FAILED = 0, 1
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,48}")
"""Some clients join the name with a tool's, and allow 60 to 64 characters of these in all."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done with one client's file. `state`: changed, unchanged, would change, refused."""

    client: str
    path: str
    state: str
    said: str
    backup: str = ""
    difference: tuple[str, ...] = ()


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments say; 0 when done, 1 when a file was left as it is because it could not be changed."""
    server = _server(arguments)
    if not _NAME.fullmatch(arguments.name):
        raise _wrong("--name takes 1 to 48 letters, digits, _ and -")
    machine = discover.this_machine()
    if not arguments.client and not arguments.all:
        return _list(discover.look(machine, arguments.name), arguments)
    clients = _here(machine, arguments.name) if arguments.all else [_client(arguments.client)]
    if arguments.only_print:
        for client in clients:
            print(edit.snippet(client, arguments.name, _fitting(client, server)))
        return OK
    outcomes = [
        _attempt(client, discover.path_of(client, machine, arguments.scope), server, arguments) for client in clients
    ]
    if arguments.json:
        print_json([asdict(outcome) for outcome in outcomes])
    elif not clients:
        print("No client was found on this machine; name one: keyhole install CLIENT")
    return FAILED if any(outcome.state == "refused" for outcome in outcomes) else OK


def _server(arguments: argparse.Namespace) -> Server:
    settings = dict(_setting(text) for text in arguments.env)
    if arguments.http is None:
        server = this_server(discover.this_installation())
        return Server(server.command, server.args, settings)
    if settings:
        raise _wrong("--env is for a program; the settings of a server elsewhere are set there")
    try:
        return Server(url=http_url(arguments.http))
    except ValueError as error:
        raise _wrong(f"--http {arguments.http}: {error}") from error


def _setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.startswith("KEYHOLE_"):
        raise _wrong(f"--env takes KEYHOLE_NAME=VALUE, not {name[:40]!r}")
    load({name: value})  # raises for a name that is unknown and a value that is wrong
    return name, value


def _here(machine: Machine, name: str) -> list[Client]:
    """The clients of this machine whose files can be changed."""
    found = discover.look(machine, name)
    return [each.client for each in found if each.found and each.client.format != "yaml"]


def _client(name: str) -> Client:
    if name in CLIENTS:
        return CLIENTS[name]
    raise _wrong(f"{name[:40]!r} is none of the clients {', '.join(CLIENTS)}{meant(name, CLIENTS)}")


def _fitting(client: Client, server: Server) -> Server:
    if server.url and not client.shape.url:
        raise _wrong(f"{client.title}'s file has no place for an address; add the server in its settings instead")
    return server


def _attempt(client: Client, path: Path | None, server: Server, arguments: argparse.Namespace) -> Outcome:
    try:
        if path is None:
            raise _wrong(f"{client.title} has no file for one folder; leave --scope project out")
        outcome = _change(client, path, _fitting(client, server), arguments)
    except (KeyholeError, OSError) as error:
        said = error.message if isinstance(error, KeyholeError) else f"{client.title}'s file: {error.strerror or error}"
        outcome = Outcome(client.name, str(path or ""), "refused", said)
    if not arguments.json:
        _tell(client, outcome, shown=_asks(arguments))
    return outcome


def _change(client: Client, path: Path, server: Server, arguments: argparse.Namespace) -> Outcome:
    before = files.read(path)
    if client.format == "yaml":
        raise _wrong(
            f"Keyhole does not change YAML; add this to {path}:\n{edit.snippet(client, arguments.name, server)}"
        )
    after = _wanted(client, path, before, server, arguments)
    if after == before:
        absent = f"there is no such entry: {arguments.name}"
        said = absent if arguments.uninstall else "it is registered as it should be already"
        return Outcome(client.name, str(path), "unchanged", said)
    shown = tuple(difference(_text(before or b"", client), _text(after or b"", client)))
    if arguments.dry_run or not _agreed(client, path, shown, arguments):
        return Outcome(client.name, str(path), "would change", "nothing was written", difference=shown)
    if after is None:
        files.remove(path, before)
        return Outcome(client.name, str(path), "changed", "removed: it held nothing else", difference=shown)
    kept = files.replace(path, before, after)
    said = "taken out" if arguments.uninstall else "registered"
    return Outcome(client.name, str(path), "changed", said, str(kept or ""), shown)


def _wanted(
    client: Client, path: Path, before: bytes | None, server: Server, arguments: argparse.Namespace
) -> bytes | None:
    """What the file should hold; None for no file."""
    text = _text(before or b"", client)
    name, force = arguments.name, arguments.force
    if not arguments.uninstall:
        return edit.with_entry(client, text, name, server, force=force).encode()
    if before is None:
        return None
    earlier = (files.read(each) for each in files.backups(path)[:1])
    after = edit.taken_out(client, text, name, server, [_text(each or b"", client) for each in earlier], force=force)
    return None if after is None else after.encode()


def _text(content: bytes, client: Client) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _wrong(f"{client.title}'s file was left as it is: it is not UTF-8") from error


def _agreed(client: Client, path: Path, shown: Sequence[str], arguments: argparse.Namespace) -> bool:
    if not _asks(arguments):
        return True
    print(f"{client.title}: {path}")
    _print_difference(shown)
    try:
        return input("Write this? [Y/n] ").strip().lower() in {"", "y", "yes"}
    except EOFError:
        return False


def _asks(arguments: argparse.Namespace) -> bool:
    """Whether a person is there to say yes, and was not told to do so by the command line."""
    quiet = arguments.yes or arguments.json or arguments.dry_run
    return not quiet and sys.stdin.isatty() and sys.stdout.isatty()


def _tell(client: Client, outcome: Outcome, *, shown: bool) -> None:
    """`shown`: the difference, where there is one, was shown with the question."""
    if outcome.state == "refused":
        print(f"keyhole: {outcome.said}", file=sys.stderr)
        return
    if not (shown and outcome.difference):
        print(f"{client.title}: {outcome.path}")
        _print_difference(outcome.difference)
    print(f"  {outcome.said}" + (f"; as it was: {Path(outcome.backup).name}" if outcome.backup else ""))
    if outcome.said == "registered":
        print(f"  {client.then} `keyhole doctor` tries it out.")


def _print_difference(lines: Sequence[str]) -> None:
    drawn = colored(lines) if has_colours(os.environ, terminal=sys.stdout.isatty()) else lines
    for line in drawn:
        print(f"  {line}")


def _list(found: Sequence[discover.Registration], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json([_facts(each) for each in found])
        return OK
    if arguments.uninstall or arguments.dry_run or arguments.only_print:
        raise _wrong("name a client, or give --all")
    columns = (Column("client", whole=True), Column("found", whole=True), Column("Keyhole", whole=True), Column("file"))
    rows = [(each.client.name, "yes" if each.found else "-", each.state, _short(each.path)) for each in found]
    print_table(columns, rows)
    if sys.stdout.isatty():  # a program that reads the rows needs no advice
        print("\nkeyhole install CLIENT registers it with one, --all with every one found; both show the change first.")
    return OK


def _short(path: Path) -> str:
    home = Path.home()
    return f"~{os.sep}{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _facts(each: discover.Registration) -> Mapping[str, object]:
    command = masked([each.server.command, *each.server.args]) if each.server and each.server.command else []
    return {
        "client": each.client.name, "found": each.found, "keyhole": each.state, "file": str(each.path),
        "command": command, "url": mask(each.server.url) if each.server else "", "fault": each.fault,
    }  # fmt: skip


def _wrong(message: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, message)
