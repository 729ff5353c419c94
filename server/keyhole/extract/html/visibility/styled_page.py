"""Show a tree to selectors: the names of its elements, their places, and the work that may still be done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property, lru_cache
from typing import Any, Final

from lxml import etree
from lxml.html import HtmlElement

_CLASSES: Final = etree.XPath("descendant-or-self::*/@class", smart_strings=False)
_IDS: Final = etree.XPath("descendant-or-self::*/@id", smart_strings=False)

Scopes = dict[HtmlElement, str]
"""The number of the shadow root that an element belongs to. Elements of the page itself are missing."""
HOST: Final = "keyhole-host"
SLOTTED: Final = "keyhole-slotted"
"""Attributes by which the style sheets of a shadow root select its host and the children in its slots."""
AROUND: Final = "keyhole-around"
"""An attribute by which `@scope` selects the element around its style sheet."""

Test = Callable[[HtmlElement, "StyledPage"], bool]
"""Return whether an element of a page matches a selector."""


class OutOfWorkError(Exception):
    """The page needs more comparisons than a page may take."""


class _Names(dict[HtmlElement, frozenset[str]]):
    """The tag, the `.class` names, the `#id` and the `[attribute` names of each element, read on request.

    Classes and ids are in lower case in quirks mode.
    """

    def __init__(self, quirks: bool, scopes: Scopes) -> None:
        self._quirks = quirks
        self._scopes = scopes

    def __missing__(self, element: HtmlElement) -> frozenset[str]:
        words, identifier = element.get("class"), element.get("id")
        if self._quirks:
            words, identifier = words and words.lower(), identifier and identifier.lower()
        found = [element.tag]
        if words:
            found += [f".{word}" for word in words.split()]
        if identifier:
            found.append(f"#{identifier}")
        found += [f"[{name}" for name in element.keys()]  # noqa: SIM118 - an element is no dict
        if self._scopes:
            found.append(name_scope(self._scopes.get(element, "")))
        names = self[element] = frozenset(found)
        return names


def name_scope(scope: str) -> str:
    """Return the name that all elements of a shadow root have."""
    return f"|{scope}"


class _Occurring(dict[str, bool]):
    """A table that tells whether some element of a tree has a name. It is filled on request."""

    def __init__(self, root: HtmlElement, quirks: bool) -> None:
        self._root = root
        words, identifiers = " ".join(_CLASSES(root)), _IDS(root)
        if quirks:
            words, identifiers = words.lower(), [each.lower() for each in identifiers]
        self.named = {*(f".{word}" for word in words.split()), *(f"#{each}" for each in identifiers)}

    @cached_property
    def _attributes(self) -> set[str]:
        return {name for element in self._root.iter("*") for name in element.attrib}

    def __missing__(self, name: str) -> bool:
        if name[0] in ".#":
            occurs = name in self.named
        elif name[0] == "[":
            occurs = name[1:] in self._attributes
        else:
            occurs = next(self._root.iter(name), None) is not None
        self[name] = occurs
        return occurs


class StyledPage:
    """A tree as selectors see it, with the number of comparisons that may still be made."""

    def __init__(self, root: HtmlElement, work: int, scopes: Scopes, *, quirks: bool = False) -> None:
        self.root = root
        self.scopes = scopes
        self.quirks = quirks
        self.checks_boxes = False
        """True to match `:checked` as if the reader had ticked each box that has a label."""
        self._work = work
        self._positions: dict[HtmlElement, dict[HtmlElement, int]] = {}
        self.names = _Names(quirks, scopes)
        self._names_above: dict[HtmlElement, frozenset[str]] = {}

    def tick_boxes(self, work: int) -> StyledPage:
        """Return the page as it is after a reader has ticked each box. `work`: its own limit of comparisons."""
        ticked = copy(self)
        ticked.checks_boxes = True
        ticked._work = work
        return ticked

    def spend(self, comparisons: int = 1) -> None:
        """Count comparisons. Raises OutOfWorkError when none is left."""
        self._work -= comparisons
        if self._work < 0:
            raise OutOfWorkError

    @cached_property
    def occurring(self) -> _Occurring:
        """A table that tells whether an element of the page has a name: a tag, a `.class`, an `#id` or an
        `[attribute`."""
        return _Occurring(self.root, self.quirks)

    @cached_property
    def _labelled(self) -> set[str]:
        return {label.get("for") for label in self.root.iter("label") if label.get("for")}

    def has_label(self, field: HtmlElement) -> bool:
        """Return whether a label names or contains a field."""
        return field.get("id") in self._labelled or next(field.iterancestors("label"), None) is not None

    def names_above(self, element: HtmlElement) -> frozenset[str]:
        """Return the names of all ancestors of an element."""
        parent = element.getparent()
        if parent is None:
            return frozenset()
        names = self._names_above.get(parent)
        if names is None:
            names = self.names_above(parent) | self.names[parent]
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


def find_attributes(root: HtmlElement, name: str) -> list[Any]:
    """Return the values of all attributes of a name in a tree. Their `getparent()` is the element."""
    values: list[Any] = _compile_attributes(name)(root)
    return values


@lru_cache(maxsize=256)
def _compile_attributes(name: str) -> etree.XPath:
    return etree.XPath(f"descendant-or-self::*/@{name}")


def iter_children(element: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the elements in an element, without comments."""
    yield from element.iterchildren(tag="*")
