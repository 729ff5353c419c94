"""Pruned HTML to Markdown: absolute links, whole code, tables and lists. Decides nothing about what is content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract import code, formulas, tables
from keyhole.extract.decode import tidy
from keyhole.extract.links import absolute
from keyhole.extract.phrases import HEADINGS, PHRASES, Phrases
from keyhole.extract.writer import Writer

__all__ = ["absolute", "to_markdown"]

_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "header", "hgroup", "html", "legend",
    "li", "main", "menu", "nav", "noframes", "ol", "optgroup", "option", "p", "search", "section", "summary", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_IN_HEADINGS = frozenset({"div", "section", "p", "header", "center", "hgroup", "article", "main"})
_HEADED_REACH: Final = 8
"""Elements at the beginning of a list item in which a heading makes the list a layout: deeper ones are content."""
_NUMBER = re.compile(r"[0-9]{1,6}")


def to_markdown(region: HtmlElement, base_url: str) -> str:
    """Markdown of a tree whose scripts, hidden parts and boilerplate are gone; ends with a line break.

    `base_url` is what relative links are joined to. Never raises for any tree. Changes nothing in it.
    """
    converter = _Converter(region, base_url)
    converter.walk(region, inside=False)
    converter.writer.flush()
    return tidy("\n".join(converter.writer.lines)).strip("\n") + "\n"


class _List:
    """A list that is open, and the number of its next item."""

    __slots__ = ("count", "number", "step")

    def __init__(self, element: HtmlElement) -> None:
        self.number: int | None = None
        self.step = -1 if element.get("reversed") is not None else 1
        self.count = 0
        if element.tag == "ol":
            default = sum(1 for child in element if child.tag == "li") if self.step < 0 else 1
            self.number = _number(element.get("start"), default)


def _number(value: str | None, default: int) -> int:
    value = (value or "").strip()
    return int(value) if _NUMBER.fullmatch(value) else default


class _Converter(Phrases):
    """One walk over the tree; the elements that are blocks."""

    def __init__(self, region: HtmlElement, base_url: str) -> None:
        super().__init__(region, base_url)
        self._lists: list[_List] = []
        self._after_term = -1
        self._own_lines: set[HtmlElement] = set()

    def walk(self, root: HtmlElement, *, inside: bool) -> None:
        """Convert a tree; with `inside`, what is in an element and not the element itself."""
        events = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        skipped: HtmlElement | None = None
        for event, element in events:
            if event == "start":
                if (inside and element is root) or self._start(element):
                    self._take(element.text)
                else:
                    skipped = element
                    events.skip_subtree()
                continue
            if event == "end":
                if skipped is element:
                    skipped = None
                else:
                    self._end(element)
            if element is not root:
                self._take(element.tail)

    def _take(self, text: str | None) -> None:
        if text:
            self.writer.text(text)

    def _start(self, element: HtmlElement) -> bool:
        """Begin an element; whether its content is to be walked, as it was not written here."""
        tag = element.tag
        if self._notes.dropped and element in self._notes.dropped:
            return False
        if self._own_lines and element in self._own_lines:
            self.writer.line_break()
        start = _STARTS.get(tag)
        if tag in _BLOCKS:
            self._block_edge(tag)
            if self._notes.notes and element in self._notes.notes:
                self._push(element, f"[^{self._notes.notes[element]}]: ", "    ")
                return True
        if start is not None:
            return start(self, element)
        classes = element.get("class")
        return not (classes and self._start_classed(element, classes))

    def _end(self, element: HtmlElement) -> None:
        if element.tag in _BLOCKS:
            self._block_edge(element.tag)
        while self._open and self._open[-1][0] is element:
            self._open.pop()[1]()

    def _block_edge(self, tag: str) -> None:
        writer = self.writer
        if writer.heading and tag in _IN_HEADINGS:
            writer.text(" ")
            return
        writer.flush()
        writer.heading = 0

    def _push(self, element: HtmlElement, first: str, rest: str) -> None:
        self.writer.push(first, rest)
        self._open.append((element, self.writer.pop))

    def _start_classed(self, element: HtmlElement, classes: str) -> bool:
        """Elements that only their class tells: formulas and code without elements of their own; whether written."""
        names = classes[: code.MAX_CLASS].split()
        if "t-lines" in names:
            # The lines of MediaWiki's pages on C and C++, which only their style sheet breaks.
            self._own_lines.update(element[1:])
        if "math" in names and (tex := formulas.of_text(element)):
            self._formula(tex)
            return True
        if "fragment" in names or "syntaxhighlighter" in names:
            source = next((cell for cell in islice(element.iter("td"), 4) if cell.get("class") == "code"), element)
            if next(source.iter("pre"), None) is None and (text := code.text_of(source)).strip():
                self._code_block(text, code.language(element))
                return True
        return False

    # Blocks.

    def heading(self, element: HtmlElement) -> bool:
        writer = self.writer
        writer.flush()
        writer.heading = int(element.tag[1])
        self._open.append((element, self._end_heading))
        return True

    def _end_heading(self) -> None:
        self.writer.flush()
        self.writer.heading = 0

    def list(self, element: HtmlElement) -> bool:
        self._lists.append(_List(element))
        self._open.append((element, lambda: (self._lists.pop(), None)[1]))
        return True

    def item(self, element: HtmlElement) -> bool:
        if _headed(element):
            return True
        number: int | None = None
        if self._lists:
            around = self._lists[-1]
            if around.number is not None:
                number = _number(element.get("value"), around.number)
                around.number = number + around.step
            # Only a list that begins at 1 can follow a line of text without a blank one.
            self.writer.tight = around.count > 0 or (self.writer.nested and number in {None, 1})
            around.count += 1
        bullet = "- " if number is None else f"{max(number, 0)}. "
        self._push(element, bullet, " " * len(bullet))
        return True

    def term(self, element: HtmlElement) -> bool:
        if self._lists:
            self._lists[-1].count += 1
        parent = element.getparent()
        # Terms that nobody closed: the parser nests them.
        if self._after_term == len(self.writer.lines) or (parent is not None and parent.tag == "dt"):
            self.writer.tight = True
        self._open.append((element, self._end_term))
        return True

    def _end_term(self) -> None:
        self.writer.flush()
        self._after_term = len(self.writer.lines)

    def definition(self, element: HtmlElement) -> bool:
        """What a term means; without a term above it is an indent, as wikis write it, and means nothing."""
        if _headed(element) or (self._lists and self._lists[-1].count == 0):
            return True
        if self._open and self._open[-1][0] is element.getparent() and self._open[-1][0].tag == "dd":
            self._open.pop()[1]()
        self.writer.tight = self._after_term == len(self.writer.lines) > 0
        self._push(element, ": ", "  ")
        return True

    def quote(self, element: HtmlElement) -> bool:
        self._push(element, "> ", "> ")
        return True

    def rule(self, element: HtmlElement) -> bool:
        if not self.writer.one_line:
            self.writer.flush()
            self.writer.heading = 0
            self.writer.block(["---"])
        return False

    def summary(self, element: HtmlElement) -> bool:
        if next(element.iter("strong", "b", "code", *sorted(HEADINGS)), None) is not None:
            return True
        return self._mark(element, "strong", "**", "**")

    def preformatted(self, element: HtmlElement) -> bool:
        if code.is_gutter_block(element):
            return False
        if element.tag != "pre" and next(element.iter("p", "div", "table", "ul"), None) is not None:
            return True
        text = tidy(code.text_of(element))
        if text.strip():
            self._code_block(text, code.language(element))
        return False

    def _code_block(self, text: str, language: str) -> None:
        if self.writer.one_line:
            self.writer.flush()
            self.writer.code(text)
            self.writer.flush()
            return
        self.writer.flush()
        self.writer.heading = 0
        self.writer.fence(tidy(text), language)

    def table(self, element: HtmlElement) -> bool:
        if (listing := code.listing(element)) is not None:
            self._code_block(listing, code.language(element))
            return False
        if not tables.is_data(element):
            return True
        for caption in element.iterchildren("caption"):
            self.walk(caption, inside=False)
            self.writer.flush()
        lines = tables.lines(element, self._cell)
        if lines:
            self.writer.block(lines)
        return False

    def _cell(self, cell: HtmlElement) -> str:
        """The text of a cell in one line."""
        if len(cell) == 0:
            text = " ".join((cell.text or "").split())
        else:
            around, self.writer = self.writer, Writer(one_line=True)
            lists, self._lists = self._lists, []
            self.walk(cell, inside=True)
            self.writer.flush()
            text = "<br>".join(line for line in self.writer.lines if line)
            self.writer, self._lists = around, lists
        return text.replace("|", "\\|") if "|" in text else text

    def cell(self, element: HtmlElement) -> bool:
        return not code.is_gutter(element)


def _headed(element: HtmlElement) -> bool:
    """Whether an item begins with a heading: then it is a part of the page, and its list is layout."""
    first: Iterator[HtmlElement] = islice(element.iter(), _HEADED_REACH)
    return any(inner.tag in HEADINGS for inner in first)


_STARTS: Final[dict[str, Callable[[_Converter, HtmlElement], bool]]] = {
    **PHRASES,
    **dict.fromkeys(HEADINGS, _Converter.heading),
    **dict.fromkeys(("ul", "ol", "dl", "menu", "dir"), _Converter.list),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _Converter.preformatted),
    **dict.fromkeys(("td", "th"), _Converter.cell),
    "li": _Converter.item,
    "dt": _Converter.term,
    "dd": _Converter.definition,
    "blockquote": _Converter.quote,
    "hr": _Converter.rule,
    "summary": _Converter.summary,
    "table": _Converter.table,
}
