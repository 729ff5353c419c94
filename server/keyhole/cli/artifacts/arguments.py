"""The arguments of `keyhole artifacts`."""

from __future__ import annotations

import argparse
import re
from types import MappingProxyType
from typing import Any, Final

ACTIONS: Final = ("list", "show", "search", "pin", "unpin", "rm", "gc", "stats", "verify")
"""The actions, in the order of the usage line."""
KINDS: Final = ("pages", "outputs")
"""The kinds of artifacts."""
SORTS: Final = ("fetched", "read", "size", "title", "url")
"""Sort keys of a listing."""
MAX_COUNT: Final = 1_000_000_000
"""Greatest number of rows or characters: more than a store contains, and within the integer range of each database."""

_UNIT_SECONDS: Final = MappingProxyType({"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0})
_AGE: Final = re.compile(r"([0-9]{1,6})([mhdw])")
_EXAMPLES: Final = (
    "keyhole artifacts list --site postgresql.org --sort size",
    "keyhole artifacts show ID > page.md",
    "keyhole artifacts search 'vacuum threshold'",
    "keyhole artifacts list --only outputs",
    "keyhole artifacts rm --older-than 30d",
)


def add_artifacts(commands: Any) -> None:
    """Add the command `artifacts` with its actions."""
    parser = commands.add_parser(
        "artifacts", help="manage the stored pages and outputs: list, show, search, pin, rm, gc, stats, verify",
        description="Manage the stored pages and outputs: the text of every fetched page, and the outputs of commands, "
        "files and other tools that were too long to be shown whole. They are kept for a limited time.",
        examples=_EXAMPLES,
    )  # fmt: skip
    actions = parser.add_subparsers(required=True, metavar="|".join(ACTIONS), dest="action")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON, for programs")
    common.add_argument("--tenant", metavar="NAME", help="tenant of a hosted server; by default the local user")

    def add_action(name: str, help: str, *examples: str) -> argparse.ArgumentParser:
        description = f"{help[:1].upper()}{help[1:]}."
        parser: argparse.ArgumentParser = actions.add_parser(
            name, help=help, description=description, parents=[common], examples=examples
        )
        return parser

    _add_read_actions(add_action)
    _add_remove_actions(add_action)
    add_action("stats", "show the number and size of the stored pages", "keyhole artifacts stats")
    add_action(
        "verify",
        "check every text and set damaged ones aside; exit with 1 if any is damaged",
        "keyhole artifacts verify",
    )


def _add_read_actions(add_action: Any) -> None:
    site_help = "only pages of this host and its subdomains; may be repeated"
    kind_help = "only pages, or only outputs of commands, files and other tools"
    listing = add_action(
        "list",
        "list the stored pages and outputs, the newest first",
        "keyhole artifacts list --site postgresql.org --sort size",
    )
    listing.add_argument("--limit", type=_count, default=50, help="rows, default 50")
    listing.add_argument("--only", choices=KINDS, help=kind_help)
    listing.add_argument("--site", action="append", default=[], help=site_help)
    listing.add_argument(
        "--sort", choices=SORTS, default=SORTS[0],
        help=f"order, default {SORTS[0]}; times and sizes in descending order",
    )  # fmt: skip

    show = add_action("show", "print the text or the metadata of an artifact", "keyhole artifacts show ID > page.md")
    show.add_argument("id", metavar="ID", help="id of the artifact")
    show.add_argument(
        "--meta", action="store_true", help="title, addresses or command, dates and size instead of the text"
    )
    show.add_argument("--offset", type=_offset, default=0, help="first character, counted from 0")
    show.add_argument("--limit", type=_count, help="characters, by default all")

    search = add_action(
        "search",
        "find the artifacts that answer a question, best first, each with its best line",
        "keyhole artifacts search 'vacuum threshold'",
    )
    search.add_argument("words", nargs="+", metavar="WORD", help="words of the question")
    search.add_argument("--limit", type=_count, default=10, help="artifacts, default 10")
    search.add_argument("--only", choices=KINDS, help=kind_help)
    search.add_argument("--site", action="append", default=[], help=site_help)


def _add_remove_actions(add_action: Any) -> None:
    pin = add_action("pin", "keep artifacts from expiry and eviction", "keyhole artifacts pin ID")
    pin.add_argument("ids", nargs="+", metavar="ID", help="ids of the artifacts to pin")
    unpin = add_action("unpin", "let pinned artifacts expire again", "keyhole artifacts unpin ID")
    unpin.add_argument("ids", nargs="+", metavar="ID", help="ids of the artifacts to unpin")
    remove = add_action(
        "rm",
        "delete artifacts; `keyhole forget` deletes their calls and other traces too",
        "keyhole artifacts rm --older-than 30d",
    )
    remove.add_argument("ids", nargs="*", metavar="ID", help="ids of the artifacts to delete")
    remove.add_argument("--all", action="store_true", help="delete every artifact; needs --yes")
    remove.add_argument("--yes", action="store_true", help="confirm --all")
    remove.add_argument(
        "--older-than",
        type=_age,
        metavar="AGE",
        help="delete artifacts that were not read for 90m, 12h, 30d or 8w; pinned ones stay",
    )
    add_action(
        "gc",
        "delete expired artifacts, and the least recently read beyond the store's size limit",
        "keyhole artifacts gc",
    )


def _count(text: str) -> int:
    return _parse_integer(text, minimum=1)


def _offset(text: str) -> int:
    return _parse_integer(text, minimum=0)


def _parse_integer(text: str, minimum: int) -> int:
    if not re.fullmatch("[0-9]{1,10}", text) or not minimum <= int(text) <= MAX_COUNT:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not an integer from {minimum:,} to {MAX_COUNT:,}")
    return int(text)


def _age(text: str) -> float:
    """Return the seconds of an age such as 30d. Raises argparse.ArgumentTypeError."""
    found = _AGE.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not an age such as 90m, 12h, 30d or 8w")
    return int(found[1]) * _UNIT_SECONDS[found[2]]
