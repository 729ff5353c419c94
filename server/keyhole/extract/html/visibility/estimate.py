"""Estimate what is hidden on a page whose style sheets are too complex to be applied."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.attributes import hides_by_attributes
from keyhole.extract.html.visibility.cascade import Cascade
from keyhole.extract.html.visibility.drawings import FORMULA_ATTRIBUTES
from keyhole.extract.html.visibility.page import find_attributes

_MOST: Final = 0.5
"""An estimate that hides a larger share of a page's text is not believed."""
_BY_ATTRIBUTE: Final = ("hidden", "popover", "srcdoc", *FORMULA_ATTRIBUTES)
_BY_TAG: Final = ("dialog", "rp", "noframes")
"""Elements that browsers hide."""
_TEXTLESS: Final = frozenset({"script", "style", "template", "head", "svg", "noscript"})


def estimate(cascade: Cascade, forgiven: Collection[HtmlElement]) -> tuple[dict[HtmlElement, None], bool]:
    """Return the elements that attributes and the names at the end of hiding rules hide, and whether that is doubtful.

    This hides too much rather than too little, because the style sheets may be made to exhaust the work. If it would
    hide most of the page, only rules of a single name count, which is doubtful.
    """
    root = cascade.page.root
    styled = [style.getparent() for style in find_attributes(root, "style")]
    by_attributes = [*styled, *find_by_attributes(root)]
    certain = [element for element in by_attributes if hides_by_attributes(element.tag, element.attrib)]
    hidden: dict[HtmlElement, None] = {}
    for only_simple in (False, True):
        boxes = [*certain, *cascade.list_possibly_hidden(only_simple=only_simple)]
        hidden = {each: None for each in boxes if each not in forgiven and each.tag not in {"html", "body"}}
        if not hides_most(root, hidden):
            return hidden, only_simple
    return hidden, True


def hides_most(root: HtmlElement, boxes: Collection[HtmlElement]) -> bool:
    """Return whether elements hold most of a page's text."""
    shown = total = 0
    stack = [(root, False)]
    while stack:
        element, is_hidden = stack.pop()
        if element.tag in _TEXTLESS or not isinstance(element.tag, str):
            continue
        is_hidden = is_hidden or element in boxes
        length = len(own_text(element))
        total += length
        shown += 0 if is_hidden else length
        stack += ((child, is_hidden) for child in element)
    return shown < (1 - _MOST) * total


def find_by_attributes(root: HtmlElement) -> list[HtmlElement]:
    """Return the elements that browsers hide by their name or by an attribute other than `style`."""
    by_attribute = [value.getparent() for name in _BY_ATTRIBUTE for value in find_attributes(root, name)]
    return [*by_attribute, *root.iter(*_BY_TAG)]


def own_text(element: HtmlElement) -> str:
    """Return the text directly in an element, not that in the elements inside it."""
    parts = [element.text or "", *(child.tail or "" for child in element)]
    return "".join(parts).strip()
