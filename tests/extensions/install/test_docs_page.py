"""docs/installation.md documents the options of `keyhole install`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from keyhole.cli.parser import Parser
from keyhole.extensions.install import arguments

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "installation.md").read_text("utf-8")


def test_the_page_documents_every_option_and_no_other() -> None:
    parser = Parser()
    arguments.add_install(parser.add_subparsers())
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    options = {
        word for action in commands.choices["install"]._actions for word in action.option_strings if word[:2] == "--"
    }
    documented = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT.partition("## `keyhole doctor`")[0]))
    assert options - {"--help"} == documented
