"""Find text that has the colour of its background, or that an opaque box covers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.cascade import Cascade
from keyhole.extract.html.visibility.computed_style import (
    SHAPES,
    StyleValues,
    hides_box,
    is_lost_in,
    is_painted,
    text_colour,
)
from keyhole.extract.html.visibility.css_values import UNKNOWN, WHITE, WIDTH, Colour, blend

# Backgrounds: decide whether text has the colour of what is behind it.

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

    def _may_cover(self, element: HtmlElement, style: StyleValues) -> bool:
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


# Covers: find text that an opaque box of the page covers.

COVERING: Final = re.compile(r"position\s*+:\s*+absolute|margin[\w-]{0,40}+\s{0,400}+:[^;]{0,400}-\d", re.IGNORECASE)
"""Text of declarations that may lay a box over others."""
_LETTER: Final = 0.7
"""Width of broad letters, in font sizes."""
_LINE: Final = 1.5
"""Height of high lines, in font sizes."""
_MARGIN: Final = 1.4
"""Largest margin of a paragraph or heading, in font sizes, that browsers set themselves."""
_NARROW: Final = 300.0
"""Width in pixels of a narrow column of text."""
_MOVING: Final = ("transform", "translate", "scale", "rotate", "clip-path", "mask-image", "animation-name", "filter",
                  "mix-blend-mode")  # fmt: skip
_MOST_SIBLINGS: Final = 20
"""Largest number of preceding siblings that a box may cover."""
_STILL: Final = frozenset({"static", "relative"})


def find_covered(
    boxes: Iterable[HtmlElement], cascade: Cascade, hidden: Collection[HtmlElement]
) -> Iterator[HtmlElement]:
    """Yield the elements whose own text one of several boxes covers. Some are yielded several times."""
    return _Covers(cascade, hidden).find_covered(boxes)


class _Covers:
    """The boxes that cover text."""

    def __init__(self, cascade: Cascade, hidden: Collection[HtmlElement]) -> None:
        self._cascade = cascade
        self._hidden = hidden

    def find_covered(self, boxes: Iterable[HtmlElement]) -> Iterator[HtmlElement]:
        """Yield the elements whose own text one of several boxes covers."""
        filled: dict[HtmlElement, HtmlElement] = {}
        for cover in boxes:
            style = self._cascade.style(cover).values
            if not self._is_opaque(cover, style):
                continue
            around = self._find_filled(cover, style)
            if around is not None:
                filled[around] = cover  # of several, the last one is above the others
            for sibling in islice(cover.itersiblings("*", preceding=True), _MOST_SIBLINGS):
                if self._covers(cover, style, sibling):
                    yield from sibling.iter("*")
        for around, cover in filled.items():
            yield from self._list_below(around, cover)

    def _is_opaque(self, cover: HtmlElement, style: StyleValues) -> bool:
        """Return whether a box paints all of its area, and nothing lets what is below shine through or moves it."""
        background = style.get("background-color")
        return (
            isinstance(background, Colour)
            and background.alpha == 1
            and style.get("background-clip") != "text"
            and style.get("visibility", "visible") == "visible"
            and not any(style.get(name) for name in _MOVING)
            and _level(style) >= 0
            and cover not in self._hidden
            and not hides_box(style)
            and all(self._cascade.style(each).values.get("opacity", 1.0) == 1.0 for each in _with_ancestors(cover))
        )

    def _find_filled(self, cover: HtmlElement, style: StyleValues) -> HtmlElement | None:
        """Return the element that a box of `position: absolute` fills, if it is not the page."""
        get = style.get
        if get("position") != "absolute" or get("left") != 0 or get("top") != 0:
            return None
        is_wide = get("right") == 0 or _pixels(get("width"), 0.0) >= WIDTH
        if not (is_wide and (get("bottom") == 0 or self._has_full_height(cover))):
            return None
        positions = ((each, self._cascade.style(each).values) for each in cover.iterancestors())
        around, outer = next(
            ((each, each_style) for each, each_style in positions if _is_positioned(each_style)), (None, {})
        )
        if around is None or around.tag in {"body", "html"}:
            return None
        # Content that is higher than its box overflows it, unless it is cut off.
        is_whole = outer.get("overflow-y", "visible") != "visible" or (
            outer.get("height", "auto") == outer.get("max-height", "auto") == "auto"
        )
        return around if is_whole else None

    def _has_full_height(self, cover: HtmlElement) -> bool:
        declared = self._cascade.declare(cover).get("height")
        tokens = declared.tokens if declared else ()
        return len(tokens) == 1 and tokens[0].type == "percentage" and tokens[0].value >= 100

    def _list_below(self, around: HtmlElement, cover: HtmlElement) -> Iterator[HtmlElement]:
        """Yield the elements in an element that are painted below a box which fills it."""
        level, is_later = _level(self._cascade.style(cover).values), False
        stack = list(reversed(around))
        yield around
        while stack:
            element = stack.pop()
            if element is cover:
                is_later = True
            elif isinstance(element.tag, str) and not self._is_beside(element, level, is_later):
                self._cascade.page.spend()
                yield element
                stack += reversed(element)

    def _is_beside(self, element: HtmlElement, level: float, is_later: bool) -> bool:
        """Return whether an element is painted above a level, or away from its place in the text."""
        style = self._cascade.style(element).values
        if style.get("position", "static") not in _STILL or style.get("float", "none") != "none":
            return True
        if any(style.get(name) for name in (*_MOVING, "left", "top", "right", "bottom")):
            return True
        is_above = _level(style) > level or (_level(style) == level and is_later)
        has_layer = style.get("position", "static") != "static" or "z-index" in style or style.get("opacity", 1.0) < 1
        return (is_above and has_layer) or _pixels(style.get("margin-top"), 0.0) < 0

    def _covers(self, cover: HtmlElement, style: StyleValues, sibling: HtmlElement) -> bool:
        """Return whether a box covers a sibling before it, both placed in pixels, or by a negative margin."""
        other = self._cascade.style(sibling).values
        position = other.get("position", "static")
        left, top = (
            _pixels(other.get(side), math.nan) - _pixels(style.get(side), math.nan) for side in ("left", "top")
        )
        is_pair = style.get("position") == position == "absolute" and left == 0 <= top
        is_pulled = (
            style.get("position") == "relative" and position == "static" and _pixels(style.get("margin-top"), 0) < 0
        )
        if _level(other) > _level(style) or not (is_pair or is_pulled):
            return False
        length = len("".join(sibling.itertext()).strip())
        size: float = other.get("font-size", 16.0)
        height = _pixels(style.get("height"), 0.0)
        if is_pair:
            width = min(_pixels(style.get("width"), 0.0), WIDTH - _pixels(other.get("left"), WIDTH))
            return height >= top + _MARGIN * size + _measure_height(length, size, width)
        overlap = -_pixels(style.get("margin-top"), 0.0)
        margin = _pixels(other.get("margin-bottom"), _MARGIN * size)
        is_next = sibling is next(cover.itersiblings("*", preceding=True))
        return is_next and height >= overlap >= margin + _measure_height(length, size, _NARROW)


def _measure_height(length: int, font_size: float, width: float) -> float:
    """Return the largest height of a text in a box."""
    return math.ceil(length * _LETTER * font_size / width) * _LINE * font_size if width > 0 else math.inf


def _level(style: StyleValues) -> float:
    """Return the place of an element in the order of painting."""
    return _pixels(style.get("z-index"), 0.0)


def _is_positioned(style: StyleValues) -> bool:
    return style.get("position", "static") != "static" or any(style.get(name) for name in _MOVING[:4])


def _with_ancestors(element: HtmlElement) -> list[HtmlElement]:
    return [element, *element.iterancestors()]


def _pixels(value: Any, auto: float) -> float:
    return value if isinstance(value, float | int) else auto
