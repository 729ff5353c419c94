"""Every fenced block of the documentation with its place, its language and what is said about its being run. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

MARK: Final = re.compile(r"<!-- (not run|run by): (.+) -->")
"""Stands before a block that is not run where it stands: why not, or which test does."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    language: str
    text: str
    generated: bool
    """Whether it stands between marks of a part that is made from the code."""
    mark: str = ""
    reason: str = ""

    @property
    def place(self) -> str:
        """Where it stands, for a reader of a failure."""
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of one page, in order; indented ones too, which the house does not write."""
    generated, said = False, None
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            said = MARK.search(token.content)
            for mark in re.findall(r"<!-- (begin|end):", token.content):
                generated = mark == "begin"
        elif token.type in {"fence", "code_block"}:
            line = token.map[0] + 1 if token.map else 0
            mark, reason = said.groups() if said else ("", "")
            language = token.info.strip() or "none"
            yield Block(page, line, language, token.content, generated, mark, reason)
            said = None
        elif token.type.endswith("_open"):
            said = None
