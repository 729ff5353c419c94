"""Parse CSS values: numbers, lengths, angles and colours."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import tinycss2
import tinycss2.ast
from tinycss2 import color4, color5

# Numbers, lengths and angles: units, percentages, `calc()` and the other mathematical functions.

WIDTH: Final = 1280
HEIGHT: Final = 1024
"""Size of the window for which a page is laid out, in CSS pixels: that of a common computer screen."""
_MAX_DEPTH: Final = 30
"""Depth of parentheses in a value. Deeper values are not valid."""

CssToken = Any
"""A component value of tinycss2, which has no types."""
CssTokens = Sequence[CssToken]

_PIXELS: Final = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "vw": WIDTH / 100, "vi": WIDTH / 100, "vh": HEIGHT / 100, "vb": HEIGHT / 100, "vmin": HEIGHT / 100,
    "vmax": WIDTH / 100, "cqw": WIDTH / 100, "cqi": WIDTH / 100, "cqh": HEIGHT / 100, "cqb": HEIGHT / 100,
    "cqmin": HEIGHT / 100, "cqmax": WIDTH / 100,
}  # fmt: skip
_EMS: Final = {"em": 1.0, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0, "lh": 1.2}
_DEGREES: Final = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}
_OTHER_UNITS: Final = {"s": 1.0, "ms": 0.001, "dppx": 1.0, "x": 1.0, "dpi": 1 / 96, "dpcm": 2.54 / 96, "fr": 1.0}


class LengthContext(NamedTuple):
    """Sizes that relative lengths refer to, in pixels."""

    font_size: float = 16.0
    root_size: float = 16.0
    percent_base: float = WIDTH
    """The length of 100 %."""


DEFAULT: Final = LengthContext()


class Quantity(NamedTuple):
    """A number with its kind: `number`, `length`, `percent`, `angle` or `other`. NaN stands for an unknown value."""

    value: float
    kind: str


def measure(token: CssToken, context: LengthContext = DEFAULT, depth: int = 0) -> Quantity | None:
    """Return the value of one token in pixels, degrees or as a plain number; None if it is not a quantity.

    A percentage keeps its kind. A mix of lengths and percentages is a length.
    """
    if token.type == "number":
        return Quantity(token.value, "number")
    if token.type == "percentage":
        return Quantity(token.value, "percent")
    if token.type == "dimension":
        return _measure_dimension(token.value, token.lower_unit, context)
    if token.type == "function" and depth < _MAX_DEPTH:
        return _call(token.lower_name, token.arguments, context, depth + 1)
    if token.type == "() block" and 0 < depth < _MAX_DEPTH:
        return _sum(token.content, context, depth + 1)
    if token.type == "ident" and depth:
        constant = {"pi": math.pi, "e": math.e, "infinity": math.inf, "-infinity": -math.inf, "nan": math.nan}
        return Quantity(constant[token.lower_value], "number") if token.lower_value in constant else None
    return None


def parse_length(tokens: CssTokens, context: LengthContext = DEFAULT) -> float | None:
    """Return a length or percentage in pixels, or None for any other value."""
    quantity = measure(tokens[0], context) if len(tokens) == 1 else None
    if quantity is None:
        return None
    if quantity.kind == "percent":
        return quantity.value * context.percent_base / 100
    is_zero = quantity.kind == "number" and quantity.value == 0 and tokens[0].type == "number"
    return quantity.value if quantity.kind == "length" or is_zero else None


def parse_number(tokens: CssTokens) -> float | None:
    """Return a number, or a percentage as a part of 1; None for any other value."""
    quantity = measure(tokens[0]) if len(tokens) == 1 else None
    if quantity is None or quantity.kind not in {"number", "percent"}:
        return None
    return quantity.value / 100 if quantity.kind == "percent" else quantity.value


def significant(tokens: CssTokens) -> list[CssToken]:
    """Return the tokens without white space and comments."""
    return [token for token in tokens if token.type not in {"whitespace", "comment"}]


def split_commas(tokens: CssTokens) -> list[list[CssToken]]:
    """Return the significant tokens between commas."""
    parts: list[list[CssToken]] = [[]]
    for token in significant(tokens):
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def parse_tokens(css: str) -> list[CssToken]:
    """Return the component values of a text."""
    tokens: list[CssToken] = tinycss2.parse_component_value_list(css)
    return tokens


def _measure_dimension(value: float, unit: str, context: LengthContext) -> Quantity | None:
    if unit in _EMS:
        return Quantity(value * _EMS[unit] * context.font_size, "length")
    if unit in {"rem", "rlh", "rex", "rch"}:
        return Quantity(value * context.root_size, "length")
    if unit in _DEGREES:
        return Quantity(value * _DEGREES[unit], "angle")
    if unit in _OTHER_UNITS:
        return Quantity(value * _OTHER_UNITS[unit], "other")
    pixels = _PIXELS.get(unit) or _PIXELS.get(unit[1:] if unit[:1] in {"s", "l", "d"} else "")
    return Quantity(value * pixels, "length") if pixels else None


def _call(name: str, arguments: CssTokens, context: LengthContext, depth: int) -> Quantity | None:
    if name in {"calc", "-webkit-calc", "-moz-calc"}:
        return _sum(arguments, context, depth) if name != "-moz-calc" else None
    if name == "clamp":
        arguments = [token for token in arguments if token.type != "ident" or token.lower_value != "none"]
    if name not in _FUNCTIONS:
        return Quantity(math.nan, "length") if name in _UNKNOWN_FUNCTIONS else None
    values = [_sum(part, context, depth) for part in _split_raw(arguments)]
    quantities = [value for value in values if value is not None]
    if not quantities or len(quantities) < len(values):
        return None
    kind = _unite_kinds([quantity.kind for quantity in quantities])
    numbers = [_to_pixels(quantity, kind, context) for quantity in quantities]
    return Quantity(_FUNCTIONS[name](numbers), "number" if name == "sign" else kind) if kind else None


def _clamp(numbers: list[float]) -> float:
    return max(numbers[0], min(numbers[1:])) if len(numbers) == 3 else math.nan


_FUNCTIONS: Final[dict[str, Callable[[list[float]], float]]] = {
    "min": min,
    "max": max,
    "clamp": _clamp,
    "abs": lambda numbers: abs(numbers[0]),
    "sign": lambda numbers: math.copysign(1, numbers[0]) if numbers[0] else 0.0,
}
_UNKNOWN_FUNCTIONS: Final = frozenset({
    "round", "mod", "rem", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "pow", "sqrt", "hypot", "log", "exp",
    "env", "attr", "anchor", "anchor-size", "fit-content", "calc-size", "progress", "sibling-index", "sibling-count",
})  # fmt: skip
"""Functions that are valid, but not evaluated. Their value is unknown, so it never hides an element."""


def _sum(tokens: CssTokens, context: LengthContext, depth: int) -> Quantity | None:
    """Evaluate a sum of products. A plus or minus sign needs white space on both sides."""
    terms: list[tuple[float, list[CssToken]]] = [(1.0, [])]
    for number, token in enumerate(tokens):
        is_sign = token.type == "literal" and token.value in {"+", "-"}
        if is_sign and 0 < number < len(tokens) - 1:
            if tokens[number - 1].type != "whitespace" or tokens[number + 1].type != "whitespace":
                return None
            terms.append((1.0 if token.value == "+" else -1.0, []))
        else:
            terms[-1][1].append(token)
    factors = [(sign, _product(significant(part), context, depth)) for sign, part in terms]
    quantities = [(sign, quantity) for sign, quantity in factors if quantity is not None]
    if len(quantities) < len(factors):
        return None
    kind = _unite_kinds([quantity.kind for _, quantity in quantities])
    total = sum(sign * _to_pixels(quantity, kind, context) for sign, quantity in quantities)
    return Quantity(total, kind) if kind else None


def _product(tokens: list[CssToken], context: LengthContext, depth: int) -> Quantity | None:
    if len(tokens) % 2 == 0:
        return None
    result = measure(tokens[0], context, depth)
    for operator, token in zip(tokens[1::2], tokens[2::2], strict=True):
        factor = measure(token, context, depth)
        if result is None or factor is None or operator.type != "literal" or operator.value not in {"*", "/"}:
            return None
        if operator.value == "/":
            kind = result.kind if factor.kind == "number" else "number" if factor.kind == result.kind else ""
            value = result.value / factor.value if factor.value else math.copysign(math.inf, result.value)
        else:
            kind = result.kind if factor.kind == "number" else factor.kind if result.kind == "number" else ""
            value = result.value * factor.value
        if not kind:
            return None
        result = Quantity(value, kind)
    return result


def _split_raw(tokens: CssTokens) -> list[list[CssToken]]:
    """Return the tokens between commas, with white space."""
    parts: list[list[CssToken]] = [[]]
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _unite_kinds(kinds: list[str]) -> str:
    """Return the kind of a sum, or "" if its terms do not fit together."""
    if len(set(kinds)) == 1:
        return kinds[0]
    return "length" if set(kinds) == {"length", "percent"} else ""


def _to_pixels(quantity: Quantity, kind: str, context: LengthContext) -> float:
    is_percent = quantity.kind == "percent" and kind == "length"
    return quantity.value * context.percent_base / 100 if is_percent else quantity.value


# Colours: convert them to sRGB and back, blend them, and decide whether two of them look the same.

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
"""Matrices from linear sRGB to CIE Lab with the white point D50. The lightness is 16 too large."""


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
    """Return the channels of an sRGB colour in another space, by the names that a relative colour uses for them."""
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


# The notations of colours: names, numbers, and colours made from other colours.

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
_MAX_COLOUR_DEPTH: Final = 10
"""Largest nesting of colours that are made from other colours."""


def parse_colour(token: CssToken, depth: int = 0) -> Colour | str | None:
    """Return a colour, `CURRENT`, or None if the token is not a valid colour."""
    if token.type == "ident" and token.lower_value in _SYSTEM:
        return _SYSTEM[token.lower_value]
    if token.type not in {"ident", "hash", "function"}:
        return None
    colour = _read_colour(token)
    if isinstance(colour, str):
        return CURRENT
    if colour is not None:
        return to_srgb(colour)
    return _derive(token, depth + 1) if token.type == "function" else None


def _read_colour(token: CssToken | str) -> color4.Color | str | None:
    try:
        colour: color4.Color | str | None = color5.parse_color(token)
    except (ValueError, TypeError, IndexError, NotImplementedError, ZeroDivisionError, AttributeError):
        return None
    return colour


def _derive(token: CssToken, depth: int) -> Colour | str | None:
    """Return a colour that is computed from other colours or by `calc()`."""
    name, arguments = token.lower_name, significant(token.arguments)
    if not arguments or depth > _MAX_COLOUR_DEPTH:
        return None
    if name == "light-dark":
        return parse_colour(arguments[0], depth)
    if name == "color-mix":
        return _mix(arguments, depth)
    if name in {"contrast-color", "device-cmyk"}:
        return UNKNOWN
    return _compute(name, arguments, depth) if name in _SPACES else None


def _compute(name: str, arguments: CssTokens, depth: int) -> Colour | None:
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
    colour = _read_colour(f"{name}({space} {' '.join(filter(None, values[:3]))} / {alpha})")
    if isinstance(colour, color4.Color):
        return to_srgb(colour)
    opacity = parse_number(tinycss2.parse_component_value_list(alpha or ""))
    opacity = 1.0 if opacity is None else min(opacity, 1.0)
    return UNKNOWN._replace(alpha=opacity) if opacity > 0 else CLEAR


def _read_channel(token: CssToken, channels: dict[str, float]) -> str | None:
    """Return one channel as text: a number, in which names of channels and `calc()` are evaluated, or `none`."""
    if _is_word(token, "none"):
        return "none"
    quantity = measure(_replace_channels(token, channels))
    if quantity is None:
        return None
    unit = {"percent": "%", "angle": "deg"}.get(quantity.kind, "")
    return f"{quantity.value:.9f}{unit}"


def _replace_channels(token: CssToken, channels: dict[str, float]) -> CssToken:
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


def _mix(arguments: CssTokens, depth: int) -> Colour | None:
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
        colour = _read_colour(f"oklab({inner.red:.9f} {inner.green:.9f} {inner.blue:.9f})")
        if not isinstance(colour, color4.Color) or not look_same(to_srgb(colour), mixed):
            mixed = UNKNOWN._replace(alpha=mixed.alpha)
    alpha = mixed.alpha * min(total, 1)
    return mixed._replace(alpha=alpha) if alpha else CLEAR


def _read_part(tokens: CssTokens, depth: int) -> tuple[Colour, float] | None:
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


def _is_word(token: CssToken, word: str) -> bool:
    return bool(token.type == "ident" and token.lower_value == word)
