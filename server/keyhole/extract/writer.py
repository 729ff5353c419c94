"""Markdown line by line: blocks at their indent, the line that is being put together, marks. Knows no HTML."""

from __future__ import annotations

import re
from typing import Final

MAX_INDENT: Final = 80
"""Characters before a line: lists nest six levels deep, what goes deeper forgot to close its tags."""

_BACKTICKS = re.compile(r"`+")
# A line of text that would open a heading or a fence, or underline the line before it as a heading.
_STRUCTURE = re.compile(
    r"(?m)^((?:(?:[-*+:>]|\d{1,9}[.)])[ \t]+)*)(?=#{1,6}(?:[ \t]|$)|`{3,}[^`\n]*$|~{3}|(?:={2,}|-{2,})$)"
)
_STRUCTURE_SIGNS: Final = ("#", "=", "--")
_BLANK_LINES = re.compile(r"\s*\n\s*\n\s*")


class Mark:
    """Markup that is open around the words that follow: what stands before and after them."""

    __slots__ = ("after", "before", "kind", "start", "used")

    def __init__(self, kind: str, before: str, after: str, start: int) -> None:
        self.kind = kind
        self.before = before
        self.after = after
        self.start = start
        self.used = False
        """It stands around its first paragraph only."""


class Writer:
    """Takes blocks and words in order, and has the lines."""

    def __init__(self, *, one_line: bool = False) -> None:
        self.lines: list[str] = []
        self.one_line = one_line
        """The lines go into a cell: no fences, and no room for indents."""
        self.heading = 0
        self.tight = False
        """The next block follows without a blank line."""
        self.parts: list[str] = []
        self.marks: list[Mark] = []
        self._code_end = 0
        self._first = self._rest = ""
        self._outer: str | None = None
        self._levels: list[tuple[str, str, str | None, int, bool]] = []

    # Blocks.

    @property
    def nested(self) -> bool:
        """Whether a container is open."""
        return bool(self._levels)

    def push(self, first: str, rest: str) -> None:
        """Begin a container: `first` stands before its first line, `rest` before the others."""
        self.flush()
        self._levels.append((self._first, self._rest, self._outer, len(self.lines), self.tight))
        if self._outer is None:
            self._outer = self._rest
        if len(self._first) < MAX_INDENT:
            self._first += first
        if len(self._rest) < MAX_INDENT:
            self._rest += rest

    def pop(self) -> None:
        """End the container; one that stayed empty leaves nothing."""
        self.flush()
        first, rest, outer, count, tight = self._levels.pop()
        self._rest = rest
        if len(self.lines) == count:
            self._first, self._outer, self.tight = first, outer, tight
        else:
            self._first, self._outer = rest, None

    def block(self, lines: list[str]) -> None:
        """Write a block at the present indent."""
        blank = (self._rest if self._outer is None else self._outer).rstrip()
        if self.lines and not self.tight:
            self.lines.append(blank)
        rest = self._rest
        bare = rest.rstrip()
        self.lines.append(self._first + lines[0])
        self.lines += [rest + line if line else bare for line in lines[1:]] if rest else lines[1:]
        self._first, self._outer, self.tight = rest, None, False

    def fence(self, code: str, language: str) -> None:
        """A block of code under a fence that it does not contain."""
        longest = max(map(len, _BACKTICKS.findall(code)), default=0) if "```" in code else 2
        fence = "`" * (longest + 1)
        self.block([fence + language, *code.split("\n"), fence])

    def flush(self) -> None:
        """End the paragraph or heading whose words were taken."""
        if not self.parts:
            return
        for mark in reversed(self.marks):
            if not mark.used:
                mark.used = self._close(mark)
            mark.start = 0
        text = "".join(self.parts).strip()
        self.parts.clear()
        if not text:
            return
        if self.heading:
            self.block([f"{'#' * self.heading} {' '.join(text.split())}"])
            return
        if "\n\n" in text:
            text = _BLANK_LINES.sub("\n\n", text)
        if self.one_line:
            pass
        elif "\n" in text or text.startswith(_STRUCTURE_SIGNS) or "```" in text or "~~~" in text or " #" in text[:20]:
            text = _STRUCTURE.sub(r"\1\\", text)
        self.block([line.strip() for line in text.split("\n")])

    # Words.

    def text(self, text: str) -> None:
        """Take words, with white space as a browser shows it."""
        parts = self.parts
        open_end = not parts or parts[-1][-1] in " \n"
        words = text.split()
        if not words:
            if not open_end:
                parts.append(" ")
            return
        joined = " ".join(words)
        if text[0].isspace() and not open_end:
            joined = " " + joined
        if text[-1].isspace():
            joined += " "
        if "\xad" in joined or "\u200b" in joined:
            # Places where a line may break: within a word they would hide it from a search.
            joined = joined.replace("\xad", "").replace("\u200b", "")
        if joined:
            parts.append(joined)

    def line_break(self) -> None:
        """Begin a new line in the paragraph; the third and further ones in a row change nothing."""
        if self.heading:
            self.text(" ")
        elif self.parts and not (self.parts[-1] == "\n" and self.parts[-2:-1] == ["\n"]):
            self.parts.append("\n")

    def code(self, code: str) -> None:
        """Code within a line."""
        text = " ".join(code.split())
        if not text:
            self.text(code)
            return
        if code[0].isspace():
            self.text(" ")
        longest = max(map(len, _BACKTICKS.findall(text)), default=0) if "`" in text else 0
        ticks = "`" * (longest + 1)
        room = " " if longest else ""
        if not longest and self.parts and self._code_end == len(self.parts) and self.parts[-1] == "`":
            # Code right after code: two spans that touch would not be read as two.
            self.parts.pop()
            self.parts += [text, "`"]
        else:
            self.parts += [f"{ticks}{room}", text, f"{room}{ticks}"]
        self._code_end = len(self.parts)
        if code[-1].isspace():
            self.parts.append(" ")

    def open(self, kind: str, before: str, after: str) -> Mark | None:
        """Begin markup; within its own kind it is not repeated."""
        if any(mark.kind == kind for mark in self.marks):
            return None
        mark = Mark(kind, before, after, len(self.parts))
        self.marks.append(mark)
        return mark

    def close(self, mark: Mark) -> None:
        """End markup that `open()` began."""
        self.marks.remove(mark)
        if not mark.used:
            self._close(mark)

    def taken(self, mark: Mark) -> str:
        """The words taken since a mark was opened, which are given back."""
        words = "".join(self.parts[mark.start :])
        del self.parts[mark.start :]
        return words

    def _close(self, mark: Mark) -> bool:
        """Put the marks around the words, not around the white space at their ends; whether there were any words."""
        words = self.taken(mark)
        core = words.strip()
        if not core:
            if words:
                self.text(words)
            return False
        if words[0].isspace():
            self.text(" ") if words[0] == " " else self.parts.append("\n")
        self.parts.append(mark.before + core + mark.after)
        if words[-1].isspace():
            self.parts.append(words[-1])
        return True
