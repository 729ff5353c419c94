"""Find the rules that match an element, and the elements that given rules match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.page import HOST, SLOTTED, Page, find_attributes, name_scope
from keyhole.extract.html.visibility.rules import Rule
from keyhole.extract.html.visibility.selector_parts import (
    ANY,
    NO_SELECTORS,
    ListedSelector,
    Specificity,
    split_selectors,
)
from keyhole.extract.html.visibility.selectors import Selector, compile_selectors

_UNREAD: Final = frozenset("([\\/\"'")
"""Characters of selectors that are not only names, combinators and pseudo-classes."""
_SIMPLE: Final = re.compile(r"[a-z][a-z0-9-]*")
"""The names of attributes that XPath can look for."""
_OUTSIDE: Final = frozenset({f"[{HOST}", f"[{SLOTTED}"})
"""Names of elements outside of a shadow root that its style sheets select."""
_NAMED: Final = re.compile(r"[.#][^.#:\s>+~]+")


@dataclass(slots=True)
class IndexedSelector:
    """One selector of a rule."""

    part: ListedSelector
    rule: Rule
    decided: Specificity | None
    """The specificity of a selector that matches each element with its names, so that it need not be compiled."""
    tests: tuple[Selector, ...] | None = None
    """The compiled selector. If its list is not valid, all valid selectors. None before the first comparison."""

    def match(self, element: HtmlElement, page: Page) -> Specificity | None:
        """Return the specificity of the selector if it matches an element with its names, or None."""
        if self.decided is not None:
            page.spend()
            return self.decided
        if self.tests is None:
            self.tests = self._compile(page.quirks)
        page.spend(1 + len(self.tests))
        best = None
        for test, specificity in self.tests:
            if test(element, page) and (best is None or specificity > best):
                best = specificity
        return best

    def _compile(self, quirks: bool) -> tuple[Selector, ...]:
        selector = self.rule.selector.lower() if quirks else self.rule.selector
        selectors = split_selectors(selector)
        if selectors.is_plain:
            return compile_selectors(self.part.text, quirks)
        compiled = compile_selectors(selector, quirks)
        return compiled[self.part.place : self.part.place + 1] if len(compiled) == selectors.length else compiled


def _limit(entry: IndexedSelector) -> None:
    """Limit a selector to its shadow root. Its rules for the host and for children in slots give way to the page's."""
    if _OUTSIDE.isdisjoint(entry.part.own):
        entry.part = entry.part._replace(own=entry.part.own | {name_scope(entry.rule.scope)})
    else:
        entry.rule = replace(entry.rule, layer=(-1.0,))


Index = dict[str, list[IndexedSelector]]
"""The selectors of rules by a name that their elements have, or by `ANY`."""


class Matcher:
    """The selectors of a page's rules, as far as their names occur in the page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._entries: dict[int, list[IndexedSelector]] = {}
        self._fitting: dict[frozenset[str], list[IndexedSelector]] = {}

    def index(self, rules: Iterable[Rule]) -> Index:
        """Return the selectors of rules by key, without those whose names do not occur in the page."""
        index: Index = {}
        for rule in rules:
            for entry in self._list_entries(rule):
                index.setdefault(entry.part.key, []).append(entry)
        return index

    def _list_entries(self, rule: Rule) -> list[IndexedSelector]:
        """Return the selectors of a rule whose names occur in the page."""
        entries = self._entries.get(rule.order)
        if entries is None:
            selector = rule.selector.lower() if self._page.quirks else rule.selector
            selectors = split_selectors(selector) if self._may_occur(selector) else NO_SELECTORS
            occurs = self._page.occurring.__getitem__
            entries = self._entries[rule.order] = [
                IndexedSelector(part, rule, part.specificity if selectors.is_plain else None)
                for part in selectors.parts
                if all(map(occurs, part.own)) and all(map(occurs, part.above)) and all(map(occurs, part.elsewhere))
            ]
            if self._page.scopes:
                for entry in entries:
                    _limit(entry)
        return entries

    def _may_occur(self, selector: str) -> bool:
        """Return whether some selector of a list has only classes and ids of the page, without a closer look."""
        if not _UNREAD.isdisjoint(selector):
            return True
        named = self._page.occurring.named
        return any(named.issuperset(_NAMED.findall(part)) for part in selector.split(","))

    def find_elements(self, index: Index) -> dict[HtmlElement, None]:
        """Return the elements that a selector of an index matches."""
        page = self._page
        fitting: dict[frozenset[str], list[IndexedSelector]] = {}
        judged: set[HtmlElement] = set()
        found: dict[HtmlElement, None] = {}
        for element in self._iter_elements(index):
            if element in judged:
                continue
            judged.add(element)
            entries = self._find_fitting(element, index, fitting)
            if not entries:
                continue
            above = page.names_above(element)
            if any(each.part.above <= above and each.match(element, page) is not None for each in entries):
                found[element] = None
        return found

    def find_matching(self, element: HtmlElement, index: Index) -> list[tuple[Rule, Specificity]]:
        """Return the rules of the page's index that match an element, each with its greatest specificity."""
        page, above = self._page, self._page.names_above(element)
        matching: dict[int, tuple[Rule, Specificity]] = {}
        for entry in self._find_fitting(element, index, self._fitting):
            if entry.part.above <= above:
                specificity, order = entry.decided or entry.match(element, page), entry.rule.order
                if specificity is not None and (order not in matching or specificity > matching[order][1]):
                    matching[order] = entry.rule, specificity
        return list(matching.values())

    def _find_fitting(
        self, element: HtmlElement, index: Index, known: dict[frozenset[str], list[IndexedSelector]]
    ) -> list[IndexedSelector]:
        """Return the selectors whose last names an element has. Elements repeat their names, so results are kept."""
        names = self._page.names[element]
        entries = known.get(names)
        if entries is None:
            listed = [each for key in (ANY, *names) for each in index.get(key, ())]
            self._page.spend(len(listed))
            entries = known[names] = [each for each in listed if each.part.own <= names]
        self._page.spend(1 + len(entries) // 8)
        return entries

    def _iter_elements(self, index: Index) -> Iterator[HtmlElement]:
        """Yield the elements that have a key of an index. Some are yielded several times."""
        root, quirks = self._page.root, self._page.quirks
        attributes = [key[1:] for key in index if key[:1] == "["]
        if ANY in index or not all(map(_SIMPLE.fullmatch, attributes)):
            yield from root.iter("*")
            return
        for name in attributes:
            yield from (value.getparent() for value in find_attributes(root, name))
        tags = [key for key in index if key[0] not in ".#["]
        if tags:
            yield from root.iter(*tags)
        for sign, name in ((".", "class"), ("#", "id")):
            wanted = {key[1:] for key in index if key[0] == sign}
            if not wanted:
                continue
            is_wanted: dict[str, bool] = {}
            for value in find_attributes(root, name):
                if value not in is_wanted:
                    words = (value.lower() if quirks else value).split() if sign == "." else [value]
                    is_wanted[value] = not wanted.isdisjoint(words)
                if is_wanted[value]:
                    yield value.getparent()
