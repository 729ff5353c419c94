"""Parse blocks of CSS declarations: expand shorthands, and resolve `var()` in values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import tinycss2

from keyhole.extract.html.visibility.css_values import (
    DEFAULT,
    CssToken,
    CssTokens,
    parse_colour,
    parse_length,
    parse_tokens,
    significant,
    split_commas,
)
from keyhole.extract.html.visibility.properties import FONT_SIZES, PARSERS

# Shorthands and aliases: expand them into the longhands that are read.

WIDE_KEYWORDS: Final = frozenset({"inherit", "initial", "unset", "revert"})
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
            "animation-name", "animation-fill-mode", "animation", "mask",
            "flex", "flex-direction", "flex-flow", "flex-grow",
        )
    },
    "white-space-collapse": "white-space", "list-style": "list-style-type",
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
    "animation": ("animation-name", "animation-fill-mode"),
}
RELEVANT: Final = frozenset({*PARSERS, *_ALIASES, *_SHORTHANDS})
"""The names of all properties that are read."""
_FILL_MODES: Final = frozenset({"forwards", "backwards", "both"})
_BACKGROUND_WORDS: Final = frozenset({
    "repeat", "no-repeat", "center", "left", "right", "top", "bottom", "fixed", "scroll", "cover", "contain", "local",
    "repeat-x", "repeat-y", "border-box", "padding-box", "content-box", "space", "round", "text", "auto",
})  # fmt: skip


def list_longhands(name: str) -> tuple[str, ...]:
    """Return the longhands that a property sets."""
    name = _ALIASES.get(name, name)
    return tuple(longhand for longhand in _SHORTHANDS.get(name, (name,)) if longhand)


def expand(name: str, tokens: CssTokens) -> dict[str, CssTokens]:
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


def _split_shorthand(name: str, tokens: list[CssToken]) -> Iterator[tuple[str, CssTokens]]:
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


def _find_factor(tokens: list[CssToken]) -> CssTokens:
    """Return the growth factor of `flex`: its first number, else 0 for `none` and 1 for a basis alone."""
    numbers = [token for token in tokens if token.type == "number"]
    is_none = len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value == "none"
    return numbers[:1] or (ZERO if is_none else ONE)


def _split_font(tokens: list[CssToken]) -> Iterator[tuple[str, CssTokens]]:
    """Yield the size and line height of `font`. The size is the first length or size keyword; a font family follows."""
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


def _split_background(tokens: list[CssToken]) -> Iterator[tuple[str, CssTokens]]:
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


def _idents(tokens: list[CssToken]) -> list[CssToken]:
    return [token for token in tokens if token.type == "ident"]


def _is_image(token: CssToken) -> bool:
    return token.type == "function" and ("gradient" in token.lower_name or token.lower_name in
        {"url", "image-set", "-webkit-image-set", "image", "cross-fade", "element", "paint"})  # fmt: skip


def _split_animation(tokens: list[CssToken]) -> Iterator[tuple[str, CssTokens]]:
    """Yield all words as names, because those of other animations than the page's do not matter."""
    yield "animation-name", [token for token in tokens if token.type in {"ident", "string"}] or NONE
    yield "animation-fill-mode", [token for token in _idents(tokens) if token.lower_value in _FILL_MODES] or NONE


# Blocks of declarations, and the variables in their values.

_MAX_TOKENS: Final = 5_000
"""Number of tokens that a value may have after its variables are replaced. Variables can double at every step."""
_MAX_DEPTH: Final = 30
"""Largest number of variables in a chain of references."""


_COMPLEX: Final = frozenset("\"'\\{}[]")
_BALANCED: Final = re.compile(r"[^()]*+(?:\((?:[^()]++|\([^()]*+\))*+\)[^()]*+)*+")
"""Text between two semicolons that both stand outside of parentheses, if no character is among `_COMPLEX`."""


class Declaration(NamedTuple):
    """The value of one longhand or custom property, not computed yet."""

    name: str
    tokens: CssTokens
    source: str
    """The property as written. If a shorthand holds `var()`, it is expanded after the variables are replaced."""
    is_important: bool
    has_variables: bool


Variables = Mapping[str, CssTokens]
"""The values of custom properties, by name with `--`."""


@lru_cache(maxsize=4_096)
def parse_declarations(css: str) -> tuple[Declaration, ...]:
    """Return the valid declarations of a block that matter, in order. The result is cached, because blocks repeat."""
    declarations: list[Declaration] = []
    for node in tinycss2.parse_blocks_contents(_keep_relevant(css), skip_comments=True, skip_whitespace=True):
        if node.type == "declaration":
            name = node.name if node.name.startswith("--") else node.lower_name
            declarations += _read_declaration(name, node.value, node.important)
    return tuple(declarations)


def _keep_relevant(css: str) -> str:
    """Return a block without the declarations that do not matter. They are most, and parsing is slow."""
    if not _COMPLEX.isdisjoint(css) or "/*" in css:
        return css
    pieces = css.split(";")
    if "(" in css and not all(map(_BALANCED.fullmatch, pieces)):
        return css
    names = [piece.partition(":")[0].strip().lower() for piece in pieces]
    kept = [piece for piece, name in zip(pieces, names, strict=True) if name in RELEVANT or name.startswith("--")]
    return ";".join(kept)


def _read_declaration(name: str, value: CssTokens, important: bool) -> list[Declaration]:
    tokens = significant(value)
    if name.startswith("--"):
        return [Declaration(name, value, name, important, _has_variables(value))]
    if name not in RELEVANT:
        return []
    if _has_variables(tokens):
        return [Declaration(longhand, tokens, name, important, True) for longhand in list_longhands(name)]
    return [Declaration(longhand, part, name, important, False) for longhand, part in expand(name, tokens).items()]


def _has_variables(tokens: CssTokens) -> bool:
    """Return whether tokens contain `var()` or `env()` at any depth."""
    stack = list(tokens)
    while stack:
        token = stack.pop()
        if token.type == "function":
            if token.lower_name in {"var", "env"}:
                return True
            stack += token.arguments
        elif token.type in {"() block", "[] block", "{} block"}:
            stack += token.content
    return False


def resolve(declaration: Declaration, variables: Variables) -> CssTokens | None:
    """Return the tokens of a longhand with variables replaced, or None if the replaced value is not valid."""
    if not declaration.has_variables:
        return declaration.tokens
    tokens = substitute(declaration.tokens, variables)
    if tokens is None:
        return None
    return expand(declaration.source, significant(tokens)).get(declaration.name)


def resolve_variables(declarations: Mapping[str, Declaration], inherited: Variables) -> Variables:
    """Return the custom properties of an element. A property that refers to itself has no value."""
    own = {name: declaration for name, declaration in declarations.items() if name.startswith("--")}
    if not own:
        return inherited
    resolved: dict[str, CssTokens] = {name: value for name, value in inherited.items() if name not in own}
    for name, declaration in own.items():
        words = significant(declaration.tokens)
        keyword = words[0].lower_value if len(words) == 1 and words[0].type == "ident" else ""
        if keyword in {"inherit", "unset", "revert"} and name in inherited:
            resolved[name] = inherited[name]
        elif keyword not in {"inherit", "unset", "revert", "initial"} and not declaration.has_variables:
            resolved[name] = declaration.tokens
    pending = {name: declaration for name, declaration in own.items() if declaration.has_variables}
    cyclic = {name for name in pending if _is_cyclic(name, pending)}
    for _ in range(_MAX_DEPTH):
        ready = [
            name
            for name in pending
            if name not in cyclic and not (find_variables(pending[name].tokens) & (pending.keys() - cyclic))
        ]
        if not ready:
            break
        for name in ready:
            tokens = substitute(pending.pop(name).tokens, resolved)
            if tokens is not None:
                resolved[name] = tokens
    return resolved


def _is_cyclic(name: str, pending: Mapping[str, Declaration]) -> bool:
    seen: set[str] = set()
    stack = [name]
    while stack:
        for inner in find_variables(pending[stack.pop()].tokens) & pending.keys():
            if inner == name:
                return True
            if inner not in seen:
                seen.add(inner)
                stack.append(inner)
    return False


def find_variables(tokens: CssTokens) -> frozenset[str]:
    """Return the names of the custom properties that tokens refer to."""
    names: set[str] = set()
    stack = list(tokens)
    while stack:
        token = stack.pop()
        if token.type == "function":
            if token.lower_name == "var":
                names |= {each.value for each in significant(token.arguments)[:1] if each.type == "ident"}
            stack += token.arguments
        elif token.type in {"() block", "[] block", "{} block"}:
            stack += token.content
    return frozenset(names)


def substitute(tokens: CssTokens, variables: Variables, depth: int = 0) -> CssTokens | None:
    """Return tokens with each `var()` replaced, or None if a variable has neither a value nor a fallback."""
    result: list[object] = []
    for token in tokens:
        if token.type == "function" and token.lower_name in {"var", "env"}:
            replacement = _look_up(token, variables, depth)
            if replacement is None:
                return None
            result += replacement
        elif token.type == "function" and _has_variables(token.arguments):
            arguments = substitute(token.arguments, variables, depth + 1) if depth < _MAX_DEPTH else None
            if arguments is None:
                return None
            result.append(_copy_function(token, arguments))
        else:
            result.append(token)
        if len(result) > _MAX_TOKENS:
            return None
    return result


def _look_up(function: object, variables: Variables, depth: int) -> CssTokens | None:
    arguments = list(function.arguments)  # type: ignore[attr-defined]
    comma = next((n for n, token in enumerate(arguments) if token.type == "literal" and token.value == ","), None)
    name = significant(arguments[:comma])
    if len(name) != 1 or name[0].type != "ident" or depth >= _MAX_DEPTH:
        return None
    if function.lower_name == "var" and name[0].value in variables:  # type: ignore[attr-defined]
        return variables[name[0].value]
    return substitute(arguments[comma + 1 :], variables, depth + 1) if comma is not None else None


def _copy_function(function: object, arguments: CssTokens) -> object:
    name = function.name  # type: ignore[attr-defined]
    return tinycss2.ast.FunctionBlock(0, 0, name, list(arguments))
