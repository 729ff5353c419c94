"""Compile CSS selectors into functions that match elements of a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import tinycss2
import tinycss2.nth
from cssselect2 import parser
from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.visibility.css_values import significant

# The page as selectors see it: the names of its elements, their places, and the work that may still be done.

_CLASSES: Final = etree.XPath("descendant-or-self::*/@class", smart_strings=False)
_IDS: Final = etree.XPath("descendant-or-self::*/@id", smart_strings=False)

Scopes = dict[HtmlElement, str]
"""The number of the shadow root that an element belongs to. Elements of the page itself are missing."""
HOST: Final = "keyhole-host"
SLOTTED: Final = "keyhole-slotted"
"""Attributes by which the style sheets of a shadow root select its host and the children in its slots."""
AROUND: Final = "keyhole-around"
"""An attribute by which `@scope` selects the element around its style sheet."""

Test = Callable[[HtmlElement, "StyledPage"], bool]
"""Return whether an element of a page matches a selector."""


class OutOfWorkError(Exception):
    """The page needs more comparisons than a page may take."""


class _Names(dict[HtmlElement, frozenset[str]]):
    """The tag, the `.class` names, the `#id` and the `[attribute` names of each element, read on request.

    Classes and ids are in lower case in quirks mode.
    """

    def __init__(self, quirks: bool, scopes: Scopes) -> None:
        self._quirks = quirks
        self._scopes = scopes
        self._known: dict[tuple[str | None, ...], frozenset[str]] = {}
        """The names by tag, scope, class, id and attributes, which elements share."""

    def __missing__(self, element: HtmlElement) -> frozenset[str]:
        scope = name_scope(self._scopes.get(element, "")) if self._scopes else None
        key = (element.tag, scope, element.get("class"), element.get("id"), *element.keys())
        names = self._known.get(key)
        if names is None:
            names = self._known[key] = frozenset(self._iter_names(*key))
        self[element] = names
        return names

    def _iter_names(
        self, tag: str, scope: str | None, words: str | None, identifier: str | None, *attributes: str
    ) -> Iterator[str]:
        yield tag
        if self._quirks:
            words, identifier = words and words.lower(), identifier and identifier.lower()
        if words:
            yield from (f".{word}" for word in words.split())
        if identifier:
            yield f"#{identifier}"
        yield from (f"[{name}" for name in attributes)
        if scope is not None:
            yield scope


def name_scope(scope: str) -> str:
    """Return the name that all elements of a shadow root have."""
    return f"|{scope}"


class _Occurring(dict[str, bool]):
    """A table that tells whether some element of a tree has a name. It is filled on request."""

    def __init__(self, root: HtmlElement, quirks: bool) -> None:
        self._root = root
        self._quirks = quirks

    @cached_property
    def named(self) -> set[str]:
        """All `.class` and `#id` names."""
        words, identifiers = " ".join({*_CLASSES(self._root)}), _IDS(self._root)
        if self._quirks:
            words, identifiers = words.lower(), [each.lower() for each in identifiers]
        return {*(f".{word}" for word in {*words.split()}), *(f"#{each}" for each in identifiers)}

    @cached_property
    def _tags_and_attributes(self) -> set[str]:
        """All tags and `[attribute` names."""
        tags: set[str] = set()
        attributes: set[str] = set()
        for element in self._root.iter("*"):
            tags.add(element.tag)
            attributes.update(element.keys())
        return {*tags, *(f"[{name}" for name in attributes)}

    def __missing__(self, name: str) -> bool:
        occurs = self[name] = name in (self.named if name[0] in ".#" else self._tags_and_attributes)
        return occurs


class StyledPage:
    """A tree as selectors see it, with the number of comparisons that may still be made."""

    def __init__(self, root: HtmlElement, work: int, scopes: Scopes, *, quirks: bool = False) -> None:
        self.root = root
        self.scopes = scopes
        self.quirks = quirks
        self.checks_boxes = False
        """True to match `:checked` as if the reader had ticked each box that has a label."""
        self._work = work
        self._positions: dict[HtmlElement, dict[HtmlElement, int]] = {}
        self.names = _Names(quirks, scopes)
        self._names_above: dict[HtmlElement, frozenset[str]] = {}

    def tick_boxes(self, work: int) -> StyledPage:
        """Return the page as it is after a reader has ticked each box. `work`: its own limit of comparisons."""
        ticked = copy(self)
        ticked.checks_boxes = True
        ticked._work = work
        return ticked

    def spend(self, comparisons: int = 1) -> None:
        """Count comparisons. Raises OutOfWorkError when none is left."""
        self._work -= comparisons
        if self._work < 0:
            raise OutOfWorkError

    @cached_property
    def occurring(self) -> _Occurring:
        """A table that tells whether an element of the page has a name: a tag, a `.class`, an `#id` or an
        `[attribute`."""
        return _Occurring(self.root, self.quirks)

    @cached_property
    def _labelled(self) -> set[str]:
        return {label.get("for") for label in self.root.iter("label") if label.get("for")}

    def has_label(self, field: HtmlElement) -> bool:
        """Return whether a label names or contains a field."""
        return field.get("id") in self._labelled or next(field.iterancestors("label"), None) is not None

    def names_above(self, element: HtmlElement) -> frozenset[str]:
        """Return the names of all ancestors of an element."""
        parent = element.getparent()
        if parent is None:
            return frozenset()
        names = self._names_above.get(parent)
        if names is None:
            names = self.names_above(parent) | self.names[parent]
            self._names_above[parent] = names
        return names

    def siblings(self, element: HtmlElement) -> list[HtmlElement]:
        """Return an element and its siblings in order."""
        return list(self._position_map(element))

    def position(self, element: HtmlElement) -> int:
        """Return how many siblings are before an element."""
        return self._position_map(element)[element]

    def _position_map(self, element: HtmlElement) -> dict[HtmlElement, int]:
        parent = element.getparent()
        if parent is None:
            return {element: 0}
        if parent not in self._positions:
            children = list(iter_children(parent))
            self.spend(len(children))
            self._positions[parent] = {child: number for number, child in enumerate(children)}
        return self._positions[parent]


def find_attributes(root: HtmlElement, name: str) -> list[Any]:
    """Return the values of all attributes of a name in a tree. Their `getparent()` is the element."""
    values: list[Any] = _compile_attributes(name)(root)
    return values


@lru_cache(maxsize=256)
def _compile_attributes(name: str) -> etree.XPath:
    return etree.XPath(f"descendant-or-self::*/@{name}")


def iter_children(element: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the elements in an element, without comments."""
    yield from element.iterchildren(tag="*")


# Pseudo-classes without arguments, for a page that nobody has touched yet.

_FIELDS: Final = frozenset({"input", "textarea", "select"})
_CAN_BE_DISABLED: Final = frozenset({"button", "fieldset", "optgroup", "option", *_FIELDS})
_MOST: Final = 50
"""Largest number of texts in an element, and of characters of each, that are searched for a letter with a direction."""


def _is_empty(element: HtmlElement, page: StyledPage) -> bool:
    return not element.text and all(not isinstance(child.tag, str) and not child.tail for child in element)


def _is_first(element: HtmlElement, page: StyledPage) -> bool:
    return next(element.itersiblings("*", preceding=True), None) is None


def _is_last(element: HtmlElement, page: StyledPage) -> bool:
    return next(element.itersiblings("*"), None) is None


def _is_first_of_type(element: HtmlElement, page: StyledPage) -> bool:
    return next(element.itersiblings(element.tag, preceding=True), None) is None


def _is_last_of_type(element: HtmlElement, page: StyledPage) -> bool:
    return next(element.itersiblings(element.tag), None) is None


def _is_link(element: HtmlElement, page: StyledPage) -> bool:
    return element.tag in {"a", "area"} and element.get("href") is not None


def _is_checked(element: HtmlElement, page: StyledPage) -> bool:
    if element.tag == "option":
        return element.get("selected") is not None
    is_box = element.tag == "input" and (element.get("type") or "").lower() in {"checkbox", "radio"}
    return is_box and (element.get("checked") is not None or (page.checks_boxes and page.has_label(element)))


def _is_disabled(element: HtmlElement, page: StyledPage) -> bool:
    return element.tag in _CAN_BE_DISABLED and element.get("disabled") is not None


def _is_open(element: HtmlElement, page: StyledPage) -> bool:
    return element.tag in {"details", "dialog"} and element.get("open") is not None


def find_direction(element: HtmlElement) -> str:
    """Return the direction of an element's text, `ltr` or `rtl`: by `dir`, or by the first letter that has one."""
    for each in [element, *element.iterancestors()]:
        direction = (each.get("dir") or "").lower()
        if direction in {"ltr", "rtl"}:
            return direction
        if direction == "auto" or (each.tag == "bdi" and not direction):
            kinds = map(unicodedata.bidirectional, "".join(text[:_MOST] for text in islice(each.itertext("*"), _MOST)))
            first = next((kind for kind in kinds if kind in {"L", "R", "AL"}), "L")
            return "ltr" if first == "L" else "rtl"
    return "ltr"


def _never(element: HtmlElement, page: StyledPage) -> bool:
    return False


PSEUDO_CLASSES: Final[dict[str, Test]] = {
    "root": lambda element, page: element.getparent() is None,
    "scope": lambda element, page: element.getparent() is None,
    "empty": _is_empty,
    "first-child": _is_first,
    "last-child": _is_last,
    "only-child": lambda element, page: _is_first(element, page) and _is_last(element, page),
    "first-of-type": _is_first_of_type,
    "last-of-type": _is_last_of_type,
    "only-of-type": lambda element, page: _is_first_of_type(element, page) and _is_last_of_type(element, page),
    "link": _is_link,
    "any-link": _is_link,
    "-webkit-any-link": _is_link,
    "checked": _is_checked,
    "disabled": _is_disabled,
    "enabled": lambda element, page: element.tag in _CAN_BE_DISABLED and element.get("disabled") is None,
    "required": lambda element, page: element.tag in _FIELDS and element.get("required") is not None,
    "optional": lambda element, page: element.tag in _FIELDS and element.get("required") is None,
    "read-write": lambda element, page: element.tag in {"input", "textarea"} and element.get("readonly") is None,
    "read-only": lambda element, page: element.tag not in {"input", "textarea"} or element.get("readonly") is not None,
    "placeholder-shown": lambda element, page: bool(element.get("placeholder")) and not element.get("value"),
    "open": _is_open,
    # Elements that scripts define have a hyphen in their name.
    "defined": lambda element, page: "-" not in element.tag,
    **dict.fromkeys(
        (
            "hover", "focus", "active", "target", "visited", "focus-within", "focus-visible", "target-within",
            "popover-open", "modal", "indeterminate", "fullscreen", "-webkit-full-screen", "autofill",
            "-webkit-autofill", "picture-in-picture", "default", "valid", "invalid", "in-range", "out-of-range",
            "user-valid", "user-invalid", "paused", "playing", "host", "current", "past", "future",
            "active-view-transition", "target-current",
        ),
        _never,
    ),
}  # fmt: skip
"""Tests by name. Pseudo-classes that depend on what a reader does do not match."""


# Selectors: compile each part of one into a test of an element.

_MAX_DEPTH: Final = 40
"""Depth of nested parentheses of a selector. Deeper selectors match nothing."""


class InvalidSelectorError(ValueError):
    """A selector that browsers do not accept either, or that is too deep."""


class Selector(NamedTuple):
    """A compiled selector."""

    test: Test
    specificity: tuple[int, int, int]


_NOTHING: Final = Selector(lambda element, page: False, (0, 0, 0))
"""A selector that matches nothing, in place of a pseudo-element's."""


@lru_cache(maxsize=8_192)
def compile_selectors(text: str, quirks: bool = False) -> tuple[Selector, ...]:
    """Return the selectors of a list in order, none for an invalid list. A pseudo-element's selector matches nothing.

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

    def test_all(element: HtmlElement, page: StyledPage) -> bool:
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

        def test_next(element: HtmlElement, page: StyledPage) -> bool:
            if not right(element, page):
                return False
            other = element.getparent() if combinator == ">" else next(element.itersiblings("*", preceding=True), None)
            return other is not None and left(other, page)

        return test_next

    def test_any(element: HtmlElement, page: StyledPage) -> bool:
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

    def test_any(element: HtmlElement, page: StyledPage) -> bool:
        for test in tests:  # noqa: SIM110 - `any` takes several times longer
            if test(element, page):
                return True
        return False

    return test_any


def _compile_has(simple: Any, quirks: bool) -> Test:
    relatives = [(each.combinator, _compile_tree(each.selector.parsed_tree, quirks)) for each in simple.selector_list]

    def test(element: HtmlElement, page: StyledPage) -> bool:
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

    def test(element: HtmlElement, page: StyledPage) -> bool:
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
    def test(element: HtmlElement, page: StyledPage) -> bool:
        if among is not None and not among(element, page):
            return False
        number = _count_before(element, page, from_end=from_end, by_tag=by_tag, among=among) + 1 - b
        return number == 0 if a == 0 else number % a == 0 and number // a >= 0

    return test


def _count_before(element: HtmlElement, page: StyledPage, *, from_end: bool, by_tag: bool, among: Test | None) -> int:
    position = page.position(element)
    siblings = page.siblings(element)
    others = siblings[position + 1 :] if from_end else siblings[:position]
    if not by_tag and among is None:
        return len(others)
    page.spend(len(others))
    return sum((not by_tag or each.tag == element.tag) and (among is None or among(each, page)) for each in others)


def _compile_language(words: list[str]) -> Test:
    def test(element: HtmlElement, page: StyledPage) -> bool:
        above = next((each for each in [element, *element.iterancestors()] if each.get("lang") is not None), None)
        language = (above.get("lang") if above is not None else "").lower()
        return any(language == word or language.startswith(f"{word}-") for word in words)

    return test
