"""Tell which elements are structures: code, formulas, data tables, lists and figures, judged as a whole."""

from __future__ import annotations

from typing import Final

from lxml.html import HtmlElement

CODE: Final = frozenset({"pre", "listing", "xmp", "plaintext"})
_ALWAYS_WHOLE: Final = CODE | {"math"}
STRUCTURES: Final = _ALWAYS_WHOLE | {"table", "figure", "div"}
"""Elements that may be structures, other than lists."""
LISTS: Final = frozenset({"ul", "ol", "dl", "menu", "dir"})
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_LANDMARKS: Final = ("form", "article", "section", "nav", "aside", "header", "footer", "main")
_REGION_TAGS: Final = (*_HEADINGS, *_LANDMARKS)
"""Elements that begin a part of a page. A list or table that contains one arranges the page, such as a list of cards or
comments."""

_MAX_SHORT_TABLE: Final = 200
"""Characters without white space in the longest table that a heading and one row make a data table."""
_MAX_CELL: Final = 1_500
"""Characters in the longest cell of a data table. A longer cell is a post or a column of the page."""


def is_structure(element: HtmlElement) -> bool:
    """Return whether an element other than a list is a structure, which is one block: all of it is main, or none."""
    tag = element.tag
    if tag in _ALWAYS_WHOLE:
        return True
    if tag == "table":
        return _is_data_table(element)
    return is_fragment(element) or (tag == "figure" and _has_none(element, *_REGION_TAGS))


def is_fragment(element: HtmlElement) -> bool:
    """Return whether an element is code without `<pre>`, in which each line is a `<div>`, as Doxygen writes it."""
    if element.tag != "div" or not len(element) or "fragment" not in (element.get("class") or "").split():
        return False
    # The lines are followed by the tips about their names.
    return (element[0].get("class") or "") == "line" and all(child.tag == "div" for child in element)


def is_whole_list(element: HtmlElement) -> bool:
    """Return whether a list element is a structure: it arranges no parts of the page, such as cards or comments."""
    return _has_none(element, *_REGION_TAGS, "table") and all(has_code(inner) for inner in element.iter("div"))


def _is_data_table(table: HtmlElement) -> bool:
    """Return whether a table contains data: at least two rows of short cells, and nothing that arranges a page.

    Cells may contain paragraphs and lists. They may contain `<div>` only if the table has header cells or a caption,
    because tables without them often place the parts of a page.
    """
    if table.get("role") in {"presentation", "none"} or not _has_none(table, *_LANDMARKS):
        return False
    if any(inner is not table for inner in table.iter("table")):
        return False
    if not _has_none(table, "div") and _has_none(table, "th", "caption"):
        return False
    rows = table.iter("tr")
    if next(rows, None) is None or next(rows, None) is None:
        return False
    if not _has_none(table, *_HEADINGS) and not has_heading_rows(table):
        return False
    return all(not len(cell) or len(cell.text_content()) <= _MAX_CELL for cell in table.iter("td", "th"))


def has_heading_rows(table: HtmlElement) -> bool:
    """Return whether each heading in a table is the only text of a row above others.

    Such a heading names the rows below it, as in Doxygen's lists of members. Other headings begin parts of a page. At
    least two rows of the table must have several cells; in a short table, one is enough.
    """
    for heading in table.iter(*_HEADINGS):
        row = next(heading.iterancestors("tr", "table"), table)
        if row.tag != "tr" or row.getnext() is None or _count_signs(row) > _count_signs(heading):
            return False
    several = (row for row in table.iter("tr") if sum(cell.tag in {"td", "th"} for cell in row) > 1)
    is_short = _count_signs(table) <= _MAX_SHORT_TABLE
    return next(several, None) is not None and (is_short or next(several, None) is not None)


def _count_signs(element: HtmlElement) -> int:
    """Return the number of characters of an element's text without white space."""
    return len("".join(element.text_content().split()))


def _has_none(element: HtmlElement, *tags: str) -> bool:
    return next(element.iter(*tags), None) is None


def has_code(element: HtmlElement) -> bool:
    """Return whether an element contains a code block."""
    return not _has_none(element, *CODE)
