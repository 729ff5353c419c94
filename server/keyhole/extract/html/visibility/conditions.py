"""Evaluate the conditions of `@media`, `@supports` and `@container` for a computer screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Final

import tinycss2
import tinycss2.ast

from keyhole.extract.html.visibility.css_values import (
    HEIGHT,
    WIDTH,
    CssToken,
    CssTokens,
    measure,
    parse_tokens,
    significant,
    split_commas,
)
from keyhole.extract.html.visibility.declarations import RELEVANT, expand
from keyhole.extract.html.visibility.selectors import compile_selectors

# Evaluate the conditions of `@media`, `@supports` and `@container` for a computer screen.

Leaf = Callable[[CssToken], bool | None]
"""Evaluate one condition in parentheses; None stands for an unknown condition, which applies in no case."""

_LENGTHS: Final = {"width": WIDTH, "height": HEIGHT, "device-width": WIDTH, "device-height": HEIGHT,
                   "inline-size": WIDTH, "block-size": HEIGHT}  # fmt: skip
_NUMBERS: Final = {"resolution": 1.0, "-webkit-device-pixel-ratio": 1.0, "color": 8.0, "monochrome": 0.0,
                   "grid": 0.0, "color-index": 0.0, "aspect-ratio": WIDTH / HEIGHT,
                   "device-aspect-ratio": WIDTH / HEIGHT, "horizontal-viewport-segments": 1.0,
                   "vertical-viewport-segments": 1.0, "-webkit-transform-3d": 1.0}  # fmt: skip
_KEYWORDS: Final = {
    "orientation": "landscape", "hover": "none", "any-hover": "none", "pointer": "none", "any-pointer": "none",
    "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "prefers-contrast": "no-preference",
    "prefers-reduced-transparency": "no-preference", "prefers-reduced-data": "no-preference",
    "forced-colors": "none", "inverted-colors": "none", "scripting": "enabled", "update": "fast",
    "overflow-block": "scroll", "overflow-inline": "scroll", "display-mode": "browser", "color-gamut": "srgb",
    "dynamic-range": "standard", "video-dynamic-range": "standard", "scan": "progressive",
}  # fmt: skip
"""The features of a computer screen whose user changed no settings and does not point at anything."""
_OTHER_BROWSERS: Final = ("-moz-", "-ms-", "-o-")
"""Prefixes of properties that Chromium does not know."""
_OFF: Final = frozenset({"no-preference", "none"})
_OPERATORS: Final = frozenset({"<", ">", "="})


@lru_cache(maxsize=1_024)
def media_applies(query: str) -> bool:
    """Return whether a list of media queries matches a computer screen. An empty list matches."""
    tokens = parse_tokens(query)
    return not significant(tokens) or any(_query_applies(part) for part in split_commas(tokens))


@lru_cache(maxsize=256)
def supports_applies(condition: str) -> bool:
    """Return whether a condition of `@supports` holds, or may hold: its rules may hide a text.

    A browser may or may not support a property that is not read here, so both answers are tried.
    """
    tokens = significant(parse_tokens(condition))
    return any(_evaluate(tokens, partial(_supports, unread=unread)) is True for unread in (True, False))


def container_applies(condition: str, variables: Mapping[str, CssTokens] | None = None) -> bool:
    """Return whether a condition of `@container` holds in a container as wide as the page.

    `variables` are the custom properties of the container; without them no condition on styles holds.
    """
    tokens = significant(parse_tokens(condition))
    if tokens and tokens[0].type == "ident" and tokens[0].lower_value != "not":
        tokens = tokens[1:]

    def test_style(token: CssToken) -> bool | None:
        content = significant(token.content)
        if not content or content[0].type != "ident" or variables is None:
            return None
        value = variables.get(content[0].value)
        if len(content) == 1:
            return value is not None
        wanted = [each.serialize() for each in content[2:]]
        return value is not None and [each.serialize() for each in significant(value)] == wanted

    def test(token: CssToken) -> bool | None:
        if token.type != "function":
            return _media_feature(token)
        inner = tinycss2.ast.ParenthesesBlock(0, 0, token.arguments)
        return _evaluate_one(inner, test_style) if token.lower_name == "style" else None

    return _evaluate(tokens, test) is True


def _query_applies(tokens: list[CssToken]) -> bool:
    negated = False
    if len(tokens) > 1 and (_is_word(tokens[0], "not") or _is_word(tokens[0], "only")) and tokens[1].type == "ident":
        negated = tokens[0].lower_value == "not"
        tokens = tokens[1:]
    if not tokens:
        return False
    if tokens[0].type != "ident" or tokens[0].lower_value == "not":
        return _evaluate(tokens, _media_feature) is True
    kind, rest = tokens[0].lower_value, tokens[1:]
    if kind in {"and", "or", "only", "layer"} or (rest and not _is_word(rest[0], "and")) or len(rest) == 1:
        return False
    result: bool | None = kind in {"all", "screen"}
    if result and rest:
        result = _evaluate(rest[1:], _media_feature)
    return result is not None and result != negated


def _evaluate(tokens: list[CssToken], leaf: Leaf) -> bool | None:
    """Evaluate conditions joined by `not`, `and` and `or`."""
    if not tokens:
        return None
    if _is_word(tokens[0], "not"):
        inner = _evaluate_one(tokens[1], leaf) if len(tokens) == 2 else None
        return None if inner is None else not inner
    words = {token.lower_value if token.type == "ident" else "" for token in tokens[1::2]}
    if len(tokens) % 2 == 0 or len(words) > 1 or not words <= {"and", "or"}:
        return None
    results = [_evaluate_one(token, leaf) for token in tokens[::2]]
    if words == {"or"}:
        return True if any(results) else None if None in results else False
    return False if False in results else None if None in results else True


def _evaluate_one(token: CssToken, leaf: Leaf) -> bool | None:
    if token.type == "() block":
        content = significant(token.content)
        if content and (content[0].type in {"() block", "function"} or _is_word(content[0], "not")):
            nested = _evaluate(content, leaf)
            return nested if nested is not None else leaf(token)
        return leaf(token)
    return leaf(token) if token.type == "function" else None


def _is_word(token: CssToken, word: str) -> bool:
    return bool(token.type == "ident" and token.lower_value == word)


def _media_feature(token: CssToken) -> bool | None:
    if token.type != "() block":
        return None
    tokens = significant(token.content)
    if not tokens:
        return None
    if any(each.type == "literal" and each.value in {*_OPERATORS, "<=", ">="} for each in tokens):
        return _compare_range(tokens)
    if tokens[0].type != "ident":
        return None
    name = tokens[0].lower_value
    if len(tokens) == 1:
        if name in _KEYWORDS:
            return _KEYWORDS[name] not in _OFF
        value = _LENGTHS.get(name, _NUMBERS.get(name))
        return None if value is None else value > 0
    if len(tokens) < 3 or not (tokens[1].type == "literal" and tokens[1].value == ":"):
        return None
    return _compare_value(name, tokens[2:])


def _compare_value(name: str, tokens: list[CssToken]) -> bool | None:
    if name in _KEYWORDS:
        is_keyword = len(tokens) == 1 and tokens[0].type == "ident"
        return tokens[0].lower_value == _KEYWORDS[name] if is_keyword else None
    prefix = "-webkit-" if name.startswith("-webkit-") else ""
    limit, _, plain = name.removeprefix(prefix).partition("-")
    plain = f"{prefix}{plain}" if limit in {"min", "max"} else name
    actual, value = _LENGTHS.get(plain, _NUMBERS.get(plain)), _value(tokens)
    if actual is None or value is None:
        return None
    return actual >= value if limit == "min" else actual <= value if limit == "max" else actual == value


def _value(tokens: list[CssToken]) -> float | None:
    """Return a length, number or ratio."""
    if len(tokens) == 3 and tokens[1].type == "literal" and tokens[1].value == "/":
        over, under = measure(tokens[0]), measure(tokens[2])
        return over.value / under.value if over and under and under.value else None
    quantity = measure(tokens[0]) if len(tokens) == 1 else None
    return quantity.value if quantity is not None else None


def _compare_range(tokens: list[CssToken]) -> bool | None:
    """Evaluate `width >= 600px` and `400px <= width <= 700px`."""
    parts: list[list[CssToken]] = [[]]
    operators: list[str] = []
    for token in tokens:
        if token.type == "literal" and token.value in {*_OPERATORS, "<=", ">="}:
            if not parts[-1] and operators:
                operators[-1] += token.value
            else:
                operators.append(token.value)
                parts.append([])
        else:
            parts[-1].append(token)
    values = [
        _LENGTHS.get(part[0].lower_value, _NUMBERS.get(part[0].lower_value))
        if len(part) == 1 and part[0].type == "ident"
        else _value(part)
        for part in parts
    ]
    results = []
    for operator, left, right in zip(operators, values, values[1:], strict=False):
        if left is None or right is None:
            return None
        results.append({"<": left < right, ">": left > right, "=": left == right, "<=": left <= right,
                        ">=": left >= right}.get(operator))  # fmt: skip
    return False if False in results else None if None in results else True


def _supports(token: CssToken, *, unread: bool) -> bool | None:
    """Return whether a browser supports a declaration or a selector. `unread`: the answer for a property that is not
    read here."""
    if token.type == "function":
        return token.lower_name != "selector" or bool(compile_selectors(tinycss2.serialize(token.arguments)))
    tokens = significant(token.content)
    if len(tokens) < 3 or tokens[0].type != "ident" or tokens[1].type != "literal" or tokens[1].value != ":":
        return None
    name = tokens[0].lower_value
    return bool(expand(name, tokens[2:])) if name in RELEVANT else unread and not name.startswith(_OTHER_BROWSERS)
