"""Run `keyhole install`: list the clients on this machine, or show the diff of a client's file and apply it."""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from keyhole.cli.table import Column, print_json, print_table
from keyhole.config.config import Config
from keyhole.config.parse import parse_config
from keyhole.config.parsers import http_url
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.install import discover, edit, hook_edit, wrap
from keyhole.extensions.install.arguments import DEFAULT_NAME
from keyhole.extensions.install.change import Edit, read_backups, try_change
from keyhole.extensions.install.clients import CLIENTS, Machine, McpClient
from keyhole.extensions.install.entries import Server
from keyhole.extensions.install.hook_clients import CODEX_REWRITES, HOOK_CLIENTS, HookClient
from keyhole.extensions.install.launch import this_program, this_server
from keyhole.extensions.install.output import contains_secret, mask_command, mask_secrets
from keyhole.text.suggest import suggest_name

# List the clients of this machine with what of Keyhole is registered in each.

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


# Run `keyhole install`: list the clients on this machine, or show the diff of a client's file and apply it.

OK, FAILED = 0, 1
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,48}")
"""Names of entries. Some clients join the name with a tool's name, and allow 60 to 64 characters for both."""


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Register, unregister, print or list; return 1 if a file could not be changed."""
    _check_options(arguments)
    if arguments.wrap or arguments.unwrap:
        return _change_proxy(arguments)
    server, machine = _server_from(arguments), discover.this_machine()
    if not arguments.client and not arguments.all:
        return list_clients(machine, arguments.name, json=arguments.json)
    clients = _clients_found(machine, arguments) if arguments.all else [_client_named(arguments)]
    if arguments.only_print:
        for client in clients:
            print(_snippet(client, server, machine, arguments))
        return OK
    edits = [edit for client in clients for edit in _edits(client, machine, server, arguments)]
    changes = [try_change(edit, arguments) for edit in edits]
    if arguments.json:
        print_json([change.json_facts() for change in changes])
    elif not clients:
        print("No client was found on this machine; name one: keyhole install CLIENT")
    return FAILED if any(change.state == "refused" for change in changes) else OK


def _check_options(arguments: argparse.Namespace) -> None:
    """Raise KeyholeError for options that do not go together."""
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


def _edits(client: McpClient, machine: Machine, server: Server, arguments: argparse.Namespace) -> list[Edit]:
    """Return the edits of a client's files: the file with the server, and the file with the hook.

    A server at a URL gets no hook: it has its own store and cannot read the outputs that a hook keeps here.
    """
    edits = [] if arguments.hooks_only else [_entry_edit(client, machine, server, arguments)]
    if client.name in HOOK_CLIENTS and not (arguments.no_hooks or arguments.http):
        edits.append(_hook_edit(HOOK_CLIENTS[client.name], machine, arguments))
    return edits


def _change_proxy(arguments: argparse.Namespace) -> int:
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

    proxied = Edit(
        client, path, change, lambda text, _: text, "",
        secrets=lambda text: wrap.secret_values(client, text, name),
        needed=lambda text, backups: wrap.needed_backups(client, text, backups),
        is_spare=lambda text, backup, backups: wrap.differs_by_proxies(client, text, backup, backups),
        prepare=discover.prepare_programs,
        added="the proxy is in front of it" if arguments.wrap else "the proxy is taken away",
        unchanged=f"the proxy is {'in front of it already' if arguments.wrap else 'not in front of it'}",
    )  # fmt: skip
    done = try_change(proxied, arguments)
    if arguments.json:
        print_json([done.json_facts()])
    return FAILED if done.state == "refused" else OK


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
    parse_config({name: value})  # raises for an unknown name or a wrong value
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


def _entry_edit(client: McpClient, machine: Machine, server: Server, arguments: argparse.Namespace) -> Edit:
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

    return Edit(client, path, add, remove, f"no entry named {name}", has_key=has_key, prepare=discover.prepare_programs)


def _hook_edit(hooks: HookClient, machine: Machine, arguments: argparse.Namespace) -> Edit:
    words, platform = this_program(discover.this_installation(boots=True)), machine.platform
    rewrites, prefers = arguments.rewrite_commands, arguments.name if arguments.prefer else ""
    client = replace(hooks.client, next_step=CODEX_REWRITES) if rewrites else hooks.client

    def add(text: str) -> str:
        force = arguments.force
        return hook_edit.add_hook(hooks, text, words, platform, force=force, rewrites=rewrites, prefers=prefers)

    def remove(text: str, backups: Sequence[str]) -> str | None:
        return hook_edit.remove_hooks(hooks, text, backups, platform)

    def removed(text: str) -> str:
        note = "; Codex asks for your trust again in the hooks after it: /hooks" if hooks.client.name == "codex" else ""
        return f"hook removed{note if hook_edit.moves_others(hooks, text) else ''}"

    path = discover.config_path(client, machine, arguments.scope)
    return Edit(client, path, add, remove, "no hook of Keyhole", removed, prepare=discover.prepare_programs)


def _snippet(client: McpClient, server: Server, machine: Machine, arguments: argparse.Namespace) -> str:
    if arguments.hooks_only:
        words = this_program(discover.this_installation())
        hooks, prefers = HOOK_CLIENTS[client.name], arguments.name if arguments.prefer else ""
        rewrites = arguments.rewrite_commands
        return hook_edit.format_hook(hooks, words, machine.platform, rewrites=rewrites, prefers=prefers)
    _check_shape(client, server)
    return edit.format_snippet(client, arguments.name, server)


def _check_shape(client: McpClient, server: Server) -> None:
    """Raise KeyholeError if the client cannot register this kind of server."""
    if server.url and not client.shape.url:
        raise _invalid(f"{client.title}'s file has no key for a URL; add the server in its settings instead")


def _invalid(message: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, message)
