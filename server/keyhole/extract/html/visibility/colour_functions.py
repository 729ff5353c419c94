"""Parse CSS colours: names, numbers, and colours made from other colours."""

from __future__ import annotations

import math
from typing import Final

import tinycss2.ast
from tinycss2 import color4, color5

from keyhole.extract.html.visibility.colours import (
    BLACK,
    CLEAR,
    CURRENT,
    LINK,
    UNKNOWN,
    WHITE,
    Colour,
    look_same,
    measure_channels,
    to_srgb,
)
from keyhole.extract.html.visibility.lengths import Token, Tokens, measure, parse_number, significant, split_commas

_SYSTEM: Final = {
    "canvas": WHITE, "canvastext": BLACK, "linktext": LINK, "visitedtext": Colour(85, 26, 139), "field": WHITE,
    "fieldtext": BLACK, "buttontext": BLACK, "buttonface": Colour(240, 240, 240), "mark": Colour(255, 255, 0),
    "marktext": BLACK, "window": WHITE, "windowtext": BLACK, "background": WHITE, "infotext": BLACK,
    "menu": WHITE, "menutext": BLACK, "infobackground": WHITE, "threedface": Colour(240, 240, 240),
    "-webkit-link": LINK, "-webkit-text": BLACK,
}  # fmt: skip
"""System colours of a light theme."""
_SPACES: Final = frozenset({"rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color"})
"""Functions of three channels."""
_MAX_DEPTH: Final = 10
"""Number of colours made from one another that are followed."""


def parse_colour(token: Token, depth: int = 0) -> Colour | str | None:
    """Return a colour, `CURRENT`, or None if the token is not a valid colour."""
    if token.type == "ident" and token.lower_value in _SYSTEM:
        return _SYSTEM[token.lower_value]
    if token.type not in {"ident", "hash", "function"}:
        return None
    colour = _read(token)
    if isinstance(colour, str):
        return CURRENT
    if colour is not None:
        return to_srgb(colour)
    return _derive(token, depth + 1) if token.type == "function" else None


def _read(token: Token | str) -> color4.Color | str | None:
    try:
        colour: color4.Color | str | None = color5.parse_color(token)
    except (ValueError, TypeError, IndexError, NotImplementedError, ZeroDivisionError, AttributeError):
        return None
    return colour


def _derive(token: Token, depth: int) -> Colour | str | None:
    """Return a colour that is computed from other colours or by `calc()`."""
    name, arguments = token.lower_name, significant(token.arguments)
    if not arguments or depth > _MAX_DEPTH:
        return None
    if name == "light-dark":
        return parse_colour(arguments[0], depth)
    if name == "color-mix":
        return _mix(arguments, depth)
    if name in {"contrast-color", "device-cmyk"}:
        return UNKNOWN
    return _compute(name, arguments, depth) if name in _SPACES else None


def _compute(name: str, arguments: Tokens, depth: int) -> Colour | None:
    """Return a colour whose channels are given by `calc()` or by the channels of another colour."""
    origin: Colour | str | None = None
    channels: dict[str, float] = {}
    if _is_word(arguments[0], "from"):
        origin = parse_colour(arguments[1], depth) if len(arguments) > 1 else None
        if origin is None:
            return None
        origin = origin if isinstance(origin, Colour) else UNKNOWN
        channels = {**measure_channels(origin, name), "alpha": origin.alpha}
        arguments = arguments[2:]
    space = arguments[0].serialize() if name == "color" and arguments else ""
    parts = [token for token in arguments[bool(space) :] if token.type != "literal"]
    values = [_read_channel(token, channels) for token in parts]
    if len(values) not in {3, 4} or None in values:
        return None
    alpha = values[3] if len(values) == 4 else repr(origin.alpha) if isinstance(origin, Colour) else "1"
    colour = _read(f"{name}({space} {' '.join(filter(None, values[:3]))} / {alpha})")
    if isinstance(colour, color4.Color):
        return to_srgb(colour)
    opacity = parse_number(tinycss2.parse_component_value_list(alpha or ""))
    opacity = 1.0 if opacity is None else min(opacity, 1.0)
    return UNKNOWN._replace(alpha=opacity) if opacity > 0 else CLEAR


def _read_channel(token: Token, channels: dict[str, float]) -> str | None:
    """Return the text of one channel, without names of channels and `calc()`."""
    if _is_word(token, "none"):
        return "none"
    quantity = measure(_replace_channels(token, channels))
    if quantity is None:
        return None
    unit = {"percent": "%", "angle": "deg"}.get(quantity.kind, "")
    return f"{quantity.value:.9f}{unit}"


def _replace_channels(token: Token, channels: dict[str, float]) -> Token:
    """Return a token with numbers in place of the names of channels."""
    if token.type == "ident" and token.lower_value in channels:
        value = channels[token.lower_value]
        return tinycss2.ast.NumberToken(0, 0, value, None, repr(value))
    if token.type == "function":
        inner = [_replace_channels(each, channels) for each in token.arguments]
        return tinycss2.ast.FunctionBlock(0, 0, token.name, inner)
    if token.type == "() block":
        return tinycss2.ast.ParenthesesBlock(0, 0, [_replace_channels(each, channels) for each in token.content])
    return token


def _mix(arguments: Tokens, depth: int) -> Colour | None:
    """Return the value of `color-mix()`.

    Its colour is known if it is about the same in sRGB and in Oklab. Other spaces are not evaluated.
    """
    listed = split_commas(arguments)
    method = listed.pop(0) if _is_word(arguments[0], "in") else [arguments[0]] * 2
    parts = [_read_part(part, depth) for part in listed]
    if len(parts) != 2 or len(method) < 2 or parts[0] is None or parts[1] is None:
        return None
    (first, share), (second, other) = parts[0], parts[1]
    if math.isnan(share) and math.isnan(other):
        share = other = 0.5
    share, other = (1 - other if math.isnan(share) else share), (1 - share if math.isnan(other) else other)
    total = share + other
    if total <= 0 or min(share, other) < 0:
        return None
    mixed = _interpolate(first, second, share / total, [first[:3], second[:3]])
    if method[1].serialize().lower() != "srgb" and not math.isnan(mixed.red):
        ends = [tuple(measure_channels(each, "oklab").values())[:3] for each in (first, second)]
        inner = _interpolate(first, second, share / total, ends)
        colour = _read(f"oklab({inner.red:.9f} {inner.green:.9f} {inner.blue:.9f})")
        if not isinstance(colour, color4.Color) or not look_same(to_srgb(colour), mixed):
            mixed = UNKNOWN._replace(alpha=mixed.alpha)
    alpha = mixed.alpha * min(total, 1)
    return mixed._replace(alpha=alpha) if alpha else CLEAR


def _read_part(tokens: Tokens, depth: int) -> tuple[Colour, float] | None:
    """Return a colour of `color-mix()` with its share, which is NaN if it is not given."""
    colours = [colour for token in tokens if (colour := parse_colour(token, depth)) is not None]
    shares = [measure(token) for token in tokens if parse_colour(token, depth) is None]
    if len(colours) != 1 or len(shares) > 1 or (shares and (shares[0] is None or shares[0].kind != "percent")):
        return None
    share = shares[0].value / 100 if shares and shares[0] is not None else math.nan
    return (colours[0] if isinstance(colours[0], Colour) else UNKNOWN), share


def _interpolate(first: Colour, second: Colour, share: float, ends: list[tuple[float, ...]]) -> Colour:
    """Return a mix of two colours in the space of `ends`, the channels of both."""
    weights = [first.alpha * share, second.alpha * (1 - share)]
    alpha = sum(weights)
    if not alpha:
        return CLEAR
    # A colour without weight is left out, because it may be unknown.
    used = [(weight / alpha, end) for weight, end in zip(weights, ends, strict=True) if weight]
    red, green, blue = (sum(weight * end[place] for weight, end in used) for place in range(3))
    return Colour(red, green, blue, alpha)


def _is_word(token: Token, word: str) -> bool:
    return bool(token.type == "ident" and token.lower_value == word)
