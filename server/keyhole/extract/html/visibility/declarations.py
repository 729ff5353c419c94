"""Parse blocks of CSS declarations, and resolve `var()` in their values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import tinycss2

from keyhole.extract.html.visibility.lengths import Tokens, significant
from keyhole.extract.html.visibility.shorthands import RELEVANT, expand, list_longhands

_MAX_TOKENS: Final = 5_000
"""Number of tokens that a value may have after its variables are replaced. Variables can double at every step."""
_MAX_DEPTH: Final = 30
"""Number of variables that may refer to each other in a row."""


_COMPLEX: Final = frozenset("\"'\\{}[]")
_BALANCED: Final = re.compile(r"[^()]*+(?:\((?:[^()]++|\([^()]*+\))*+\)[^()]*+)*+")
"""Text between two semicolons that both stand outside of parentheses, if no character is among `_COMPLEX`."""


class Declaration(NamedTuple):
    """The value of one longhand or custom property, not computed yet."""

    name: str
    tokens: Tokens
    source: str
    """The property as written. If a shorthand holds `var()`, it is expanded after the variables are replaced."""
    is_important: bool
    has_variables: bool


Variables = Mapping[str, Tokens]
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
    """Return a block without declarations that do not matter, which are most. Parsing takes long."""
    if not _COMPLEX.isdisjoint(css) or "/*" in css:
        return css
    pieces = css.split(";")
    if "(" in css and not all(map(_BALANCED.fullmatch, pieces)):
        return css
    names = [piece.partition(":")[0].strip().lower() for piece in pieces]
    kept = [piece for piece, name in zip(pieces, names, strict=True) if name in RELEVANT or name.startswith("--")]
    return ";".join(kept)


def _read_declaration(name: str, value: Tokens, important: bool) -> list[Declaration]:
    tokens = significant(value)
    if name.startswith("--"):
        return [Declaration(name, value, name, important, _has_variables(value))]
    if name not in RELEVANT:
        return []
    if _has_variables(tokens):
        return [Declaration(longhand, tokens, name, important, True) for longhand in list_longhands(name)]
    return [Declaration(longhand, part, name, important, False) for longhand, part in expand(name, tokens).items()]


def _has_variables(tokens: Tokens) -> bool:
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


def resolve(declaration: Declaration, variables: Variables) -> Tokens | None:
    """Return the tokens of a longhand with variables replaced, or None if the value is not valid then."""
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
    resolved: dict[str, Tokens] = {name: value for name, value in inherited.items() if name not in own}
    for name, declaration in own.items():
        words = significant(declaration.tokens)
        keyword = words[0].lower_value if len(words) == 1 and words[0].type == "ident" else ""
        if keyword in {"inherit", "unset", "revert", "revert-layer"} and name in inherited:
            resolved[name] = inherited[name]
        elif keyword not in {"inherit", "unset", "revert", "revert-layer", "initial"} and not declaration.has_variables:
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


def find_variables(tokens: Tokens) -> frozenset[str]:
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


def substitute(tokens: Tokens, variables: Variables, depth: int = 0) -> Tokens | None:
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


def _look_up(function: object, variables: Variables, depth: int) -> Tokens | None:
    arguments = list(function.arguments)  # type: ignore[attr-defined]
    comma = next((n for n, token in enumerate(arguments) if token.type == "literal" and token.value == ","), None)
    name = significant(arguments[:comma])
    if len(name) != 1 or name[0].type != "ident" or depth >= _MAX_DEPTH:
        return None
    if function.lower_name == "var" and name[0].value in variables:  # type: ignore[attr-defined]
        return variables[name[0].value]
    return substitute(arguments[comma + 1 :], variables, depth + 1) if comma is not None else None


def _copy_function(function: object, arguments: Tokens) -> object:
    name = function.name  # type: ignore[attr-defined]
    return tinycss2.ast.FunctionBlock(0, 0, name, list(arguments))
