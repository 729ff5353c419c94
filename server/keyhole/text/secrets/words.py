"""Split a shell command into the words of its simple commands, with their places in the text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from keyhole.text.lazy_pattern import lazy_pattern

_TOKEN: Final = lazy_pattern(
    r"""(?P<space>(?:[ \t\r]|\\\n)++)"""
    r"""|(?P<redirect>[0-9]?(?:<<<|<<-?|>>|>\||[<>]&|&>|[<>](?!\()))"""
    r"""|(?P<open>[$<>]?\()"""
    r"""|(?P<word>(?:[^\s\\"'`|&;()<>$]|\\.|"(?:[^"\\]|\\.)*+"|'[^']*+'|\$(?!\()|["'])++)"""
    r"""|(?P<sign>\|&?|.)""",
    re.DOTALL,
)
"""A token of a shell. A quotation mark without its partner, as in prose, is a character like others."""


class Word(NamedTuple):
    """A word of a command: its place in the text, and its characters with their quotation marks."""

    start: int
    raw: str

    @property
    def value(self) -> str:
        """The word without quotation marks around all of it."""
        return (
            self.raw[1:-1] if len(self.raw) > 1 and self.raw[0] == self.raw[-1] and self.raw[0] in "\"'" else self.raw
        )


class Command:
    """A simple command: its words, the here-strings that it reads, and the commands whose output a pipe leads to it."""

    def __init__(self, sources: list[Command]) -> None:
        self.words: list[Word] = []
        self.here_strings: list[Word] = []
        self.sources = sources


def parse(text: str) -> list[Command]:
    """Return the simple commands of a text, also those of substitutions. Any text is read as a command."""
    return _Parser(text).commands


class _Parser:
    def __init__(self, text: str) -> None:
        self.commands: list[Command] = []
        self._left: list[Command] = []  # the commands of the group that was closed last, on the left of a pipe
        self._open: list[tuple[str, Command, int]] = []
        self._redirect = ""
        self._begin([])
        for token in _TOKEN.finditer(text):
            self._read(token)

    def _read(self, token: re.Match[str]) -> None:
        kind, raw = token.lastgroup, token[0]
        if kind == "word":
            if self._redirect in ("<<<", ""):
                words = self._current.here_strings if self._redirect else self._current.words
                words.append(Word(token.start(), raw))
            self._redirect = ""
        elif kind == "redirect":
            self._redirect = raw
        elif raw == ")" or (raw == "`" and self._open and self._open[-1][0] == "`"):
            self._close()
        elif kind == "open" or raw == "`":
            self._open.append((raw, self._current, len(self.commands)))
            self._begin([])
        elif kind == "sign":
            self._begin([*self._left, self._current] if raw[0] == "|" else [])

    def _begin(self, sources: list[Command]) -> None:
        self._current = Command(sources)
        self.commands.append(self._current)
        self._left, self._redirect = [], ""

    def _close(self) -> None:
        """Go on with the command before `$(`. A group `(…)` is the left side of a pipe as a whole."""
        if self._open:
            sign, self._current, start = self._open.pop()
            self._left = self.commands[start:] if sign == "(" else []
