"""Decide whether the text of an element has the colour of what is behind it."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.boxes import Style, is_lost_in, is_painted, text_colour
from keyhole.extract.html.visibility.cascade import Cascade
from keyhole.extract.html.visibility.colours import UNKNOWN, WHITE, Colour, blend
from keyhole.extract.html.visibility.drawings import SHAPES

_MEDIA: Final = ("img", "video", "canvas", "svg", "iframe", "picture", "object", "embed")
"""Elements that may be painted behind text."""
_MOVED: Final = frozenset({"absolute", "fixed", "sticky", "relative"})


class Backgrounds:
    """The backgrounds of a page's elements, as far as they are known."""

    def __init__(self, cascade: Cascade) -> None:
        self._cascade = cascade
        self._knows_all = not cascade.rules.has_unread_sheets
        self._covers: dict[HtmlElement, list[HtmlElement]] = {}

    def conceals_text(self, element: HtmlElement, opacity: float = 1.0) -> bool:
        """Return whether the text directly in an element cannot be told from its background."""
        style = self._cascade.style(element).values
        colour = text_colour(style)
        if is_painted(style):
            return False
        if colour.alpha == 0:
            return True
        return is_lost_in(colour, self._find_background(element), opacity)

    def _find_background(self, element: HtmlElement) -> Colour:
        """Return the colour behind an element's text, or `UNKNOWN`."""
        layers: list[Colour] = []
        above: HtmlElement | None = element
        while above is not None:
            style = self._cascade.style(above).values
            background = style.get("background-color")
            if background == "currentcolor":
                background = style.get("color", Colour(0, 0, 0))
            if style.get("background-image", "none") != "none" or (
                above.tag == "svg" and next(above.iter(*SHAPES), None) is not None
            ):
                return UNKNOWN
            if isinstance(background, Colour) and background.alpha > 0:
                layers.append(background)
                if background.alpha == 1:
                    break
            if self._may_cover(above, style) or (not self._knows_all and self._may_be_styled(above)):
                return UNKNOWN
            above = above.getparent()
        if above is None and (self._is_dark or not self._knows_all):
            return UNKNOWN
        colour = WHITE
        for layer in reversed(layers):
            colour = blend(layer, colour)
        return colour

    def _may_be_styled(self, element: HtmlElement) -> bool:
        """Return whether a style sheet that was not read may give an element a background."""
        return bool(element.get("class") or element.get("id")) or element.tag in {"body", "html"}

    def _may_cover(self, element: HtmlElement, style: Style) -> bool:
        """Return whether something that is not an ancestor may lie behind an element: it is moved, or follows media."""
        if style.get("position", "static") in _MOVED or "transform" in style or style.get("margin-top", 0.0) != 0.0:
            return self._page_paints
        parent = element.getparent()
        return parent is not None and any(each is not element for each in self._list_covers(parent))

    def _list_covers(self, parent: HtmlElement) -> list[HtmlElement]:
        """Return the children that are positioned so that they may cover their siblings."""
        covers = self._covers.get(parent)
        if covers is None:
            covers = self._covers[parent] = [
                each
                for each in parent.iterchildren("*")
                if (each.get("style") or each.get("class") or each.get("id"))
                and self._cascade.style(each).values.get("position") in {"absolute", "fixed"}
                and self._paints(each)
            ]
        return covers

    @cached_property
    def _is_dark(self) -> bool:
        """Return whether the page asks for the dark canvas of browsers."""
        root = self._cascade.page.root
        asked = [meta.get("content") or "" for meta in root.iter("meta") if meta.get("name") == "color-scheme"]
        return self._cascade.style(root).values.get("color-scheme") == "dark" or any(
            "dark" in words and "light" not in words for words in asked
        )

    @cached_property
    def _page_paints(self) -> bool:
        """Return whether the page has media or backgrounds that text could be moved onto."""
        root = self._cascade.page.root
        if next(root.iter(*_MEDIA), None) is not None:
            return True
        body = root.find("body")
        inside = body if body is not None else root
        return any(
            each is not inside and self._paints(each)
            for each in inside.iter("*")
            if each.get("style") or each.get("class") or each.get("id") or each.get("bgcolor")
        )

    def _paints(self, element: HtmlElement) -> bool:
        if element.tag in _MEDIA or next(element.iter(*_MEDIA), None) is not None:
            return True
        style = self._cascade.style(element).values
        background = style.get("background-color")
        has_colour = isinstance(background, Colour) and background.alpha > 0
        return style.get("background-image", "none") != "none" or has_colour
