"""Find the fenced code blocks of a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

RUN_COMMENT: Final = re.compile(r"<!-- (not run|run by): (.+) -->")
"""A comment before a block that the documentation tests do not run: the reason, or the test that runs it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    generated: bool
    """True if the block is in a part that is generated from the code."""
    mark: str = ""
    """`not run` or `run by`; empty if no RUN_COMMENT precedes the block."""
    reason: str = ""
    """The reason why the block is not run, or the test that runs it."""

    @property
    def location(self) -> str:
        """The file name and line of the block."""
        return f"{self.page.name}:{self.line}"


def iter_blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced and indented blocks of a page, in order."""
    generated, comment = False, None
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            comment = RUN_COMMENT.search(token.content)
            for boundary in re.findall(r"<!-- (begin|end):", token.content):
                generated = boundary == "begin"
        elif token.type in {"fence", "code_block"}:
            line = token.map[0] + 1 if token.map else 0
            mark, reason = comment.groups() if comment else ("", "")
            language = token.info.strip() or "none"
            yield Block(page, line, language, token.content, generated, mark, reason)
            comment = None
        elif token.type.endswith("_open"):
            comment = None
