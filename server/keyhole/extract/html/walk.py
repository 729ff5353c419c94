"""One walk over the pruned tree of a page that tells its blocks to the soup. Writes no Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from bs4 import BeautifulSoup
from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.decode import tidy
from keyhole.extract.html import code, formulas, tables
from keyhole.extract.html.inline_elements import HEADINGS, PHRASES, Phrases
from keyhole.extract.html.soup import LISTS

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


def soup_of(region: HtmlElement, base_url: str) -> BeautifulSoup:
    """The tree of what is to be written, with absolute links. Never raises for any tree, and changes nothing in it."""
    feeder = _Feeder(region, base_url)
    feeder.walk(region, inside=False)
    return feeder.soup.finish()


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


class _Feeder(Phrases):
    """One walk over the tree; the elements that are blocks."""

    def __init__(self, region: HtmlElement, base_url: str) -> None:
        super().__init__(region, base_url)
        self._lists: list[_List] = []
        self._after_term = -1
        self._own_lines: set[HtmlElement] = set()

    def walk(self, root: HtmlElement, *, inside: bool) -> None:
        """Tell a tree; with `inside`, what is in an element and not the element itself."""
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
            self.soup.text(text)

    def _start(self, element: HtmlElement) -> bool:
        """Begin an element; whether its content is to be walked, as it was not told here."""
        tag = element.tag
        if self._notes.dropped and element in self._notes.dropped:
            return False
        if self._own_lines and element in self._own_lines:
            self.soup.line_break()
        start = _STARTS.get(tag)
        if tag in _BLOCKS:
            self._block_edge(tag)
            if self._notes.notes and element in self._notes.notes:
                self._contain(element, "footnote", {"label": self._notes.notes[element]})
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
        soup = self.soup
        if soup.heading and tag in _IN_HEADINGS:
            soup.text(" ")
            return
        soup.end_line()
        soup.heading = 0

    def _contain(self, element: HtmlElement, tag: str, attributes: dict[str, str]) -> None:
        if self.soup.open(tag, attributes):
            self._open.append((element, self.soup.close))

    def _start_classed(self, element: HtmlElement, classes: str) -> bool:
        """Elements that only their class tells: formulas and code without elements of their own; whether told."""
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
        self.soup.end_line()
        self.soup.heading = int(element.tag[1])
        self._open.append((element, self._end_heading))
        return True

    def _end_heading(self) -> None:
        self.soup.end_line()
        self.soup.heading = 0

    def list(self, element: HtmlElement) -> bool:
        self._lists.append(_List(element))
        self._open.append((element, self._end_list))
        self._contain(element, element.tag if element.tag in LISTS else "ul", {})
        return True

    def _end_list(self) -> None:
        self._lists.pop()

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
            self.soup.tight = around.count > 0 or (self.soup.nested and number in {None, 1})
            around.count += 1
        self._contain(element, "li", {} if number is None else {"number": str(max(number, 0))})
        return True

    def term(self, element: HtmlElement) -> bool:
        if self._lists:
            self._lists[-1].count += 1
        parent = element.getparent()
        # Terms that nobody closed: the parser nests them.
        if self._after_term == self.soup.blocks or (parent is not None and parent.tag == "dt"):
            self.soup.tight = True
        self._open.append((element, self._end_term))
        return True

    def _end_term(self) -> None:
        self.soup.end_line()
        self._after_term = self.soup.blocks

    def definition(self, element: HtmlElement) -> bool:
        """What a term means; without a term above it is an indent, as wikis write it, and means nothing."""
        if _headed(element) or (self._lists and self._lists[-1].count == 0):
            return True
        if self._open and self._open[-1][0] is element.getparent() and self._open[-1][0].tag == "dd":
            self._open.pop()[1]()
        self.soup.tight = self._after_term == self.soup.blocks > 0
        self._contain(element, "dd", {})
        return True

    def quote(self, element: HtmlElement) -> bool:
        self._contain(element, "blockquote", {})
        return True

    def rule(self, _element: HtmlElement) -> bool:
        if not self.soup.in_cell:
            self.soup.block("hr", "", {})
        return False

    def summary(self, element: HtmlElement) -> bool:
        if next(element.iter("strong", "b", "code", *sorted(HEADINGS)), None) is not None:
            return True
        return self._mark(element, "strong")

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
        if self.soup.in_cell:
            self.soup.end_line()
            self.soup.code(text)
            self.soup.end_line()
        else:
            self.soup.block("pre", tidy(text), {"language": language})

    def table(self, element: HtmlElement) -> bool:
        if (listing := code.listing(element)) is not None:
            self._code_block(listing, code.language(element))
            return False
        if not tables.is_data(element):
            return True
        for caption in element.iterchildren("caption"):
            self.walk(caption, inside=False)
            self.soup.end_line()
        rows, width, headed = tables.shape(element)
        if width:
            self.soup.open("table", {})
            self._row(rows.pop(0) if headed else [], {"columns": str(width)})
            for row in rows:
                self._row(row, {})
            self.soup.close()
        return False

    def _row(self, row: tables.Row, attributes: dict[str, str]) -> None:
        self.soup.open("tr", attributes)
        filled = 0
        for column, cell in row:
            skipped = {"skipped": str(column - filled)} if column > filled else {}
            if len(cell) == 0:
                self.soup.cell(cell.text or "", skipped)
            else:
                self._cell(cell, skipped)
            filled = column + 1
        self.soup.close()

    def _cell(self, cell: HtmlElement, attributes: dict[str, str]) -> None:
        lists, self._lists = self._lists, []
        self.soup.open("td", attributes)
        self.soup.in_cell = True
        self.walk(cell, inside=True)
        self.soup.close()
        self.soup.in_cell = False
        self._lists = lists

    def cell(self, element: HtmlElement) -> bool:
        return not code.is_gutter(element)


def _headed(element: HtmlElement) -> bool:
    """Whether an item begins with a heading: then it is a part of the page, and its list is layout."""
    first: Iterator[HtmlElement] = islice(element.iter(), _HEADED_REACH)
    return any(inner.tag in HEADINGS for inner in first)


_STARTS: Final[dict[str, Callable[[_Feeder, HtmlElement], bool]]] = {
    **PHRASES,
    **dict.fromkeys(HEADINGS, _Feeder.heading),
    **dict.fromkeys(("ul", "ol", "dl", "menu", "dir"), _Feeder.list),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _Feeder.preformatted),
    **dict.fromkeys(("td", "th"), _Feeder.cell),
    "li": _Feeder.item,
    "dt": _Feeder.term,
    "dd": _Feeder.definition,
    "blockquote": _Feeder.quote,
    "hr": _Feeder.rule,
    "summary": _Feeder.summary,
    "table": _Feeder.table,
}
