"""Convert CSS colours to sRGB and back, blend them, and decide whether two of them look the same."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from tinycss2 import color4

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

_D50_TO_D65: Final = (
    (0.9555766, -0.0230393, 0.0631636), (-0.0282895, 1.0099416, 0.0210077), (0.0122982, -0.0204830, 1.3299098),
)  # fmt: skip
_XYZ_TO_LINEAR: Final = (
    (3.2404542, -1.5371385, -0.4985314), (-0.9692660, 1.8760108, 0.0415560), (0.0556434, -0.2040259, 1.0572252),
)  # fmt: skip
_Matrices = tuple[tuple[tuple[float, float, float], ...], tuple[tuple[float, float, float], ...]]
_TO_OKLAB: Final[_Matrices] = (
    ((0.412221, 0.536333, 0.051446), (0.211903, 0.680700, 0.107397), (0.088302, 0.281719, 0.629979)),
    ((0.210454, 0.793618, -0.004072), (1.977998, -2.428592, 0.450594), (0.025904, 0.782772, -0.808676)),
)  # fmt: skip
"""Matrices before and after the cube root, from linear sRGB to Oklab (https://bottosson.github.io/posts/oklab/)."""
_TO_LAB: Final[_Matrices] = (
    ((0.452256, 0.399354, 0.148390), (0.222505, 0.716879, 0.060617), (0.016883, 0.117672, 0.865404)),
    ((0.0, 116.0, 0.0), (500.0, -500.0, 0.0), (0.0, 200.0, -200.0)),
)  # fmt: skip
"""The same for CIE Lab with the white of D50. The lightness is 16 too large."""


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


def to_srgb(colour: color4.Color) -> Colour:
    """Return a colour of any space in sRGB. The channels of spaces that are not converted are unknown."""
    space, alpha = colour.space, colour.alpha
    if alpha == 0:
        return CLEAR
    if space in {"hsl", "hwb"}:
        channels: Sequence[float] = colour.to("srgb").coordinates
    elif space in {"lab", "lch"}:
        channels = _encode(_multiply(_D50_TO_D65, colour.to("xyz-d50").coordinates))
    elif space in {"oklab", "oklch"}:
        channels = _encode(colour.to("xyz-d65").coordinates)
    elif space in {"xyz", "xyz-d65"}:
        channels = _encode([channel or 0 for channel in colour.coordinates])
    elif space in {"xyz-d50", "srgb-linear"} or space.startswith("--") or space == "device-cmyk":
        return Colour(*UNKNOWN[:3], alpha)
    else:
        # Wider spaces are read as sRGB. Their greys are the same, and other colours are close enough.
        channels = [channel or 0 for channel in colour.coordinates]
    red, green, blue = (255 * min(max(channel, 0.0), 1.0) for channel in channels)
    return Colour(red, green, blue, alpha)


def measure_channels(colour: Colour, space: str) -> dict[str, float]:
    """Return the channels of an sRGB colour by their names in a relative colour of another space."""
    red, green, blue = (channel / 255 for channel in colour[:3])
    if space == "color":
        return {"r": red, "g": green, "b": blue, **dict.fromkeys("xyz", math.nan)}
    if space.startswith("rgb") or math.isnan(red):
        names = {"rgb": "rgb", "hsl": "hsl", "hwb": "hwb"}.get(space[:3], "lchab")
        return dict(zip(names, [*colour[:3], *colour[:2]], strict=False))
    if space in {"hsl", "hsla", "hwb"}:
        hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
        whiteness, blackness = min(red, green, blue), 1 - max(red, green, blue)
        others = zip("slwb", (saturation, lightness, whiteness, blackness), strict=True)
        return {"h": 360 * hue, **{name: 100 * value for name, value in others}}
    lightness, a, b = _to_lab(colour, _TO_OKLAB if space.startswith("ok") else _TO_LAB)
    if not space.startswith("ok"):
        lightness = max(0.0, lightness - 16)
    return {"l": lightness, "a": a, "b": b, "c": math.hypot(a, b), "h": math.degrees(math.atan2(b, a))}


def _to_lab(colour: Colour, matrices: _Matrices) -> list[float]:
    encoded = (channel / 255 for channel in colour[:3])
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in encoded]
    return _multiply(matrices[1], [each ** (1 / 3) for each in _multiply(matrices[0], linear)])


def _multiply(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _encode(xyz: Sequence[float]) -> list[float]:
    """Convert XYZ (D65) to sRGB channels from 0 to 1."""
    linear = _multiply(_XYZ_TO_LINEAR, xyz)
    return [
        12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
        for value in (min(max(channel, 0.0), 1.0) for channel in linear)
    ]
