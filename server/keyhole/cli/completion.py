"""The script by which a shell completes `keyhole`, made from the parser by shtab. Runs no shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, Final

FILES: Final = frozenset({"FILE"})
IDS: Final = frozenset({"ID"})
"""What arguments are called that take a file and an artifact's id."""
MOST_IDS: Final = 50
"""Of the most recently fetched: more than a screen of them nobody chooses from."""
_IDS: Final = f"keyhole artifacts list --limit {MOST_IDS} 2>/dev/null | grep -oE '^[a-z2-7]{{16}}'"
_COMPLETE_IDS: Final = {
    "bash": "_keyhole_ids",
    "zsh": "_keyhole_ids",
    "tcsh": f"`{_IDS}`".replace("'", ""),
    "fish": f"({_IDS})",
}
_PREAMBLE: Final = {
    "bash": f'_keyhole_ids() {{ compgen -W "$({_IDS})" -- "$1"; }}\n',
    "zsh": f'_keyhole_ids() {{ compadd -- ${{(f)"$({_IDS})"}}; }}\n',
}


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """What `shell` is to read."""
    import shtab

    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in IDS:
            action.complete = _COMPLETE_IDS  # type: ignore[attr-defined]
    text: str = shtab.complete(parser, shell=shell, preamble=_PREAMBLE.get(shell, ""))
    return text if text.endswith("\n") else f"{text}\n"


def _actions(parser: Any) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
