"""The arguments of `keyhole look`."""

from __future__ import annotations

from typing import Any, Final

from keyhole.cli.parser import Parser

LOOK_DESCRIPTION: Final = """\
Show what your agents asked and read, as pages in the browser: sessions, each call with the passages that it showed in
their page, misses, figures and stored texts. The pages are served on 127.0.0.1 until Ctrl-C, and change as agents work.
The printed link has a token: whoever has it and can log in to this machine can see the calls while the command runs."""
EXAMPLES: Final = (
    "keyhole look",
    "keyhole look --no-open --port 8766   # elsewhere: ssh -L 8766:127.0.0.1:8766 HOST",
    "keyhole look --export session.html",
)


def add_look(commands: Any) -> None:
    """Add `keyhole look` to the parser's commands."""
    look: Parser = commands.add_parser(
        "look", help="show in the browser what agents asked and read", description=LOOK_DESCRIPTION, examples=EXAMPLES
    )
    _add_server(look)
    _add_export(look)


def _add_server(look: Parser) -> None:
    look.add_argument("--port", type=int, default=0, help="port to listen on, default any that is free")
    look.add_argument("--no-open", action="store_true", help="print the link and open no browser")
    look.add_argument("--tenant", metavar="NAME", help="tenant of a hosted server; by default the local user")


def _add_export(look: Parser) -> None:
    look.add_argument(
        "--export", metavar="FILE", help="write one session or call to an HTML file that needs no server, and end"
    )
    exported = look.add_mutually_exclusive_group()
    exported.add_argument("--session", default="", metavar="ID", help="session to export, default the newest")
    exported.add_argument("--call", default="", metavar="ID", help="call to export instead of a session")
