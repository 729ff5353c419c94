"""Read the lines with and without secrets that this benchmark and the tests use.

In `with_secret.txt`, a secret stands between ⟦ and ⟧. In both files, ‹24› stands for 24 random letters and digits,
‹x24› for hexadecimal digits, ‹B24› for the characters of base32 and ‹L24› for letters, so that no line in the
repository looks like a key of anyone. Lines with an even number are held out: they were not looked at while the rules
were written.
"""

from __future__ import annotations

import random
import re
import string
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent
_RANDOM: Final = re.compile("‹([xBL]?)([0-9]+)›")
_SECRET: Final = re.compile("⟦(.*?)⟧")
_CHARACTERS: Final = {
    "": string.ascii_letters + string.digits,
    "x": "0123456789abcdef",
    "B": string.ascii_uppercase + "234567",
    "L": string.ascii_letters,
}


class Line(NamedTuple):
    """A line of a file, with the secrets in it."""

    text: str
    secrets: tuple[str, ...]
    held_out: bool


def load_lines(name: str) -> list[Line]:
    """Return the lines of a file of this folder. Each load gives the same random characters."""
    lines = []
    for number, written in enumerate((FOLDER / name).read_text("utf-8").splitlines(), 1):
        line = _fill(written)
        lines.append(Line(_SECRET.sub(r"\1", line), tuple(_SECRET.findall(line)), number % 2 == 0))
    return lines


def _fill(written: str) -> str:
    source = random.Random(written)
    return _RANDOM.sub(lambda at: "".join(source.choices(_CHARACTERS[at[1]], k=int(at[2]))), written)
