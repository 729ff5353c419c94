"""Parse the values of the CSS properties that decide whether text is visible."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from keyhole.extract.html.visibility.css_values import (
    CLEAR,
    UNKNOWN,
    Colour,
    CssToken,
    CssTokens,
    LengthContext,
    measure,
    parse_colour,
    parse_length,
    parse_number,
    significant,
    split_commas,
)

# Values that move, scale or clip a box: `transform`, `clip`, `clip-path`, `filter` and masks.

_MIN_SCALE: Final = 0.05
"""Largest scale that leaves nothing to read: it makes text of 16 pixels less than a pixel high."""
_FLAT: Final = 0.02
"""Largest share of its width that a turned box shows when it counts as unreadable."""
_MOST_CLIPPED: Final = 990
"""Thousandths of a box: if this much is clipped, nothing can be read."""
_MIN_BLUR: Final = 20
"""Smallest radius in pixels of a blur that makes letters unreadable. Text to be revealed is blurred by 4 to 10."""
FAR: Final = 500
"""Distance in pixels that moves a box off the page: authors write 999 or 9999."""


class Transform(NamedTuple):
    """A transformation: whether it leaves nothing to see, how far it moves, and whether it shows the back."""

    is_flat: bool = False
    right: float = 0.0
    down: float = 0.0
    shows_back: bool = False


STILL: Final = Transform()
_ANGLES: Final = {"rotate", "rotatex", "rotatey", "rotatez", "rotate3d", "skew", "skewx", "skewy"}
_MOVES: Final = {"translate", "translatex", "translatey", "translatez", "translate3d"}
_SCALES: Final = {"scale", "scalex", "scaley", "scalez", "scale3d"}
_MATRICES: Final = {"matrix": 6, "matrix3d": 16, "perspective": 1}


def parse_transform(tokens: CssTokens, context: LengthContext) -> Transform | None:
    """Return the value of `transform`, or None if it is not valid."""
    if len(tokens) == 1 and tokens[0].type == "ident":
        return STILL if tokens[0].lower_value == "none" else None
    result = STILL
    for token in tokens:
        step = _parse_function(token, context) if token.type == "function" else None
        if step is None:
            return None
        result = Transform(
            result.is_flat or step.is_flat,
            result.right + step.right,
            result.down + step.down,
            result.shows_back != step.shows_back,
        )
    return result


def _parse_function(token: CssToken, context: LengthContext) -> Transform | None:
    name, parts = token.lower_name, split_commas(token.arguments)
    if name in _MOVES:
        lengths = [parse_length(part, context) for part in parts]
        if any(length is None for length in lengths):
            return None
        axes = {"translatey": (1,), "translatez": (2,)}.get(name, (0, 1, 2))
        moves = {axis: length or 0.0 for axis, length in zip(axes, lengths, strict=False)}
        return Transform(right=moves.get(0, 0.0), down=moves.get(1, 0.0))
    if name in _SCALES:
        numbers = [parse_number(part) for part in parts]
        if any(number is None for number in numbers):
            return None
        return Transform(is_flat=name != "scalez" and any(abs(number or 0) <= _MIN_SCALE for number in numbers[:2]))
    if name in _ANGLES:
        return _parse_rotation(name, [part for part in parts if part])
    if name in _MATRICES:
        numbers = [parse_number(part) for part in parts] if name != "perspective" else [1.0]
        if len(numbers) != _MATRICES[name] or any(number is None for number in numbers):
            return None
        return _read_matrix(name, [number or 0.0 for number in numbers])
    return None


def _parse_rotation(name: str, parts: list[list[CssToken]]) -> Transform | None:
    quantity = measure(parts[-1][0]) if parts and len(parts[-1]) == 1 else None
    if quantity is None or not (quantity.kind == "angle" or quantity.value == 0):
        return None
    cosine = math.cos(math.radians(quantity.value))
    if name == "rotate3d":
        axis = [abs(parse_number(part) or 0) > 0 for part in parts[:3]]
        name = "rotatex" if axis == [True, False, False] else "rotatey" if axis == [False, True, False] else name
    turns = name in {"rotatex", "rotatey"}
    return Transform(is_flat=turns and abs(cosine) <= _FLAT, shows_back=turns and cosine < 0)


def _read_matrix(name: str, numbers: list[float]) -> Transform:
    if name == "perspective":
        return STILL
    a, b, c, d = numbers[:4] if name == "matrix" else (numbers[0], numbers[1], numbers[4], numbers[5])
    right, down = numbers[4:6] if name == "matrix" else numbers[12:14]
    return Transform(is_flat=abs(a * d - b * c) <= _FLAT**2, right=right, down=down)


def parse_single_transform(name: str, tokens: CssTokens, context: LengthContext) -> Transform | None:
    """Return the value of the property `translate`, `scale` or `rotate`, or None if it is not valid."""
    if len(tokens) == 1 and tokens[0].type == "ident":
        return STILL if tokens[0].lower_value == "none" else None
    if name == "translate" and 0 < len(tokens) <= 3:
        lengths = [parse_length([token], context) for token in tokens]
        if all(length is not None for length in lengths):
            return Transform(right=lengths[0] or 0.0, down=(lengths[1] or 0.0) if len(lengths) > 1 else 0.0)
    if name == "scale" and 0 < len(tokens) <= 3:
        numbers = [parse_number([token]) for token in tokens]
        if all(number is not None for number in numbers):
            return Transform(is_flat=any(abs(number or 0) <= _MIN_SCALE for number in numbers[:2]))
    if name == "rotate":
        axis = next((token.lower_value for token in tokens if token.type == "ident"), "z")
        angles = [[token] for token in tokens if token.type == "dimension"]
        return _parse_rotation(f"rotate{axis}", angles)
    return None


def parse_clip(tokens: CssTokens, context: LengthContext) -> bool | None:
    """Return whether the property `clip` leaves at most one pixel, or None if it is not valid."""
    if len(tokens) != 1:
        return None
    token = tokens[0]
    if token.type == "ident":
        return False if token.lower_value == "auto" else None
    if token.type != "function" or token.lower_name != "rect":
        return None
    edges = [each for each in significant(token.arguments) if not (each.type == "literal" and each.value == ",")]
    if len(edges) != 4:
        return None
    sizes = [None if each.type == "ident" else parse_length([each], context) for each in edges]
    if any(
        size is None and not (e.type == "ident" and e.lower_value == "auto")
        for size, e in zip(sizes, edges, strict=True)
    ):
        return None
    top, right, bottom, left = sizes
    return (bottom is not None and bottom - (top or 0) <= 1) or (right is not None and right - (left or 0) <= 1)


def parse_clip_path(tokens: CssTokens, context: LengthContext) -> bool | None:
    """Return whether `clip-path` leaves nothing to see, or None if it is not valid."""
    shapes = [token for token in tokens if token.type == "function"]
    if any(token.type not in {"function", "ident", "url"} for token in tokens) or len(shapes) > 1 or not tokens:
        return None
    if not shapes:
        return False if len(tokens) <= 1 else None
    context = context._replace(percent_base=1_000)
    name, arguments = shapes[0].lower_name, significant(shapes[0].arguments)
    if name in {"circle", "ellipse"}:
        radii = [parse_length([token], context) for token in arguments[: 1 if name == "circle" else 2]]
        return any(radius is not None and radius <= 1 for radius in radii)
    if name == "polygon":
        return _is_empty_polygon(split_commas(shapes[0].arguments), context)
    if name == "path":
        drawn = [token.value for token in arguments if token.type == "string"]
        return bool(drawn) and not any(sign in "lhvcsqtaLHVCSQTA" for sign in drawn[-1])
    if name in {"inset", "rect", "xywh"}:
        return _is_empty_rectangle(name, arguments, context)
    return False if name in {"url", "shape"} else None


def _is_empty_rectangle(name: str, arguments: list[CssToken], context: LengthContext) -> bool | None:
    rounded = next(
        (n for n, token in enumerate(arguments) if token.type == "ident" and token.lower_value == "round"), None
    )
    sizes = [parse_length([token], context) for token in arguments[:rounded]]
    if not sizes or any(size is None for size in sizes):
        return False if name == "rect" and sizes else None
    values = [size or 0.0 for size in sizes]
    if name == "xywh":
        return len(values) == 4 and min(values[2:]) <= 0
    top = values[0]
    right = values[1] if len(values) > 1 else top
    bottom = values[2] if len(values) > 2 else top
    left = values[3] if len(values) > 3 else right
    if name == "rect":
        return bottom - top <= 1 or right - left <= 1
    return top + bottom >= _MOST_CLIPPED or left + right >= _MOST_CLIPPED


def _is_empty_polygon(parts: list[list[CssToken]], context: LengthContext) -> bool | None:
    corners = [part for part in parts if len(part) == 2]
    points = [[parse_length([token], context) for token in corner] for corner in corners]
    if not points or any(None in point for point in points):
        return None
    pairs = [(x or 0.0, y or 0.0) for x, y in points]
    twice_area = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(pairs, [*pairs[1:], pairs[0]], strict=True))
    is_outside = any(max(pair[axis] for pair in pairs) <= 0 for axis in (0, 1))
    return abs(twice_area) <= 2 or is_outside


def parse_filter(tokens: CssTokens, context: LengthContext) -> float | None:
    """Return the opacity that `filter` leaves, from 0 to 1; None if it is not valid."""
    if len(tokens) == 1 and tokens[0].type == "ident":
        return 1.0 if tokens[0].lower_value == "none" else None
    opacity = 1.0
    for token in tokens:
        if token.type == "function" and token.lower_name == "opacity":
            part = parse_number(significant(token.arguments)) if significant(token.arguments) else 1.0
            if part is None or part < 0:
                return None
            opacity *= min(part, 1.0)
        elif token.type == "function" and token.lower_name == "blur":
            radius = parse_length(significant(token.arguments), context)
            opacity *= 0.0 if radius is not None and radius >= _MIN_BLUR else 1.0
        elif token.type not in {"function", "url"}:
            return None
    return opacity


def parse_mask(tokens: CssTokens, context: LengthContext) -> bool | None:
    """Return whether a mask hides everything: it is a gradient of transparent colours."""
    del context
    gradients = [token for token in tokens if token.type == "function" and "gradient" in token.lower_name]
    if not gradients:
        return False
    colours = [
        colour
        for gradient in gradients
        for token in significant(gradient.arguments)
        if isinstance(colour := parse_colour(token), Colour)
    ]
    return bool(colours) and all(colour.alpha == 0 for colour in colours)


# The parser of each property.

CssValue = Any
"""A parsed value: a keyword, a number of pixels, a `Colour`, a `Transform`, or True for a clip that leaves nothing."""
PropertyParser = Callable[[CssTokens, LengthContext], CssValue]
"""Return a value, or None if the tokens are not valid."""

INHERITED: Final = frozenset({
    "visibility", "font-size", "line-height", "color", "-webkit-text-fill-color", "text-indent", "white-space",
    "list-style-type",
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


def _keyword(allowed: str, tokens: CssTokens, context: LengthContext) -> str | None:
    del context
    names = allowed.split()
    is_valid = len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value in names
    return tokens[0].lower_value if is_valid else None


def _display(tokens: CssTokens, context: LengthContext) -> str | None:
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


def _opacity(tokens: CssTokens, context: LengthContext) -> float | None:
    del context
    number = parse_number(tokens)
    return None if number is None else min(max(number, 0.0), 1.0)


def _size(tokens: CssTokens, context: LengthContext) -> float | str | None:
    """Parse a width: pixels, or `auto` for every keyword."""
    if len(tokens) == 1 and tokens[0].type == "ident":
        return "auto"
    length = parse_length(tokens, context)
    if length is None:
        is_function = len(tokens) == 1 and tokens[0].type == "function"
        return "auto" if is_function and tokens[0].lower_name == "fit-content" else None
    return length if not length < 0 else None if tokens[0].type != "function" else 0.0


def _height(tokens: CssTokens, context: LengthContext) -> float | str | None:
    """Parse a height. A percentage counts as `auto`, because most containers have no height of their own."""
    quantity = measure(tokens[0], context) if len(tokens) == 1 else None
    return "auto" if quantity is not None and quantity.kind == "percent" else _size(tokens, context)


def _padding(tokens: CssTokens, context: LengthContext) -> float | None:
    length = parse_length(tokens, context)
    return length if length is None or length >= 0 else None


def _offset(tokens: CssTokens, context: LengthContext) -> float | str | None:
    if len(tokens) == 1 and tokens[0].type == "ident":
        return "auto" if tokens[0].lower_value == "auto" else None
    return parse_length(tokens, context)


def _indent(tokens: CssTokens, context: LengthContext) -> float | None:
    lengths = [token for token in tokens if token.type != "ident"]
    keywords = [token.lower_value for token in tokens if token.type == "ident"]
    return parse_length(lengths, context) if not set(keywords) - {"hanging", "each-line"} else None


def _font_size(tokens: CssTokens, context: LengthContext) -> float | None:
    if len(tokens) == 1 and tokens[0].type == "ident":
        relative = {"smaller": context.font_size / 1.2, "larger": context.font_size * 1.2}
        return FONT_SIZES.get(tokens[0].lower_value, relative.get(tokens[0].lower_value))
    size = parse_length(tokens, context._replace(percent_base=context.font_size))
    if size is None or (size < 0 and tokens[0].type != "function"):
        return None
    is_relative = tokens[0].type == "percentage" or (tokens[0].type == "dimension" and tokens[0].lower_unit in _EMS)
    return max(size, MIN_RELATIVE_FONT) if size > 0 and is_relative else max(size, 0.0)


def _line_height(tokens: CssTokens, context: LengthContext) -> float | None:
    """Parse a line height as a multiple of the font size; NaN for `normal`."""
    if len(tokens) == 1 and tokens[0].type == "ident":
        return math.nan if tokens[0].lower_value == "normal" else None
    number = parse_number(tokens)
    if number is not None:
        return number if number >= 0 else None
    length = parse_length(tokens, context)
    return length / (context.font_size or 1) if length is not None and length >= 0 else None


def _colour(tokens: CssTokens, context: LengthContext) -> Colour | str | None:
    del context
    return parse_colour(tokens[0]) if len(tokens) == 1 else None


def _scheme(tokens: CssTokens, context: LengthContext) -> str | None:
    """Parse `color-scheme` as the scheme shown to a reader without a preference."""
    del context
    words = {token.lower_value for token in tokens if token.type == "ident"}
    return "dark" if "dark" in words and "light" not in words else "light"


def _paint(tokens: CssTokens, context: LengthContext) -> Colour | str | None:
    """Parse the paint of a drawing: a colour, or `UNKNOWN` for gradients and patterns."""
    if len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value == "none":
        return CLEAR
    is_pattern = bool(tokens) and tokens[0].type == "url"
    return UNKNOWN if is_pattern else _colour(tokens, context)


def _image(tokens: CssTokens, context: LengthContext) -> str | None:
    """Parse `background-image` as `none` or `image`."""
    del context
    if all(token.type == "ident" and token.lower_value == "none" for part in split_commas(tokens) for token in part):
        return "none"
    return "image" if any(token.type in {"url", "function"} for token in tokens) else None


def _background_clip(tokens: CssTokens, context: LengthContext) -> str | None:
    del context
    names = {token.lower_value for token in tokens if token.type == "ident"}
    return "text" if "text" in names else "box" if names else None


def _shadow(tokens: CssTokens, context: LengthContext) -> bool | None:
    """Return whether a `text-shadow` is painted."""
    del context
    if len(tokens) == 1 and tokens[0].type == "ident":
        return False if tokens[0].lower_value == "none" else None
    colours = [parse_colour(token) for token in tokens]
    return all(not isinstance(colour, Colour) or colour.alpha > 0.05 for colour in colours)


def _number(tokens: CssTokens, context: LengthContext) -> float | str | None:
    del context
    is_keyword = len(tokens) == 1 and tokens[0].type == "ident"
    return "auto" if is_keyword else parse_number([token for token in tokens if token.type != "ident"])


def _flat_tracks(tokens: CssTokens, context: LengthContext) -> bool | None:
    """Return whether all rows of a grid have no height of their own."""
    del context
    quantities = [measure(token) for token in tokens]
    return bool(quantities) and all(quantity is not None and quantity.value == 0 for quantity in quantities)


def _factor(tokens: CssTokens, context: LengthContext) -> float | None:
    """Parse a number that is not negative."""
    del context
    number = parse_number(tokens)
    return number if number is not None and number >= 0 else None


def _content(tokens: CssTokens, context: LengthContext) -> bool | None:
    """Return whether `content` replaces an element by an image."""
    del context
    return any(token.type == "url" or (token.type == "function" and token.lower_name == "url") for token in tokens)


def _containment(tokens: CssTokens, context: LengthContext) -> frozenset[str] | None:
    """Parse `contain` as the kinds of containment that it sets."""
    del context
    words = {token.lower_value if token.type == "ident" else "" for token in tokens}
    short = {"none": "", "strict": "size layout paint style", "content": "layout paint style"}
    if len(tokens) == 1 and words <= short.keys():
        return frozenset(short[words.pop()].split())
    return frozenset(words) if words <= {"size", "inline-size", "layout", "paint", "style"} else None


def _names(tokens: CssTokens, context: LengthContext) -> tuple[str, ...] | None:
    del context
    parts = split_commas(tokens)
    return tuple(part[0].value for part in parts if part and part[0].type in {"ident", "string"}) or None


def _any(tokens: CssTokens, context: LengthContext) -> tuple[str, ...] | None:
    del context
    return tuple(token.serialize().lower() for part in split_commas(tokens) for token in part[:1])


def _words(tokens: CssTokens, context: LengthContext) -> tuple[str, ...]:
    del context
    return tuple(token.lower_value for token in tokens if token.type == "ident")


_OVERFLOW: Final = partial(_keyword, "visible hidden clip scroll auto overlay")
PARSERS: Final[dict[str, PropertyParser]] = {
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
    "list-style-type": _words,
    "content": _content,
    "mix-blend-mode": _any,
    "contain": _containment,
    "container-type": _any,
    "contain-intrinsic-size": _any,
    "animation-name": _names,
    "animation-fill-mode": _any,
}
"""The parser of each longhand that is read."""
