"""docs/install.md says what the code does."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from keyhole.cli.install import arguments
from keyhole.cli.parser import Parser

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "install.md").read_text("utf-8")


def test_every_option_is_told_and_there_is_no_other() -> None:
    parser = Parser()
    arguments.add_install(parser.add_subparsers())
    (verbs,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    options = {
        word for action in verbs.choices["install"]._actions for word in action.option_strings if word[:2] == "--"
    }
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT.partition("## `keyhole doctor`")[0]))
    assert options - {"--help"} == told
