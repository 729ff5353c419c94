"""Screenshots of the terminal for the documentation: `python docs/make/shots.py [NAME…]` writes docs/shots/NAME.svg.

Each is what a real command prints over recorded pages, drawn by rich. The same output gives the same file: no clock, no
random id. A command that this version does not have is named and left out. `python tests/support/documentation.py` then puts the
pictures that there are into the pages."""

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
"""Columns: what a page of the site shows without scrolling."""
LINES: Final = 44
"""Of a picture: what is seen at once."""

PAGE: Final = "https://www.postgresql.org/docs/15/routine-vacuuming.html"
COMMANDS: Final = {
    "select": 'keyhole select routine-vacuuming.html --query "vacuum threshold" --max-chars 900 --explain',
    "explain": f'keyhole fetch {PAGE} --query "how is the vacuum threshold defined" --max-chars 1200 --explain',
    "doctor": "keyhole doctor --offline",
}
BEFORE: Final = {"doctor": ("keyhole install codex --yes", "keyhole install claude-code --yes")}
"""Commands that have run before one that is drawn."""
OF_THE_MACHINE: Final = frozenset({"doctor"})
"""Pictures of what this machine is like: versions, sizes and times differ from one to the next."""


def main(names: list[str]) -> int:
    """Draw these, by default all; 1 when one that was named could not be drawn."""
    sys.path.insert(0, str(ROOT))
    from tests.support.console import temporary_installation, is_valid_command, run_command

    missing = [name for name in names or COMMANDS if not is_valid_command(COMMANDS[name])]
    for name in (name for name in names or COMMANDS if name not in missing):
        with temporary_installation(columns=WIDTH, colours=True) as home:
            for command in BEFORE.get(name, ()):
                run_command(command)
            written = drawn(COMMANDS[name], anywhere(run_command(COMMANDS[name]), home))
        SHOTS.mkdir(exist_ok=True)
        (SHOTS / f"{name}.svg").write_text(written, encoding="utf-8")
        print(f"docs/shots/{name}.svg", len(written))
    for name in missing:
        print(f"{name}: this version has no `{COMMANDS[name]}`", file=sys.stderr)
    return 1 if missing and names else 0


def anywhere(output: str, home: Path) -> str:
    """Without the folders of this machine."""
    folders = {home: "~/.local/share/keyhole", Path(sys.executable).parent: "/path/to/keyhole/.venv/bin", ROOT: "."}
    for folder, shown in folders.items():
        output = output.replace(str(folder), shown)
    return output


def drawn(command: str, output: str) -> str:
    """A picture of a terminal in which the command was given."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(f"$ {command}", style="bold"))
    text = Text.from_ansi(output.rstrip("\n"))
    lines = list(text.wrap(console, WIDTH))
    for line in lines[:LINES]:
        console.print(line, no_wrap=True, overflow="crop")
    if len(lines) > LINES:
        console.print(Text(f"… {len(lines) - LINES} more lines", style="dim"))
    picture = console.export_svg(title="keyhole", theme=MONOKAI, unique_id="shot")
    return without_network(picture)


def without_network(picture: str) -> str:
    """Without the fonts that rich would have a browser load: the reader's own monospaced font stands in."""
    picture = re.sub(r"\s*@font-face \{.*?\}\n", "", picture, flags=re.DOTALL)
    return picture.replace("font-family: Fira Code, monospace", "font-family: monospace")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
