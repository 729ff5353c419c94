"""Parse CSS colours into sRGB, blend them, and decide whether two of them look the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from tinycss2 import color4, color5

from keyhole.extract.html.visibility.lengths import Token, Tokens, significant

MAX_DIFFERENCE: Final = 12
"""Largest difference per channel, out of 255, at which text cannot be told from its background."""


class Colour(NamedTuple):
    """An sRGB colour: channels from 0 to 255, alpha from 0 to 1. NaN channels stand for an unknown colour."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


WHITE: Final = Colour(255, 255, 255)
BLACK: Final = Colour(0, 0, 0)
LINK: Final = Colour(0, 0, 238)
CLEAR: Final = Colour(0, 0, 0, 0)
UNKNOWN: Final = Colour(math.nan, math.nan, math.nan)
CURRENT: Final = "currentcolor"

_SYSTEM: Final = {
    "canvas": WHITE, "canvastext": BLACK, "linktext": LINK, "visitedtext": Colour(85, 26, 139), "field": WHITE,
    "fieldtext": BLACK, "buttontext": BLACK, "buttonface": Colour(240, 240, 240), "mark": Colour(255, 255, 0),
    "marktext": BLACK, "window": WHITE, "windowtext": BLACK, "background": WHITE, "infotext": BLACK,
    "menu": WHITE, "menutext": BLACK, "infobackground": WHITE, "threedface": Colour(240, 240, 240),
    "-webkit-link": LINK, "-webkit-text": BLACK,
}  # fmt: skip
"""System colours of a light theme."""
_UNREAD_FUNCTIONS: Final = frozenset({"color-mix", "contrast-color", "device-cmyk", "rgb", "rgba", "hsl", "hsla",
                                      "hwb", "lab", "lch", "oklab", "oklch", "color"})  # fmt: skip
"""Functions that may hold a valid colour which tinycss2 cannot read, such as one relative to another colour."""
_D50_TO_D65: Final = (
    (0.9555766, -0.0230393, 0.0631636), (-0.0282895, 1.0099416, 0.0210077), (0.0122982, -0.0204830, 1.3299098),
)  # fmt: skip
_XYZ_TO_LINEAR: Final = (
    (3.2404542, -1.5371385, -0.4985314), (-0.9692660, 1.8760108, 0.0415560), (0.0556434, -0.2040259, 1.0572252),
)  # fmt: skip


def parse_colour(token: Token) -> Colour | str | None:
    """Return a colour, `CURRENT`, or None if the token is not a valid colour."""
    if token.type == "ident" and token.lower_value in _SYSTEM:
        return _SYSTEM[token.lower_value]
    if token.type not in {"ident", "hash", "function"}:
        return None
    try:
        colour = color5.parse_color(token)
    except (ValueError, TypeError, IndexError, NotImplementedError, ZeroDivisionError, AttributeError):
        colour = None
    if isinstance(colour, str):
        return CURRENT
    if colour is not None:
        return _to_srgb(colour)
    if token.type == "function" and token.lower_name in _UNREAD_FUNCTIONS and _may_be_valid(token):
        return UNKNOWN
    return None


def blend(front: Colour, back: Colour, opacity: float = 1.0) -> Colour:
    """Return the colour of `front` painted over an opaque `back`."""
    alpha = front.alpha * opacity
    if alpha == 0:
        return back
    channels = (over * alpha + under * (1 - alpha) for over, under in zip(front[:3], back[:3], strict=True))
    return Colour(*channels)


def look_same(first: Colour, second: Colour) -> bool:
    """Return whether nobody can tell two opaque colours apart. Unknown colours never look the same."""
    return all(abs(a - b) <= MAX_DIFFERENCE for a, b in zip(first[:3], second[:3], strict=True))


def _may_be_valid(token: Token) -> bool:
    """Return whether a function that tinycss2 cannot read has `from`, `calc()` or a mix of colours."""
    arguments = significant(token.arguments)
    is_mix = token.lower_name in {"color-mix", "contrast-color", "device-cmyk"}
    is_relative = bool(arguments) and arguments[0].type == "ident" and arguments[0].lower_value == "from"
    return bool(arguments) and (is_mix or is_relative or any(each.type == "function" for each in arguments))


def _to_srgb(colour: color4.Color) -> Colour:
    space, alpha = colour.space, colour.alpha
    if alpha == 0:
        return CLEAR
    if space in {"hsl", "hwb"}:
        channels: Sequence[float] = colour.to("srgb").coordinates
    elif space in {"lab", "lch"}:
        channels = _encode(_multiply(_D50_TO_D65, colour.to("xyz-d50").coordinates))
    elif space in {"oklab", "oklch"}:
        channels = _encode(colour.to("xyz-d65").coordinates)
    elif space in {"xyz", "xyz-d65", "xyz-d50", "srgb-linear"} or space.startswith("--") or space == "device-cmyk":
        return Colour(*UNKNOWN[:3], alpha)
    else:
        # Wider spaces are read as sRGB. Their greys are the same, and other colours are close enough.
        channels = [channel or 0 for channel in colour.coordinates]
    red, green, blue = (255 * min(max(channel, 0.0), 1.0) for channel in channels)
    return Colour(red, green, blue, alpha)


def _multiply(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _encode(xyz: Sequence[float]) -> list[float]:
    """Convert XYZ (D65) to sRGB channels from 0 to 1."""
    linear = _multiply(_XYZ_TO_LINEAR, xyz)
    return [
        12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
        for value in (min(max(channel, 0.0), 1.0) for channel in linear)
    ]


def find_colour(tokens: Tokens) -> Colour | str | None:
    """Return the only colour among tokens, or None if there is none."""
    return next((colour for token in tokens if (colour := parse_colour(token)) is not None), None)
