"""Write the lists of a page to the soup: numbered and unnumbered items, terms and definitions."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.inline_elements import HEADINGS, InlineWriter
from keyhole.extract.html.links import LinkResolver
from keyhole.extract.html.soup import LISTS

_HEADING_REACH: Final = 8
"""Number of elements searched for a heading at the beginning of a list item."""
_NUMBER = re.compile(r"[0-9]{1,6}")


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


class ListWriter(InlineWriter):
    """A writer of a page's lists and inline elements."""

    def __init__(self, region: HtmlElement, links: LinkResolver) -> None:
        """Prepare to write the lists of a region."""
        super().__init__(region, links)
        self._open_lists: list[_OpenList] = []
        self._blocks_at_term = -1
        """The number of blocks at the end of the last `<dt>`."""

    def _open_container(self, element: HtmlElement, tag: str, attributes: dict[str, str]) -> None:
        if self.soup.open_container(tag, attributes):
            self._open_elements.append((element, self.soup.close_container))

    def start_note(self, element: HtmlElement, label: str) -> bool:
        """Begin a footnote, which may be an item of a list."""
        if element.tag == "li" and self._open_lists:
            self._count_item(element)
            self._open_lists[-1].item_count = 0  # the next item begins a list in Markdown
        self._open_container(element, "footnote", {"label": label})
        return True

    def _count_item(self, element: HtmlElement) -> int | None:
        """Count an item of the innermost list and return its number, None in an unnumbered list."""
        if not self._open_lists:
            return None
        items = self._open_lists[-1]
        number: int | None = None
        if items.next_number is not None:
            number = _parse_number(element.get("value"), items.next_number)
            items.next_number = number + items.step
        items.item_count += 1
        return number

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
        is_first = not self._open_lists or self._open_lists[-1].item_count == 0
        number = self._count_item(element)
        if self._open_lists:
            # In Markdown, only a list that begins at 1 can follow a line of text without a blank line.
            self.soup.is_tight = not is_first or (self.soup.is_nested and number in {None, 1})
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


def _begins_with_heading(element: HtmlElement) -> bool:
    """Return whether a list item begins with a heading. Such an item is a section of the page, not of a list."""
    return any(inner.tag in HEADINGS for inner in islice(element.iter(), _HEADING_REACH))


LIST_ELEMENTS: Final[dict[str, Callable[[ListWriter, HtmlElement], bool]]] = {
    **dict.fromkeys(("ul", "ol", "dl", "menu", "dir"), ListWriter.start_list),
    "li": ListWriter.start_item,
    "dt": ListWriter.start_term,
    "dd": ListWriter.start_definition,
}
"""The method that begins each element of a list."""
