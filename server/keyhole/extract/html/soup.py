"""Build a regular Beautiful Soup tree for markdownify from containers, lines, and marks within lines.

In this tree every text belongs to one line (a paragraph or a heading), white space is collapsed as in a browser,
elements without meaning are left out, and the depth is bounded. Building the tree directly is faster than writing HTML
and parsing it again, which would also move misplaced elements a second time.
"""

from __future__ import annotations

import re
from typing import Final

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

# Build a Beautiful Soup tree node by node, without its parser.


class _SoupText(NavigableString):
    """A text of the tree."""

    hidden = False
    next_sibling = previous_sibling = next_element = previous_element = None

    def __new__(cls, value: str) -> _SoupText:
        """Create a text outside of a tree, without Beautiful Soup's own constructor."""
        return str.__new__(cls, value)


_TEXT_TYPES: set[type[NavigableString]] = {_SoupText}
"""The types of text that `get_text` returns."""


class _Tag(Tag):
    """An element of the tree. Values that are equal for all elements are attributes of the class."""

    parser_class = None
    namespace = prefix = None
    sourceline = sourcepos = None
    known_xml = False
    hidden = False
    can_be_empty_element = False
    cdata_list_attributes = preserve_whitespace_tags = None
    interesting_string_types = _TEXT_TYPES
    next_sibling = previous_sibling = next_element = previous_element = None

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        """Create an element outside of a tree, without Beautiful Soup's own constructor."""
        self.name = name
        self.attrs = attributes  # type: ignore[assignment]  # no attribute here has a list of values
        self.contents: list[PageElement] = []

    def find_parent(self, *_: object, **__: object) -> None:
        """Return None. markdownify searches for a `<pre>` above each element, but here `<pre>` contains only text."""


class _EmptyTag(_Tag):
    """An element that never has content, such as `<br>`."""

    can_be_empty_element = True


class _Document(_Tag):
    """The root of the tree, without a tag of its own. `BeautifulSoup` would prepare a parser."""

    hidden = True
    parent = None


class SoupTree:
    """A tree to which elements and texts are added in document order."""

    def __init__(self) -> None:
        """Create an empty tree."""
        self._document = _Document("[document]", {})
        self._parent: Tag = self._document
        self._last: PageElement = self._document
        self._texts: list[str] = []
        """The texts since the last element, which become one node."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        element = _Tag(tag, attributes)
        self._append(element)
        self._parent = element

    def end(self) -> None:
        """Close the innermost open element."""
        if self._texts:
            self._append_texts()
        parent = self._parent.parent
        if parent is not None:
            self._parent = parent

    def add_empty(self, tag: str, attributes: dict[str, str]) -> None:
        """Add an element without content."""
        self._append(_EmptyTag(tag, attributes))

    def add_text(self, text: str) -> None:
        """Add text to the innermost open element."""
        self._texts.append(text)

    def finish(self) -> Tag:
        """Return the root of the tree. Nothing can be added afterwards."""
        if self._texts:
            self._append_texts()
        return self._document

    def _append_texts(self) -> None:
        texts, self._texts = self._texts, []
        self._append(_SoupText(texts[0] if len(texts) == 1 else "".join(texts)))

    def _append(self, node: PageElement) -> None:
        """Link a node to its parent and its neighbours."""
        if self._texts:
            self._append_texts()
        parent = self._parent
        node.parent = parent
        siblings = parent.contents
        if siblings:
            before = siblings[-1]
            before.next_sibling = node
            node.previous_sibling = before
        siblings.append(node)
        self._last.next_element = node
        node.previous_element = self._last
        self._last = node


# Build a regular Beautiful Soup tree for markdownify from containers, lines, and marks within lines.

MAX_CONTAINERS: Final = 40
"""Largest number of lists, items and quotes around a line: twenty levels of a list. Real lists nest six deep; deeper
nesting comes from unclosed tags. Each level costs the converter stack frames and another indent."""
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


class SoupMark:
    """An inline element around the following words, such as `strong` or `a`."""

    __slots__ = ("attributes", "is_open", "is_used", "kind")

    def __init__(self, kind: str, attributes: dict[str, str]) -> None:
        self.kind = kind
        self.attributes = attributes
        self.is_open = False
        """True if the start tag is in the current line."""
        self.is_used = False
        """True if the mark ended with an earlier line. It is not repeated, because a link around blocks is one link."""


class SoupBuilder:
    """A builder of the tree from blocks and words in order. A line begins with its first word, so no line is empty."""

    def __init__(self, *, has_suspect_characters: bool = False) -> None:
        """Create an empty tree.

        `has_suspect_characters` is True if texts may contain invisible characters and must be cleaned.
        """
        self._has_suspect_characters = has_suspect_characters
        self._tree = SoupTree()
        self.heading_level = 0
        self.is_tight = False
        """True if the next block follows without a blank line."""
        self.is_in_cell = False
        """True inside a table cell. A cell is one line of Markdown, without fences and display formulas."""
        self.block_count = 0
        """The number of lines and other blocks so far."""
        self.preceding = ""
        """The last characters of the current line."""
        self._marks: list[SoupMark] = []
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

    def finish(self) -> Tag:
        """Return the root of the tree. Nothing can be added afterwards."""
        self.end_line()
        return self._tree.finish()

    # Blocks.

    @property
    def is_nested(self) -> bool:
        """True if the next line is inside a list item, a quote or a footnote."""
        return any(tag not in LISTS for tag in self._containers)

    def open_container(self, tag: str, attributes: dict[str, str]) -> bool:
        """Open a container and return True, or return False beyond `MAX_CONTAINERS`.

        Tables are always opened, because they do not nest in this tree.
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

    def add_block(self, tag: str, text: str, attributes: dict[str, str]) -> None:
        """Add a block with verbatim text, which may be empty."""
        self.end_line()
        self.heading_level = 0
        self.block_count += 1
        self._start(tag, self._add_spacing(attributes))
        if text:
            self._tree.add_text(text)
        self._end()

    def add_cell(self, text: str, attributes: dict[str, str]) -> None:
        """Add a table cell that holds only text."""
        self._start("td", attributes)
        if words := " ".join((clean(text) if self._has_suspect_characters else text).split()):
            self._tree.add_text(escape_markdown(words))
        self._end()

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

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._is_in_code:
            self._end_code()
        self._tree.start(tag, attributes)

    def _end(self) -> None:
        if self._is_in_code:
            self._end_code()
        self._tree.end()

    def _end_code(self) -> None:
        self._is_in_code = False
        self._tree.end()

    def _add_spacing(self, attributes: dict[str, str]) -> dict[str, str]:
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
            self._start(self.line_tag, self._add_spacing({}))
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
        self._tree.add_text(text)
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
            self._tree.add_empty("br", {})
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
        self._tree.add_text(words)
        self._is_in_code = "`" not in words
        if not self._is_in_code:
            self._tree.end()
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
                self._tree.add_text(line.rstrip())
                self._end()
        self.end_line()

    def open_mark(self, kind: str, attributes: dict[str, str]) -> SoupMark | None:
        """Open an inline element and return it, or return None if an element of this kind is open."""
        if self._marks and self.has_mark(kind):
            return None
        mark = SoupMark(kind, attributes)
        self._marks.append(mark)
        return mark

    def has_mark(self, kind: str) -> bool:
        """Return whether an inline element of this kind is open."""
        return any(mark.kind == kind for mark in self._marks)

    def close_mark(self, mark: SoupMark) -> None:
        """Close an inline element. An element without words is not in the tree."""
        self._marks.remove(mark)
        if mark.is_open:
            self._end()
            if mark.kind in LINK_TAGS:
                self._is_gap_due = True
                if mark.kind == "a":
                    self.preceding = ")"
