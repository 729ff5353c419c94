"""Read the attributes that style the text of drawings (SVG), and find text outside of its drawing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.boxes import Style
from keyhole.extract.html.visibility.declarations import Declaration, parse_declarations

_ATTRIBUTES: Final = (
    "clip-path", "color", "display", "fill", "fill-opacity", "font-size", "opacity", "stroke", "transform",
    "visibility",
)  # fmt: skip
"""Attributes of drawings that are read as the CSS properties of the same name (SVG 2, 6.6)."""
_SIZED: Final = ("width", "height")
_TAGS: Final = {
    **dict.fromkeys(("text", "tspan", "textpath", "g"), _ATTRIBUTES), "svg": (*_ATTRIBUTES, *_SIZED), "iframe": _SIZED,
}  # fmt: skip
_PLAIN: Final = frozenset({"font-size", *_SIZED})
"""Lengths that may lack a unit in attributes."""
_NUMBER: Final = re.compile(r"\s*(-?\d+(?:\.\d+)?)(?:px)?\s*")
_GAP: Final = re.compile(r"(?<=\d)\s+(?=[-.\d])")
SHAPES: Final = ("rect", "circle", "ellipse", "path", "polygon", "polyline", "line", "image", "use")
"""Elements that may be painted behind text."""


def drawing_hints(element: HtmlElement) -> list[Declaration]:
    """Return the declarations that the attributes of a drawing or a frame stand for. Style sheets override them."""
    names = _TAGS.get(element.tag)
    if names is None:
        return []
    return [each for name in names if (value := element.get(name)) for each in _read_attribute(name, value)]


def _read_attribute(name: str, value: str) -> tuple[Declaration, ...]:
    if name in _PLAIN and (number := _NUMBER.fullmatch(value)):
        value = f"{number[1]}px"
    elif name == "transform":
        value = _GAP.sub(",", value)
    return parse_declarations(f"{name}:{value}") if ";" not in value else ()


def list_drawn_texts(root: HtmlElement) -> list[HtmlElement]:
    """Return the elements of drawings that hold text."""
    texts = list(root.iter("text"))
    found = dict.fromkeys(texts)
    for text in texts:
        found.update(dict.fromkeys(text.iter("tspan", "textpath")))
        found.update((above, None) for above in text.iterancestors("g", "svg"))
    return list(found)


def is_outside(text: HtmlElement, length: int, style_of: Callable[[HtmlElement], Style]) -> bool:
    """Return whether `x` and `y` place a text of a length outside of its drawing, which cuts it off."""
    around = [text, *text.iterancestors()]
    svg = next((each for each in around if each.tag == "svg"), text)
    inside = around[: around.index(svg)]
    edges = style_of(svg)
    is_moved = any(each.get("dx") or each.get("dy") or "transform" in style_of(each) for each in inside)
    if not inside or is_moved or svg.get("viewbox") is not None or edges.get("overflow-x") != "hidden":
        return False
    size = style_of(text).get("font-size", 16.0)
    # Letters are at most as wide as high, and an anchor may be at both ends and at the top and bottom.
    reaches = (("x", "width", length * size), ("y", "height", size))
    return any(_is_off(text.get(name), edges.get(side, "auto"), reach) for name, side, reach in reaches)


def _is_off(position: str | None, end: float | str, reach: float) -> bool:
    """Return whether what reaches so far from a position ends before zero, or begins after `end`."""
    match = _NUMBER.fullmatch(position or "")
    if match is None:
        return False
    place = float(match[1])
    return place + reach <= 0 or (not isinstance(end, str) and place - reach >= end)
