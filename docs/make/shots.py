"""Draw terminal screenshots for the documentation: `python docs/make/shots.py [NAME…]` writes docs/shots/NAME.svg.

Each screenshot shows the output of a real command over recorded pages, with the versions, sizes and times of this
machine. The same output gives the same file. Commands that this version does not have are reported and skipped.
`python -m tests.support.documentation` puts the screenshots into the pages."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parents[2]
SHOTS: Final = ROOT / "docs" / "shots"
WIDTH: Final = 120
"""Columns that a page of the site shows without scrolling."""
LINES: Final = 44
"""Lines of a screenshot; longer output is cut."""

COMMANDS: Final = {"doctor": "keyhole doctor --offline"}
"""The command of each screenshot."""
SETUP_COMMANDS: Final = {"doctor": ("keyhole install codex --yes", "keyhole install claude-code --yes")}
"""Commands to run before the command of a screenshot."""


def main(names: list[str]) -> int:
    """Draw the named screenshots, by default all. Return 1 if a named screenshot could not be drawn."""
    sys.path.insert(0, str(ROOT))
    from tests.support.console import is_valid_command, run_command, temporary_installation

    missing = [name for name in names or COMMANDS if not is_valid_command(COMMANDS[name])]
    for name in (name for name in names or COMMANDS if name not in missing):
        with temporary_installation(columns=WIDTH, colours=True) as home:
            for command in SETUP_COMMANDS.get(name, ()):
                run_command(command)
            picture = draw(COMMANDS[name], replace_folders(run_command(COMMANDS[name]), home))
        SHOTS.mkdir(exist_ok=True)
        (SHOTS / f"{name}.svg").write_text(picture, encoding="utf-8")
        print(f"docs/shots/{name}.svg", len(picture))
    for name in missing:
        print(f"{name}: this version has no `{COMMANDS[name]}`", file=sys.stderr)
    return 1 if missing and names else 0


def replace_folders(output: str, home: Path) -> str:
    """Replace the folders of this machine by example paths."""
    folders = {home: "~/.local/share/keyhole", Path(sys.executable).parent: "/path/to/keyhole/.venv/bin", ROOT: "."}
    for folder, shown in folders.items():
        output = output.replace(str(folder), shown)
    return output


def draw(command: str, output: str) -> str:
    """Return an SVG image of a terminal with a command and its output."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(f"$ {command}", style="bold"))
    text = Text.from_ansi(output.rstrip("\n"))
    lines = list(text.wrap(console, WIDTH))
    for line in lines[:LINES]:
        console.print(line, no_wrap=True, overflow="crop")
    if len(lines) > LINES:
        console.print(Text(f"… {len(lines) - LINES} more lines", style="dim"))
    picture = console.export_svg(title="keyhole", theme=MONOKAI, unique_id="shot")
    return remove_web_fonts(picture)


def remove_web_fonts(picture: str) -> str:
    """Replace the web fonts that rich names by the reader's monospaced font."""
    picture = re.sub(r"\s*@font-face \{.*?\}\n", "", picture, flags=re.DOTALL)
    return picture.replace("font-family: Fira Code, monospace", "font-family: monospace")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
