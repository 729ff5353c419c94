"""Evaluate CSS numbers, lengths and angles: units, percentages, `calc()` and the other mathematical functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import tinycss2

WIDTH: Final = 1280
HEIGHT: Final = 1024
"""Size of the window for which a page is laid out, in CSS pixels: that of a common computer screen."""
_MAX_DEPTH: Final = 30
"""Depth of parentheses in a value. Deeper values are not valid."""

Token = Any
"""A component value of tinycss2, which has no types."""
Tokens = Sequence[Token]

_PIXELS: Final = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "vw": WIDTH / 100, "vi": WIDTH / 100, "vh": HEIGHT / 100, "vb": HEIGHT / 100, "vmin": HEIGHT / 100,
    "vmax": WIDTH / 100, "cqw": WIDTH / 100, "cqi": WIDTH / 100, "cqh": HEIGHT / 100, "cqb": HEIGHT / 100,
    "cqmin": HEIGHT / 100, "cqmax": WIDTH / 100,
}  # fmt: skip
_EMS: Final = {"em": 1.0, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0, "lh": 1.2}
_DEGREES: Final = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}
_OTHER_UNITS: Final = {"s": 1.0, "ms": 0.001, "dppx": 1.0, "x": 1.0, "dpi": 1 / 96, "dpcm": 2.54 / 96, "fr": 1.0}


class Context(NamedTuple):
    """Sizes that relative lengths refer to, in pixels."""

    font_size: float = 16.0
    root_size: float = 16.0
    percent_base: float = WIDTH
    """The length of 100 %."""


DEFAULT: Final = Context()


class Quantity(NamedTuple):
    """A number with its kind: `number`, `length`, `percent`, `angle` or `other`. NaN stands for an unknown value."""

    value: float
    kind: str


def measure(token: Token, context: Context = DEFAULT, depth: int = 0) -> Quantity | None:
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


def parse_length(tokens: Tokens, context: Context = DEFAULT) -> float | None:
    """Return a length or percentage in pixels, or None for any other value."""
    quantity = measure(tokens[0], context) if len(tokens) == 1 else None
    if quantity is None:
        return None
    if quantity.kind == "percent":
        return quantity.value * context.percent_base / 100
    is_zero = quantity.kind == "number" and quantity.value == 0 and tokens[0].type == "number"
    return quantity.value if quantity.kind == "length" or is_zero else None


def parse_number(tokens: Tokens) -> float | None:
    """Return a number, or a percentage as a part of 1; None for any other value."""
    quantity = measure(tokens[0]) if len(tokens) == 1 else None
    if quantity is None or quantity.kind not in {"number", "percent"}:
        return None
    return quantity.value / 100 if quantity.kind == "percent" else quantity.value


def significant(tokens: Tokens) -> list[Token]:
    """Return the tokens without white space and comments."""
    return [token for token in tokens if token.type not in {"whitespace", "comment"}]


def split_commas(tokens: Tokens) -> list[list[Token]]:
    """Return the significant tokens between commas."""
    parts: list[list[Token]] = [[]]
    for token in significant(tokens):
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def parse_tokens(css: str) -> list[Token]:
    """Return the component values of a text."""
    tokens: list[Token] = tinycss2.parse_component_value_list(css)
    return tokens


def _measure_dimension(value: float, unit: str, context: Context) -> Quantity | None:
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


def _call(name: str, arguments: Tokens, context: Context, depth: int) -> Quantity | None:
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


def _sum(tokens: Tokens, context: Context, depth: int) -> Quantity | None:
    """Evaluate a sum of products. A plus or minus sign needs white space on both sides."""
    terms: list[tuple[float, list[Token]]] = [(1.0, [])]
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


def _product(tokens: list[Token], context: Context, depth: int) -> Quantity | None:
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


def _split_raw(tokens: Tokens) -> list[list[Token]]:
    """Return the tokens between commas, with white space."""
    parts: list[list[Token]] = [[]]
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


def _to_pixels(quantity: Quantity, kind: str, context: Context) -> float:
    is_percent = quantity.kind == "percent" and kind == "length"
    return quantity.value * context.percent_base / 100 if is_percent else quantity.value
