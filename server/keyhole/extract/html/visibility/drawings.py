"""Read the attributes that style the text of drawings and formulas, and find text outside of its drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.boxes import Style
from keyhole.extract.html.visibility.declarations import Declaration, parse_declarations
from keyhole.extract.html.visibility.lengths import Context, parse_length, parse_tokens

_ATTRIBUTES: Final = (
    "clip-path", "color", "display", "fill", "fill-opacity", "filter", "font-size", "opacity", "stroke", "transform",
    "visibility",
)  # fmt: skip
"""Attributes of drawings that are read as the CSS properties of the same name (SVG 2, 6.6)."""
_SIZED: Final = ("width", "height")
_FORMULA: Final = {"mathcolor": "color", "mathbackground": "background-color", "mathsize": "font-size"}
"""Attributes of formulas, and the properties that they set (MathML Core, 2.1.3)."""
FORMULA_ATTRIBUTES: Final = tuple(_FORMULA)
_TAGS: Final = {
    **dict.fromkeys(("math", "mi", "mn", "mo", "mtext", "ms", "mrow", "mstyle", "merror"), FORMULA_ATTRIBUTES),
    **dict.fromkeys(("text", "tspan", "textpath", "g"), _ATTRIBUTES), "svg": (*_ATTRIBUTES, *_SIZED), "iframe": _SIZED,
}  # fmt: skip
_PLAIN: Final = frozenset({"font-size", "mathsize", *_SIZED})
"""Lengths that may lack a unit in attributes."""
_NUMBERS: Final = re.compile(r"-?\d+(?:\.\d+)?")
_NUMBER: Final = re.compile(r"\s*(-?\d+(?:\.\d+)?)(?:px)?\s*")
_GAP: Final = re.compile(r"(?<=\d)\s+(?=[-.\d])")
_STEP: Final = re.compile(r"(?<=translate\()[^()]*")
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
        value = _STEP.sub(lambda match: ",".join(f"{each}px" for each in match[0].split(",")), _GAP.sub(",", value))
    return parse_declarations(f"{_FORMULA.get(name, name)}:{value}") if ";" not in value else ()


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
    edges, style = style_of(svg), style_of(text)
    is_moved = any(each.get("dx") or each.get("dy") or "transform" in style_of(each) for each in inside)
    if not inside or is_moved or edges.get("overflow-x") != "hidden":
        return False
    box = [float(each) for each in _NUMBERS.findall(svg.get("viewbox") or "")]
    size = style.get("font-size", 16.0)
    # Letters are at most as wide as high, and an anchor may be at both ends and at the top and bottom.
    for number, (name, side, reach) in enumerate((("x", "width", length * size), ("y", "height", size))):
        start, extent, slack = 0.0, edges.get(side, "auto"), 0.0
        if len(box) == 4:
            start, extent, slack = box[number], box[number + 2], box[number + 2]
        extent = math.inf if isinstance(extent, str) else extent
        place = _read_length(text.get(name), Context(size, percent_base=extent))
        if place is not None and (place + reach <= start - slack or place - reach >= start + extent + slack):
            return True
    return False


def _read_length(value: str | None, context: Context) -> float | None:
    number = _NUMBER.fullmatch(value or "")
    return float(number[1]) if number else parse_length(parse_tokens(value or ""), context)
