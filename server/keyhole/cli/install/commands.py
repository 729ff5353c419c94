"""Run `keyhole install`: list the clients on this machine, or show the diff of a client's file and apply it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keyhole.cli.colours import has_colours
from keyhole.cli.install import discover, edit, files
from keyhole.cli.install.clients import CLIENTS, Client, Machine
from keyhole.cli.install.entries import Server
from keyhole.cli.install.launch import this_server
from keyhole.cli.install.output import color_lines, contains_secret, diff_lines, mask_command, mask_secrets
from keyhole.cli.table import Column, print_json, print_table
from keyhole.config.config import Config
from keyhole.config.parse import parse_config
from keyhole.config.parsers import http_url
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import suggest_name

OK, FAILED = 0, 1
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,48}")
"""Names of entries. Some clients join the name with a tool's name, and allow 60 to 64 characters for both."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of a client's file. `state`: changed, unchanged, would change, refused."""

    client: str
    path: str
    state: str
    message: str
    backup: str = ""
    diff: tuple[str, ...] = ()
    note: str = ""
    """What to know about the permissions of a file with a key."""

    def json_facts(self) -> dict[str, object]:
        """Return the change as `keyhole install --json` prints it."""
        return {
            "client": self.client, "path": self.path, "state": self.state, "message": self.message,
            "backup": self.backup, "diff": self.diff, "note": self.note,
        }  # fmt: skip


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Register, unregister, print or list; return 1 if a file could not be changed."""
    server = _server_from(arguments)
    if not _NAME.fullmatch(arguments.name):
        raise _invalid("--name takes 1 to 48 letters, digits, _ and -")
    machine = discover.this_machine()
    if not arguments.client and not arguments.all:
        return _list_clients(discover.find_registrations(machine, arguments.name), arguments)
    clients = _clients_found(machine, arguments.name) if arguments.all else [_client_named(arguments.client)]
    if arguments.only_print:
        for client in clients:
            _check_shape(client, server)
            print(edit.format_snippet(client, arguments.name, server))
        return OK
    changes = [
        _try_change(client, discover.config_path(client, machine, arguments.scope), server, arguments)
        for client in clients
    ]
    if arguments.json:
        print_json([change.json_facts() for change in changes])
    elif not clients:
        print("No client was found on this machine; name one: keyhole install CLIENT")
    return FAILED if any(change.state == "refused" for change in changes) else OK


def _server_from(arguments: argparse.Namespace) -> Server:
    """Return the server to register: this installation with the settings of --env, or the URL of --http."""
    settings = dict(_parse_setting(text) for text in arguments.env)
    if arguments.http is None:
        server = this_server(discover.this_installation())
        return Server(server.command, server.args, settings)
    if settings:
        raise _invalid("--env needs a server that the client starts; a server with a URL has its own settings")
    try:
        return Server(url=http_url(arguments.http))
    except ValueError as error:
        raise _invalid(f"--http {arguments.http}: {error}") from error


def _parse_setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.startswith("KEYHOLE_"):
        raise _invalid(f"--env takes KEYHOLE_NAME=VALUE, not {name[:40]!r}")
    parse_config({name: value})  # raises for an unknown name or a wrong value
    return name, value


def _clients_found(machine: Machine, name: str) -> list[Client]:
    """Return the clients found on this machine whose files Keyhole can edit."""
    registrations = discover.find_registrations(machine, name)
    return [each.client for each in registrations if each.found and each.client.format != "yaml"]


def _client_named(name: str) -> Client:
    if name in CLIENTS:
        return CLIENTS[name]
    raise _invalid(f"unknown client {name[:40]!r}; known: {', '.join(CLIENTS)}{suggest_name(name, CLIENTS)}")


def _check_shape(client: Client, server: Server) -> None:
    """Raise KeyholeError if the client cannot register this kind of server."""
    if server.url and not client.shape.url:
        raise _invalid(f"{client.title}'s file has no key for a URL; add the server in its settings instead")


def _try_change(client: Client, path: Path | None, server: Server, arguments: argparse.Namespace) -> FileChange:
    try:
        if path is None:
            raise _invalid(f"{client.title} has no file for a project folder; omit --scope project")
        _check_shape(client, server)
        change = _change_file(client, path, server, arguments)
    except (KeyholeError, OSError) as error:
        message = f"{client.title}'s file: {error.strerror or error}" if isinstance(error, OSError) else error.message
        change = FileChange(client.name, str(path or ""), "refused", message)
    if not arguments.json:
        _print_change(client, change, is_diff_shown=_is_interactive(arguments))
    return change


def _change_file(client: Client, path: Path, server: Server, arguments: argparse.Namespace) -> FileChange:
    before = files.read(path)
    if client.format == "yaml":
        snippet = edit.format_snippet(client, arguments.name, server)
        raise _invalid(f"Keyhole cannot edit YAML; add this to {path}:\n{snippet}")
    after = _new_content(client, path, before, server, arguments)
    exposure = files.exposure(path) if _has_key(client, after, arguments.name) else None
    if after == before:
        message = f"no entry named {arguments.name}" if arguments.uninstall else "already registered, nothing to change"
        return FileChange(client.name, str(path), "unchanged", message, note=_exposure_note(exposure))
    diff = tuple(diff_lines(_decode(before or b"", client), _decode(after or b"", client)))
    if arguments.dry_run or not _confirm(client, path, diff, arguments):
        return FileChange(client.name, str(path), "would change", "nothing was written", diff=diff)
    if after is None:
        files.remove(path, before)
        return FileChange(client.name, str(path), "changed", "file deleted: it had no other content", diff=diff)
    backup = files.replace(path, before, after, private=exposure is not None)
    message = "entry removed" if arguments.uninstall else "registered"
    note = _exposure_note(files.exposure(path)) if exposure is not None else ""
    if exposure and not note:
        note = "the file contains a key: only you can read it and its backups now"
    return FileChange(client.name, str(path), "changed", message, str(backup or ""), diff, note)


def _has_key(client: Client, content: bytes | None, name: str) -> bool:
    entry = edit.find_entry(client, _decode(content or b"", client), name)
    return entry is not None and contains_secret(entry)


def _exposure_note(reason: str | None) -> str:
    return f"the file contains a key, and {reason}" if reason else ""


def _new_content(
    client: Client, path: Path, before: bytes | None, server: Server, arguments: argparse.Namespace
) -> bytes | None:
    """Return the new content of the file; None if there should be no file."""
    text = _decode(before or b"", client)
    name, force = arguments.name, arguments.force
    if not arguments.uninstall:
        return edit.add_entry(client, text, name, server, force=force).encode()
    if before is None:
        return None
    backups = [_decode(files.read(each) or b"", client) for each in files.list_backups(path)[:1]]
    after = edit.uninstall_entry(client, text, name, server, backups, force=force)
    return None if after is None else after.encode()


def _decode(content: bytes, client: Client) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"{client.title}'s file was not changed: it is not UTF-8") from error


def _confirm(client: Client, path: Path, diff: Sequence[str], arguments: argparse.Namespace) -> bool:
    """Show the diff and ask whether to apply it; return True without asking if the command is not interactive."""
    if not _is_interactive(arguments):
        return True
    print(f"{client.title}: {path}")
    _print_diff(diff)
    try:
        return input("Apply this change? [Y/n] ").strip().lower() in {"", "y", "yes"}
    except EOFError:
        return False


def _is_interactive(arguments: argparse.Namespace) -> bool:
    """Return True if a person at a terminal is asked before a file is changed."""
    is_unattended = arguments.yes or arguments.json or arguments.dry_run
    return not is_unattended and sys.stdin.isatty() and sys.stdout.isatty()


def _print_change(client: Client, change: FileChange, *, is_diff_shown: bool) -> None:
    """Print the result of a change. `is_diff_shown`: True if the diff was already printed with the question."""
    if change.state == "refused":
        print(f"keyhole: {change.message}", file=sys.stderr)
        return
    if not (is_diff_shown and change.diff):
        print(f"{client.title}: {change.path}")
        _print_diff(change.diff)
    print(f"  {change.message}" + (f"; backup: {Path(change.backup).name}" if change.backup else ""))
    if change.note:
        print(f"  {change.note}")
    if change.message == "registered":
        print(f"  {client.next_step} `keyhole doctor` checks that it starts.")


def _print_diff(lines: Sequence[str]) -> None:
    shown = color_lines(lines) if has_colours(os.environ, terminal=sys.stdout.isatty()) else lines
    for line in shown:
        print(f"  {line}")


def _list_clients(registrations: Sequence[discover.Registration], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json([_json_facts(each) for each in registrations])
        return OK
    if arguments.uninstall or arguments.dry_run or arguments.only_print:
        raise _invalid("name a client, or give --all")
    columns = (*(Column(name, unshortened=True) for name in ("client", "found", "Keyhole")), Column("file"))
    rows = [
        (each.client.name, "yes" if each.found else "-", each.state, _abbreviate(each.path)) for each in registrations
    ]
    print_table(columns, rows)
    if sys.stdout.isatty():  # programs need no hint
        print("\nRegister with one client: keyhole install CLIENT; with all found: --all. Both show a diff first.")
    return OK


def _abbreviate(path: Path) -> str:
    home = Path.home()
    return f"~{os.sep}{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _json_facts(each: discover.Registration) -> Mapping[str, object]:
    command = mask_command([each.server.command, *each.server.args]) if each.server and each.server.command else []
    return {
        "client": each.client.name, "found": each.found, "keyhole": each.state, "file": str(each.path),
        "command": command, "url": mask_secrets(each.server.url) if each.server else "", "fault": each.fault,
    }  # fmt: skip


def _invalid(message: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, message)
