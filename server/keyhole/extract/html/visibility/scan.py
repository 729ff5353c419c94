"""Split CSS text into rules and nested blocks, fast, without reading what cannot matter."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_MARKS: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\."""
    r"""|url\(\s*+(?!["'])(?:[^()"'\\]|\\.)*+\)|\([^(){}\[\]"'\\/]*+\)|[(){}\[\]]""",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, strings, escapes, addresses and brackets: all that decides where a block begins and ends."""
MAX_DEPTH: Final = 32
"""Depth of nested blocks that are read. Real sheets nest about 5 deep."""
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_LEADING: Final = re.compile(r"(?:\s+|/\*.*?(?:\*/|\Z)|<!--|-->)+", re.DOTALL)
_STARTS: Final = frozenset(".#@*:[&")
"""Characters, beside letters, with which most preludes begin."""
_STRINGS: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\.|\([^()]*+\)""", re.DOTALL
)


@dataclass(slots=True)
class Block:
    """A prelude with the text of its block: a rule, an at-rule or an at-rule without a block (`body` is None)."""

    prelude: str
    body: str | None
    children: list[Block] = field(default_factory=list)


def split_blocks(css: str) -> list[Block]:
    """Return the rules of a style sheet in order. Unclosed blocks and strings end as CSS Syntax Level 3 says."""
    root: list[Block] = []
    open_blocks: list[tuple[str, int, list[Block]]] = []  # prelude, start of the body, children
    brackets: list[str] = []
    start = 0
    for mark in _MARKS.finditer(css):
        sign = mark[0]
        if len(sign) > 1:
            continue
        if brackets or sign in "([":
            _track(brackets, sign)
        elif sign == "{":
            open_blocks.append((css[start : mark.start()], mark.end(), []))
            start = mark.end()
        elif sign == "}" and open_blocks:
            _close(css, mark.start(), open_blocks, root)
            start = mark.end()
    if open_blocks:
        while open_blocks:
            _close(css, len(css), open_blocks, root)
    else:
        _append(root, css[start:], None, [], nested=False)
    return root


def _track(brackets: list[str], sign: str) -> None:
    """Follow brackets inside parentheses. A closing bracket without its opening one is ignored."""
    if sign in "([{":
        brackets.append(sign)
    elif sign in _PAIRS and brackets[-1] == _PAIRS[sign]:
        brackets.pop()


def _close(css: str, end: int, open_blocks: list[tuple[str, int, list[Block]]], root: list[Block]) -> None:
    prelude, start, children = open_blocks.pop()
    if len(open_blocks) >= MAX_DEPTH:
        return
    siblings = open_blocks[-1][2] if open_blocks else root
    _append(siblings, prelude, css[start:end], children, nested=bool(open_blocks))


def _append(siblings: list[Block], prelude: str, body: str | None, children: list[Block], nested: bool) -> None:
    """Append a block, and before it the at-rules without a block that stand in front of it."""
    prelude = _strip_leading(prelude)
    while prelude.startswith("@") or (nested and ";" in prelude):
        end = _find_semicolon(prelude)
        if end < 0:
            break
        if prelude.startswith("@"):
            siblings.append(Block(prelude[:end], None))
        prelude = _strip_leading(prelude[end + 1 :])
    if body is not None:
        siblings.append(Block(prelude, body, children))
    elif prelude.startswith("@"):
        siblings.append(Block(prelude, None))


def _strip_leading(prelude: str) -> str:
    """Return a prelude without the white space and the comments in front of it."""
    if prelude[:1].isalnum() or prelude[:1] in _STARTS:
        return prelude
    match = _LEADING.match(prelude)
    return prelude[match.end() :] if match else prelude


def _find_semicolon(text: str) -> int:
    """Return the position of the first semicolon outside strings, comments and parentheses, or -1."""
    if '"' in text or "'" in text or "(" in text or "\\" in text or "/*" in text:
        text = _STRINGS.sub(lambda match: " " * len(match[0]), text)
    return text.find(";")
