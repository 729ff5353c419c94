"""Match rules with elements, and decide which declaration wins for each property of an element."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.visibility.computed_style import (
    INITIAL,
    MAX_STYLE,
    ComputedStyle,
    ElementFacts,
    compute_style,
    describe,
    drawing_hints,
)
from keyhole.extract.html.visibility.conditions import container_applies
from keyhole.extract.html.visibility.css_values import CssTokens, parse_colour, parse_tokens
from keyhole.extract.html.visibility.declarations import Declaration, parse_declarations
from keyhole.extract.html.visibility.selectors import (
    HOST,
    SLOTTED,
    Selector,
    StyledPage,
    compile_selectors,
    find_attributes,
    name_scope,
)
from keyhole.extract.html.visibility.style_sheets import (
    CssRule,
    CssRules,
    Layer,
    find_hiding_variables,
    may_hide_roughly,
    may_recolour,
    suspect,
)

# The parts of a selector list with the names that an element must have, which rejects most rules cheaply.

Specificity = tuple[int, int, int]

_BRACKETS: Final = re.compile(r"\[[\w-]*+[^\w\[\]-][^\[\]]*+\]")
"""Attributes whose names are not read, such as those with a namespace."""
_STRING: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_PARENTHESES: Final = re.compile(r"\([^()]*\)")
_ATTRIBUTE: Final = re.compile(r"\[\s*([\w-]+)\s*(?=[\]~^$*=]|\|=)[^\[\]]*\]")
_SINGLE: Final = re.compile(r":(?:is|where)\(([.#][^(),>+~\s\[\]:]*)\)", re.IGNORECASE)
"""`:is()` or `:where()` with one compound selector, whose names an element must have."""
_NAME: Final = re.compile(r"[.#][^.#:\s>+~\[(]+")
_HAS: Final = re.compile(r"\[[\w-]+(?=\])")
_TAG: Final = re.compile(r"[a-z][\w-]*", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\([0-9a-f]{1,6}\s?|.)", re.IGNORECASE | re.DOTALL)
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_HELD: Final = 0xF0000
"""First of the characters for private use that stand for escapes."""
_COMBINATOR: Final = re.compile(r"\s*[>+~]\s*|\s+")
_INERT: Final = re.compile(r"::|:(?:hover|focus|active|visited|before|after|target)", re.IGNORECASE)
"""Pseudo-elements, and states that a page does not have before a reader touches it."""
_COMPOUND: Final = r"(?:(?:[a-z][a-z0-9]*|\*)(?:[.#]-?[a-z_][\w-]*)*|(?:[.#]-?[a-z_][\w-]*)+)"
_PLAIN: Final = re.compile(rf"\s*{_COMPOUND}(?:(?:\s*[>+~]\s*|\s+){_COMPOUND})*\s*", re.IGNORECASE | re.ASCII)
"""Selectors of names, classes and ids alone, which are valid without a look at their tokens."""
_RANKS: Final = {"#": 3, ".": 2, "[": 0}
"""Ranks of names by their first character: few elements share an id, many share an attribute."""
ANY: Final = ""
"""The key of a selector that may match every element."""


class ListedSelector(NamedTuple):
    """One selector of a list."""

    text: str
    place: int
    """Its place in the list."""
    key: str
    """The `#id`, `.class`, tag or `[attribute` that an element must have, or `ANY`."""
    own: frozenset[str]
    """All names that the element must have, and its attributes as `[name`."""
    above: frozenset[str]
    """Names that its ancestors must have."""
    elsewhere: frozenset[str]
    """Names that must occur in the page: those of siblings."""
    specificity: Specificity | None
    """The specificity if the names decide alone, so that the selector need not be compiled."""


class SelectorList(NamedTuple):
    """The parts of a selector list that can match."""

    parts: tuple[ListedSelector, ...]
    length: int
    """Number of all selectors in the list."""
    is_plain: bool
    """True if all selectors are made of valid names. If not, an invalid selector may make the whole list match
    nothing."""


NO_SELECTORS: Final = SelectorList((), 0, True)


@lru_cache(maxsize=16_384)
def split_selectors(selector: str) -> SelectorList:
    """Return the parts of a selector list. The result is cached, because sites share their style sheets."""
    escapes: list[str] = []
    plain = _ESCAPE.sub(lambda match: _hold(match, escapes), selector) if "\\" in selector else selector
    if "/*" in plain:
        plain = _COMMENT.sub("", plain)
    if ":" in plain:
        plain = _SINGLE.sub(r"\1", plain).replace(":root", "html")
    plain = _remove_groups(plain)
    is_plain = True
    parts = []
    pieces = plain.split(",")
    for place, text in enumerate(pieces):
        part_is_plain = plain == selector and _PLAIN.fullmatch(text) is not None
        is_plain = is_plain and part_is_plain
        part = _split_part(text.strip(), place, escapes, part_is_plain)
        if part is not None:
            parts.append(part)
    return SelectorList(tuple(parts), len(pieces), is_plain)


def _remove_groups(text: str) -> str:
    """Return a selector list without strings, parentheses and the values of attributes."""
    if "(" not in text and "[" not in text:
        return text
    text = _STRING.sub("", text)
    before = ""
    while text != before:
        before, text = text, _PARENTHESES.sub("", text)
    return _BRACKETS.sub(":attribute", _ATTRIBUTE.sub(lambda match: f"[{match[1].lower()}]", text))


def _split_part(text: str, place: int, escapes: list[str], is_plain: bool) -> ListedSelector | None:
    """Return a part, or None if it matches only pseudo-elements or states."""
    compounds = _COMBINATOR.split(text)
    last = compounds[-1]
    if _INERT.search(last):
        return None
    own = _list_names(last, escapes)
    others = [_list_names(compound, escapes) for compound in compounds[:-1]]
    names = frozenset(name for compound in others for name in compound)
    has_siblings = "+" in text or "~" in text
    key = max(own, key=lambda name: _RANKS.get(name[:1], 1), default=ANY)
    above = frozenset() if has_siblings else names
    is_decided = is_plain and not has_siblings and ">" not in text and len(others) <= 1 and len(names) <= 1
    specificity = _count(own + [name for names in others for name in names]) if is_decided else None
    return ListedSelector(text, place, key, frozenset(own), above, names if has_siblings else frozenset(), specificity)


def _list_names(compound: str, escapes: list[str]) -> list[str]:
    """Return the tag, `.class` and `#id` of a compound selector."""
    names = _NAME.findall(compound)
    if "[" in compound:
        names += _HAS.findall(compound)
    tag = _TAG.match(compound)
    if tag:
        names.append(tag[0].lower())
    return [_release(name, escapes) for name in names] if escapes else names


def _count(names: list[str]) -> Specificity:
    signs = [name[0] for name in names]
    return signs.count("#"), signs.count("."), len(signs) - signs.count("#") - signs.count(".")


def _hold(match: re.Match[str], escapes: list[str]) -> str:
    """Replace an escape by a character without a meaning in CSS, so that it can be put back later."""
    code = match[1].strip()
    is_code = bool(code) and all(sign in "0123456789abcdefABCDEF" for sign in code)
    escapes.append(chr(min(int(code, 16), 0x10FFFF)) if is_code else match[1])
    return chr(_HELD + len(escapes) - 1)


def _release(name: str, escapes: list[str]) -> str:
    return "".join(escapes[ord(sign) - _HELD] if 0 <= ord(sign) - _HELD < len(escapes) else sign for sign in name)


# Find the rules that match an element, and the elements that given rules match.
_UNREAD: Final = frozenset("([\\/\"'")
"""Characters of selectors with parts other than names, combinators and pseudo-classes."""
_SIMPLE: Final = re.compile(r"[a-z][a-z0-9-]*")
"""The names of attributes that XPath can look for."""
_OUTSIDE: Final = frozenset({f"[{HOST}", f"[{SLOTTED}"})
"""Names of elements outside of a shadow root that its style sheets select."""
_NAMED: Final = re.compile(r"[.#][^.#:\s>+~]+")


@dataclass(slots=True)
class IndexedSelector:
    """One selector of a rule."""

    part: ListedSelector
    rule: CssRule
    decided: Specificity | None
    """The specificity, if the selector matches every element with its names and need not be compiled. Else None."""
    tests: tuple[Selector, ...] | None = None
    """The compiled selector, or all valid selectors of an invalid list. None before the first comparison."""

    def match(self, element: HtmlElement, page: StyledPage) -> Specificity | None:
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


RuleIndex = dict[str, list[IndexedSelector]]
"""The selectors of rules by a name that their elements have, or by `ANY`."""


class Matcher:
    """The selectors of a page's rules, as far as their names occur in the page."""

    def __init__(self, page: StyledPage) -> None:
        self._page = page
        self._entries: dict[int, list[IndexedSelector]] = {}
        self._fitting: dict[frozenset[str], list[IndexedSelector]] = {}

    def index(self, rules: Iterable[CssRule]) -> RuleIndex:
        """Return the selectors of rules by key, without those whose names do not occur in the page."""
        index: RuleIndex = {}
        for rule in rules:
            for entry in self._list_entries(rule):
                index.setdefault(entry.part.key, []).append(entry)
        return index

    def _list_entries(self, rule: CssRule) -> list[IndexedSelector]:
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
        """Return whether a selector of a list may have only classes and ids that occur in the page. A cheap test."""
        if not _UNREAD.isdisjoint(selector):
            return True
        named = self._page.occurring.named
        return any(named.issuperset(_NAMED.findall(part)) for part in selector.split(","))

    def find_elements(self, index: RuleIndex) -> dict[HtmlElement, None]:
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

    def find_matching(self, element: HtmlElement, index: RuleIndex) -> list[tuple[CssRule, Specificity]]:
        """Return the rules of the page's index that match an element, each with its greatest specificity."""
        page, above = self._page, self._page.names_above(element)
        matching: dict[int, tuple[CssRule, Specificity]] = {}
        for entry in self._find_fitting(element, index, self._fitting):
            if entry.part.above <= above:
                specificity, order = entry.decided or entry.match(element, page), entry.rule.order
                if specificity is not None and (order not in matching or specificity > matching[order][1]):
                    matching[order] = entry.rule, specificity
        return list(matching.values())

    def _find_fitting(
        self, element: HtmlElement, index: RuleIndex, known: dict[frozenset[str], list[IndexedSelector]]
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

    def _iter_elements(self, index: RuleIndex) -> Iterator[HtmlElement]:
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


# Read the attributes of old HTML that style an element: `bgcolor`, `color`, `text` and `size`.
_HINTS: Final = {
    **{(tag, "bgcolor"): "background-color" for tag in ("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th")},
    **{(tag, "background"): "background-image" for tag in ("body", "table", "tr", "td", "th")},
    ("body", "text"): "color",
    ("font", "color"): "color",
}
_TAGS: Final = frozenset(tag for tag, _ in _HINTS)
_IMAGE: Final = parse_tokens("url(image)")


def presentational_hints(element: HtmlElement) -> list[Declaration]:
    """Return the declarations that the attributes of an element stand for. Style sheets override them."""
    if element.tag not in _TAGS:
        return []
    found = []
    for (tag, attribute), name in _HINTS.items():
        value = element.get(attribute) if element.tag == tag else None
        if value:
            tokens = _IMAGE if attribute == "background" else read_old_colour(value)
            found.append(Declaration(name, tokens, name, False, False))
    return found


def read_old_colour(value: str) -> CssTokens:
    """Return a colour as tokens. The sign `#` may be missing, as it does on old pages."""
    tokens = parse_tokens(value.strip())
    is_colour = len(tokens) == 1 and parse_colour(tokens[0]) is not None
    return tokens if is_colour else parse_tokens(f"#{value.strip()}")


# Match rules with elements, and decide which declaration wins for each property of an element.
_STYLES: Final = etree.XPath("descendant-or-self::*/@style[contains(., '--')]", smart_strings=False)
Priority = tuple[int, int, tuple[float, ...], Specificity, int]


class Cascade:
    """The style sheets of a page, applied to its elements on request."""

    def __init__(self, rules: CssRules, page: StyledPage, index: RuleIndex | None = None) -> None:
        self.rules = rules
        self.page = page
        self._matcher = Matcher(page)
        self._hiding_variables: frozenset[str] | None = None
        self._has_queries = any(rule.queries for rule in rules.rules)
        self._index = index
        self._declared: dict[HtmlElement, dict[str, Declaration]] = {}
        self._shared: dict[tuple[object, ...], dict[str, Declaration]] = {}
        self._computed: dict[tuple[int, int, ElementFacts], ComputedStyle] = {}
        self._styles: dict[HtmlElement, ComputedStyle] = {}
        self.forgiven: set[HtmlElement] = set()
        """Elements that a control or a script shows, and that count as visible."""

    def find_candidates(self) -> dict[HtmlElement, None]:
        """Return the elements that match a rule which may hide them."""
        return self._matcher.find_elements(self._index_hiding())

    def find_by_block(self, pattern: re.Pattern[str]) -> dict[HtmlElement, None]:
        """Return the elements with a declaration that a pattern finds."""
        index = self._matcher.index(rule for rule in self.rules.rules if pattern.search(rule.body))
        styled = (style.getparent() for style in find_attributes(self.page.root, "style") if pattern.search(style))
        return {**self._matcher.find_elements(index), **dict.fromkeys(styled)}

    def list_possibly_hidden(self, *, only_simple: bool = False) -> list[HtmlElement]:
        """Return the elements that a rule may hide, judged by the rule's last name alone, without comparisons.

        With `only_simple`, only rules whose selector is a single name count.
        """
        index = self._index_hiding()
        keys = {
            key
            for key, entries in index.items()
            if key[:1] not in {ANY, "["}
            and (not only_simple or any(each.part.text == each.part.key for each in entries))
        }
        return [element for element in self.page.root.iter("*") if not keys.isdisjoint(self.page.names[element])]

    def may_hide(self, block: str) -> bool:
        """Return whether a block of declarations may hide its element or the text in it.

        Colours alone count only if the backgrounds of the page are known.
        """
        if not self.rules.has_unread_sheets and may_recolour(block):
            return True
        suspicion = suspect(block)
        if suspicion.is_certain:
            return True
        if not suspicion.variables:
            return False
        if self._hiding_variables is None:
            styles: list[str] = _STYLES(self.page.root)
            self._hiding_variables = find_hiding_variables([*(rule.body for rule in self.rules.rules), *styles])
        return not suspicion.variables.isdisjoint(self._hiding_variables)

    def _index_hiding(self) -> RuleIndex:
        """Return, by key, the selectors of the rules that may hide."""
        index = self._matcher.index(rule for rule in self.rules.rules if self._may_hide_roughly(rule.body))
        kept = {key: [each for each in entries if self.may_hide(each.rule.body)] for key, entries in index.items()}
        return {key: entries for key, entries in kept.items() if entries}

    def _may_hide_roughly(self, block: str) -> bool:
        return (not self.rules.has_unread_sheets and may_recolour(block)) or may_hide_roughly(block)

    def declare(self, element: HtmlElement) -> dict[str, Declaration]:
        """Return the winning declaration of each property of an element. The result never changes."""
        declared = self._declared.get(element)
        if declared is None:
            declared = self._declared[element] = self._declare(element)
        return declared

    def _declare(self, element: HtmlElement) -> dict[str, Declaration]:
        if self._index is None:
            self._index = self._matcher.index(self.rules.rules)
        matching = self._matcher.find_matching(element, self._index) if self._index else []
        if self._has_queries:
            matching = [each for each in matching if self._answers(each[0].queries, element)]
        hints = presentational_hints(element) + drawing_hints(element)
        # Elements with the same rules and attributes share their declarations, and so their computed styles.
        key = (element.get("style"), *((rule.order, specificity) for rule, specificity in matching))
        declared = None if hints else self._shared.get(key)
        if declared is None:
            self.page.spend(sum(1 + len(rule.body) // 50 for rule, _ in matching))
            declared = self._resolve_winners(element, matching, hints)
            if not hints:
                self._shared[key] = declared
        return declared

    def _answers(self, queries: tuple[str, ...], element: HtmlElement) -> bool:
        """Return whether the custom properties of an element's parent fulfil all `@container` queries."""
        parent = element.getparent()
        if parent is None:
            return not queries
        variables = self.style(parent).variables
        return all(container_applies(query, variables) for query in queries)

    def _resolve_winners(
        self, element: HtmlElement, matching: list[tuple[CssRule, Specificity]], hints: list[Declaration]
    ) -> dict[str, Declaration]:
        """Return the winning declarations."""
        found: dict[str, tuple[Priority, Declaration]] = {}
        for declaration in hints:
            found[declaration.name] = ((0, 0, (-1.0,), (0, 0, 0), 0), declaration)
        for rule, specificity in matching:
            _compete(found, parse_declarations(rule.body), rule.layer, specificity, rule.order)
        if style := element.get("style"):
            _compete(found, parse_declarations(style[:MAX_STYLE]), None, (0, 0, 0), 0)
        return self._animate({name: declaration for name, (_, declaration) in found.items()})

    def _animate(self, winners: dict[str, Declaration]) -> dict[str, Declaration]:
        """Return declarations overridden by the last frame of an animation that stays there."""
        words = {
            token.value
            for part in ("animation-name", "animation-fill-mode")
            if part in winners
            for token in winners[part].tokens
            if token.type in {"ident", "string"}
        }
        if words.isdisjoint({"forwards", "both"}):
            return winners
        for name in sorted(words & self.rules.last_frames.keys()):
            frame = {each.name: each for each in parse_declarations(self.rules.last_frames[name])}
            winners = winners | frame | {key: each for key, each in winners.items() if each.is_important}
        return winners

    def style(self, element: HtmlElement) -> ComputedStyle:
        """Return the computed style of an element."""
        pending = []
        above: HtmlElement | None = element
        while above is not None and above not in self._styles:
            pending.append(above)
            above = above.getparent()
        style = self._styles[above] if above is not None else INITIAL
        for each in reversed(pending):
            style = self._compute(each, style)
            if each in self.forgiven:
                style = _forgive(style)
            self._styles[each] = style
        return style

    def _compute(self, element: HtmlElement, parent: ComputedStyle) -> ComputedStyle:
        facts = describe(element.tag if isinstance(element.tag, str) else "", element.attrib)
        declared = self.declare(element)
        key = id(declared), id(parent), facts
        style = self._computed.get(key)
        if style is None:
            style = self._computed[key] = compute_style(declared, parent, facts)
        return style

    def tick_boxes(self, work: int) -> Cascade:
        """Return the cascade of the page after a reader has ticked each box with a label."""
        return Cascade(self.rules, self.page.tick_boxes(work), self._index)

    def forget_styles(self) -> None:
        """Forget computed styles, after `forgiven` has changed."""
        self._styles.clear()
        self._computed.clear()


def _forgive(style: ComputedStyle) -> ComputedStyle:
    """Return a style without the values that hide its element."""
    hiding = {"opacity", "filter", "clip", "clip-path", "mask-image", "transform", "translate", "scale", "visibility",
              "content-visibility", "max-height", "height", "left", "top", "right", "bottom",
              "overflow-x", "overflow-y"}  # fmt: skip
    values = {name: value for name, value in style.values.items() if name not in hiding}
    if values.get("display") == "none":
        values["display"] = "block"
    return style._replace(values=values)


def _compete(
    found: dict[str, tuple[Priority, Declaration]],
    declarations: tuple[Declaration, ...],
    layer: Layer | None,
    specificity: Specificity,
    order: int,
) -> None:
    """Let declarations replace those with a lower priority. `layer` is None for a style attribute."""
    place = layer or (float("inf"),)
    for declaration in declarations:
        important = declaration.is_important
        order_of_layer = tuple(-each for each in place) if important else place
        priority: Priority = (int(important), int(layer is None), order_of_layer, specificity, order)
        current = found.get(declaration.name)
        if current is None or priority >= current[0]:
            found[declaration.name] = (priority, declaration)
