"""Write the manual page of `keyhole` from its commands: `python docs/make/man.py`.

server/keyhole.1 is installed with the wheel as share/man/man1/keyhole.1. The same commands give the same file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from keyhole import __version__  # noqa: E402 - found through the line above
from keyhole.config.config import SETTINGS  # noqa: E402
from tests.support.console import capture_parser  # noqa: E402
from tests.support.reference import README_SETTINGS, iter_commands, tool_arguments  # noqa: E402

PAGE: Final = ROOT / "server" / "keyhole.1"
FILES: Final = {
    "~/.local/share/keyhole": "the data folder: stored texts, the log of calls, models; KEYHOLE_HOME names another one",
    "~/.config/keyhole/config.toml": "the settings file; `keyhole config path` prints its place on this machine",
}


def manual_page() -> str:
    """Return the manual page in the macros of man(7)."""
    parser = capture_parser()
    introduction, _, codes = str(parser.epilog).partition("\nExit codes: ")
    lines = [
        '.\\" Made from the commands by docs/make/man.py',
        f'.TH KEYHOLE 1 "" "Keyhole {__version__}" "User Commands"',
        ".SH NAME",
        "keyhole \\- ask a page a question and get the lines that answer",
        ".SH SYNOPSIS",
        ".B keyhole",
        ".I COMMAND",
        "[options]",
        ".SH DESCRIPTION",
        *_text(" ".join(str(parser.description).split())),
        ".PP",
        *_text(introduction),
        ".SH COMMANDS",
    ]
    for name, help, command in iter_commands(parser):
        lines += _command(name, help, command)
    variables = {setting.field: setting for setting in SETTINGS}
    settings = {variables[name].variable: variables[name].description for name in README_SETTINGS}
    lines += [
        ".SH ENVIRONMENT",
        *_text("The settings that most people need; `keyhole config` prints all of them."),
        ".PP",
    ]
    lines += [line for name, about in settings.items() for line in _item(f"\\fB{_escape(name)}\\fR", about)]
    lines += [".SH FILES"]
    lines += [line for name, about in FILES.items() for line in _item(f"\\fI{_escape(name)}\\fR", about)]
    lines += [".SH EXIT STATUS", *_text(codes.strip())]
    return "\n".join(lines) + "\n"


def _command(name: str, help: str, parser: argparse.ArgumentParser) -> list[str]:
    """Return the section of a command: its words, what it does, its arguments and its examples."""
    described = tool_arguments(name)
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    lines = [f'.SS "{_escape(name)}"', *_text(f"{help[:1].upper()}{help[1:]}.")]
    for action in actions:
        lines += _item(_syntax(action), _about(action, described))
    _, _, examples = str(parser.epilog or "").partition("examples:\n")
    if examples:
        lines += [".PP", "Examples:", ".PP", ".nf", *_text_lines(examples.splitlines()), ".fi"]
    return lines


def _syntax(action: argparse.Action) -> str:
    """Return the options of an argument in bold, and its value in italics."""
    metavar: Any = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    value = "" if action.nargs == 0 else metavar if isinstance(metavar, str) else " ".join(metavar)
    names = ", ".join(f"\\fB{_escape(option)}\\fR" for option in action.option_strings)
    return f"{names} \\fI{_escape(value)}\\fR".strip() if value else names


def _about(action: argparse.Action, described: dict[str, str]) -> str:
    text = (
        (action.help or described.get(action.dest, "")).replace("%(default)s", str(action.default)).replace("%%", "%")
    )
    choices = ", ".join(map(str, action.choices)) if action.choices else ""
    return "; ".join(part for part in (text, choices and f"one of {choices}") if part)


def _item(term: str, about: str) -> list[str]:
    return [".TP", term, *_text(about)]


def _text(text: str) -> list[str]:
    return _text_lines(text.splitlines() or [""])


def _text_lines(lines: Iterable[str]) -> list[str]:
    """Return lines of text that man(7) does not read as requests, without empty ones."""
    return [f"\\&{line}" if line[:1] in ".'" else line for line in map(_escape, lines) if line.strip()]


def _escape(text: str) -> str:
    """Return text in ASCII: a hyphen that can be copied, and other characters by their number."""
    text = (
        text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq").replace("`", "\\(ga")
    )
    return "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)


if __name__ == "__main__":
    PAGE.write_text(manual_page(), encoding="ascii")
