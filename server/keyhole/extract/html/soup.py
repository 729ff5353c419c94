"""A tree for Beautiful Soup, told element by element: containers, lines, and marks within a line. Reads no HTML.

Told so, the tree is regular: every text stands in one line (a paragraph or a heading), white space is as a browser
shows it, elements that mean nothing are not there, and it is never deep. Writing HTML and parsing it again would
cost more, and move misplaced elements a second time.
"""

from __future__ import annotations

from typing import Final

from bs4 import BeautifulSoup, Tag

from keyhole.text.clean import clean
from keyhole.text.escape import escaped

MAX_CONTAINERS: Final = 40
"""Lists, items and quotes around a line: twenty levels of a list. Real ones nest six deep, what goes deeper forgot to
close its tags; each level costs the converter calls on the interpreter's stack, and another indent."""
LISTS: Final = frozenset({"ul", "ol", "dl"})
TABLES: Final = frozenset({"table", "tr", "td"})
SPACED: Final = frozenset({"li", "dd", "blockquote", "footnote", "table"})
"""Containers that stand below what is before them, close or with a blank line between."""
RAISED: Final = frozenset({"sup", "sub"})
_BEFORE: Final = 20
"""Characters before a power or an index that tell what it belongs to."""


class Mark:
    """An element within a line that is open around the words that follow."""

    __slots__ = ("attributes", "kind", "shown", "used")

    def __init__(self, kind: str, attributes: dict[str, str]) -> None:
        self.kind = kind
        self.attributes = attributes
        self.shown = False
        """Its start stands in the present line."""
        self.used = False
        """It stood around a line, and is not repeated around the next: a link is one link, also around blocks."""


class _Tag(Tag):
    """An element of the regular tree."""

    def find_parent(self, *_: object, **__: object) -> None:
        """None: markdownify asks every element whether it stands in `<pre>`, where this tree has nothing but text."""


class Soup:
    """Takes blocks and words in order, and has the tree. A line begins with its first word, so none is empty."""

    def __init__(self, *, suspicious: bool = False) -> None:
        """`suspicious`: texts may have characters that no reader sees."""
        self._suspicious = suspicious
        self._soup = BeautifulSoup("", "html.parser", multi_valued_attributes=None, element_classes={Tag: _Tag})
        self._soup.reset()
        self.heading = 0
        self.tight = False
        """The next block follows without a blank line."""
        self.in_cell = False
        """A cell is one line of Markdown: no fences, and no formulas of their own line."""
        self.blocks = 0
        """Lines and other blocks so far."""
        self.before = ""
        """The last characters of the line."""
        self._marks: list[Mark] = []
        self._line = ""
        self._spaced = True
        self._breaks = 0
        self._containers: list[str] = []
        self._code = False

    def finish(self) -> BeautifulSoup:
        """The tree; nothing can be told any more."""
        self.end_line()
        self._soup.endData()
        return self._soup

    # Blocks.

    @property
    def nested(self) -> bool:
        """Whether a line would stand inside an item, a quote or a note."""
        return any(tag not in LISTS for tag in self._containers)

    def open(self, tag: str, attributes: dict[str, str]) -> bool:
        """Begin a container; whether there was room for it. Tables always have it, as there are none inside."""
        self.end_line()
        if len(self._containers) >= MAX_CONTAINERS and tag not in TABLES:
            return False
        if tag in SPACED:
            attributes = self._spacing(attributes)
        self._containers.append(tag)
        self._start(tag, attributes)
        return True

    def close(self) -> None:
        """End the innermost container."""
        self.end_line()
        self._end(self._containers.pop())

    def block(self, tag: str, text: str, attributes: dict[str, str]) -> None:
        """A block that holds text as it is, or nothing."""
        self.end_line()
        self.heading = 0
        self.blocks += 1
        self._start(tag, self._spacing(attributes))
        if text:
            self._soup.handle_data(text)
        self._end(tag)

    def cell(self, text: str, attributes: dict[str, str]) -> None:
        """A cell that holds nothing but text, as most do: it needs no line of its own."""
        self._start("td", attributes)
        if words := " ".join((clean(text) if self._suspicious else text).split()):
            self._soup.handle_data(escaped(words))
        self._end("td")

    def end_line(self) -> None:
        """End the paragraph or heading, and what is open in it."""
        if not self._line:
            return
        for mark in reversed(self._marks):
            if mark.shown:
                self._end(mark.kind)
                mark.shown, mark.used = False, True
        self._end(self._line)
        self._line, self.before = "", ""
        self._spaced = True

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._end_code()
        self._soup.handle_starttag(tag, None, None, attributes)

    def _end(self, tag: str) -> None:
        self._end_code()
        self._soup.handle_endtag(tag)

    def _end_code(self) -> None:
        if self._code:
            self._code = False
            self._soup.handle_endtag("code")

    def _spacing(self, attributes: dict[str, str]) -> dict[str, str]:
        if self.tight:
            self.tight = False
            return attributes | {"tight": ""}
        return attributes

    # Words.

    def _begin(self) -> None:
        """Begin a line where none is open, and in it the marks that wait for a word."""
        if not self._line:
            self._line = f"h{self.heading}" if self.heading else "p"
            self.blocks += 1
            self._start(self._line, self._spacing({}))
        for mark in self._marks:
            if not mark.used and not mark.shown:
                mark.shown = True
                if self.before and mark.kind in RAISED:
                    mark.attributes["before"] = self.before
                self._start(mark.kind, mark.attributes)

    def text(self, text: str) -> None:
        """Take words, with white space as a browser shows it."""
        if self._suspicious:
            # Before signs are escaped: what is taken out between two of them would bring them together.
            text = clean(text)
        words = text.split()
        if not words:
            if text and not self._spaced:
                self._say(" ")
            return
        joined = " ".join(words)
        if text[0].isspace() and not self._spaced:
            joined = " " + joined
        if text[-1].isspace():
            joined += " "
        self._begin()
        self._say(escaped(joined, self.before))

    def literal(self, markdown: str) -> None:
        """Take words that are Markdown already."""
        self._begin()
        self._say(markdown)

    def _say(self, text: str) -> None:
        self._end_code()
        self._soup.handle_data(text)
        self.before = text[-_BEFORE:]
        self._spaced = text[-1] == " "
        self._breaks = 0

    def line_break(self) -> None:
        """Begin a new line in the paragraph; the third and further ones in a row change nothing."""
        if self.heading:
            self.text(" ")
        elif self._line and self._breaks < 2:
            self._start("br", {})
            self._end("br")
            self._breaks += 1
            self._spaced, self.before = True, "\n"

    def code(self, code: str) -> None:
        """Code within a line; right after other code it goes on, as two spans that touch are not read as two."""
        words = " ".join(code.split())
        if not words:
            self.text(code)
            return
        if code[0].isspace():
            self.text(" ")
        self._begin()
        if not self._code or "`" in words:
            if self.before == "`":
                self._say(" ")  # touching backticks would be read as one run
            self._start("code", {})
        self._soup.handle_data(words)
        self._code = "`" not in words
        if not self._code:
            self._soup.handle_endtag("code")
        self.before, self._spaced, self._breaks = "`", False, 0
        if code[-1].isspace():
            self.text(" ")

    def mark(self, kind: str, attributes: dict[str, str]) -> Mark | None:
        """Begin an element within a line; within its own kind it is not repeated."""
        if any(mark.kind == kind for mark in self._marks):
            return None
        mark = Mark(kind, attributes)
        self._marks.append(mark)
        return mark

    def marked(self, kind: str) -> bool:
        """Whether such an element is open."""
        return any(mark.kind == kind for mark in self._marks)

    def end_mark(self, mark: Mark) -> None:
        """End what `mark()` began; without a word in it, it is not there."""
        self._marks.remove(mark)
        if mark.shown:
            self._end(mark.kind)
            if mark.kind == "a":
                self.before = ")"
