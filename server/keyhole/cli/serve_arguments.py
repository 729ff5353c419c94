"""The arguments of `keyhole serve`, `keyhole server` and `keyhole proxy`."""

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
    _add_http(serve)
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


def _add_http(parser: Parser) -> None:
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


def add_proxy(commands: Any) -> None:
    """Add `keyhole proxy`."""
    proxy = add_command(
        commands, "proxy", "serve another MCP server, with its long results bounded",
        "keyhole proxy -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
        "keyhole proxy --except 'get_image*' --tool query=20000 -- uvx mcp-server-sqlite --db-path sales.db",
        "keyhole proxy --url https://mcp.example.org/mcp --header 'Authorization: Bearer ${TOKEN}'",
        "keyhole proxy --config ~/.cursor/mcp.json",
        json=False,
    )  # fmt: skip
    _add_http(proxy)
    proxy.add_argument("server_command", nargs="*", metavar="COMMAND", help="command of the server, after two hyphens")
    proxy.add_argument(
        "--url",
        help="address of a server over streamable HTTP, or env:NAME for that of a variable, instead of a command",
    )
    proxy.add_argument(
        "--header",
        dest="headers",
        action="append",
        metavar="HEADER",
        help="header for that server, with its name and a colon, or a name alone with its value in the variable "
        "HEADER_NAME; may name variables; may be repeated",
    )
    proxy.add_argument("--config", metavar="FILE", help="configuration file of a client: all its servers become one")
    proxy.add_argument(
        "--only", action="append", metavar="PATTERN", help="bound only the tools of this pattern; may be repeated"
    )
    proxy.add_argument(
        "--except",
        dest="excluded",
        action="append",
        metavar="PATTERN",
        help="leave results of the tools of this pattern as they are; may be repeated",
    )
    proxy.add_argument(
        "--tool",
        dest="tools",
        action="append",
        metavar="NAME=BYTES",
        help="greatest size of the results of one tool; may be repeated",
    )
    proxy.add_argument(
        "--no-query-argument",
        dest="asks_query",
        action="store_false",
        help="do not add to the tools the optional argument keyhole_query, with the question for a long result",
    )
