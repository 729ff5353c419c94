"""A change of a file as a person is shown it: what differs, and no secret. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

from keyhole.settings import PREFIX, SETTINGS

MASK: Final = "•••"
MAX_LINE: Final = 160
"""Characters of a line that are shown: some clients write their whole file in one."""
_OURS: Final = frozenset(setting.variable for setting in SETTINGS if setting.secret)
_NAMED: Final = re.compile(r"""(([\w-]{1,100})["']?\s*[:=]\s*)"(?:[^"\\]|\\.)*(?:"|\\?$)""")
_SECRET: Final = re.compile("key|token|secret|passw|auth|credential", re.IGNORECASE)


def difference(before: str, after: str) -> list[str]:
    """The lines that go and come, each with its sign, and one line around them; values of keys and tokens masked."""
    lines = difflib.unified_diff(_lines(before), _lines(after), n=1, lineterm="")
    return [_clipped(mask(line[: 10 * MAX_LINE])) for line in list(lines)[2:]]


def mask(text: str) -> str:
    """The text without the values of what is named like a secret."""
    return _NAMED.sub(lambda found: f'{found[1]}"{MASK}"' if _is_secret(found[2]) else found[0], text)


def _is_secret(name: str) -> bool:
    return name in _OURS if name.startswith(PREFIX) else bool(_SECRET.search(name))


def colored(lines: Iterable[str]) -> list[str]:
    """The lines with the colours that a difference has on a terminal."""
    colors = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
    return [f"{color}{line}\x1b[0m" if (color := colors.get(line[:1])) else line for line in lines]


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _clipped(line: str) -> str:
    shown = "".join(char if char.isprintable() or char == "\t" else "�" for char in line)
    return shown if len(shown) <= MAX_LINE else shown[: MAX_LINE - 1] + "…"
