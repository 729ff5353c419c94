"""Compile CSS selectors into functions that match elements of an lxml tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

import tinycss2
import tinycss2.nth
from cssselect2 import parser
from lxml.html import HtmlElement

from keyhole.extract.html.visibility.lengths import significant
from keyhole.extract.html.visibility.page import Page, Test, iter_children
from keyhole.extract.html.visibility.pseudo_classes import PSEUDO_CLASSES, find_direction

_MAX_DEPTH: Final = 40
"""Depth of nested parentheses of a selector. Deeper selectors match nothing."""


class InvalidSelectorError(ValueError):
    """A selector that browsers do not accept either, or that is too deep."""


class Selector(NamedTuple):
    """A compiled selector."""

    test: Test
    specificity: tuple[int, int, int]


_NOTHING: Final = Selector(lambda element, page: False, (0, 0, 0))
"""Stands for a selector of a pseudo-element."""


@lru_cache(maxsize=8_192)
def compile_selectors(text: str, quirks: bool = False) -> tuple[Selector, ...]:
    """Return the selectors of a list in order. An invalid list has none. One of a pseudo-element matches nothing.

    The result is cached, because sites share their style sheets.
    """
    if text.count("(") > _MAX_DEPTH:
        return ()
    tokens: list[Any] = tinycss2.parse_component_value_list(text, skip_comments=True)
    if "::" not in text:
        return _compile_list(tokens, quirks)
    pieces: list[list[Any]] = [[]]
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            pieces.append([])
        else:
            pieces[-1].append(token)
    unread = [_has_known_pseudo_element(piece) for piece in pieces]
    kept = [piece for piece, is_unread in zip(pieces, unread, strict=True) if not is_unread]
    compiled = _compile_list([token for piece in kept for token in [*piece, _COMMA]][:-1], quirks) if kept else ()
    if len(compiled) != len(kept):
        return ()
    following = iter(compiled)
    return tuple(_NOTHING if is_unread else next(following) for is_unread in unread)


def _compile_list(tokens: list[Any], quirks: bool) -> tuple[Selector, ...]:
    try:
        return tuple(
            Selector(_compile_tree(each.parsed_tree, quirks), each.specificity)
            if each.pseudo_element is None
            else _NOTHING
            for each in parser.parse(tokens)
        )
    except (parser.SelectorError, InvalidSelectorError, AttributeError):  # the parser fails on some unclosed brackets
        return ()


def _has_known_pseudo_element(tokens: list[Any]) -> bool:
    for before, colon, name in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.type == colon.type == "literal" and before.value == colon.value == ":":
            word = name.lower_value if name.type == "ident" else name.lower_name if name.type == "function" else ""
            return word.startswith("-webkit-") or word in _PSEUDO_ELEMENTS
    return False


_COMMA: Final = tinycss2.parse_component_value_list(",")[0]
_PSEUDO_ELEMENTS: Final = frozenset({
    "backdrop", "cue", "part", "slotted", "view-transition", "details-content", "highlight", "picker", "checkmark",
    "scroll-button", "scroll-marker", "scroll-marker-group", "column", "picker-icon", "before", "after", "marker",
    "selection", "placeholder", "first-line", "first-letter", "file-selector-button",
})  # fmt: skip
"""Pseudo-elements that Chromium knows. Those that begin with `-webkit-` are valid too."""


def _compile_tree(tree: Any, quirks: bool) -> Test:
    if isinstance(tree, parser.CombinedSelector):
        # Long chains of combinators lean to the left, so this loop replaces recursion.
        steps: list[tuple[str, Test]] = []
        while isinstance(tree, parser.CombinedSelector):
            steps.append((tree.combinator, _compile_tree(tree.right, quirks)))
            tree = tree.left
        left = _compile_tree(tree, quirks)
        for combinator, right in reversed(steps):
            left = _combine(left, combinator, right)
        return left
    return _compile_compound(tree.simple_selectors, quirks)


def _compile_compound(simple_selectors: Any, quirks: bool) -> Test:
    """Compile simple selectors that must all match. Their names are compared at once."""
    named = [(_find_name(simple, quirks), simple) for simple in simple_selectors]
    names = frozenset(name for name, _ in named if name)
    tests = [_compile_simple(simple, quirks) for name, simple in named if not name]
    if not tests:
        return lambda element, page: names <= page.names[element]
    if len(tests) == 1 and not names:
        return tests[0]

    def test_all(element: HtmlElement, page: Page) -> bool:
        if not names <= page.names[element]:
            return False
        for test in tests:  # noqa: SIM110 - `all` takes several times longer
            if not test(element, page):
                return False
        return True

    return test_all


def _find_name(simple: Any, quirks: bool) -> str:
    """Return the tag, `.class` or `#id` that a simple selector asks for, or "" for another selector."""
    if isinstance(simple, parser.LocalNameSelector):
        return str(simple.lower_local_name)
    if isinstance(simple, parser.ClassSelector):
        return f".{simple.class_name.lower() if quirks else simple.class_name}"
    if isinstance(simple, parser.IDSelector):
        return f"#{simple.ident.lower() if quirks else simple.ident}"
    return ""


def _combine(left: Test, combinator: str, right: Test) -> Test:
    """Return a test of two selectors joined by a combinator."""
    if combinator in ">+":

        def test_next(element: HtmlElement, page: Page) -> bool:
            if not right(element, page):
                return False
            other = element.getparent() if combinator == ">" else next(element.itersiblings("*", preceding=True), None)
            return other is not None and left(other, page)

        return test_next

    def test_any(element: HtmlElement, page: Page) -> bool:
        if not right(element, page):
            return False
        for other in element.iterancestors() if combinator == " " else element.itersiblings("*", preceding=True):
            page.spend()
            if left(other, page):
                return True
        return False

    return test_any


def _compile_simple(simple: Any, quirks: bool) -> Test:
    if isinstance(simple, parser.AttributeSelector):
        return _compile_attribute(simple)
    if isinstance(simple, parser.RelationalSelector):
        return _compile_has(simple, quirks)
    if isinstance(simple, parser.NegationSelector):
        negated = _join_tests([_compile_tree(each.parsed_tree, quirks) for each in simple.selector_list])
        return lambda element, page: not negated(element, page)
    if isinstance(simple, parser.MatchesAnySelector | parser.SpecificityAdjustmentSelector):
        return _compile_any(simple.selector_list, quirks)
    if isinstance(simple, parser.FunctionalPseudoClassSelector):
        return _compile_function(simple, quirks)
    test = None if isinstance(simple, parser.NamespaceSelector) else PSEUDO_CLASSES.get(simple.name)
    if test is None:
        raise InvalidSelectorError
    return test


def _compile_any(selectors: Any, quirks: bool) -> Test:
    """Compile `:is()` and `:where()`, which ignore invalid selectors in their list."""
    tests: list[Test] = []
    for each in selectors:
        try:
            tests.append(_compile_tree(each.parsed_tree, quirks))
        except InvalidSelectorError:
            continue
    return _join_tests(tests)


def _join_tests(tests: list[Test]) -> Test:
    """Return a test of whether any of several tests holds."""
    if len(tests) == 1:
        return tests[0]

    def test_any(element: HtmlElement, page: Page) -> bool:
        for test in tests:  # noqa: SIM110 - `any` takes several times longer
            if test(element, page):
                return True
        return False

    return test_any


def _compile_has(simple: Any, quirks: bool) -> Test:
    relatives = [(each.combinator, _compile_tree(each.selector.parsed_tree, quirks)) for each in simple.selector_list]

    def test(element: HtmlElement, page: Page) -> bool:
        for combinator, inner in relatives:
            for candidate in _iter_relatives(element, combinator):
                page.spend()
                if inner(candidate, page):
                    return True
        return False

    return test


def _iter_relatives(element: HtmlElement, combinator: str) -> Iterator[HtmlElement]:
    if combinator == " ":
        yield from element.iterdescendants("*")
    elif combinator == ">":
        yield from iter_children(element)
    else:
        following = element.itersiblings("*")
        yield from following if combinator == "~" else [each for each in [next(following, None)] if each is not None]


_CASELESS: Final = frozenset({
    "accept", "align", "bgcolor", "charset", "checked", "color", "dir", "direction", "disabled", "enctype", "face",
    "hreflang", "http-equiv", "lang", "language", "link", "media", "method", "multiple", "nowrap", "readonly", "rel",
    "rev", "rules", "scope", "selected", "shape", "target", "text", "type", "valign", "vlink",
})  # fmt: skip
"""Attributes whose values are compared without case in HTML (HTML Standard, 15.3.3)."""


def _compile_attribute(simple: Any) -> Test:
    name, operator, value = simple.lower_name, simple.operator, simple.value
    if operator is None:
        return lambda element, page: element.get(name) is not None
    folds = simple.case_sensitive is False or (simple.case_sensitive is None and name in _CASELESS)
    value = value.lower() if folds else value

    def test(element: HtmlElement, page: Page) -> bool:
        actual = element.get(name)
        if actual is None:
            return False
        actual = actual.lower() if folds else actual
        if operator == "=":
            return bool(actual == value)
        if operator == "~=":
            return value in actual.split() and bool(value)
        if operator == "|=":
            return bool(actual == value or actual.startswith(f"{value}-"))
        found = {"^=": actual.startswith, "$=": actual.endswith, "*=": actual.__contains__}[operator](value)
        return bool(value) and bool(found)

    return test


def _compile_function(simple: Any, quirks: bool) -> Test:
    name, arguments = simple.name, list(simple.arguments)
    if name in {"-webkit-any", "matches"}:
        return _compile_any(list(parser.parse(arguments, forgiving=True)), quirks)
    if name in {"lang", "dir"}:
        words = [token.value.lower() for token in significant(arguments) if token.type == "ident"]
        return _compile_language(words) if name == "lang" else lambda element, page: [find_direction(element)] == words
    if name in {"state", "host", "host-context", "active-view-transition-type"}:
        return lambda element, page: False
    if name not in {"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"}:
        raise InvalidSelectorError
    of = next((n for n, token in enumerate(arguments) if token.type == "ident" and token.lower_value == "of"), None)
    step = tinycss2.nth.parse_nth(arguments[:of])
    if step is None or (of is not None and name.endswith("of-type")):
        raise InvalidSelectorError
    among = None
    if of is not None:
        among = _compile_any(list(parser.parse(arguments[of + 1 :])), quirks)
    return _compile_nth(*step, from_end="last" in name, by_tag=name.endswith("of-type"), among=among)


def _compile_nth(a: int, b: int, *, from_end: bool, by_tag: bool, among: Test | None) -> Test:
    def test(element: HtmlElement, page: Page) -> bool:
        if among is not None and not among(element, page):
            return False
        number = _count_before(element, page, from_end=from_end, by_tag=by_tag, among=among) + 1 - b
        return number == 0 if a == 0 else number % a == 0 and number // a >= 0

    return test


def _count_before(element: HtmlElement, page: Page, *, from_end: bool, by_tag: bool, among: Test | None) -> int:
    position = page.position(element)
    siblings = page.siblings(element)
    others = siblings[position + 1 :] if from_end else siblings[:position]
    if not by_tag and among is None:
        return len(others)
    page.spend(len(others))
    return sum((not by_tag or each.tag == element.tag) and (among is None or among(each, page)) for each in others)


def _compile_language(words: list[str]) -> Test:
    def test(element: HtmlElement, page: Page) -> bool:
        above = next((each for each in [element, *element.iterancestors()] if each.get("lang") is not None), None)
        language = (above.get("lang") if above is not None else "").lower()
        return any(language == word or language.startswith(f"{word}-") for word in words)

    return test
