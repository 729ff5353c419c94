"""Run `keyhole install`: list the clients on this machine, or show the diff of a client's file and apply it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from keyhole.cli.terminal import TableColumn, has_colours, print_json, print_table
from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.config.parsers import http_url
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.install import discover, edit, files, wrap
from keyhole.extensions.install.arguments import DEFAULT_NAME
from keyhole.extensions.install.clients import CLIENTS, Machine, McpClient, Server
from keyhole.extensions.install.discover import this_program, this_server
from keyhole.extensions.install.edit import refusal
from keyhole.extensions.install.hooks import (
    CODEX_REWRITES,
    HOOK_CLIENTS,
    HookClient,
    add_hook,
    format_hook,
    moves_others,
    remove_hooks,
)
from keyhole.extensions.install.output import color_lines, contains_secret, diff_lines, mask_command, mask_secrets
from keyhole.text.suggest import suggest_name

# List the clients of this machine with what of Keyhole is registered in each.

NAMES: Final = ("client", "found", "server", "hook", "wrapped servers", "file")
COLUMNS: Final = tuple(TableColumn(name, unshortened=True) for name in NAMES)
LEGEND: Final = """
found: "yes" if the client is on this machine.
server, hook: "-" not registered; "registered"; "other copy" by another installation of Keyhole; "address" a server at a
  URL; "name taken" by another server; "unreadable" file; "by hand" Keyhole cannot edit this file: see --print;
  "none" the client runs no hook that Keyhole could use.
wrapped servers: those with `keyhole proxy` in front of them.

Register with one client: keyhole install CLIENT; with all found: --all. Both show a diff first."""


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
    print_table(COLUMNS, [NAMES, *cells])
    if sys.stdout.isatty():  # programs need no legend
        print(LEGEND)
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


# Run `keyhole install`: list the clients on this machine, or show the diff of a client's file and apply it.

OK, FAILED = 0, 1
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,48}")
"""Names of entries. Some clients join the name with a tool's name, and allow 60 to 64 characters for both."""


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Register, unregister, print or list; return 1 if a file could not be changed."""
    _check_options(arguments)
    machine = discover.this_machine()
    if not arguments.client and not arguments.all and not arguments.wrap and not arguments.unwrap:
        return list_clients(machine, arguments.name, json=arguments.json)
    if arguments.only_print:
        for client in _clients_of(machine, arguments):
            print(_snippet(client, _server_from(arguments), machine, arguments))
        return OK
    changes = change_files(arguments)
    if arguments.json:
        print_json([change.json_facts() for change in changes])
    elif any(change.next_step for change in changes):
        _print_next_steps(changes)
    elif not changes:
        print("No client was found on this machine; name one: keyhole install CLIENT")
    return FAILED if any(change.state == "refused" for change in changes) else OK


def change_files(arguments: argparse.Namespace) -> list[FileChange]:
    """Change the files of the named client, or of all clients found."""
    if arguments.wrap or arguments.unwrap:
        return [_change_proxy(arguments)]
    machine = discover.this_machine()
    clients = _clients_of(machine, arguments)
    return [try_change(edit, arguments) for client in clients for edit in find_edits(client, machine, arguments)]


def _clients_of(machine: Machine, arguments: argparse.Namespace) -> list[McpClient]:
    return _clients_found(machine, arguments) if arguments.all else [_client_named(arguments)]


def _check_options(arguments: argparse.Namespace) -> None:
    """Raise KeyholeError for options that exclude each other."""
    if arguments.hooks_only and (arguments.env or arguments.http or arguments.name != DEFAULT_NAME):
        message = "--hooks-only takes no --env, --http or --name; hooks read the settings file: keyhole config path"
        raise _invalid(message)
    if arguments.rewrite_commands and (arguments.client != "codex" or arguments.no_hooks):
        raise _invalid("--rewrite-commands is for the hook of codex: keyhole install codex")
    if arguments.prefer and not arguments.uninstall:
        _check_preference(arguments)
    if not _NAME.fullmatch(arguments.name):
        raise _invalid("--name takes 1 to 48 letters, digits, _ and -")
    is_change = arguments.uninstall or arguments.dry_run or arguments.only_print
    if is_change and not (arguments.client or arguments.all or arguments.wrap or arguments.unwrap):
        raise _invalid("name a client, or give --all")


def _check_preference(arguments: argparse.Namespace) -> None:
    """Raise KeyholeError if the client's own web fetch cannot be refused."""
    hooks = HOOK_CLIENTS.get(arguments.client or "")
    if arguments.no_hooks or arguments.http or not arguments.client:
        raise _invalid("--prefer is for the hook of one client: keyhole install claude-code --prefer")
    if arguments.client == "codex":
        raise _invalid("Codex's web search runs at its provider, where no hook can refuse it")
    if hooks is None or not hooks.can_prefer:
        able = ", ".join(name for name, each in HOOK_CLIENTS.items() if each.can_prefer)
        raise _invalid(f"--prefer is for clients with a hook before their own web fetch: {able}")


def find_edits(client: McpClient, machine: Machine, arguments: argparse.Namespace) -> list[FileEdit]:
    """Return the edits of a client's files: the file with the server, and the file with the hook.

    A server at a URL gets no hook: it has its own store and cannot read the outputs that a hook keeps here.
    """
    edits = [] if arguments.hooks_only else [_entry_edit(client, machine, _server_from(arguments), arguments)]
    if client.name in HOOK_CLIENTS and not (arguments.no_hooks or arguments.http):
        edits.append(_hook_edit(HOOK_CLIENTS[client.name], machine, arguments))
    return edits


def _change_proxy(arguments: argparse.Namespace) -> FileChange:
    """Put the proxy in front of a server of a client, or take it away."""
    if not arguments.client or arguments.hooks_only or arguments.uninstall or arguments.only_print:
        raise _invalid("--wrap and --unwrap take a client, and --scope, --dry-run, --yes or --json")
    client, name = _client_named(arguments), arguments.wrap or arguments.unwrap
    path = discover.config_path(client, discover.this_machine(), arguments.scope)
    program = this_program(discover.this_installation(boots=True))

    def change(text: str) -> str:
        if arguments.wrap:
            return wrap.wrap_entry(client, text, name, program)
        return wrap.unwrap_entry(client, text, name, read_backups(client, path) if path else [])

    proxied = FileEdit(
        client, path, change, lambda text, _: text, "",
        secrets=lambda text: wrap.secret_values(client, text, name),
        needed=lambda text, backups: wrap.needed_backups(client, text, backups),
        is_spare=lambda text, backup, backups: wrap.differs_by_proxies(client, text, backup, backups),
        prepare=discover.prepare_programs,
        added="the proxy is in front of it" if arguments.wrap else "the proxy is taken away",
        unchanged=f"the proxy is {'in front of it already' if arguments.wrap else 'not in front of it'}",
    )  # fmt: skip
    return try_change(proxied, arguments)


def _server_from(arguments: argparse.Namespace) -> Server:
    """Return the server to register: this installation with the settings of --env, or the URL of --http."""
    settings = dict(_parse_setting(text) for text in arguments.env)
    if arguments.http is None:
        server = this_server(discover.this_installation(boots=None if arguments.only_print else True))
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
    if warnings := parse_config({name: value}).warnings:  # raises for an unknown name or a wrong value
        raise _invalid(warnings[0])
    return name, value


def _clients_found(machine: Machine, arguments: argparse.Namespace) -> list[McpClient]:
    """Return the clients found on this machine whose files Keyhole can edit."""
    if arguments.hooks_only:
        return [each.hooks.client for each in discover.find_hook_files(machine) if each.found]
    registrations = discover.find_registrations(machine, arguments.name)
    return [each.client for each in registrations if each.found and each.client.format != "yaml"]


def _client_named(arguments: argparse.Namespace) -> McpClient:
    name: str = arguments.client
    known: Mapping[str, Any] = HOOK_CLIENTS if arguments.hooks_only else CLIENTS
    if name in known:
        return CLIENTS[name]
    if name in CLIENTS:
        raise _invalid(f"{CLIENTS[name].title} runs no hook that can replace output; known: {', '.join(known)}")
    raise _invalid(f"unknown client {name[:40]!r}; known: {', '.join(known)}{suggest_name(name, known)}")


def _entry_edit(client: McpClient, machine: Machine, server: Server, arguments: argparse.Namespace) -> FileEdit:
    path, name, force = discover.config_path(client, machine, arguments.scope), arguments.name, arguments.force

    def add(text: str) -> str:
        _check_shape(client, server)
        if client.format == "yaml":
            snippet = edit.format_snippet(client, name, server)
            discover.prepare_programs()  # the snippet names one
            raise _invalid(f"Keyhole cannot edit YAML; add this to {path}:\n{snippet}")
        return edit.add_entry(client, text, name, server, force=force)

    def remove(text: str, backups: Sequence[str]) -> str | None:
        return edit.uninstall_entry(client, text, name, server, backups, force=force)

    def has_key(text: str) -> bool:
        entry = edit.find_entry(client, text, name)
        return entry is not None and contains_secret(entry)

    return FileEdit(
        client, path, add, remove, f"no entry named {name}", has_key=has_key, prepare=discover.prepare_programs
    )


def _hook_edit(hooks: HookClient, machine: Machine, arguments: argparse.Namespace) -> FileEdit:
    words, platform = this_program(discover.this_installation(boots=True)), machine.platform
    rewrites, prefers = arguments.rewrite_commands, arguments.name if arguments.prefer else ""
    client = replace(hooks.client, next_step=CODEX_REWRITES) if rewrites else hooks.client

    def add(text: str) -> str:
        force = arguments.force
        return add_hook(hooks, text, words, platform, force=force, rewrites=rewrites, prefers=prefers)

    def remove(text: str, backups: Sequence[str]) -> str | None:
        return remove_hooks(hooks, text, backups, platform)

    def removed(text: str) -> str:
        note = "; Codex asks for your trust again in the hooks after it: /hooks" if hooks.client.name == "codex" else ""
        return f"hook removed{note if moves_others(hooks, text) else ''}"

    path = discover.config_path(client, machine, arguments.scope)
    return FileEdit(client, path, add, remove, "no hook of Keyhole", removed, prepare=discover.prepare_programs)


def _snippet(client: McpClient, server: Server, machine: Machine, arguments: argparse.Namespace) -> str:
    if arguments.hooks_only:
        words = this_program(discover.this_installation())
        hooks, prefers = HOOK_CLIENTS[client.name], arguments.name if arguments.prefer else ""
        rewrites = arguments.rewrite_commands
        return format_hook(hooks, words, machine.platform, rewrites=rewrites, prefers=prefers)
    _check_shape(client, server)
    return edit.format_snippet(client, arguments.name, server)


def _check_shape(client: McpClient, server: Server) -> None:
    """Raise KeyholeError if the client cannot register this kind of server."""
    if server.url and not client.shape.url:
        raise _invalid(f"{client.title}'s file has no key for a URL; add the server in its settings instead")


def _invalid(message: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, message)


# The change of a client's file: show the diff, ask, keep a backup, replace the file, and say what was done.


@dataclass(frozen=True, slots=True)
class FileEdit:
    """An addition to a client's file, and its removal."""

    client: McpClient
    path: Path | None
    """None if the client has no such file."""
    add: Callable[[str], str]
    """Return the text of the file with the addition."""
    remove: Callable[[str, Sequence[str]], str | None]
    """Return the text without the addition, given the text and the texts of the backups; None to delete the file."""
    missing: str
    """The message if there is nothing to remove."""
    removed: Callable[[str], str] = lambda _text: "entry removed"
    """Return the message after a removal, given the text before it."""
    has_key: Callable[[str], bool] = lambda _text: False
    """Return True if what was added to the text contains a key."""
    secrets: Callable[[str], frozenset[str]] = lambda _text: frozenset()
    """Return values that the diff masks although they do not look like a secret."""
    needed: Callable[[str, Sequence[str]], Sequence[bool]] = lambda _text, backups: [False] * len(backups)
    """Return for each backup whether removing the addition needs it, so that it is kept however old it is."""
    is_spare: Callable[[str, str, Sequence[str]], bool] = lambda _text, _backup, _backups: False
    """Return True if a backup is superfluous, given the new text, this backup and all backups."""
    prepare: Callable[[], None] = lambda: None
    """Write other files that the addition needs."""
    added: str = "registered"
    """The message after an addition."""
    unchanged: str = "already registered, nothing to change"


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
    """A note about the permissions of a file that contains a key."""
    next_step: str = ""
    """The step for the user after something was added."""

    def json_facts(self) -> dict[str, object]:
        """Return the change as `keyhole install --json` prints it."""
        return {
            "client": self.client, "path": self.path, "state": self.state, "message": self.message,
            "backup": self.backup, "diff": self.diff, "note": self.note, "next_step": self.next_step,
        }  # fmt: skip


def try_change(edit: FileEdit, arguments: argparse.Namespace) -> FileChange:
    """Change the file, and print the result without --json. A failure becomes a change with the state "refused"."""
    try:
        if edit.path is None:
            message = f"{edit.client.title} has no file for a project folder; omit --scope project"
            raise KeyholeError(Code.INVALID_ARGUMENT, message)
        change = _change_file(edit, edit.path, arguments)
    except (KeyholeError, OSError) as error:
        if isinstance(error, OSError):
            error = refusal(edit.client, error.strerror or str(error))
        change = FileChange(edit.client.name, str(edit.path or ""), "refused", error.message)
    if not arguments.json:
        _print_change(edit.client, change, is_diff_shown=_is_interactive(arguments))
    return change


def _change_file(edit: FileEdit, path: Path, arguments: argparse.Namespace) -> FileChange:
    client, before = edit.client, files.read(path)
    after = _new_content(edit, path, before, is_removal=arguments.uninstall)
    old, new = _decode(before or b"", client), _decode(after or b"", client)
    exposure = files.exposure(path) if edit.has_key(new) else ""
    if after == before:
        if exposure and not arguments.dry_run:
            files.make_private(path)
        message = edit.missing if arguments.uninstall else edit.unchanged
        note = _key_note(exposure, path) if exposure else ""
        return FileChange(client.name, str(path), "unchanged", message, note=note)
    diff = tuple(diff_lines(old, new, edit.secrets(old) | edit.secrets(new)))
    if arguments.dry_run or not _confirm(client, path, diff, arguments):
        return FileChange(client.name, str(path), "would change", "nothing was written", diff=diff)
    if after is None:
        files.remove(path, before)
        return FileChange(client.name, str(path), "changed", "file deleted: it had no other content", diff=diff)
    if not arguments.uninstall:
        edit.prepare()
    backup = _replace(edit, path, before, after)
    if arguments.uninstall:
        removed = edit.removed(old)
        return FileChange(client.name, str(path), "changed", removed, backup, diff)
    note = _key_note(exposure, path) if edit.has_key(new) else ""
    return FileChange(client.name, str(path), "changed", edit.added, backup, diff, note, client.next_step)


def _replace(edit: FileEdit, path: Path, before: bytes | None, after: bytes) -> str:
    """Replace the file, and delete the backups that are superfluous then. Return the path of the new one, or ""."""
    old, new = _decode(before or b"", edit.client), _decode(after, edit.client)
    backups = files.list_backups(path)
    _, *is_needed = edit.needed(new, [old, *map(_read_text, backups)])
    needed = [each for each, is_one in zip(backups, is_needed, strict=True) if is_one]
    is_private = edit.has_key(new) or edit.has_key(old)
    backup = files.replace(path, before, after, private=is_private, needed=needed)
    texts = {each: _read_text(each) for each in files.list_backups(path)}
    spare = [each for each, text in texts.items() if edit.is_spare(new, text, list(texts.values()))]
    files.remove_backups(spare)
    return str(backup) if backup and backup not in spare else ""


def _read_text(path: Path) -> str:
    """Return the text of a backup, "" if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return (files.read(path) or b"").decode("utf-8")
    return ""


def _key_note(exposure: str, path: Path) -> str:
    """Return the note for a file with a key; `exposure`: why other users could read it before."""
    if remaining := files.exposure(path):
        return f"the file contains a key, and {remaining}"
    return "the file contains a key: only you can read it and its backups now" if exposure else ""


def _new_content(edit: FileEdit, path: Path, before: bytes | None, *, is_removal: bool) -> bytes | None:
    """Return the new content of the file; None if there should be no file."""
    text = _decode(before or b"", edit.client)
    if not is_removal:
        return edit.add(text).encode()
    if before is None:
        return None
    after = edit.remove(text, read_backups(edit.client, path)[:1])
    return None if after is None else after.encode()


def read_backups(client: McpClient, path: Path) -> list[str]:
    """Return the texts of a file's backups, the latest first. Raises OSError or KeyholeError if one is not readable."""
    return [_decode(files.read(each) or b"", client) for each in files.list_backups(path)]


def _decode(content: bytes, client: McpClient) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal(client, "it is not UTF-8") from error


def _confirm(client: McpClient, path: Path, diff: Sequence[str], arguments: argparse.Namespace) -> bool:
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


def _print_change(client: McpClient, change: FileChange, *, is_diff_shown: bool) -> None:
    """Print the result of a change. `is_diff_shown`: True if the diff was already printed with the question."""
    if change.state == "refused":
        print(f"keyhole: {change.path and f'{change.path}: '}{change.message}", file=sys.stderr)
        return
    if not (is_diff_shown and change.diff):
        print(f"{client.title}: {change.path}")
        _print_diff(change.diff)
    print(f"  {change.message}" + (f"; backup: {Path(change.backup).name}" if change.backup else ""))
    if change.note:
        print(f"  {change.note}")


def _print_next_steps(changes: Sequence[FileChange]) -> None:
    """Print what is left to do for the user, each step of a client once."""
    steps = [f"{CLIENTS[change.client].title}: {change.next_step}" for change in changes if change.next_step]
    print("\n".join([*dict.fromkeys(steps), "`keyhole doctor` checks that it starts."]))


def _print_diff(lines: Sequence[str]) -> None:
    shown = color_lines(lines) if has_colours(os.environ, terminal=sys.stdout.isatty()) else lines
    for line in shown:
        print(f"  {line}")
