"""Expand declarations of CSS shorthands and aliases into the longhands that are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keyhole.extract.html.visibility.colour_functions import parse_colour
from keyhole.extract.html.visibility.lengths import DEFAULT, Token, Tokens, parse_length, parse_tokens, split_commas
from keyhole.extract.html.visibility.properties import FONT_SIZES, PARSERS

WIDE_KEYWORDS: Final = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
NONE: Final = parse_tokens("none")
TRANSPARENT: Final = parse_tokens("transparent")
ROW: Final = parse_tokens("row")
ZERO: Final = parse_tokens("0")
ONE: Final = parse_tokens("1")
BORDER_BOX: Final = parse_tokens("border-box")

_ALIASES: Final = {
    **{
        f"-webkit-{name}": name
        for name in (
            "opacity", "filter", "mask-image", "clip-path", "transform", "backface-visibility", "background-clip",
            "animation-name", "animation-fill-mode", "animation-iteration-count", "animation", "mask",
            "flex", "flex-direction", "flex-flow", "flex-grow",
        )
    },
    "inline-size": "width", "block-size": "height", "max-inline-size": "max-width", "max-block-size": "max-height",
    "min-inline-size": "min-width", "min-block-size": "min-height", "inset-inline-start": "left",
    "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom",
    "margin-inline-start": "margin-left", "margin-inline-end": "margin-right", "margin-block-start": "margin-top",
    "margin-block-end": "margin-bottom",
    "padding-inline-end": "padding-right", "padding-block-end": "padding-bottom",
    **dict.fromkeys(("contain-intrinsic-height", "contain-intrinsic-block-size"), "contain-intrinsic-size"),
    "overflow-inline": "overflow-x", "overflow-block": "overflow-y",
}  # fmt: skip
_SHORTHANDS: Final = {
    "all": tuple(PARSERS),
    "font": ("font-size", "line-height"),
    "background": ("background-color", "background-image", "background-clip"),
    "overflow": ("overflow-x", "overflow-y"),
    "inset": ("top", "right", "bottom", "left"),
    "inset-inline": ("left", "right"),
    "inset-block": ("top", "bottom"),
    "margin": ("margin-top", "margin-right", "margin-bottom", "margin-left"),
    "margin-inline": ("margin-left", "margin-right"),
    "margin-block": ("margin-top", "margin-bottom"),
    "padding": ("", "padding-right", "padding-bottom", ""),
    "padding-inline": ("", "padding-right"),
    "padding-block": ("", "padding-bottom"),
    "mask": ("mask-image",),
    "flex": ("flex-grow",),
    "flex-flow": ("flex-direction",),
    "-webkit-text-stroke": ("-webkit-text-stroke-width",),
    "animation": ("animation-name", "animation-fill-mode", "animation-iteration-count", "animation-play-state"),
}
RELEVANT: Final = frozenset({*PARSERS, *_ALIASES, *_SHORTHANDS})
"""The names of all properties that are read."""
_FILL_MODES: Final = frozenset({"forwards", "backwards", "both"})
_ANIMATION_WORDS: Final = frozenset({
    "none", "infinite", "normal", "reverse", "alternate", "alternate-reverse", "running", "paused", "linear", "ease",
    "ease-in", "ease-out", "ease-in-out", "step-start", "step-end", "auto", *_FILL_MODES,
})  # fmt: skip


_BACKGROUND_WORDS: Final = frozenset({
    "repeat", "no-repeat", "center", "left", "right", "top", "bottom", "fixed", "scroll", "cover", "contain", "local",
    "repeat-x", "repeat-y", "border-box", "padding-box", "content-box", "space", "round", "text", "auto",
})  # fmt: skip


def list_longhands(name: str) -> tuple[str, ...]:
    """Return the longhands that a property sets."""
    name = _ALIASES.get(name, name)
    return tuple(longhand for longhand in _SHORTHANDS.get(name, (name,)) if longhand)


def expand(name: str, tokens: Tokens) -> dict[str, Tokens]:
    """Return the longhands that a valid declaration sets, or {} if its value is not valid.

    `tokens` are significant tokens without `var()` and `!important`.
    """
    name = _ALIASES.get(name, name)
    if len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value in WIDE_KEYWORDS:
        return dict.fromkeys(list_longhands(name), tokens)
    if not tokens or name == "all":
        return {}
    if name in PARSERS:
        return {name: tokens} if PARSERS[name](tokens, DEFAULT) is not None else {}
    parts = dict(_split_shorthand(name, list(tokens)))
    is_valid = all(PARSERS[longhand](part, DEFAULT) is not None for longhand, part in parts.items())
    return parts if is_valid else {}


def _split_shorthand(name: str, tokens: list[Token]) -> Iterator[tuple[str, Tokens]]:
    """Yield the longhands of a shorthand. An invalid shorthand yields an invalid longhand."""
    names = _SHORTHANDS[name]
    if name == "font":
        yield from _split_font(tokens)
    elif name == "background":
        yield from _split_background(tokens)
    elif name == "animation":
        yield from _split_animation(tokens)
    elif name == "flex":
        yield "flex-grow", _find_factor(tokens)
    elif name == "flex-flow":
        directions = [token for token in _idents(tokens) if "wrap" not in token.lower_value]
        yield "flex-direction", directions or ROW
    elif name == "mask":
        yield "mask-image", tokens
    elif name == "-webkit-text-stroke":
        yield names[0], [token for token in tokens if parse_colour(token) is None]
    else:
        sides = [*tokens, *tokens, *tokens, *tokens] if len(tokens) == 1 else [*tokens, *tokens]
        if len(tokens) == 3:
            sides = [*tokens, tokens[1]]
        if len(tokens) <= len(names):
            yield from ((longhand, [side]) for longhand, side in zip(names, sides, strict=False) if longhand)
        else:
            yield names[-1] or names[1], []


def _find_factor(tokens: list[Token]) -> Tokens:
    """Return the first number of `flex`: how much an item grows. With a basis alone it grows, with `none` not."""
    numbers = [token for token in tokens if token.type == "number"]
    is_none = len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value == "none"
    return numbers[:1] or (ZERO if is_none else ONE)


def _split_font(tokens: list[Token]) -> Iterator[tuple[str, Tokens]]:
    """Yield the size and line height of `font`: the size is the first length or size keyword, a family follows."""
    for number, token in enumerate(tokens):
        if token.type == "number" and token.value >= 1:
            continue  # a font weight
        is_keyword = token.type == "ident" and token.lower_value in {*FONT_SIZES, "smaller", "larger"}
        if is_keyword or parse_length([token]) is not None:
            rest = tokens[number + 1 :]
            has_height = len(rest) > 1 and rest[0].type == "literal" and rest[0].value == "/"
            family = rest[2:] if has_height else rest
            yield "font-size", [token] if family else []
            if has_height:
                yield "line-height", [rest[1]]
            return
    is_system = len(tokens) == 1 and tokens[0].type == "ident"
    if not is_system:
        yield "font-size", []


def _split_background(tokens: list[Token]) -> Iterator[tuple[str, Tokens]]:
    layers = split_commas(tokens)
    colours = [[token] for token in layers[-1] if parse_colour(token) is not None]
    images = [token for layer in layers for token in layer if token.type == "url" or _is_image(token)]
    none = [token for layer in layers for token in layer if token.type == "ident" and token.lower_value == "none"]
    clips = [token for layer in layers for token in layer if token.type == "ident" and token.lower_value == "text"]
    if len(colours) > 1 or any(token.type in {"string", "at-keyword"} for token in tokens):
        yield "background-color", []
        return
    if not (colours or images or none) and any(token.lower_value not in _BACKGROUND_WORDS for token in _idents(tokens)):
        yield "background-color", []
        return
    yield "background-color", colours[0] if colours else TRANSPARENT
    yield "background-image", images or NONE
    yield "background-clip", clips or BORDER_BOX


def _idents(tokens: list[Token]) -> list[Token]:
    return [token for token in tokens if token.type == "ident"]


def _is_image(token: Token) -> bool:
    return token.type == "function" and ("gradient" in token.lower_name or token.lower_name in
        {"url", "image-set", "-webkit-image-set", "image", "cross-fade", "element", "paint"})  # fmt: skip


def _split_animation(tokens: list[Token]) -> Iterator[tuple[str, Tokens]]:
    layers = split_commas(tokens)
    idents = [token for token in layers[-1] if token.type in {"ident", "string"}]
    words = [token for token in idents if token.type == "ident" and token.lower_value in _ANIMATION_WORDS]
    names = [token for token in idents if token not in words]
    yield "animation-name", names[:1] or NONE
    yield "animation-fill-mode", [t for t in words if t.lower_value in _FILL_MODES] or NONE
    counts = [t for t in layers[-1] if t.type == "number" or (t.type == "ident" and t.lower_value == "infinite")]
    yield "animation-iteration-count", counts[:1] or NONE
    yield "animation-play-state", [t for t in words if t.lower_value == "paused"] or NONE
