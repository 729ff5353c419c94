"""Walk the pruned tree of a page once and write its blocks to the soup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from bs4 import BeautifulSoup
from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html import code, formulas, tables
from keyhole.extract.html.inline_elements import HEADINGS, INLINE_ELEMENTS, InlineWriter
from keyhole.extract.html.soup import LISTS
from keyhole.text.clean import clean

_BLOCK_TAGS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "header", "hgroup", "html", "legend",
    "li", "main", "menu", "nav", "noframes", "ol", "optgroup", "option", "p", "search", "section", "summary", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_HEADING_CONTENT = frozenset({"div", "section", "p", "header", "center", "hgroup", "article", "main"})
_HEADING_REACH: Final = 8
"""Number of elements searched for a heading at the beginning of a list item."""
_NUMBER = re.compile(r"[0-9]{1,6}")


def build_soup(region: HtmlElement, base_url: str) -> BeautifulSoup:
    """Return the Beautiful Soup tree of a page's content, with absolute links. Never raises or changes `region`."""
    writer = _PageWriter(region, base_url)
    writer.walk(region, content_only=False)
    return writer.soup.finish()


class _OpenList:
    """An open list, with the count of its items so far and the number of its next item."""

    __slots__ = ("item_count", "next_number", "step")

    def __init__(self, element: HtmlElement) -> None:
        self.next_number: int | None = None
        """None for an unordered list."""
        self.step = -1 if element.get("reversed") is not None else 1
        self.item_count = 0
        if element.tag == "ol":
            default = sum(1 for child in element if child.tag == "li") if self.step < 0 else 1
            self.next_number = _parse_number(element.get("start"), default)


def _parse_number(value: str | None, default: int) -> int:
    value = (value or "").strip()
    return int(value) if _NUMBER.fullmatch(value) else default


class _PageWriter(InlineWriter):
    """A writer of a page's blocks and inline elements."""

    def __init__(self, region: HtmlElement, base_url: str) -> None:
        super().__init__(region, base_url)
        self._open_lists: list[_OpenList] = []
        self._blocks_at_term = -1
        """The number of blocks at the end of the last `<dt>`."""
        self._line_elements: set[HtmlElement] = set()
        """Elements that a line break precedes."""

    def walk(self, root: HtmlElement, *, content_only: bool) -> None:
        """Write a tree, or only the content of its root element if `content_only` is True."""
        events = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        skipped: HtmlElement | None = None
        for event, element in events:
            if event == "start":
                if (content_only and element is root) or self._start(element):
                    self._write_text(element.text)
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
                self._write_text(element.tail)

    def _write_text(self, text: str | None) -> None:
        if text:
            self.soup.add_text(text)

    def _start(self, element: HtmlElement) -> bool:
        """Begin an element and return whether its content must be walked."""
        tag = element.tag
        if self._footnotes.redundant and element in self._footnotes.redundant:
            return False
        if self._line_elements and element in self._line_elements:
            self.soup.add_line_break()
        start = _START_METHODS.get(tag)
        if tag in _BLOCK_TAGS:
            self._block_edge(tag)
            if self._footnotes.notes and element in self._footnotes.notes:
                self._open_container(element, "footnote", {"label": self._footnotes.notes[element]})
                return True
        if start is not None:
            return start(self, element)
        classes = element.get("class")
        return not (classes and self._start_by_class(element, classes))

    def _end(self, element: HtmlElement) -> None:
        if element.tag in _BLOCK_TAGS:
            self._block_edge(element.tag)
        while self._open_elements and self._open_elements[-1][0] is element:
            self._open_elements.pop()[1]()

    def _block_edge(self, tag: str) -> None:
        soup = self.soup
        if soup.heading_level and tag in _HEADING_CONTENT:
            soup.add_text(" ")
            return
        soup.end_line()
        soup.heading_level = 0

    def _open_container(self, element: HtmlElement, tag: str, attributes: dict[str, str]) -> None:
        if self.soup.open_container(tag, attributes):
            self._open_elements.append((element, self.soup.close_container))

    def _start_by_class(self, element: HtmlElement, classes: str) -> bool:
        """Write an element that its class marks as a formula or code. Returns False for other elements."""
        names = classes[: code.MAX_CLASS].split()
        if "t-lines" in names:
            # Lines on cppreference.com, which are separated only by its style sheet.
            self._line_elements.update(element[1:])
        if "math" in names and (tex := formulas.read_delimited_formula(element)):
            self._write_formula(tex)
            return True
        if "fragment" in names or "syntaxhighlighter" in names:
            source = next((cell for cell in islice(element.iter("td"), 4) if cell.get("class") == "code"), element)
            if next(source.iter("pre"), None) is None and (text := code.read_code(source)).strip():
                self._write_code(text, code.find_language(element))
                return True
        return False

    # Blocks.

    def start_heading(self, element: HtmlElement) -> bool:
        self.soup.end_line()
        self.soup.heading_level = int(element.tag[1])
        self._open_elements.append((element, self._end_heading))
        return True

    def _end_heading(self) -> None:
        self.soup.end_line()
        self.soup.heading_level = 0

    def start_list(self, element: HtmlElement) -> bool:
        self._open_lists.append(_OpenList(element))
        self._open_elements.append((element, self._end_list))
        self._open_container(element, element.tag if element.tag in LISTS else "ul", {})
        return True

    def _end_list(self) -> None:
        self._open_lists.pop()

    def start_item(self, element: HtmlElement) -> bool:
        if _begins_with_heading(element):
            return True
        number: int | None = None
        if self._open_lists:
            items = self._open_lists[-1]
            if items.next_number is not None:
                number = _parse_number(element.get("value"), items.next_number)
                items.next_number = number + items.step
            # In Markdown, only a list that begins at 1 can follow a line of text without a blank line.
            self.soup.is_tight = items.item_count > 0 or (self.soup.is_nested and number in {None, 1})
            items.item_count += 1
        self._open_container(element, "li", {} if number is None else {"number": str(max(number, 0))})
        return True

    def start_term(self, element: HtmlElement) -> bool:
        if self._open_lists:
            self._open_lists[-1].item_count += 1
        parent = element.getparent()
        # The parser nests terms that were not closed.
        if self._blocks_at_term == self.soup.block_count or (parent is not None and parent.tag == "dt"):
            self.soup.is_tight = True
        self._open_elements.append((element, self._end_term))
        return True

    def _end_term(self) -> None:
        self.soup.end_line()
        self._blocks_at_term = self.soup.block_count

    def start_definition(self, element: HtmlElement) -> bool:
        """Begin a definition. A `<dd>` without a preceding term is ignored, because wikis use it for indents."""
        if _begins_with_heading(element) or (self._open_lists and self._open_lists[-1].item_count == 0):
            return True
        opened = self._open_elements
        if opened and opened[-1][0] is element.getparent() and opened[-1][0].tag == "dd":
            opened.pop()[1]()
        self.soup.is_tight = self._blocks_at_term == self.soup.block_count > 0
        self._open_container(element, "dd", {})
        return True

    def start_quote(self, element: HtmlElement) -> bool:
        self._open_container(element, "blockquote", {})
        return True

    def start_rule(self, _element: HtmlElement) -> bool:
        if not self.soup.is_in_cell:
            self.soup.add_block("hr", "", {})
        return False

    def start_summary(self, element: HtmlElement) -> bool:
        if next(element.iter("strong", "b", "code", *sorted(HEADINGS)), None) is not None:
            return True
        return self._open_mark(element, "strong")

    def start_preformatted(self, element: HtmlElement) -> bool:
        if code.is_gutter_block(element):
            return False
        if element.tag != "pre" and next(element.iter("p", "div", "table", "ul"), None) is not None:
            return True
        text = clean(code.read_code(element))
        if text.strip():
            self._write_code(text, code.find_language(element))
        return False

    def _write_code(self, text: str, language: str) -> None:
        if self.soup.is_in_cell:
            self.soup.end_line()
            self.soup.add_code(text)
            self.soup.end_line()
        else:
            self.soup.add_block("pre", clean(text), {"language": language})

    def start_table(self, element: HtmlElement) -> bool:
        if (listing := code.read_listing(element)) is not None:
            self._write_code(listing, code.find_language(element))
            return False
        if not tables.is_data_table(element):
            return True
        for caption in element.iterchildren("caption"):
            self.walk(caption, content_only=False)
            self.soup.end_line()
        rows, width, has_header = tables.read_grid(element)
        if width:
            self.soup.open_container("table", {})
            self._write_row(rows.pop(0) if has_header else [], {"columns": str(width)})
            for row in rows:
                self._write_row(row, {})
            self.soup.close_container()
        return False

    def _write_row(self, row: tables.Row, attributes: dict[str, str]) -> None:
        self.soup.open_container("tr", attributes)
        next_column = 0
        for column, cell in row:
            skipped = {"skipped": str(column - next_column)} if column > next_column else {}
            if len(cell) == 0:
                self.soup.add_cell(cell.text or "", skipped)
            else:
                self._write_cell(cell, skipped)
            next_column = column + 1
        self.soup.close_container()

    def _write_cell(self, cell: HtmlElement, attributes: dict[str, str]) -> None:
        lists, self._open_lists = self._open_lists, []
        self.soup.open_container("td", attributes)
        self.soup.is_in_cell = True
        self.walk(cell, content_only=True)
        self.soup.close_container()
        self.soup.is_in_cell = False
        self._open_lists = lists

    def start_cell(self, element: HtmlElement) -> bool:
        return not code.is_gutter(element)


def _begins_with_heading(element: HtmlElement) -> bool:
    """Return whether a list item begins with a heading. Such an item is a section of the page, not of a list."""
    first: Iterator[HtmlElement] = islice(element.iter(), _HEADING_REACH)
    return any(inner.tag in HEADINGS for inner in first)


_START_METHODS: Final[dict[str, Callable[[_PageWriter, HtmlElement], bool]]] = {
    **INLINE_ELEMENTS,
    **dict.fromkeys(HEADINGS, _PageWriter.start_heading),
    **dict.fromkeys(("ul", "ol", "dl", "menu", "dir"), _PageWriter.start_list),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _PageWriter.start_preformatted),
    **dict.fromkeys(("td", "th"), _PageWriter.start_cell),
    "li": _PageWriter.start_item,
    "dt": _PageWriter.start_term,
    "dd": _PageWriter.start_definition,
    "blockquote": _PageWriter.start_quote,
    "hr": _PageWriter.start_rule,
    "summary": _PageWriter.start_summary,
    "table": _PageWriter.start_table,
}
