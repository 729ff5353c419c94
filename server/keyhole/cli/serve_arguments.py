"""The arguments of `keyhole serve` and `keyhole server`."""

from __future__ import annotations

import argparse
from typing import Any, Final

from keyhole.cli.parser import Parser, add_command

LOOPBACK: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8765
MAX_PROCESSES: Final = 64
"""More processes than machines have processors for one server; each takes about 70 MB."""


def add_serve(commands: Any) -> None:
    """Add `keyhole serve`."""
    serve = add_command(
        commands, "serve", "serve MCP over stdio, or over HTTP", "keyhole serve", "keyhole serve --http --port 8765",
        "keyhole serve --http --processes 4",
        json=False,
    )  # fmt: skip
    add_http(serve)
    serve.add_argument(
        "--processes",
        type=_count,
        default=1,
        metavar="N",
        help="processes that serve the port, without sessions, to use N processors; default 1",
    )


def _count(text: str) -> int:
    """Return a number of processes."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_PROCESSES:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MAX_PROCESSES}")
    return int(text)


def add_http(parser: Parser) -> None:
    """Add the options of a server over HTTP."""
    parser.add_argument(
        "--http", action="store_true", help="serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdio"
    )
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        help=f"address to listen on, default {LOOPBACK}; other addresses need KEYHOLE_ALLOWED_HOSTS and authentication",
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"port to listen on, default {DEFAULT_PORT}")


def add_server(commands: Any) -> None:
    """Add `keyhole server`."""
    server = add_command(
        commands, "server", "show or stop the servers that your clients share",
        "keyhole server status", "keyhole server stop",
    )  # fmt: skip
    server.add_argument(
        "action",
        choices=("status", "stop", "run"),
        help="status: show the servers and their clients; stop: end them, until a client calls again; run: serve, as "
        "clients start it",
    )
