"""The arguments of `keyhole tokens`."""

from __future__ import annotations

from typing import Any

from keyhole.cli.parser import add_command


def add_tokens(commands: Any) -> None:
    """Add `keyhole tokens` to the parser's commands."""
    tokens = add_command(
        commands, "tokens", "manage the HTTP server's bearer tokens: new TENANT, list, revoke ID",
        "keyhole tokens new alice --days 90 --file tokens.json", "keyhole tokens list --file tokens.json",
    )  # fmt: skip
    tokens.add_argument(
        "action", choices=("new", "list", "revoke"), help="a new token is printed once and stored as a hash"
    )
    tokens.add_argument(
        "name", nargs="?", metavar="TENANT|ID", help="tenant of a new token, or id of the token to revoke"
    )
    tokens.add_argument("--file", help="file of tokens, default KEYHOLE_TOKENS_FILE")
    tokens.add_argument("--days", type=int, help="days until the token expires; by default it does not expire")
    tokens.add_argument("--label", default="", help="note for the list, such as the name of a device")
