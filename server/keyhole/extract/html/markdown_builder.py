"""Build the Markdown of a page from containers, lines, and marks within lines.

Every text belongs to one line (a paragraph or a heading), white space is collapsed as in a browser, elements without
meaning are left out, and the depth is bounded. An element becomes Markdown when it ends, so that no tree is built.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from keyhole.extract.html.link_resolver import escape_label
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

# Count the items of lettered and roman lists.

LIST_SIGNS: Final = {
    **dict.fromkeys(("a", "loweralpha", "lowerlatin"), "abcdefghijklmnopqrstuvwxyz"),
    **dict.fromkeys(("A", "upperalpha", "upperlatin"), "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    **dict.fromkeys(("i", "lowerroman"), "ivxlcdm"),
    **dict.fromkeys(("I", "upperroman"), "IVXLCDM"),
    "lowergreek": "αβγδεζηθικλμνξοπρστυφχψω",
}
"""The signs of lists by the value of `type`, by the kind in style sheets, and by the classes of docutils."""
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ROMAN_END: Final = 4_000
"""The first number without a Roman one."""


def count_in(signs: str, number: int) -> str:
    """Return a number as letters or as a Roman number, "" if these signs have none for it."""
    mark = ""
    if signs.lower() == "ivxlcdm":
        for value, sign in _ROMAN if number < _ROMAN_END else ():
            mark, number = mark + sign * (number // value), number % value
        return mark.upper() if signs.isupper() else mark
    while number > 0:
        number, rest = divmod(number - 1, len(signs))
        mark = signs[rest] + mark
    return mark


# Format an element as Markdown from its text, which is already Markdown.

Attributes = dict[str, str]
"""What the Markdown of an element depends on besides its text, such as the address of a link."""

_BACKTICK_RUNS = re.compile(r"`+")
_BACKTICKS = re.compile(r"`{3,}")
# The start of a line that Markdown would interpret as a heading, a fence, or the underline of a heading.
_STRUCTURE = re.compile(
    r"(?m)^((?:(?:[-*+:>]|\d{1,9}[.)])[ \t]+)*)(?=#{1,6}(?:[ \t]|$)|`{3,}[^`\n]*$|~{3}|(?:={2,}|-{2,})$)"
)
_STRUCTURE_SIGNS: Final = ("#", "=", "--")
_BLOCK_SIGNS: Final = ("`", "$$", "|", "#", "> ", "- ", ": ", "[^")
"""Signs at the beginning of a block that must stand at the beginning of its line."""
_BLANK_LINES = re.compile(r"(?<!\s)[^\S\n]*+\n[^\S\n]*+\n\s*+")
_BLOCK_PARENTS: Final = frozenset({"ul", "ol", "dl", "li", "dd", "blockquote", "footnote", "table", "tr", "td"})
"""Elements that contain lines and other blocks; the others contain words."""
_EMPTY_ROW = frozenset("| ")
_TABLE_SIGNS: Final = "|- \n"
_ORDINAL = re.compile(r"(?i)(?:st|nd|rd|th|er|re|e|è|ème|o|a|os|as|º|ª|tm|sm|®|©|™|r|c)$")
_CHEMICAL = re.compile(r"(?:^|[^a-z])(?:[A-Z][a-z]?|\)|\])$")
_SIMPLE = re.compile(r"(?:[+−-]?(?:\d[\d.]{0,11}|\*?[^\W\d_]{1,12}\*?[′']*)|[\d.]{0,6}[+−-]|[*′'.]{1,3})$")
"""A power or index that needs no brackets: a word or a number, with a sign before it, or a sign after a number."""
_ENDS_IN_WORD = re.compile(r"[\w)\]}$*`|′]$")
_SPACES = re.compile(r"[\t \r\n]+")


def _format_paragraph(text: str, attributes: Attributes) -> str:
    text = text.strip()
    if not text:
        return ""
    if "\n" in text:
        text = "\n".join(line.strip() for line in _BLANK_LINES.sub("\n\n", text).split("\n"))
    if "in_cell" not in attributes and _may_be_structure(text):
        text = _STRUCTURE.sub(r"\1\\", text)
    return f"{_leading_breaks(attributes)}{text}\n"


def _format_heading(text: str, _attributes: Attributes, *, level: int) -> str:
    return f"\n\n{'#' * level} {_SPACES.sub(' ', text.strip())}\n\n"


def _format_rule(_text: str, _attributes: Attributes) -> str:
    return "\n\n---\n\n"


def _format_code_block(text: str, attributes: Attributes) -> str:
    """Return verbatim code in a fence longer than any in the code."""
    fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=2) + 1)
    return f"{_leading_breaks(attributes)}{fence}{attributes['language']}\n{text}\n{fence}\n"


def _format_verbatim(text: str, attributes: Attributes) -> str:
    return f"{_leading_breaks(attributes)}{text}\n"


def _format_quote(text: str, attributes: Attributes) -> str:
    return _indent(attributes, text, "> ", "> ")


def _format_item(text: str, attributes: Attributes) -> str:
    """Return an item after its bullet, its `number`, or its bullet and a `mark` such as "b"."""
    if mark := attributes.get("mark"):
        content = text.lstrip("\n")
        text = f"{mark}.\n\n{content}" if content.startswith(_BLOCK_SIGNS) else f"{mark}. {content}"
    bullet = f"{attributes['number']}. " if "number" in attributes else "- "
    return _indent(attributes, text, bullet, " " * len(bullet))


def _format_definition(text: str, attributes: Attributes) -> str:
    return _indent(attributes, text, ": ", "  ")


def _format_footnote(text: str, attributes: Attributes) -> str:
    return _indent(attributes, text, f"[^{attributes['label']}]: ", "    ")


def _format_table(text: str, attributes: Attributes) -> str:
    return f"{_leading_breaks(attributes)}{text}" if text.strip(_TABLE_SIGNS) else ""


def _format_row(text: str, attributes: Attributes) -> str:
    """Return a row. The first row, which has `columns`, is the header. It is empty if the page's table has none."""
    header = "" if _EMPTY_ROW.issuperset(text) else text
    if "columns" not in attributes:
        return f"|{header}\n" if header else ""
    columns = int(attributes["columns"])
    missing = int(attributes["missing"]) if header else columns
    return f"|{header}{' |' * missing}\n|{' --- |' * columns}\n"


def _format_cell(text: str, _attributes: Attributes) -> str:
    """Return a cell as one line."""
    if "\n" in text:
        text = "<br>".join(line for line in text.split("\n") if line and not line.isspace())
    text = text.strip().replace("|", "\\|")
    return f" {text} |" if text else " |"


def _format_link(text: str, attributes: Attributes) -> str:
    return _wrap(escape_label(text), attributes, before="[", after=f"]({attributes['href']})")


def _format_code(text: str, _attributes: Attributes) -> str:
    """Return inline code between more backticks than in the code, with its indent."""
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (max(map(len, _BACKTICK_RUNS.findall(text))) + 1)
    return f"{fence} {text} {fence}"


def _format_sup_sub(words: str, attributes: Attributes, *, is_sub: bool) -> str:
    """Mark superscript or subscript text with `^` or `_`, except in cases such as 1st and H2O.

    The attribute `before` is the end of the preceding text.
    """
    before = attributes.get("before", "")
    stripped = words.strip()
    # Footnotes have their own brackets, and text after a space is not a power or index.
    if not stripped or stripped.startswith(("[", "$", "![")) or "\n" in stripped or not _ENDS_IN_WORD.search(before):
        return words
    if is_sub:
        plain = stripped.isdigit() and _CHEMICAL.search(before) is not None
    else:
        plain = _ORDINAL.match(stripped) is not None and (
            before[-1].isdigit() or len(stripped) > 1 or not stripped.isascii()
        )
    if plain or len(stripped) > 60:
        return words
    sign = "_" if is_sub else "^"
    return sign + (stripped if _SIMPLE.match(stripped) else f"({stripped})")


def _leading_breaks(attributes: Attributes) -> str:
    return "\n" if "tight" in attributes else "\n\n"


def _may_be_structure(text: str) -> bool:
    return "\n" in text or text.startswith(_STRUCTURE_SIGNS) or "```" in text or "~~~" in text or " #" in text[:20]


def _indent(attributes: Attributes, text: str, first: str, rest: str) -> str:
    """Return the blocks of a container with `first` before the first line and `rest` before each other line."""
    text = text.strip("\n")
    if not text.strip():
        return ""
    if "\n" in text:
        bare = rest.rstrip()
        text = "\n".join(rest + line if line else bare for line in text.split("\n")).removeprefix(rest)
    return f"{_leading_breaks(attributes)}{first}{text}\n"


def _wrap(text: str, _attributes: Attributes, *, before: str, after: str) -> str:
    """Put marks around a text, inside the white space at its ends."""
    stripped = text.strip()
    if not stripped:
        return text
    start = text.index(stripped)
    return f"{text[:start]}{before}{stripped}{after}{text[start + len(stripped) :]}"


_FORMATS: Final[dict[str, Callable[[str, Attributes], str]]] = {
    "p": _format_paragraph,
    **{f"h{level}": partial(_format_heading, level=level) for level in range(1, 7)},
    "hr": _format_rule,
    "pre": _format_code_block,
    "math": _format_verbatim,
    "tab_end": _format_verbatim,
    "blockquote": _format_quote,
    "li": _format_item,
    "dd": _format_definition,
    "footnote": _format_footnote,
    "table": _format_table,
    "tr": _format_row,
    "td": _format_cell,
    "a": _format_link,
    "code": _format_code,
    "strong": partial(_wrap, before="**", after="**"),
    "em": partial(_wrap, before="*", after="*"),
    "del": partial(_wrap, before="~~", after="~~"),
    "q": partial(_wrap, before="“", after="”"),
    "rt": partial(_wrap, before="(", after=")"),
    "sup": partial(_format_sup_sub, is_sub=False),
    "sub": partial(_format_sup_sub, is_sub=True),
}
"""How to format each element. The Markdown of other elements is their text."""


class _OpenElements:
    """The open elements of a page, with the Markdown of what they contain so far."""

    def __init__(self) -> None:
        self._around: list[tuple[str, Attributes, list[str]]] = []
        """The tag and attributes of each open element, and the parts before it in the element around it."""
        self._parts: list[str] = []
        """The parts of the innermost open element."""

    def start(self, tag: str, attributes: Attributes) -> None:
        """Open an element. A `!` before a link, which would turn it into an image, is escaped."""
        parts = self._parts
        if tag == "a" and parts and parts[-1].endswith("!"):
            parts[-1] = f"{parts[-1][:-1]}&#33;"
        self._around.append((tag, attributes, parts))
        self._parts = []

    def end(self) -> None:
        """Close the innermost open element and format it."""
        tag, attributes, parts = self._around.pop()
        text = _join_blocks(self._parts) if tag in _BLOCK_PARENTS else "".join(self._parts)
        format_element = _FORMATS.get(tag)
        parts.append(format_element(text, attributes) if format_element else text)
        self._parts = parts

    def add_text(self, markdown: str) -> None:
        """Add text to the innermost open element."""
        self._parts.append(markdown)

    @property
    def last_part(self) -> str:
        """The Markdown of the last element in the innermost open element."""
        return self._parts[-1]

    def finish(self) -> str:
        """Return the Markdown of the page, after all elements were closed."""
        return _join_blocks(self._parts)


def _join_blocks(blocks: list[str]) -> str:
    """Join blocks with the longer run of line breaks of each two neighbours, at most one blank line."""
    joined: list[str] = []
    trailing = 0
    for block in blocks:
        if not block:
            continue
        content = block.lstrip("\n")
        leading = len(block) - len(content)
        if joined:
            joined.append("\n" * min(2, max(trailing, leading)))
        elif leading:
            joined.append("\n" * leading)
        content = content.rstrip("\n")
        trailing = len(block) - leading - len(content)
        joined.append(content)
    return "".join(joined) + "\n" * trailing


# Build Markdown from containers, lines, and marks within lines.

MAX_CONTAINERS: Final = 40
"""Largest number of lists, items and quotes around a line: twenty levels of a list. Real lists nest six deep; deeper
nesting comes from unclosed tags. Each level costs another indent of all its lines."""
LISTS: Final = frozenset({"ul", "ol", "dl"})
TABLES: Final = frozenset({"table", "tr", "td"})
SPACED: Final = frozenset({"li", "dd", "blockquote", "footnote", "table"})
"""Containers that begin on a new line, with or without a blank line before."""
LINK_TAGS: Final = frozenset({"a", "span"})
"""Links with and without an address."""
SUP_SUB_TAGS: Final = frozenset({"sup", "sub"})
_WIDE: Final = r"[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\uff00-\uff60]"
_LINE_BREAK: Final = re.compile(rf"(?<={_WIDE})[ \t]*\n\s*(?={_WIDE})")
"""A line break of the source between two Chinese or Japanese characters, which is not written as a space (CSS Text 3,
section 4.1.3). Korean words are separated by spaces."""
_PRECEDING_CHARS: Final = 20
"""Number of characters stored of the text before a superscript or subscript, which determine its Markdown."""


class InlineMark:
    """An inline element around the following words, such as `strong` or `a`."""

    __slots__ = ("attributes", "is_open", "is_used", "kind")

    def __init__(self, kind: str, attributes: Attributes) -> None:
        self.kind = kind
        self.attributes = attributes
        self.is_open = False
        """True if the start tag is in the current line."""
        self.is_used = False
        """True if the mark ended with an earlier line. It is not repeated, because a link around blocks is one link."""


class MarkdownBuilder:
    """A builder of Markdown from blocks and words in order. A line begins with its first word, so no line is empty."""

    def __init__(self, *, has_suspect_characters: bool = False) -> None:
        """Create a builder without content.

        `has_suspect_characters` is True if texts may contain invisible characters and must be cleaned.
        """
        self._has_suspect_characters = has_suspect_characters
        self._elements = _OpenElements()
        self.heading_level = 0
        self.is_tight = False
        """True if the next block follows without a blank line."""
        self.is_in_cell = False
        """True inside a table cell. A cell is one line of Markdown, without fences and display formulas."""
        self.block_count = 0
        """The number of lines and other blocks so far."""
        self.preceding = ""
        """The last characters of the current line."""
        self._marks: list[InlineMark] = []
        self.line_tag = ""
        """The element of the current line, "" between lines."""
        self._ends_in_space = True
        self._is_gap_due = False
        """True after a link: links that nothing separates are set apart by the page's style sheet."""
        self._is_image_before = False
        """True if an image stood after the last word."""
        self._break_count = 0
        self._containers: list[str] = []
        self._is_in_code = False

    def finish(self) -> str:
        """Return the Markdown of all blocks. Nothing can be added afterwards."""
        self.end_line()
        return self._elements.finish()

    # Blocks.

    @property
    def is_nested(self) -> bool:
        """True if the next line is inside a list item, a quote or a footnote."""
        return any(tag not in LISTS for tag in self._containers)

    def open_container(self, tag: str, attributes: Attributes) -> bool:
        """Open a container and return True, or return False beyond `MAX_CONTAINERS`.

        Tables are always opened, because they do not nest here.
        """
        self.end_line()
        if len(self._containers) >= MAX_CONTAINERS and tag not in TABLES:
            return False
        if tag in SPACED:
            attributes = self._add_spacing(attributes)
        self._containers.append(tag)
        self._start(tag, attributes)
        return True

    def close_container(self) -> None:
        """Close the innermost container."""
        self.end_line()
        self._containers.pop()
        self._end()

    def add_block(self, tag: str, text: str, attributes: Attributes) -> None:
        """Add a block with verbatim text, which may be empty."""
        self.end_line()
        self.heading_level = 0
        self.block_count += 1
        self._start(tag, self._add_spacing(attributes))
        if text:
            self._elements.add_text(text)
        self._end()

    def add_cell(self, text: str) -> None:
        """Add a table cell that holds only text."""
        self._start("td", {})
        if words := " ".join((clean(text) if self._has_suspect_characters else text).split()):
            self._elements.add_text(escape_markdown(words))
        self._end()

    def add_finished_cells(self, markdown: str) -> None:
        """Add the Markdown of table cells, such as empty ones."""
        if markdown:
            self._elements.add_text(markdown)

    @property
    def last_cell(self) -> str:
        """The Markdown of the last table cell."""
        return self._elements.last_part

    def end_line(self) -> None:
        """End the current paragraph or heading and its open marks."""
        if not self.line_tag:
            return
        for mark in reversed(self._marks):
            if mark.is_open:
                self._end()
                mark.is_open, mark.is_used = False, True
        self._end()
        self.line_tag, self.preceding = "", ""
        self._ends_in_space, self._is_gap_due, self._is_image_before = True, False, False

    def _start(self, tag: str, attributes: Attributes) -> None:
        if self._is_in_code:
            self._end_code()
        self._elements.start(tag, attributes)

    def _end(self) -> None:
        if self._is_in_code:
            self._end_code()
        self._elements.end()

    def _end_code(self) -> None:
        self._is_in_code = False
        self._elements.end()

    def _add_spacing(self, attributes: Attributes) -> Attributes:
        if self.is_tight:
            self.is_tight = False
            return attributes | {"tight": ""}
        return attributes

    # Inline content.

    def _begin_line(self) -> None:
        """Begin a line if none is open, and start the pending marks in it."""
        if not self.line_tag:
            self.line_tag = f"h{self.heading_level}" if self.heading_level else "p"
            self.block_count += 1
            self._start(self.line_tag, self._add_spacing({"in_cell": ""} if self.is_in_cell else {}))
        for mark in self._marks:
            if not mark.is_used and not mark.is_open:
                mark.is_open = True
                if self._is_gap_due and mark.kind in LINK_TAGS and not self._ends_in_space:
                    self._append(" ")
                if self.preceding and mark.kind in SUP_SUB_TAGS:
                    mark.attributes["before"] = self.preceding
                self._start(mark.kind, mark.attributes)

    def add_text(self, text: str) -> None:
        """Add text, with white space collapsed as in a browser."""
        if self._has_suspect_characters:
            # Clean before escaping: two signs become adjacent if a character between them is removed.
            text = clean(text)
        if not text or text.isspace():
            if text and not self._ends_in_space:
                self._append(" ")
            return
        if not text.isascii() and "\n" in text:
            text = _LINE_BREAK.sub("", text)
        line_text = " ".join(text.split())
        if not self._ends_in_space and (text[0].isspace() or (self._is_image_before and line_text[0].isalnum())):
            line_text = " " + line_text
        if text[-1].isspace():
            line_text += " "
        self._begin_line()
        self._append(escape_markdown(line_text, self.preceding))

    def keep_apart(self) -> None:
        """Separate the words before and after this place, where an image stood."""
        self._is_image_before = self.preceding[-1:].isalnum()

    def add_markdown(self, markdown: str) -> None:
        """Add text that is already Markdown."""
        self._begin_line()
        self._append(markdown)

    def _append(self, text: str) -> None:
        if self._is_in_code:
            self._end_code()
        self._elements.add_text(text)
        self.preceding = text[-_PRECEDING_CHARS:]
        self._ends_in_space = text[-1] == " "
        self._is_gap_due = self._is_image_before = False
        self._break_count = 0

    def add_line_break(self) -> None:
        """Add a line break to the paragraph. More than two in a row are ignored."""
        if self.heading_level:
            self.add_text(" ")
        elif self.line_tag and self._break_count < 2:
            if self._is_in_code:
                self._end_code()
            self._elements.add_text("\n")
            self._break_count += 1
            self._ends_in_space, self._is_gap_due, self.preceding = True, False, "\n"

    def add_code(self, code: str) -> None:
        """Add inline code. Adjacent inline code becomes one span, because Markdown cannot separate adjacent spans."""
        words = " ".join(code.split())
        if not words:
            self.add_text(code)
            return
        if code[0].isspace():
            self.add_text(" ")
        self._begin_line()
        if not self._is_in_code or "`" in words:
            if self.preceding == "`":
                self._append(" ")  # adjacent backticks would be one delimiter
            self._start("code", {})
        self._elements.add_text(words)
        self._is_in_code = "`" not in words
        if not self._is_in_code:
            self._elements.end()
        self.preceding, self._ends_in_space, self._is_gap_due, self._break_count = "`", False, False, 0
        if code[-1].isspace():
            self.add_text(" ")

    def add_code_lines(self, code: str) -> None:
        """Add a block of code to a table cell: each line as inline code, with its indent."""
        for line in code.split("\n"):
            self.end_line()
            if line.strip():
                self._begin_line()
                self._start("code", {})
                self._elements.add_text(line.rstrip())
                self._end()
        self.end_line()

    def open_mark(self, kind: str, attributes: Attributes) -> InlineMark | None:
        """Open an inline element and return it, or return None if an element of this kind is open."""
        if self._marks and self.has_mark(kind):
            return None
        mark = InlineMark(kind, attributes)
        self._marks.append(mark)
        return mark

    def has_mark(self, kind: str) -> bool:
        """Return whether an inline element of this kind is open."""
        return any(mark.kind == kind for mark in self._marks)

    def close_mark(self, mark: InlineMark) -> None:
        """Close an inline element. An element without words is left out."""
        self._marks.remove(mark)
        if mark.is_open:
            self._end()
            if mark.kind in LINK_TAGS:
                self._is_gap_due = True
                if mark.kind == "a":
                    self.preceding = ")"
