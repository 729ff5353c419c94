"""A change of a file as a person is shown it: what differs, and no secret. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Final

from keyhole.config.schema import PREFIX, SETTINGS

MASK: Final = "•••"
MAX_LINE: Final = 160
"""Characters of a line that are shown: some clients write their whole file in one."""
_OURS: Final = frozenset(setting.variable for setting in SETTINGS if setting.secret)
_WORDS: Final = "key|token|secret|passw|auth|credential"
_NAMED: Final = re.compile(
    rf"""((\b(?:{"|".join(sorted(_OURS))})\b|[\w.-]{{0,60}}(?:{_WORDS})[\w.-]{{0,40}})["']?\s*[:=]\s*)("""
    r"""\"{3}.*?(?:\"{3}|$)|'{3}.*?(?:'{3}|$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|'[^']*(?:'|$)"""
    r"""|\[[^\]]*(?:\]|$)|[^\s"'\[{,}\]][^"',}\]]*)""",
    re.IGNORECASE,
)
"""A name like a secret's and its value in JSON, TOML or an argument: a text in any quotes, a list in one line, or
what stands bare up to the next sign."""
_SHAPED: Final = re.compile(
    r"(://[^\s/\"'@:]{0,100}:(?=[^\s/\"'@]{1,1000}@)|\b(?:bearer|basic)\s+)[^\s/\"'@]+", re.IGNORECASE
)
"""What is a secret whatever it is called: a password in an address, and what follows the name of a scheme."""
_KNOWN: Final = re.compile(r"\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ|BSA)[\w-]{4,}")
"""How keys of services begin that are common beside such a server."""
_FLAG: Final = re.compile(r"""((["'])-{1,2}([\w-]{1,100})\2\s*,\s*)(["'])[^"']*(?:\4|$)""")
_LAST_FLAG: Final = re.compile(r"""["']-{1,2}([\w-]{1,100})["']\s*,?\s*$""")
"""An argument that names the next one, in a line and at its end."""
_PLACE: Final = re.compile(r"([-+])(\d+)")
_TEXT: Final = re.compile(r"""("(?:[^"\\]|\\.)*"|'[^']*')""")
_SECRET: Final = re.compile(_WORDS, re.IGNORECASE)


def difference(before: str, after: str) -> list[str]:
    """The lines that go and come, each with its sign, and one line around them; values of keys and tokens masked."""
    shown, named = [], False
    for line in _unified(_lines(before), _lines(after)):
        whole = line[: 10 * MAX_LINE]
        shown.append(_clipped(_TEXT.sub(f'"{MASK}"', whole, count=1) if named else mask(whole)))
        flag = _LAST_FLAG.search(whole)
        named = bool(flag and _is_secret(flag[1])) or (named and line.startswith("-"))
    return shown


def _unified(before: list[str], after: list[str]) -> list[str]:
    """What differs. Only what lies between the equal ends is compared: of a large file all would take minutes."""
    most = min(len(before), len(after))
    first = next((n for n in range(most) if before[n] != after[n]), most)
    last = next((n for n in range(most - first) if before[-1 - n] != after[-1 - n]), most - first)
    start, last = max(0, first - 1), max(0, last - 1)
    lines = difflib.unified_diff(before[start : len(before) - last], after[start : len(after) - last], n=1, lineterm="")
    return [
        _PLACE.sub(lambda at: f"{at[1]}{int(at[2]) + start}", line) if line[0] == "@" else line
        for line in list(lines)[2:]
    ]


def mask(text: str) -> str:
    """The text without the values of what is named like a secret, or has the shape of one."""
    text = _NAMED.sub(lambda found: found[1] + _hidden(found[3]) if _is_secret(found[2]) else found[0], text)
    text = _FLAG.sub(lambda found: found[1] + _hidden('"') if _is_secret(found[3]) else found[0], text)
    return _KNOWN.sub(MASK, _SHAPED.sub(rf"\1{MASK}", text))


def _hidden(value: str) -> str:
    return f'"{MASK}"' if value[0] in "\"'[" else MASK


def masked(words: Sequence[str]) -> list[str]:
    """A command line without its secrets."""
    flags = ["", *(word.lstrip("-") if word.startswith("-") else "" for word in words)]
    return [MASK if _is_secret(flag) else mask(word) for flag, word in zip(flags, words, strict=False)]


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
