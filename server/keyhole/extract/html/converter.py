"""Convert the pruned tree of a page to Markdown: walk it once and write its blocks to the builder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import has_heading_rows, has_layout_tables
from keyhole.extract.html.inline_elements import HEADINGS, INLINE_ELEMENTS, InlineWriter
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.markdown_builder import LIST_SIGNS, LISTS, count_in
from keyhole.extract.html.verbatim import (
    MAX_CLASS,
    find_language,
    is_gutter_block,
    is_gutter_cell,
    is_rendering,
    read_code,
    read_delimited_formula,
    read_listing,
)
from keyhole.text.clean import clean

# Tables: distinguish data tables from layout tables, and place the cells of data tables in a grid.

MAX_SPAN: Final = 50
"""Largest number of columns that a cell spans. Wider cells are layout, and each column costs a bar in Markdown."""
MAX_ROW_SPAN: Final = 1_000
"""Largest number of rows that a cell spans."""
MAX_SPANNED: Final = 100_000
"""Largest number of grid places that the spans of a table cover. Real tables need a few hundred, and each costs
time."""
MAX_CELL: Final = 3_000
"""Usual largest length of a data cell, in characters. A row is one line of Markdown."""
MAX_LONG_SHARE: Final = 0.5
"""Largest share of a data table's text in cells over `MAX_CELL`. A table with more is layout."""
MAX_REPEATED: Final = 300
"""Longest cell, in characters of Markdown, that is repeated in each row that it spans."""
MAX_ALL_REPEATED: Final = 100_000
"""Characters that the repeated cells of a table may have together, so that a small page cannot become a large text."""
_OTHER_BLOCKS: Final = ("pre", "blockquote", "hr", "details")
_TABLE_BLOCK_TAGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6", *_OTHER_BLOCKS)
# Some pages put a <form> around the rows.
_SECTIONS = frozenset({"thead", "tbody", "tfoot", "form"})
_TABLE_CHILDREN = _SECTIONS | {"caption", "colgroup", "col", "tr"}
_CELL_TAGS = frozenset({"td", "th"})


def is_data_table(table: HtmlElement) -> bool:
    """Return whether a table can be Markdown: it has several cells in a row or a header, and is not a layout.

    A table with headings, code or quotes in its cells is data if it has a header or is regular, or if each heading has
    a row of its own. Its cells stay cells.
    """
    if table.get("role") in {"presentation", "none"} or _is_broken(table) or has_layout_tables(table):
        return False
    rows = [cells for row in iter_rows(table) if (cells := list_cells(row))]
    width = max(map(len, rows), default=0)
    has_header = any(cell.tag == "th" for cells in rows for cell in cells)
    if not (has_header or width > 1) or _is_mostly_long(rows):
        return False
    if len(rows) < 2 and not has_header and next(table.iter("p", "div", "ul", "ol", "dl"), None) is not None:
        return False
    has_blocks = any(block.tag != "pre" or _has_many_lines(block) for block in table.iter(*_TABLE_BLOCK_TAGS))
    return not has_blocks or (has_header and len(rows) > 1) or _is_regular(table, rows, width)


def _is_mostly_long(rows: list[list[HtmlElement]]) -> bool:
    """Return whether cells over `MAX_CELL` contain most of a table's text."""
    sizes = [_count_chars(cell) for cells in rows for cell in cells]
    return sum(size for size in sizes if size > MAX_CELL) > MAX_LONG_SHARE * sum(sizes)


def _is_regular(table: HtmlElement, rows: list[list[HtmlElement]], width: int) -> bool:
    """Return whether the rows below headings are those of a table.

    Either each heading has a row of its own, or at least three rows have the same three or more cells, without headings
    of page sections.
    """
    if next(table.iter(*_OTHER_BLOCKS), None) is None and has_heading_rows(table):
        return True
    is_even = len(rows) > 2 and width > 2 and sum(len(cells) == width for cells in rows) > len(rows) / 2
    return is_even and next(table.iter("h1", "h2", "hr"), None) is None


def _is_broken(table: HtmlElement) -> bool:
    """Return whether text or elements are outside the cells, where Markdown rows would lose them."""
    containers = [table, *(child for child in table if child.tag in _SECTIONS), *iter_rows(table)]
    for container in containers:
        allowed = _CELL_TAGS if container.tag == "tr" else _TABLE_CHILDREN
        texts = [container.text, *(child.tail for child in container)]
        if any(text and not text.isspace() for text in texts):
            return True
        if any(isinstance(child.tag, str) and child.tag not in allowed for child in container):
            return True
    return False


def _has_many_lines(pre: HtmlElement) -> bool:
    if next(pre.iter("br", "div", "p"), None) is not None:
        return True
    text = pre.text_content().strip("\n")
    return "\n" in text or "  " in text or text != text.strip()


def _count_chars(cell: HtmlElement) -> int:
    return len(cell.text_content())


def iter_rows(table: HtmlElement) -> Iterator[HtmlElement]:
    """Yield a table's own rows in document order, without those of nested tables."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _SECTIONS:
            for row in child:
                if row.tag == "tr":
                    yield row


def list_cells(row: HtmlElement) -> list[HtmlElement]:
    """Return the cells of a row, without line number gutters."""
    return [cell for cell in row if cell.tag in _CELL_TAGS and not is_gutter_cell(cell)]


TableRow = list[tuple[int, HtmlElement]]


def read_grid(table: HtmlElement) -> tuple[list[TableRow], int, bool]:
    """Return the cells of each row with their columns, the number of columns, and whether the first row is a header.

    A cell that spans several rows is listed in each of them; one that spans several columns only at the first. Columns
    without cells are left out.
    """
    grid, has_header = _place_cells(table)
    used = sorted({column for row in grid for column, _ in row})
    place = {column: index for index, column in enumerate(used)}
    return [[(place[column], cell) for column, cell in row] for row in grid], len(used), has_header


def _place_cells(table: HtmlElement) -> tuple[list[TableRow], bool]:
    grid: list[TableRow] = []
    spans: dict[int, tuple[int, HtmlElement | None]] = {}
    """By column: the end of the rows that a cell above takes, and this cell, None right of its first column."""
    places_left = MAX_SPANNED
    has_header = False
    group: HtmlElement | None = None
    for number, row in enumerate(iter_rows(table)):
        cells = [cell for cell in row if cell.tag in _CELL_TAGS]
        is_in_group = _find_group(row) is group  # no cell reaches into the next group of rows
        group = _find_group(row)
        spans = {column: span for column, span in spans.items() if is_in_group and span[0] > number}
        is_empty = not any(len(cell) or (cell.text or "").strip() for cell in cells)
        places = [(column, cell) for column, (_, cell) in spans.items() if cell is not None and not is_empty]
        if not any(grid):
            has_header = bool(cells) and (row.getparent().tag == "thead" or all(cell.tag == "th" for cell in cells))
        column = 0
        for cell in cells:
            while column in spans:
                column += 1
            is_gutter = is_gutter_cell(cell)
            if not is_gutter:
                places.append((column, cell))
            width, height = _read_span(cell, "colspan", MAX_SPAN), _read_span(cell, "rowspan", MAX_ROW_SPAN)
            places_left -= width * height - 1
            if places_left < 0:
                width = height = 1
            if height > 1:
                spans |= dict.fromkeys(range(column, column + width), (number + height, None))
                spans[column] = (number + height, None if is_gutter else cell)
            column += width
        grid.append(sorted(places, key=lambda place: place[0]))
    return grid, has_header


def _find_group(row: HtmlElement) -> HtmlElement | None:
    """Return the element that makes a row part of a group of rows."""
    return None if row.getparent().tag == "form" else row.getparent()


def _read_span(cell: HtmlElement, attribute: str, limit: int) -> int:
    """Return a span of a cell. A `rowspan` of 0 reaches to the end of the group of rows."""
    value = (cell.get(attribute) or "").strip()
    if not (value.isascii() and value.isdigit() and len(value) < 7):
        return 1
    span = min(limit, int(value))
    return span or (limit if attribute == "rowspan" else 1)


# Write the lists of a page to the builder: numbered and unnumbered items, terms and definitions.

_HEADING_REACH: Final = 8
"""Number of elements searched for a heading at the beginning of a list item."""
_NUMBER = re.compile(r"[0-9]{1,6}")
_BULLET = re.compile(r"[•◦▪▫●○■□‣∙·⁃]|[0-9]{1,4}\.")
_SIGN = re.compile(r"o|[^\w\s]{1,2}")
_SIGN_TEXTS: Final = 8
"""Number of text nodes read of a term to see whether it is a bullet."""


def _find_marks(element: HtmlElement) -> str:
    """Return the signs with which a list or an item is counted, "" for digits."""
    names = [element.get("type") or "", *(element.get("class") or "")[:MAX_CLASS].split()]
    return next(
        (LIST_SIGNS[key] for name in names if (key := name.replace("-", "").replace("_", "")) in LIST_SIGNS), ""
    )


class _OpenList:
    """An open list, with the count of its items so far and the number of its next item."""

    __slots__ = ("item_count", "next_number", "signs", "step")

    def __init__(self, element: HtmlElement) -> None:
        self.next_number: int | None = None
        """None for an unordered list."""
        self.step = -1 if element.get("reversed") is not None else 1
        self.item_count = 0
        self.signs = _find_marks(element) if element.tag == "ol" else ""
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
        self._bullet = ""
        """The bullet or number that the last `<dt>` is, "" for a term in words."""

    def _open_container(self, element: HtmlElement, tag: str, attributes: dict[str, str]) -> None:
        if self.builder.open_container(tag, attributes):
            self._open_elements.append((element, self.builder.close_container))

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
            self.builder.is_tight = not is_first or (self.builder.is_nested and number in {None, 1})
        self._open_container(element, "li", self._name_item(element, number))
        return True

    def _name_item(self, element: HtmlElement, number: int | None) -> dict[str, str]:
        """Return what stands before an item: nothing, its number, or its mark."""
        if number is None:
            return {}
        signs = _find_marks(element) or self._open_lists[-1].signs
        mark = count_in(signs, number) if signs else ""
        return {"mark": mark} if mark else {"number": str(max(number, 0))}

    def start_term(self, element: HtmlElement) -> bool:
        """Begin a term. If it is a bullet or a number, as manual pages write their lists, its definition is an item."""
        bullet = _read_bullet(element)
        if bullet:
            if self._open_lists:
                self._open_lists[-1].item_count += 1
            self._bullet = bullet
            return False
        self._bullet = ""
        if self._open_lists:
            self._open_lists[-1].item_count += 1
        parent = element.getparent()
        # The parser nests terms that were not closed.
        if self._blocks_at_term == self.builder.block_count or (parent is not None and parent.tag == "dt"):
            self.builder.is_tight = True
        self._open_elements.append((element, self._end_term))
        return True

    def _end_term(self) -> None:
        self.builder.end_line()
        self._blocks_at_term = self.builder.block_count

    def start_definition(self, element: HtmlElement) -> bool:
        """Begin a definition. A `<dd>` without a preceding term is ignored, because wikis use it for indents."""
        if _begins_with_heading(element) or (self._open_lists and self._open_lists[-1].item_count == 0):
            return True
        opened = self._open_elements
        if opened and opened[-1][0] is element.getparent() and opened[-1][0].tag == "dd":
            opened.pop()[1]()
        bullet, self._bullet = self._bullet, ""
        if bullet:
            number = bullet.rstrip(".")
            self.builder.is_tight = bool(self._open_lists) and self._open_lists[-1].item_count > 1
            self._open_container(element, "li", {"number": number} if number.isdecimal() else {})
            return True
        self.builder.is_tight = self._blocks_at_term == self.builder.block_count > 0
        self._open_container(element, "dd", {})
        return True


def _read_bullet(term: HtmlElement) -> str:
    """Return the bullet or number that a `<dt>` consists of, or "".

    Other signs, such as operators, are bullets only if the term before or after is the same sign.
    """
    text, definition = _read_sign(term), term.getnext()
    if definition is None or definition.tag != "dd" or _begins_with_heading(definition):
        return ""
    if _BULLET.fullmatch(text) or not _SIGN.fullmatch(text):
        return text if _BULLET.fullmatch(text) else ""
    beside = (next(term.itersiblings("dt", preceding=before), None) for before in (True, False))
    return text if any(each is not None and _read_sign(each) == text for each in beside) else ""


def _read_sign(term: HtmlElement) -> str:
    return "".join(islice(term.itertext(), _SIGN_TEXTS)).strip()


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


# Walk the pruned tree of a page once and write its blocks to the builder.

_BLOCK_TAGS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "header", "hgroup", "html", "legend",
    "li", "main", "menu", "nav", "noframes", "ol", "optgroup", "option", "p", "search", "section", "summary", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_AFTER_LABEL: Final = ".:) \t\n"
"""Signs between the label of a footnote and its text."""
_HEADING_CONTENT = frozenset({"div", "section", "p", "header", "center", "hgroup", "article", "main"})


RULE_FAULTS: Final = (LookupError, TypeError, ValueError, AttributeError)
"""The errors of a rule on elements that nobody foresaw. Any other error ends the page, and its worker says so."""


def to_markdown(region: HtmlElement, links: LinkResolver) -> str:
    """Return the Markdown of a region's content, with resolved links, ending with a line break.

    The region may be any element of a pruned page. Never raises or changes it.
    """
    try:
        writer = _PageWriter(region, links)
        writer.walk(region, content_only=False)
        markdown = writer.builder.finish()
    except RULE_FAULTS:
        markdown = _write_simply(region)
    return clean(markdown).strip("\n") + "\n"


def _write_simply(region: HtmlElement) -> str:
    """Return the Markdown that markdownify makes of a region, without links: the least that a page gives."""
    from bs4 import BeautifulSoup  # both are seldom needed, and take 80 ms to load
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(etree.tostring(region, encoding="unicode", method="html", with_tail=False), "html.parser")
    try:
        return str(MarkdownConverter(heading_style=ATX, strip=["a", "img"]).convert_soup(soup))
    except RecursionError:  # the page has more elements inside each other than Python calls
        return soup.get_text("\n", strip=True)


class _PageWriter(ListWriter):
    """A writer of a page's blocks, lists and inline elements."""

    def __init__(self, region: HtmlElement, links: LinkResolver) -> None:
        super().__init__(region, links)
        self._line_elements: set[HtmlElement] = set()
        """Elements that a line break precedes."""
        self._plain_classes: set[str] = set()
        """Values of `class` that are known to have no meaning here, so that each is examined once."""
        self._spanned: dict[HtmlElement, str] = {}
        """The Markdown of the cells of the current table that span rows, as far as they are written."""
        self._repeated_left = 0

    def walk(self, root: HtmlElement, *, content_only: bool) -> None:
        """Write a tree, or only the content of its root element if `content_only` is True."""
        builder, opened, redundant = self.builder, self._open_elements, self._footnotes.redundant
        add_text = builder.add_text
        events = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        skipped: HtmlElement | None = None
        for event, element in events:
            if event == "start":
                if (content_only and element is root) or self._start(element):
                    if text := element.text:
                        add_text(text)
                else:
                    skipped = element
                    events.skip_subtree()
                continue
            if event == "end":
                if skipped is element:
                    skipped = None
                else:
                    if (builder.line_tag or builder.heading_level) and element.tag in _BLOCK_TAGS:
                        self._block_edge(element.tag)
                    while opened and opened[-1][0] is element:
                        opened.pop()[1]()
            if (tail := element.tail) and element is not root:
                add_text(self._trim_tail(tail) if redundant and element in redundant else tail)

    def _trim_tail(self, tail: str) -> str:
        """Return the text after the label of a footnote without the signs that set the label apart."""
        return tail if self.builder.line_tag else tail.lstrip(_AFTER_LABEL)

    def _start(self, element: HtmlElement) -> bool:
        """Begin an element and return whether its content must be walked."""
        tag = element.tag
        if self._footnotes.redundant and element in self._footnotes.redundant:
            return False
        if self._line_elements and element in self._line_elements:
            self.builder.add_line_break()
        if tag in _BLOCK_TAGS:
            if self.builder.line_tag or self.builder.heading_level:
                self._block_edge(tag)
            if self._footnotes.notes and element in self._footnotes.notes:
                return self.start_note(element, self._footnotes.notes[element])
        start = _START_METHODS.get(tag)
        if start is not None:
            return start(self, element)
        classes = element.get("class")
        if not classes or classes in self._plain_classes:
            return True
        return self._start_by_class(element, classes)

    def _block_edge(self, tag: str) -> None:
        builder = self.builder
        # A table in a cell is a line for each of its rows.
        if (builder.is_in_cell and tag in _CELL_TAGS) or (builder.heading_level and tag in _HEADING_CONTENT):
            builder.add_text(" ")
            return
        builder.end_line()
        builder.heading_level = 0

    def _start_by_class(self, element: HtmlElement, classes: str) -> bool:
        """Begin an element that its class may mark as a formula or code, and return whether to walk its content."""
        names = classes[:MAX_CLASS].split()
        if "classifier" in names:
            # The type after a term, which the style sheets of Sphinx set apart by a colon.
            before = element.getprevious()
            has_colon = before is not None and before.get("class") == "classifier-delimiter"
            self.builder.add_text(" " if has_colon or self.builder.preceding.rstrip().endswith(":") else " : ")
        elif "t-lines" in names:
            # Lines on cppreference.com, which are separated only by its style sheet.
            self._line_elements.update(element[1:])
        elif is_rendering(names):
            return self.start_rendering(element)
        elif "math" in names:
            if tex := read_delimited_formula(element):
                self._write_formula(tex)
                return False
        elif "fragment" in names or "syntaxhighlighter" in names:
            return next(element.iter("pre"), None) is not None or not self._write_fragment(element)
        elif "CodeMirror-code" in names or "cm-content" in names:
            return not self._write_fragment(element)
        else:
            self._plain_classes.add(classes)
        return True

    def _write_fragment(self, element: HtmlElement) -> bool:
        """Write code whose lines are blocks, without `<pre>`. Returns False if the element is something else."""
        source = next((cell for cell in islice(element.iter("td"), 4) if cell.get("class") == "code"), element)
        if not (text := read_code(source)).strip():
            return False
        for caption in islice(element.iter("caption"), 1):
            self.walk(caption, content_only=False)
        self._write_code(text, find_language(element))
        return True

    # Blocks.

    def start_heading(self, element: HtmlElement) -> bool:
        """Begin a heading. In a table cell, where Markdown has none, it is a line in bold."""
        self.builder.end_line()
        if self.builder.is_in_cell:
            self._open_elements.append((element, self.builder.end_line))
            return self.start_strong(element)
        self.builder.heading_level = int(element.tag[1])
        self._open_elements.append((element, self._end_heading))
        return True

    def _end_heading(self) -> None:
        self.builder.end_line()
        self.builder.heading_level = 0

    def start_quote(self, element: HtmlElement) -> bool:
        if not self.builder.is_in_cell:
            self._open_container(element, "blockquote", {})
        return True

    def start_rule(self, _element: HtmlElement) -> bool:
        self.builder.end_line()
        if not self.builder.is_in_cell:
            self.builder.add_block("hr", "", {})
        return False

    def start_summary(self, element: HtmlElement) -> bool:
        if next(element.iter("strong", "b", "code", *sorted(HEADINGS)), None) is not None:
            return True
        return self.start_strong(element)

    def start_preformatted(self, element: HtmlElement) -> bool:
        if is_gutter_block(element):
            return False
        if element.tag != "pre" and next(element.iter("p", "div", "table", "ul"), None) is not None:
            return True
        text = read_code(element)
        if text.strip():
            self._write_code(text, find_language(element))
        return False

    def _write_code(self, text: str, language: str) -> None:
        text = clean(text)
        if self.builder.is_in_cell:
            self.builder.add_code_lines(text)
        else:
            self.builder.add_block("pre", text, {"language": language})

    # Tables.

    def start_table(self, element: HtmlElement) -> bool:
        """Write a table of code or data. The cells of other tables, and of tables in cells, are blocks."""
        listing = read_listing(element)
        if listing is None and (self.builder.is_in_cell or not is_data_table(element)):
            return True
        for caption in element.iterchildren("caption"):
            self.walk(caption, content_only=False)
            self.builder.end_line()
        if listing is not None:
            self._write_code(listing, find_language(element))
        else:
            self._write_table(element)
        return False

    def _write_table(self, element: HtmlElement) -> None:
        rows, width, has_header = read_grid(element)
        self._spanned, self._repeated_left = {}, MAX_ALL_REPEATED
        if width:
            self.builder.open_container("table", {})
            header = rows.pop(0) if has_header else []
            missing = width - header[-1][0] - 1 if header else width
            self._write_row(header, {"columns": str(width), "missing": str(missing)})
            for row in rows:
                self._write_row(row, {})
            self.builder.close_container()

    def _write_row(self, row: TableRow, attributes: dict[str, str]) -> None:
        self.builder.open_container("tr", attributes)
        next_column = 0
        for column, cell in row:
            self.builder.add_finished_cells(" |" * (column - next_column))
            if cell in self._spanned:
                self._repeat_cell(self._spanned[cell])
            elif len(cell) == 0:
                self.builder.add_cell(cell.text or "")
            else:
                self._write_cell(cell)
            if cell.get("rowspan") is not None:
                self._spanned.setdefault(cell, self.builder.last_cell)
            next_column = column + 1
        self.builder.close_container()

    def _repeat_cell(self, markdown: str) -> None:
        if len(markdown) > min(MAX_REPEATED, self._repeated_left):
            markdown = " |"
        self._repeated_left -= len(markdown)
        self.builder.add_finished_cells(markdown)

    def _write_cell(self, cell: HtmlElement) -> None:
        lists, self._open_lists = self._open_lists, []
        self.builder.open_container("td", {})
        self.builder.is_in_cell = True
        self.walk(cell, content_only=True)
        self.builder.close_container()
        self.builder.is_in_cell = False
        self._open_lists = lists

    def start_cell(self, element: HtmlElement) -> bool:
        return not is_gutter_cell(element)


_START_METHODS: Final[dict[str, Callable[[_PageWriter, HtmlElement], bool]]] = {
    **INLINE_ELEMENTS,
    **LIST_ELEMENTS,
    **dict.fromkeys(HEADINGS, _PageWriter.start_heading),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _PageWriter.start_preformatted),
    **dict.fromkeys(("td", "th"), _PageWriter.start_cell),
    "blockquote": _PageWriter.start_quote,
    "hr": _PageWriter.start_rule,
    "summary": _PageWriter.start_summary,
    "table": _PageWriter.start_table,
}
"""The method that begins each element."""
