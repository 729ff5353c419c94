"""Parse CSS values that move, scale or clip a box: `transform`, `clip`, `clip-path`, `filter` and masks."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from keyhole.extract.html.visibility.colour_functions import parse_colour
from keyhole.extract.html.visibility.colours import Colour
from keyhole.extract.html.visibility.lengths import (
    Context,
    Token,
    Tokens,
    measure,
    parse_length,
    parse_number,
    significant,
    split_commas,
)

_MIN_SCALE: Final = 0.05
"""A scale of at most this leaves nothing to read: text of 16 pixels is less than a pixel high."""
_FLAT: Final = 0.02
"""A turned box whose width is at most this share of its own leaves nothing to read."""
_MOST_CLIPPED: Final = 990
"""Thousandths of a box whose clipping leaves nothing that can be read."""
_MIN_BLUR: Final = 20
"""Radius in pixels from which a blur leaves no letter. Authors blur what is to be revealed by 4 to 10 pixels."""
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


def parse_transform(tokens: Tokens, context: Context) -> Transform | None:
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


def _parse_function(token: Token, context: Context) -> Transform | None:
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


def _parse_rotation(name: str, parts: list[list[Token]]) -> Transform | None:
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


def parse_single_transform(name: str, tokens: Tokens, context: Context) -> Transform | None:
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


def parse_clip(tokens: Tokens, context: Context) -> bool | None:
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


def parse_clip_path(tokens: Tokens, context: Context) -> bool | None:
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


def _is_empty_rectangle(name: str, arguments: list[Token], context: Context) -> bool | None:
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


def _is_empty_polygon(parts: list[list[Token]], context: Context) -> bool | None:
    corners = [part for part in parts if len(part) == 2]
    points = [[parse_length([token], context) for token in corner] for corner in corners]
    if not points or any(None in point for point in points):
        return None
    pairs = [(x or 0.0, y or 0.0) for x, y in points]
    twice_area = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(pairs, [*pairs[1:], pairs[0]], strict=True))
    is_outside = any(max(pair[axis] for pair in pairs) <= 0 for axis in (0, 1))
    return abs(twice_area) <= 2 or is_outside


def parse_filter(tokens: Tokens, context: Context) -> float | None:
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


def parse_mask(tokens: Tokens, context: Context) -> bool | None:
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
