"""Build a Beautiful Soup tree node by node, without its parser.

The parser's `handle_starttag` keeps a stack and looks up each element's rules, which takes most of the time of a
conversion. Here each node is linked to its neighbours when it is added, as Beautiful Soup's own methods expect.
"""

from __future__ import annotations

from bs4 import Tag
from bs4.element import NavigableString, PageElement


class _Text(NavigableString):
    """A text of the tree."""

    hidden = False
    next_sibling = previous_sibling = next_element = previous_element = None

    def __new__(cls, value: str) -> _Text:
        """Create a text outside of a tree, without Beautiful Soup's own constructor."""
        return str.__new__(cls, value)


_TEXT_TYPES: set[type[NavigableString]] = {_Text}
"""The types of text that `get_text` returns."""


class _Tag(Tag):
    """An element of the tree. What is equal for all elements is an attribute of the class."""

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
        self._append(_Text(texts[0] if len(texts) == 1 else "".join(texts)))

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
