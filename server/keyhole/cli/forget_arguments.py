"""The arguments of `keyhole forget`."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any, Final

from keyhole.cli.parser import Parser

FORGET_DESCRIPTION: Final = """\
Delete what Keyhole has stored, with every trace: texts of pages, outputs, calls with their results, known URLs, vectors
and copies of damaged files. Several conditions must all be met, a repeated one by one of its values. It says what it
would delete and asks first. Known URLs and vectors tell neither site, date nor client: all of them are deleted. The
files are rewritten at the end. Servers may run meanwhile."""
EXAMPLES: Final = (
    "keyhole forget --all",
    "keyhole forget --before 2026-01-31",
    "keyhole forget --site intranet.example --yes",
    "keyhole forget --client cursor --before 2026-01-31",
)


def add_forget(commands: Any) -> None:
    """Add `keyhole forget` to the parser's commands."""
    forget: Parser = commands.add_parser(
        "forget", help="delete stored texts, calls and all traces of them", description=FORGET_DESCRIPTION,
        examples=EXAMPLES,
    )  # fmt: skip
    forget.add_argument("--all", action="store_true", help="delete everything that is stored")
    forget.add_argument(
        "--before", type=parse_date, metavar="DATE",
        help="texts that were fetched and calls that were made before the beginning of a day such as 2026-01-31",
    )  # fmt: skip
    forget.add_argument("--url", action="append", default=[], help="texts and calls of this address; may be repeated")
    forget.add_argument(
        "--site", action="append", default=[],
        help="texts and calls of this host and its subdomains; may be repeated",
    )  # fmt: skip
    forget.add_argument(
        "--client", action="append", default=[], metavar="NAME",
        help="calls of this client, and the texts that only they read; may be repeated",
    )  # fmt: skip
    forget.add_argument("--tenant", metavar="NAME", help="tenant of a hosted server; by default the local user")
    forget.add_argument("--yes", action="store_true", help="delete without asking")
    forget.add_argument("--json", action="store_true", help="print JSON, for programs")


def parse_date(text: str) -> float:
    """Return the time of a date, or of a date with a time, in the local time zone unless it names another.

    Raises argparse.ArgumentTypeError.
    """
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a date such as 2026-01-31") from None
