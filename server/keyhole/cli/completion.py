"""Run `keyhole completion`: print a shell's completion script, which shtab makes from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, Final

from keyhole.cli.commands import build_parser
from keyhole.config.config import Config

FILE: Final = "FILE"
ID: Final = "ID"
"""Metavars: an argument with FILE completes file names, one with ID the ids of stored artifacts."""
MAX_IDS: Final = 50
"""Greatest number of ids that are suggested, the most recently fetched first: about a screenful."""
_LIST_IDS: Final = f"keyhole artifacts list --limit {MAX_IDS} 2>/dev/null | grep -oE '^[a-z2-7]{{16}}'"
_COMPLETE_IDS: Final = {
    "bash": "_keyhole_ids",
    "zsh": "_keyhole_ids",
    "tcsh": f"`{_LIST_IDS}`".replace("'", ""),
    "fish": f"({_LIST_IDS})",
}
_PREAMBLE: Final = {
    "bash": f'_keyhole_ids() {{ compgen -W "$({_LIST_IDS})" -- "$1"; }}\n',
    "zsh": f'_keyhole_ids() {{ compadd -- ${{(f)"$({_LIST_IDS})"}}; }}\n',
}


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Print the completion script of a shell and return 0."""
    print(make_completion_script(build_parser(), arguments.shell), end="")
    return 0


def make_completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the completion script for `shell`."""
    import shtab

    for action in _actions(parser):
        if action.metavar == FILE:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar == ID:
            action.complete = _COMPLETE_IDS  # type: ignore[attr-defined]
    text: str = shtab.complete(parser, shell=shell, preamble=_PREAMBLE.get(shell, ""))
    return text if text.endswith("\n") else f"{text}\n"


def _actions(parser: Any) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from _actions(subparser)
