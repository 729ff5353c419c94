"""Parse the values of the CSS properties that decide whether text is visible."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from keyhole.extract.html.visibility.colour_functions import parse_colour
from keyhole.extract.html.visibility.colours import CLEAR, UNKNOWN, Colour
from keyhole.extract.html.visibility.lengths import (
    Context,
    Tokens,
    measure,
    parse_length,
    parse_number,
    split_commas,
)
from keyhole.extract.html.visibility.shapes import (
    parse_clip,
    parse_clip_path,
    parse_filter,
    parse_mask,
    parse_single_transform,
    parse_transform,
)

Value = Any
"""A parsed value: a keyword, a number of pixels, a `Colour`, or a value of shapes.py."""
Parser = Callable[[Tokens, Context], Value]
"""Return a value, or None if the tokens are not valid."""

INHERITED: Final = frozenset({
    "visibility", "font-size", "line-height", "color", "-webkit-text-fill-color", "text-indent", "white-space",
    "text-shadow", "-webkit-text-stroke-width", "font-size-adjust", "-webkit-text-security", "fill", "fill-opacity",
    "stroke",
})  # fmt: skip

FONT_SIZES: Final = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0,
    "xx-large": 32.0, "xxx-large": 48.0, "math": 16.0,
}  # fmt: skip
MIN_RELATIVE_FONT: Final = 6.0
"""Smallest font size in pixels that Chromium computes from a relative size other than zero."""
_EMS: Final = frozenset({"em", "rem", "ex", "ch", "lh", "rlh"})
_DISPLAY: Final = frozenset({
    "none", "contents", "block", "inline", "flow", "flow-root", "inline-block", "run-in", "list-item",
    "inline-list-item", "flex", "inline-flex", "grid", "inline-grid", "ruby", "ruby-base",
    "ruby-text", "table", "inline-table", "table-row-group", "table-header-group", "table-footer-group",
    "table-row", "table-cell", "table-column-group", "table-column", "table-caption", "math", "-webkit-box",
    "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex", "grid-lanes", "inline-grid-lanes",
})  # fmt: skip


def _keyword(allowed: str, tokens: Tokens, context: Context) -> str | None:
    del context
    names = allowed.split()
    is_valid = len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value in names
    return tokens[0].lower_value if is_valid else None


def _display(tokens: Tokens, context: Context) -> str | None:
    del context
    names: list[str] = [token.lower_value for token in tokens if token.type == "ident"]
    if len(names) < len(tokens) or not names or not _DISPLAY.issuperset(names):
        return None
    if len(names) == 1:
        return names[0]
    if "none" in names or "contents" in names:
        return None
    inner = next((name for name in names if name in {"flex", "grid", "table", "list-item"}), "block")
    return f"inline-{inner}" if "inline" in names else inner


def _opacity(tokens: Tokens, context: Context) -> float | None:
    del context
    number = parse_number(tokens)
    return None if number is None else min(max(number, 0.0), 1.0)


def _size(tokens: Tokens, context: Context) -> float | str | None:
    """Parse a width: pixels, or `auto` for every keyword."""
    if len(tokens) == 1 and tokens[0].type == "ident":
        return "auto"
    length = parse_length(tokens, context)
    if length is None:
        is_function = len(tokens) == 1 and tokens[0].type == "function"
        return "auto" if is_function and tokens[0].lower_name == "fit-content" else None
    return length if not length < 0 else None if tokens[0].type != "function" else 0.0


def _height(tokens: Tokens, context: Context) -> float | str | None:
    """Parse a height. A percentage counts as `auto`, because most containers have no height of their own."""
    quantity = measure(tokens[0], context) if len(tokens) == 1 else None
    return "auto" if quantity is not None and quantity.kind == "percent" else _size(tokens, context)


def _padding(tokens: Tokens, context: Context) -> float | None:
    length = parse_length(tokens, context)
    return length if length is None or length >= 0 else None


def _offset(tokens: Tokens, context: Context) -> float | str | None:
    if len(tokens) == 1 and tokens[0].type == "ident":
        return "auto" if tokens[0].lower_value == "auto" else None
    return parse_length(tokens, context)


def _indent(tokens: Tokens, context: Context) -> float | None:
    lengths = [token for token in tokens if token.type != "ident"]
    keywords = [token.lower_value for token in tokens if token.type == "ident"]
    return parse_length(lengths, context) if not set(keywords) - {"hanging", "each-line"} else None


def _font_size(tokens: Tokens, context: Context) -> float | None:
    if len(tokens) == 1 and tokens[0].type == "ident":
        relative = {"smaller": context.font_size / 1.2, "larger": context.font_size * 1.2}
        return FONT_SIZES.get(tokens[0].lower_value, relative.get(tokens[0].lower_value))
    size = parse_length(tokens, context._replace(percent_base=context.font_size))
    if size is None or (size < 0 and tokens[0].type != "function"):
        return None
    is_relative = tokens[0].type == "percentage" or (tokens[0].type == "dimension" and tokens[0].lower_unit in _EMS)
    return max(size, MIN_RELATIVE_FONT) if size > 0 and is_relative else max(size, 0.0)


def _line_height(tokens: Tokens, context: Context) -> float | None:
    """Parse a line height as a multiple of the font size; NaN for `normal`."""
    if len(tokens) == 1 and tokens[0].type == "ident":
        return math.nan if tokens[0].lower_value == "normal" else None
    number = parse_number(tokens)
    if number is not None:
        return number if number >= 0 else None
    length = parse_length(tokens, context)
    return length / (context.font_size or 1) if length is not None and length >= 0 else None


def _colour(tokens: Tokens, context: Context) -> Colour | str | None:
    del context
    return parse_colour(tokens[0]) if len(tokens) == 1 else None


def _scheme(tokens: Tokens, context: Context) -> str | None:
    """Parse `color-scheme` as the scheme that a reader gets who prefers none."""
    del context
    words = {token.lower_value for token in tokens if token.type == "ident"}
    return "dark" if "dark" in words and "light" not in words else "light"


def _paint(tokens: Tokens, context: Context) -> Colour | str | None:
    """Parse the paint of a drawing: a colour, or an unknown one for gradients and patterns."""
    if len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value == "none":
        return CLEAR
    is_pattern = bool(tokens) and tokens[0].type == "url"
    return UNKNOWN if is_pattern else _colour(tokens, context)


def _image(tokens: Tokens, context: Context) -> str | None:
    """Parse `background-image` as `none` or `image`."""
    del context
    if all(token.type == "ident" and token.lower_value == "none" for part in split_commas(tokens) for token in part):
        return "none"
    return "image" if any(token.type in {"url", "function"} for token in tokens) else None


def _background_clip(tokens: Tokens, context: Context) -> str | None:
    del context
    names = {token.lower_value for token in tokens if token.type == "ident"}
    return "text" if "text" in names else "box" if names else None


def _shadow(tokens: Tokens, context: Context) -> bool | None:
    """Return whether a `text-shadow` is painted."""
    del context
    if len(tokens) == 1 and tokens[0].type == "ident":
        return False if tokens[0].lower_value == "none" else None
    colours = [parse_colour(token) for token in tokens]
    return all(not isinstance(colour, Colour) or colour.alpha > 0.05 for colour in colours)


def _number(tokens: Tokens, context: Context) -> float | str | None:
    del context
    is_keyword = len(tokens) == 1 and tokens[0].type == "ident"
    return "auto" if is_keyword else parse_number([token for token in tokens if token.type != "ident"])


def _flat_tracks(tokens: Tokens, context: Context) -> bool | None:
    """Return whether all rows of a grid have no height of their own."""
    del context
    quantities = [measure(token) for token in tokens]
    return bool(quantities) and all(quantity is not None and quantity.value == 0 for quantity in quantities)


def _factor(tokens: Tokens, context: Context) -> float | None:
    """Parse a number that is not negative."""
    del context
    number = parse_number(tokens)
    return number if number is not None and number >= 0 else None


def _content(tokens: Tokens, context: Context) -> bool | None:
    """Return whether `content` replaces an element by an image."""
    del context
    return any(token.type == "url" or (token.type == "function" and token.lower_name == "url") for token in tokens)


def _containment(tokens: Tokens, context: Context) -> frozenset[str] | None:
    """Parse `contain` as the kinds of containment that it sets."""
    del context
    words = {token.lower_value if token.type == "ident" else "" for token in tokens}
    short = {"none": "", "strict": "size layout paint style", "content": "layout paint style"}
    if len(tokens) == 1 and words <= short.keys():
        return frozenset(short[words.pop()].split())
    return frozenset(words) if words <= {"size", "inline-size", "layout", "paint", "style"} else None


def _names(tokens: Tokens, context: Context) -> tuple[str, ...] | None:
    del context
    parts = split_commas(tokens)
    return tuple(part[0].value for part in parts if part and part[0].type in {"ident", "string"}) or None


def _any(tokens: Tokens, context: Context) -> tuple[str, ...] | None:
    del context
    return tuple(token.serialize().lower() for part in split_commas(tokens) for token in part[:1])


_OVERFLOW: Final = partial(_keyword, "visible hidden clip scroll auto overlay")
PARSERS: Final[dict[str, Parser]] = {
    "display": _display,
    "visibility": partial(_keyword, "visible hidden collapse"),
    "opacity": _opacity,
    "content-visibility": partial(_keyword, "visible auto hidden"),
    "filter": parse_filter,
    "mask-image": parse_mask,
    "clip": parse_clip,
    "clip-path": parse_clip_path,
    "transform": parse_transform,
    **{name: partial(parse_single_transform, name) for name in ("translate", "scale", "rotate")},
    "backface-visibility": partial(_keyword, "visible hidden"),
    "position": partial(_keyword, "static relative absolute fixed sticky -webkit-sticky"),
    "float": partial(_keyword, "left right none inline-start inline-end"),
    **dict.fromkeys(
        ("left", "right", "top", "bottom", "margin-left", "margin-right", "margin-top", "margin-bottom"),
        _offset,
    ),
    "flex-direction": partial(_keyword, "row row-reverse column column-reverse"),
    "flex-grow": _factor,
    "grid-template-rows": _flat_tracks,
    "z-index": _number,
    "zoom": _number,
    "text-indent": _indent,
    "overflow-x": _OVERFLOW,
    "overflow-y": _OVERFLOW,
    **dict.fromkeys(("width", "min-width", "max-width"), _size),
    **dict.fromkeys(("height", "min-height", "max-height"), _height),
    **dict.fromkeys(("padding-right", "padding-bottom"), _padding),
    "font-size": _font_size,
    "font-size-adjust": _number,
    "line-height": _line_height,
    "color": _colour,
    "-webkit-text-fill-color": _colour,
    "background-color": _colour,
    "color-scheme": _scheme,
    "fill": _paint,
    "fill-opacity": _opacity,
    "stroke": _paint,
    "background-image": _image,
    "background-clip": _background_clip,
    "text-shadow": _shadow,
    "-webkit-text-stroke-width": lambda tokens, context: _size(tokens, context),
    "-webkit-text-security": partial(_keyword, "none disc circle square"),
    "white-space": _any,
    "content": _content,
    "mix-blend-mode": _any,
    "contain": _containment,
    "container-type": _any,
    "contain-intrinsic-size": _any,
    "animation-name": _names,
    "animation-fill-mode": _any,
    "animation-iteration-count": _any,
    "animation-play-state": _any,
}
"""The longhands that are read."""
