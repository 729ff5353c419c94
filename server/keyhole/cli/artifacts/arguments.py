"""The arguments of `keyhole artifacts`, each with its help. Nothing is opened, read or printed here."""

from __future__ import annotations

import argparse
import re
from types import MappingProxyType
from typing import Any, Final

ACTIONS: Final = ("list", "show", "search", "rm", "gc", "stats", "export", "import", "verify")
"""As usage names them."""
SORTS: Final = ("fetched", "read", "size", "title", "url")
"""What a listing may be in the order of."""
MOST: Final = 1_000_000_000
"""Rows and characters that may be asked for: more than any store holds, and a number that every database takes."""

_SECONDS: Final = MappingProxyType({"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0})
_AGE: Final = re.compile(r"([0-9]{1,6})([mhdw])")
_EXAMPLES: Final = (
    "keyhole artifacts list --site postgresql.org --sort size",
    "keyhole artifacts show ID > page.md",
    "keyhole artifacts search 'vacuum threshold'",
    "keyhole artifacts rm --older-than 30d",
)
_FILE: Final = "compressed where it ends with .zst or .gz; - for standard"


def add_artifacts(verbs: Any) -> None:
    """Add the verb `artifacts` with its actions."""
    parser = verbs.add_parser(
        "artifacts", help="the stored pages: list, show, search, rm, gc, stats, export, …",
        description="The stored pages: what is kept of every fetch, to look at, search, move and remove.",
        examples=_EXAMPLES,
    )  # fmt: skip
    actions = parser.add_subparsers(required=True, metavar="|".join(ACTIONS), dest="action")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="facts as JSON, for programs")
    common.add_argument("--tenant", metavar="NAME", help="of a hosted server; by default the local user")

    def action(name: str, help: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = actions.add_parser(
            name, help=help, description=f"{help[:1].upper()}{help[1:]}.", parents=[common]
        )
        return made

    _reading(action)
    _leaving(action)
    action("stats", "how much is kept")
    exporting = action("export", "write artifacts to a file that another installation can import")
    exporting.add_argument("ids", nargs="*", metavar="ID", help="by default all")
    exporting.add_argument("file", metavar="FILE", help=f"{_FILE} output")
    importing = action("import", "take over the artifacts of an exported file")
    importing.add_argument("file", metavar="FILE", help=f"{_FILE} input".replace("where it ends with", "as"))
    action("verify", "check every text; damaged ones are set aside, and 1 is returned")


def _reading(action: Any) -> None:
    listing = action("list", "what is stored, the most recently fetched first")
    listing.add_argument("--limit", type=_count, default=50, help="rows, default 50")
    listing.add_argument("--site", action="append", default=[], help="only this host and those below; may be repeated")
    listing.add_argument(
        "--sort", choices=SORTS, default=SORTS[0], help=f"default {SORTS[0]}; newest and largest first"
    )

    showing = action("show", "the text of an artifact, or what is known about it")
    showing.add_argument("id", metavar="ID")
    showing.add_argument("--meta", action="store_true", help="title, addresses, dates and size instead of the text")
    showing.add_argument("--offset", type=_offset, default=0, help="first character, counted from 0")
    showing.add_argument("--limit", type=_count, help="characters, by default all")

    searching = action("search", "the artifacts that answer a question, best first, each with its best line")
    searching.add_argument("words", nargs="+", metavar="WORD")
    searching.add_argument("--limit", type=_count, default=10, help="artifacts, default 10")
    searching.add_argument(
        "--site", action="append", default=[], help="only this host and those below; may be repeated"
    )


def _leaving(action: Any) -> None:
    removing = action("rm", "forget artifacts entirely")
    removing.add_argument("ids", nargs="*", metavar="ID")
    removing.add_argument("--all", action="store_true", help="every artifact; needs --yes")
    removing.add_argument("--yes", action="store_true", help="really")
    removing.add_argument("--older-than", type=_age, metavar="AGE", help="last read so long ago: 90m, 12h, 30d or 8w")
    action("gc", "drop what has expired and what exceeds the size of the store")


def _count(text: str) -> int:
    return _whole(text, least=1)


def _offset(text: str) -> int:
    return _whole(text, least=0)


def _whole(text: str, least: int) -> int:
    if not re.fullmatch("[0-9]{1,10}", text) or not least <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no whole number from {least:,} to {MOST:,}")
    return int(text)


def _age(text: str) -> float:
    found = _AGE.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no age; give 90m, 12h, 30d or 8w")
    return int(found[1]) * _SECONDS[found[2]]
