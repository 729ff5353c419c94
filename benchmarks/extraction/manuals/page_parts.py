"""Read the parts of a page from its HTML: table rows, code blocks, headings and list items.

Beautiful Soup reads the page; nothing of Keyhole is used.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.element import CData, NavigableString

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HIDDEN: Final = "head, script, style, template, noscript, [hidden]"
_HIDING_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_PERMALINKS: Final = frozenset({"¶", "#", "§", "◆", "🔗", "Permalink"})
"""Texts of links in a heading that point to the heading itself."""
_HEADING_LINKS: Final = ", ".join(f"{tag} a[href*='#']" for tag in (*HEADINGS, "dt"))
_GUTTER: Final = ".linenos, .lineno, .linenumbers, .gutter"
"""CSS selector of line numbers beside code."""
_PARAGRAPHS: Final = frozenset({"p", "div", "section"})
_BLOCKS: Final = _PARAGRAPHS | {*HEADINGS, "blockquote", "details", "dl", "form", "hr", "ol", "pre", "table", "ul"}
_MATH = re.compile(rb"mathjax|katex|class=\"math", re.IGNORECASE)
_MATH_SIGNS = re.compile(rb"\\\\[()\[\]]|\$\$?")
"""Signs around TeX formulas, which differ in Markdown."""
_LIST_SIGN = re.compile(r"^\s*(?:[-:]|\d+\.)\s")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200d\u2060\ufeff]+")
_SIGNS = re.compile(rf"(?:[\s*_`~^$\\\[\]¶◆]|{_INVISIBLE.pattern})+")
"""Spaces, invisible characters, permalink signs, and signs of Markdown for emphasis, code, superscripts, footnotes
and escapes."""


@dataclass(frozen=True, slots=True)
class Part:
    """A table cell, code block, heading or list item of a page."""

    text: str
    navigation: bool
    """True if it stands in a part of the page that helps to find one's way and is not content."""
    described: str = ""
    """The text with the descriptions of images, which may stand for them in Markdown."""


@dataclass(frozen=True, slots=True)
class PageParts:
    """The parts of a page in its order. Empty parts are left out."""

    tables: tuple[tuple[tuple[Part, ...], ...], ...]
    """The cells of each row of each data table."""
    code: tuple[Part, ...]
    headings: tuple[Part, ...]
    items: tuple[Part, ...]
    """The text of each list item up to the end of its first paragraph or to the first block in it."""


def make_key(text: str) -> str:
    """Return a text without spaces and without characters that Markdown adds or that show as nothing."""
    return _SIGNS.sub("", text) or "".join(text.split())


def make_cell_key(text: str) -> str:
    """Return the key of a cell, whose text may begin with the sign of a list item or definition in Markdown."""
    return make_key(_LIST_SIGN.sub("", text))


def read_page(html: bytes, navigation: Iterable[str] = (), code: str = "pre") -> PageParts:
    """Return the visible parts of a page.

    `navigation`: CSS selectors of the parts that are not content, besides `nav` and `role=navigation`. `code`: the CSS
    selector of code blocks.
    """
    if _MATH.search(html):
        html = _MATH_SIGNS.sub(b"", html)
    with warnings.catch_warnings(action="ignore", category=XMLParsedAsHTMLWarning):
        # Beautiful Soup would shorten spaces outside of <pre>, which some generators do not use for code.
        soup = BeautifulSoup(html, "lxml", preserve_whitespace_tags={"html"})
    _remove_hidden(soup)
    ways = {id(element) for element in soup.select(", ".join(["nav", "[role=navigation]", *navigation]))}

    def part(text: str, element: Tag, described: str = "") -> Part:
        is_way = id(element) in ways or any(id(parent) in ways for parent in element.parents)
        return Part(text, is_way, described or text)

    tables = [table for table in soup.find_all("table") if is_data_table(table)]
    blocks = [block for block in soup.select(code) if not block.select(code)]
    return PageParts(
        tuple(
            tuple(
                tuple(part(cell.get_text(), cell) for cell in find_cells(row) if _has_key(cell))
                for row in find_rows(table)
            )
            for table in tables
        ),
        tuple(part(text, block) for block in blocks if (text := read_code(block)).strip()),
        tuple(part(heading.get_text(), heading) for heading in soup.find_all(HEADINGS) if _has_key(heading)),
        tuple(
            part(text, item, _read_first_line(item, described=True))
            for item in soup.find_all("li")
            if make_key(text := _read_first_line(item))
        ),
    )


def _has_key(element: Tag) -> bool:
    return bool(make_key(element.get_text()))


def _remove_hidden(soup: BeautifulSoup) -> None:
    """Remove elements that no reader sees, permalinks and line numbers."""
    hidden = [element for element in soup.find_all(style=True) if _HIDING_STYLE.search(str(element["style"]))]
    permalinks = [link for link in soup.select(_HEADING_LINKS) if link.get_text().strip() in _PERMALINKS]
    for element in [*soup.select(_HIDDEN), *hidden, *permalinks, *soup.select(_GUTTER)]:
        element.extract()


def is_data_table(table: Tag) -> bool:
    """Return whether a table has a header cell, or two rows and several cells in one.

    Other tables place things side by side, such as a note beside its icon, and so do tables around other tables.
    """
    if table.get("role") in {"presentation", "none"} or table.find("table"):
        return False
    rows = find_rows(table)
    return bool(table.find("th")) or (len(rows) > 1 and any(len(find_cells(row)) > 1 for row in rows))


def find_rows(table: Tag) -> list[Tag]:
    """Return the rows of a table."""
    return table.find_all("tr")


def find_cells(row: Tag) -> list[Tag]:
    """Return the cells of a row."""
    return row.find_all(["td", "th"])


def read_code(block: Tag) -> str:
    """Return the lines of a code block without spaces at their ends and without empty lines around them."""
    lines = block.select(".line") if block.name != "pre" else []
    return trim_lines("\n".join(_append_code(line, "") for line in lines or [block]))


def trim_lines(code: str) -> str:
    """Return lines without invisible characters, spaces at their ends and empty lines around them.

    All spaces become of one kind.
    """
    lines = _INVISIBLE.sub("", code.replace("\r\n", "\n").replace("\xa0", " ")).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _append_code(element: Tag, text: str) -> str:
    """Return `text` with the text of an element after it, with line breaks for `<br>` and around `<div>`."""
    for child in element.children:
        if isinstance(child, Tag):
            if child.name == "br" or (child.name == "div" and text and not text.endswith("\n")):
                text += "\n"
            text = _append_code(child, text)
            if child.name == "div" and child.next_sibling:
                text += "\n"
        elif type(child) in {NavigableString, CData}:
            text += str(child)
    return text


def _read_first_line(item: Tag, described: bool = False) -> str:
    """Return the text of a list item before its first block, or of its first paragraph."""
    text = ""
    for child in item.children:
        if isinstance(child, Tag):
            if child.name in _BLOCKS and (make_key(text) or child.name not in _PARAGRAPHS):
                break
            text += (
                str(child.get("alt", "")) if described and child.name == "img" else _read_first_line(child, described)
            )
            if child.name in _PARAGRAPHS and make_key(text):
                break
        elif type(child) in {NavigableString, CData}:
            text += str(child)
    return text
