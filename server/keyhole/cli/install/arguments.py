"""The arguments of `keyhole install`, each with its help. Nothing is opened, read or printed here."""

from __future__ import annotations

import argparse
from typing import Any, Final

DEFAULT_NAME: Final = "keyhole"
_DESCRIPTION: Final = """\
Register Keyhole with a client of this machine: its file is changed in the one place, and a copy is kept beside it.
Without a client: which ones are here, and with which of them Keyhole is registered."""

_EXAMPLES: Final = (
    "keyhole install",
    "keyhole install codex --dry-run",
    "keyhole install claude-code --scope project --env KEYHOLE_MAX_CHARS=20000",
    "keyhole install vscode --uninstall",
)


def add_install(verbs: Any) -> None:
    """Add the verb `install`."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "install",
        help="register Keyhole with a client: codex, claude-code, vscode, …",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("client", nargs="?", metavar="CLIENT", help="by default all are listed")
    which.add_argument("--all", action="store_true", help="every client found on this machine")
    _what(parser)
    how = parser.add_argument_group("how")
    how.add_argument("--uninstall", action="store_true", help="take the entry out again")
    how.add_argument("--dry-run", action="store_true", help="show the change and write nothing")
    how.add_argument("--print", action="store_true", dest="only_print", help="the entry alone, to add by hand")
    how.add_argument("--yes", "-y", action="store_true", help="do not ask; nothing is asked where stdin is no terminal")
    how.add_argument("--force", action="store_true", help="replace an entry of this name that is not Keyhole's")
    how.add_argument("--json", action="store_true", help="facts as JSON, for programs")


def _what(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what")
    what.add_argument(
        "--scope", choices=("user", "project"), default="user", help="for all work, or for this folder; default user"
    )
    what.add_argument("--name", default=DEFAULT_NAME, help=f"of the entry, default {DEFAULT_NAME}")
    what.add_argument(
        "--env", action="append", default=[], metavar="KEYHOLE_X=VALUE",
        help="a setting of the server; may be repeated; an empty value takes it out",
    )  # fmt: skip
    what.add_argument("--http", metavar="URL", help="a server that runs elsewhere, such as http://127.0.0.1:8765/mcp")
