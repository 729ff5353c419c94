"""The arguments of `keyhole install` and `keyhole doctor`."""

from __future__ import annotations

import argparse
from typing import Any, Final

from keyhole.cli.parser import add_command

DEFAULT_NAME: Final = "keyhole"
_DESCRIPTION: Final = """\
Register Keyhole with a client on this machine: the server and, where the client runs hooks, the hook that bounds the
output of its other tools. Shows a diff of each file, then applies it and keeps a backup beside the file. Without a
client, list the clients found and those that Keyhole is registered with."""

_EXAMPLES: Final = (
    "keyhole install",
    "keyhole install codex --dry-run",
    "keyhole install claude-code --scope project --env KEYHOLE_MAX_CHARS=20000",
    "keyhole install vscode --uninstall",
    "keyhole install claude-code --no-hooks",
    "keyhole install cursor --wrap github",
)
_UNINSTALL: Final = """\
Remove Keyhole from a client. With --all, list everything that Keyhole wrote for this user, ask, and remove it: its
entries, hooks and proxies in the clients' own files, the backups beside them, and the data folder with its models.
Files that it did not write stay, and so do the settings file, entries in the files of projects, and the program itself,
whose command is printed at the end."""
DOCTOR_DESCRIPTION: Final = """\
Check the installation: Python, SQLite, home folder, store, settings, network, search engines, clients, and a real call
over stdio. Each line says how to fix what is wrong. The checks take a few seconds, 20 at most.
Exit codes: 0 nothing failed; 1 a check failed; 2 the command line is wrong."""


def add_install(commands: Any) -> None:
    """Add `keyhole install` to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "install",
        help="register Keyhole with a client: codex, claude-code, vscode, …",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    target = parser.add_mutually_exclusive_group()
    target.add_argument("client", nargs="?", metavar="CLIENT", help="the client; without it all clients are listed")
    target.add_argument("--all", action="store_true", help="change every client found on this machine")
    _add_entry_options(parser)
    mode = parser.add_argument_group("how to change it")
    mode.add_argument("--uninstall", "--remove", action="store_true", help="remove the entry, or the hook")
    mode.add_argument("--dry-run", action="store_true", help="show the diff without applying it")
    mode.add_argument("--print", action="store_true", dest="only_print", help="print the entry, to add it by hand")
    mode.add_argument("--yes", "-y", action="store_true", help="do not ask for confirmation, as without a terminal")
    mode.add_argument("--force", action="store_true", help="replace an entry of this name that is not Keyhole's")
    mode.add_argument("--json", action="store_true", help="print JSON, for programs")


def add_uninstall(commands: Any) -> None:
    """Add `keyhole uninstall` to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "uninstall", help="remove Keyhole from a client, or everything that it wrote",
        description=_UNINSTALL, examples=("keyhole uninstall codex", "keyhole uninstall --all --dry-run"),
    )  # fmt: skip
    target = parser.add_mutually_exclusive_group()
    target.add_argument("client", nargs="?", metavar="CLIENT", help="remove the entry and the hook of one client")
    target.add_argument("--all", action="store_true", help="remove everything that Keyhole wrote")
    parser.add_argument("--dry-run", action="store_true", help="list what would be removed")
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask for confirmation")


def _add_entry_options(parser: argparse.ArgumentParser) -> None:
    entry = parser.add_argument_group("what to register")
    hooks = entry.add_mutually_exclusive_group()
    hooks.add_argument(
        "--no-hooks", action="store_true",
        help="register the server only, without the hook that bounds the output of other tools",
    )  # fmt: skip
    hooks.add_argument(
        "--hooks-only", action="store_true",
        help="register the hook only, with a client that has hooks",
    )  # fmt: skip
    entry.add_argument(
        "--rewrite-commands", action="store_true",
        help="with codex: run each command through keyhole shell, which gets its full output; approves all commands",
    )  # fmt: skip
    entry.add_argument(
        "--prefer", action="store_true",
        help="refuse the client's own web fetch once per address while Keyhole answers, and name Keyhole's call",
    )  # fmt: skip
    proxy = entry.add_mutually_exclusive_group()
    proxy.add_argument("--wrap", metavar="SERVER", help="put keyhole proxy in front of a server that is registered")
    proxy.add_argument("--unwrap", metavar="SERVER", help="take the proxy away from a server")
    entry.add_argument(
        "--scope", choices=("user", "project"), default="user",
        help="change the user's file, or that of the current folder; default user",
    )  # fmt: skip
    entry.add_argument("--name", default=DEFAULT_NAME, help=f"name of the entry, default {DEFAULT_NAME}")
    entry.add_argument(
        "--env", action="append", default=[], metavar="KEYHOLE_X=VALUE",
        help="setting of the server; may be repeated; an empty value removes the setting",
    )  # fmt: skip
    entry.add_argument("--http", metavar="URL", help="register a running server, such as http://127.0.0.1:8765/mcp")


def add_doctor(commands: Any) -> None:
    """Add `keyhole doctor` to the parser's commands."""
    doctor = add_command(
        commands, "doctor", "check the installation and say how to fix what is wrong",
        "keyhole doctor", "keyhole doctor --offline --json",
    )  # fmt: skip
    doctor.description = DOCTOR_DESCRIPTION
    doctor.add_argument("--offline", action="store_true", help="skip the checks that need the network")
