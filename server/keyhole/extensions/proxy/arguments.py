"""Define the arguments of `keyhole proxy`."""

from __future__ import annotations

from typing import Any

from keyhole.cli.parser import add_command, add_http


def add_proxy(commands: Any) -> None:
    """Add `keyhole proxy`."""
    proxy = add_command(
        commands, "proxy", "serve another MCP server, with its long results bounded",
        "keyhole proxy -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
        "keyhole proxy --except 'get_image*' --tool query=20000 -- uvx mcp-server-sqlite --db-path sales.db",
        "keyhole proxy --url https://mcp.example.org/mcp --header 'Authorization: Bearer ${TOKEN}'",
        json=False,
    )  # fmt: skip
    add_http(proxy)
    proxy.add_argument("server_command", nargs="*", metavar="COMMAND", help="command of the server, after two hyphens")
    proxy.add_argument(
        "--url",
        help="URL of a server over streamable HTTP, instead of a command; env:NAME takes it from a variable",
    )
    proxy.add_argument(
        "--header",
        dest="headers",
        action="append",
        metavar="HEADER",
        help="header for that server: 'Name: value', which may name variables, or a name alone, whose value is in the "
        "variable HEADER_NAME; may be repeated",
    )
    proxy.add_argument(
        "--only",
        action="append",
        metavar="PATTERN",
        help="bound only the results of tools that match this pattern; may be repeated",
    )
    proxy.add_argument(
        "--except",
        dest="excluded",
        action="append",
        metavar="PATTERN",
        help="do not bound the results of tools that match this pattern; may be repeated",
    )
    proxy.add_argument(
        "--tool",
        dest="tools",
        action="append",
        metavar="NAME=BYTES",
        help="limit of the results of one tool; may be repeated",
    )
    proxy.add_argument(
        "--no-query-argument",
        dest="asks_query",
        action="store_false",
        help="do not add to the tools the optional argument keyhole_query, with the question for a long result",
    )
