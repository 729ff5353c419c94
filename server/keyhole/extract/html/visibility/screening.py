"""Tell cheaply which blocks of declarations may hide something, so that few rules need to be matched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from keyhole.extract.html.visibility.boxes import MIN_FONT
from keyhole.extract.html.visibility.colour_functions import parse_colour
from keyhole.extract.html.visibility.colours import UNKNOWN, Colour, look_same
from keyhole.extract.html.visibility.declarations import Declaration, find_variables, parse_declarations
from keyhole.extract.html.visibility.lengths import DEFAULT, measure, parse_tokens
from keyhole.extract.html.visibility.properties import PARSERS, Value
from keyhole.extract.html.visibility.shapes import FAR, Transform

_HIDING_WORDS: Final = re.compile(
    r"""display[^;:]{0,300}:[^;]{0,300}(?:none|var)|visibility|opacity[^;:\w-]{0,300}:\s*+(?!1\s*(?:[;!}]|\Z))|clip|mask|\\
    |(?:scale|transform|rotate|matrix|translate|filter|animation|content)[\w-]{0,300}+[^;:\w-]*+:
    |font(?:-size)?[^;:\w-]*+:(?:[^;]{0,300}[^\w.%\#-])?(?:0|\.\d|[12](?:\.\d+)?(?:px|pt|\s*/|[;.!}\s]|\Z)|\d*\.?\d%|[a-z-]{1,40}\()
    |contain[\w-]{0,40}+\s{0,40}+:[^;]{0,300}(?:size|strict)|grid-template-rows\s{0,40}+:\s{0,40}+0|font-size-adjust|text-security|zoom|z-index[^;:]{0,300}:[^;]{0,300}-
    |(?:left|right|top|bottom|inset|indent|margin|inline|block|start|end)[^;:\w-]*+:[^;]{0,300}(?:\d{3}|\d\d[a-z]|[a-z]\()
    |(?:width(?<!min-width)|height(?<!min-height)|-size(?<!min--size))[^;:\w-]*+:[^;\d\w.]*(?:0|[1-4]px|\.\d|[a-z-]{1,40}\()
    |color[^;:\w-]*+:[^;]{0,300}(?:transparent|[#][0-9a-f]{3}0\b|[#][0-9a-f]{6}0|/|a\(|var\()
    |color(?<![\w-]color).{0,300}background|background.{0,300}[^\w-]color""",
    re.VERBOSE | re.DOTALL,
)
"""Lower-case text of declarations that may hide an element or its text, roughly.

Each alternative begins with letters, and case is not ignored: both make the search several times faster.
"""
_COLOUR_WORDS: Final = re.compile(r"color[^;:\w-]*:|background")
"""Text of declarations that may give text the colour of its background, together with another element's style."""
_RELEVANT_WORDS: Final = re.compile(
    r"""display|visib|opacity|size|clip|mask|color|background|indent|position|left|right|top|bottom|inset|margin|padding
    |transform|translate|scale|rotate|overflow|width|height|font|float|shadow|stroke|filter|animation|content|white-space
    |flex|fill|grid|blend|contain|z-index|security|zoom|all\s*:|--|\\""",
    re.VERBOSE,
)
_COLOURS: Final = frozenset({"color", "-webkit-text-fill-color", "background-color"})
_KEYWORDS: Final = {
    "display": {"none"}, "visibility": {"hidden", "collapse"}, "content-visibility": {"hidden"},
    "backface-visibility": {"hidden"}, "-webkit-text-security": {"disc", "circle", "square"},
}  # fmt: skip
_LARGEST: Final = {
    "opacity": 0.5, "filter": 0.5, "font-size": MIN_FONT, "line-height": 0.02, "font-size-adjust": 0.0, "zoom": 0.3,
    "width": 4.0, "height": 4.0, "max-width": 4.0, "max-height": 4.0,
}  # fmt: skip
"""Largest numbers that hide, for some properties."""
_DISTANCES: Final = frozenset({"left", "right", "top", "bottom", "margin-left", "margin-right", "margin-top"})
_LONG: Final = 300
"""Number of characters from which a block or a declaration is long: as many as `_HIDING_WORDS` looks ahead."""
_MIN_INDENT: Final = 100
_HIDING: Final = frozenset({
    *_KEYWORDS, *_LARGEST, *_DISTANCES, "text-indent", "z-index", "color", "-webkit-text-fill-color", "transform",
    "translate", "scale", "rotate", "animation-name", "clip", "clip-path", "mask-image", "content",
    "contain", "container-type", "grid-template-rows",
})  # fmt: skip
"""Properties whose values can hide."""
_DEFINITION: Final = re.compile(r"(?<![\w-])(--[\w-]++)\s*+:\s*([^;{}]+)")
_REFERENCE: Final = re.compile(r"--[\w-]+")
_MAX_CHAIN: Final = 10
"""Number of custom properties that are followed from one to the next."""


def is_relevant(block: str) -> bool:
    """Return whether a block of declarations may change what is visible."""
    return ":" in block and _RELEVANT_WORDS.search(block.lower()) is not None


def may_recolour(block: str) -> bool:
    """Return whether a block of declarations sets colours."""
    return _COLOUR_WORDS.search(block.lower()) is not None


def may_hide_roughly(block: str) -> bool:
    """Return whether a block of declarations may hide something, without parsing it.

    A long block is searched piece by piece, because the pattern takes quadratic time on text without semicolons.
    """
    block = block.lower()
    if len(block) <= _LONG:
        return _HIDING_WORDS.search(block) is not None
    pieces = [piece.lstrip() for piece in block.split(";")]
    colours = {name for name in ("color", "background") for piece in pieces if piece.startswith(name)}
    return len(colours) == 2 or any(
        _HIDING_WORDS.search(piece) if len(piece) <= _LONG else not piece.startswith("--") for piece in pieces
    )


_CERTAIN: Final = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0)\s*(?:[;!]|$)")
"""Lower-case text of a block that certainly hides, so the block need not be parsed."""


class Suspicion(NamedTuple):
    """The reasons for which a block of declarations may hide something."""

    is_certain: bool
    """True if a value in the block itself may hide."""
    variables: frozenset[str]
    """Custom properties of which some values would hide."""


@lru_cache(maxsize=8_192)
def suspect(block: str) -> Suspicion:
    """Return whether a block of declarations may hide its element or text, alone or with other blocks."""
    if not may_hide_roughly(block):
        return Suspicion(False, frozenset())
    if _CERTAIN.search(block.lower()):
        return Suspicion(True, frozenset())
    declarations = parse_declarations(block)
    relevant = [each for each in declarations if each.name in _HIDING]
    names = [find_variables(each.tokens) for each in relevant if each.has_variables]
    is_certain = any(not each.has_variables and _hides(each) for each in relevant) or _has_equal_colours(declarations)
    fallbacks = [value for each in relevant if each.has_variables for value in _list_fallbacks(each)]
    is_certain = is_certain or frozenset() in names or any(map(_is_hiding_value, fallbacks))
    return Suspicion(is_certain, frozenset[str]().union(*names))


def _list_fallbacks(declaration: Declaration) -> list[str]:
    """Return the fallbacks of the variables in a value."""
    text = "".join(token.serialize() for token in declaration.tokens)
    return [part.rstrip(") ") for part in text.split(",")[1:]]


def find_hiding_variables(blocks: Iterable[str]) -> frozenset[str]:
    """Return the custom properties of which some value in blocks of declarations may hide something."""
    hiding: set[str] = set()
    references: dict[str, set[str]] = {}
    for block in blocks:
        if "--" in block:
            for name, value in _DEFINITION.findall(block):
                references.setdefault(name, set()).update(_REFERENCE.findall(value))
                if _is_hiding_value(value):
                    hiding.add(name)
    for _ in range(_MAX_CHAIN):
        further = {name for name, others in references.items() if name not in hiding and not hiding.isdisjoint(others)}
        if not further:
            break
        hiding |= further
    return frozenset(hiding)


@lru_cache(maxsize=4_096)
def _is_hiding_value(value: str) -> bool:
    """Return whether a value could hide if it were the value of some property: zero, far, `none`, transparent."""
    for token in parse_tokens(value[:200]):
        if token.type == "ident" and token.lower_value in {"none", "hidden", "collapse", "transparent", "infinite"}:
            return True
        quantity = measure(token)
        if quantity is not None and (quantity.value < 2 or quantity.value >= FAR or quantity.kind == "percent"):
            return True
        colour = parse_colour(token)
        if isinstance(colour, Colour) and colour.alpha <= 0.1:
            return True
        if token.type == "function" and "var(" not in value and quantity is None and colour is None:
            return True
    return False


def _hides(declaration: Declaration) -> bool:
    name = declaration.name
    value: Value = PARSERS[name](declaration.tokens, DEFAULT)
    if name in _KEYWORDS:
        return value in _KEYWORDS[name]
    if name in _LARGEST:
        return isinstance(value, float | int) and value <= _LARGEST[name]
    if name in _DISTANCES:
        return isinstance(value, float | int) and abs(value) >= FAR
    if name == "text-indent":
        return isinstance(value, float | int) and abs(value) >= _MIN_INDENT
    if name == "z-index":
        return isinstance(value, float | int) and value < 0
    if name in {"color", "-webkit-text-fill-color"}:
        return isinstance(value, Colour) and value.alpha <= 0.1
    if isinstance(value, Transform):
        return value.is_flat or value.shows_back or max(abs(value.right), abs(value.down)) >= FAR / 2
    if name in {"contain", "container-type"}:
        return not {"size", "inline-size"}.isdisjoint(value)
    if name == "animation-name":
        return bool(value != ("none",))
    return bool(value)


def _has_equal_colours(declarations: tuple[Declaration, ...]) -> bool:
    """Return whether a block sets the same colour for text and background."""
    colours = {each.name: PARSERS[each.name](each.tokens, DEFAULT) for each in declarations if each.name in _COLOURS}
    background = colours.get("background-color", UNKNOWN)
    fronts = [colours.get(name) for name in ("color", "-webkit-text-fill-color")]
    return (
        any(
            isinstance(front, Colour) and isinstance(background, Colour) and look_same(front, background)
            for front in fronts
        )
        or background == "currentcolor"
    )
