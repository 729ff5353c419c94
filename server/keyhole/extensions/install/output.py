"""Format the diff of a configuration file, with secrets masked."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from keyhole.config.config import PREFIX, SETTINGS

MASK: Final = "•••"
MAX_LINE: Final = 160
"""Characters of a line that are shown if nothing or little of it changes. Some clients write their file on one line."""
MAX_READ: Final = 10_000
"""Characters around a change that are searched for secrets, because a secret's name stands before it."""
MARGIN: Final = 20
"""Characters that are shown around the change of a long line."""
_SECRET_SETTINGS: Final = frozenset(setting.variable for setting in SETTINGS if setting.secret)
_KEYWORDS: Final = "key|token|secret|passw|auth|credential"
_SECRET_NAMES: Final = rf"(?<![\w.-])(?=[\w.-]*?(?:{_KEYWORDS})[\w.-]{{0,40}}(?![\w.-]))[\w.-]++"
_NAMED_SECRET: Final = re.compile(
    rf"""((\b(?:{"|".join(sorted(_SECRET_SETTINGS))})\b|{_SECRET_NAMES})["']?\s*+[:=]\s*+)("""
    r"""\"{3}.*?(?:\"{3}|$)|'{3}.*?(?:'{3}|$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|'[^']*(?:'|$)"""
    r"""|\[[^\]]*(?:\]|$)|[^\s"'\[{,}\]][^"',}\]]*)""",
    re.IGNORECASE,
)
"""A name that suggests a secret, and its value in JSON, TOML or an argument: a string in any quotes, a list on one
line, or an unquoted value."""
_UNNAMED_SECRET: Final = re.compile(
    r"(://[^\s/\"'@:]{0,100}:(?=[^\s/\"'@]{1,1000}@)|\b(?:bearer|basic)\s+)[^\s/\"'@]+", re.IGNORECASE
)
"""A secret recognized without a name: the password in a URL, or the value after an authentication scheme."""
_API_KEY: Final = re.compile(r"\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ|BSA)[\w-]{4,}")
"""Prefixes of the API keys of common services."""
_FLAG: Final = re.compile(r"""((["'])-{1,2}([\w-]{1,100})\2\s*,\s*)(["'])[^"']*(?:\4|$)""")
_LAST_FLAG: Final = re.compile(r"""["']-{1,2}([\w-]{1,100})["']\s*+,?\s*+$""")
"""An option whose value is the next argument: with the value on the same line, or at the end of the line."""
_HUNK_START: Final = re.compile(r"([-+])(\d+)")
_QUOTED: Final = re.compile(r"""((?<!\\)"(?:[^"\\]|\\.)*"|'[^']*')""")
_SECRET_NAME: Final = re.compile(_KEYWORDS, re.IGNORECASE)


def diff_lines(before: str, after: str, secrets: Iterable[str] = ()) -> list[str]:
    """Return a unified diff with one line of context and with secrets masked; `secrets`: values that are secret.

    A change is shown in full, however long it is; unchanged parts of long lines are left out.
    """
    lines = _leave_out(_unified_diff(_split_lines(before), _split_lines(after)), MAX_READ, MAX_READ)
    shown, is_value_secret = [], False
    for line in lines:
        masked = _mask_values(line, secrets)
        shown.append(_QUOTED.sub(f'"{MASK}"', masked, count=1) if is_value_secret else mask_secrets(masked))
        flag = _LAST_FLAG.search(masked)
        is_value_secret = bool(flag and _is_secret(flag[1])) or (is_value_secret and line.startswith("-"))
    return [_printable(line) for line in _leave_out(shown, MAX_LINE, MARGIN)]


def _leave_out(lines: Iterable[str], longest: int, margin: int) -> list[str]:
    """Return a diff with each line of over `longest` characters cut to its change and `margin` characters around."""
    shown: list[str] = []
    for sign, group in groupby(lines, key=lambda line: line[0] if line[0] in "@ " else "-"):
        block = list(group)
        if sign != "-":
            shown += [_clip(line, longest) for line in block]
            continue
        old, new = ([line for line in block if line[0] == sign] for sign in "-+")
        pairs = [([one], [other]) for one, other in zip(old, new, strict=False)]
        parts = [_changed_parts(*pair, longest, margin) for pair in (pairs if len(old) == len(new) else [(old, new)])]
        shown += [line for part, _ in parts for line in part] + [line for _, part in parts for line in part]
    return shown


def _changed_parts(old: list[str], new: list[str], longest: int, margin: int) -> tuple[list[str], list[str]]:
    """Return the removed and the added lines of a diff, without their common beginning and end."""
    before, after = ("\n".join(line[1:] for line in lines) for lines in (old, new))
    start = _common_start(before, after)
    end = min(len(before) - start, len(after) - start, _common_start(before[::-1], after[::-1]))
    if before == after:  # only a masked secret differs
        return [_clip(line, longest) for line in old], [_clip(line, longest) for line in new]

    def narrowed(lines: list[str], length: int) -> list[str]:
        found, offset = [], 0
        for line in lines:
            size = len(line) - 1
            first = min(max(0, start - margin - offset), size)
            last = max(first, min(size, length - end + margin - offset))
            body = f"{'…' * (first > 0)}{line[1 + first : 1 + last]}{'…' * (last < size)}"
            found.append(line[0] + body if len(line) > longest else line)
            offset += size + 1
        return found

    return narrowed(old, len(before)), narrowed(new, len(after))


def _common_start(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)


def _unified_diff(before: list[str], after: list[str]) -> list[str]:
    """Return the diff of the part between the common first and last lines. A diff of a large file takes minutes."""
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    tail = next((n for n in range(shorter - head) if before[-1 - n] != after[-1 - n]), shorter - head)
    start, end = max(0, head - 1), max(0, tail - 1)
    lines = difflib.unified_diff(before[start : len(before) - end], after[start : len(after) - end], n=1, lineterm="")
    return [
        _HUNK_START.sub(lambda at: f"{at[1]}{int(at[2]) + start}", line) if line[0] == "@" else line
        for line in list(lines)[2:]
    ]


def mask_secrets(text: str) -> str:
    """Return the text with secrets masked: values whose name suggests a secret, and values that look like one."""
    text = _NAMED_SECRET.sub(lambda found: found[1] + _mask_value(found[2], found[3]), text)
    text = _FLAG.sub(lambda found: found[1] + _mask('"') if _is_secret(found[3]) else found[0], text)
    return _API_KEY.sub(MASK, _UNNAMED_SECRET.sub(rf"\1{MASK}", text))


def contains_secret(entry: Mapping[str, Any]) -> bool:
    """Return True if an entry of a client's file contains a secret."""
    text = json.dumps(entry, ensure_ascii=False, default=str)
    return mask_secrets(text) != text


def _mask_values(line: str, values: Iterable[str]) -> str:
    """Return a line with these strings masked, in double quotes as JSON and TOML write them, or in single quotes."""
    for value in values:
        for quoted in (json.dumps(value, ensure_ascii=False), json.dumps(value), f"'{value}'"):
            line = line.replace(quoted, f'"{MASK}"')
    return line


def _mask_value(name: str, value: str) -> str:
    """Mask a value whose name suggests a secret; in other values, mask secrets such as the password of a URL."""
    if _is_secret(name):
        return _mask(value)
    return _NAMED_SECRET.sub(lambda found: found[1] + _mask(found[3]) if _is_secret(found[2]) else found[0], value)


def _mask(value: str) -> str:
    return f'"{MASK}"' if value[0] in "\"'[" else MASK


def mask_command(words: Sequence[str]) -> list[str]:
    """Return a command line with masked secrets."""
    flags = ["", *(word.lstrip("-") if word.startswith("-") else "" for word in words)]
    return [MASK if _is_secret(flag) else mask_secrets(word) for flag, word in zip(flags, words, strict=False)]


def _is_secret(name: str) -> bool:
    return name in _SECRET_SETTINGS if name.startswith(PREFIX) else bool(_SECRET_NAME.search(name))


def color_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines of a diff with terminal colours."""
    colors = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
    return [f"{color}{line}\x1b[0m" if (color := colors.get(line[:1])) else line for line in lines]


def _split_lines(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _printable(line: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else "�" for char in line)


def _clip(line: str, longest: int) -> str:
    return line if len(line) <= longest else line[: longest - 1] + "…"
