"""Show a tree to selectors: the names of its elements, their places, and the work that may still be done."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml.html import HtmlElement

Test = Callable[[HtmlElement, "Page"], bool]
"""Return whether an element of a page matches a selector."""


class OutOfWorkError(Exception):
    """The page needs more comparisons than a page may take."""


class Page:
    """A tree as selectors see it, with the number of comparisons that may still be made."""

    def __init__(self, root: HtmlElement, work: int, *, quirks: bool = False, checks_boxes: bool = False) -> None:
        self.root = root
        self.quirks = quirks
        self.checks_boxes = checks_boxes
        """True to match `:checked` as if the reader had ticked each box that has a label."""
        self._work = work
        self._positions: dict[HtmlElement, dict[HtmlElement, int]] = {}
        self._names: dict[HtmlElement, frozenset[str]] = {}
        self._names_above: dict[HtmlElement, frozenset[str]] = {}

    def spend(self, comparisons: int = 1) -> None:
        """Count comparisons. Raises OutOfWorkError when none is left."""
        self._work -= comparisons
        if self._work < 0:
            raise OutOfWorkError

    def names(self, element: HtmlElement) -> frozenset[str]:
        """Return the tag, the `.class` names, the `#id` and the `[attribute` names of an element.

        Classes and ids are in lower case in quirks mode."""
        names = self._names.get(element)
        if names is None:
            words, identifier = element.get("class"), element.get("id")
            if self.quirks:
                words, identifier = words and words.lower(), identifier and identifier.lower()
            found = [f".{word}" for word in words.split()] if words else []
            if identifier:
                found.append(f"#{identifier}")
            found += [f"[{name}" for name in element.attrib]
            names = self._names[element] = frozenset((element.tag, *found))
        return names

    def names_above(self, element: HtmlElement) -> frozenset[str]:
        """Return the names of all ancestors of an element."""
        parent = element.getparent()
        if parent is None:
            return frozenset()
        names = self._names_above.get(parent)
        if names is None:
            names = self.names_above(parent) | self.names(parent)
            self._names_above[parent] = names
        return names

    def siblings(self, element: HtmlElement) -> list[HtmlElement]:
        """Return an element and its siblings in order."""
        return list(self._position_map(element))

    def position(self, element: HtmlElement) -> int:
        """Return how many siblings are before an element."""
        return self._position_map(element)[element]

    def _position_map(self, element: HtmlElement) -> dict[HtmlElement, int]:
        parent = element.getparent()
        if parent is None:
            return {element: 0}
        if parent not in self._positions:
            children = list(iter_children(parent))
            self.spend(len(children))
            self._positions[parent] = {child: number for number, child in enumerate(children)}
        return self._positions[parent]


def iter_children(element: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the elements in an element, without comments."""
    yield from element.iterchildren(tag="*")
