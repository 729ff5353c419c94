"""The arguments of `keyhole doctor`, each with its help. Nothing is opened, read or printed here."""

from __future__ import annotations

import argparse
from typing import Any, Final

_DESCRIPTION: Final = """\
Look at the installation: Python, SQLite, home folder, store, settings, network, search engines, clients, and a real
call over stdio. Each line says what mends it. Exit codes: 0 nothing failed, 1 something did, 2 the command line is
wrong. It takes some seconds, 20 at most."""


def add_doctor(verbs: Any) -> None:
    """Add the verb `doctor`."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "doctor",
        help="look at the installation and say what mends what is not well",
        description=_DESCRIPTION,
        examples=("keyhole doctor", "keyhole doctor --offline --json"),
    )
    parser.add_argument("--offline", action="store_true", help="leave out what needs the network")
    parser.add_argument("--json", action="store_true", help="facts as JSON, for programs")
