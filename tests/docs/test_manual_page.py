"""The manual page is up to date, and groff reads it without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess

import man
import pytest

from tests.support.console import capture_parser
from tests.support.reference import iter_commands


def test_the_manual_page_is_up_to_date() -> None:
    assert man.PAGE.read_text(encoding="ascii") == man.manual_page(), "run: python docs/make/man.py"


def test_the_manual_page_has_a_section_for_each_command_with_each_option() -> None:
    sections = re.split(r"^\.SS ", man.manual_page(), flags=re.MULTILINE)[1:]
    commands = {name: parser for name, _, parser in iter_commands(capture_parser())}
    assert len(sections) == len(commands)
    for section, (name, parser) in zip(sections, commands.items(), strict=True):
        text = section.replace("\\-", "-")
        assert text.startswith(f'"{name}"')
        options = [action for action in parser._actions if action.option_strings and action.help != "==SUPPRESS=="]
        assert all(
            f"\\fB{option}\\fR" in text for each in options for option in each.option_strings if each.dest != "help"
        )


def test_groff_reads_the_manual_page_without_a_warning() -> None:
    groff = shutil.which("groff") or pytest.skip("groff is not installed")
    command = [groff, "-man", "-ww", "-Tutf8", "-z", str(man.PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
