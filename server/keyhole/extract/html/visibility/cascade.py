"""Match rules with elements, and decide which declaration wins for each property of an element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.visibility.attributes import MAX_STYLE, describe
from keyhole.extract.html.visibility.computing import INITIAL, ComputedStyle, compute_style
from keyhole.extract.html.visibility.declarations import Declaration, Variables, parse_declarations
from keyhole.extract.html.visibility.hints import presentational_hints
from keyhole.extract.html.visibility.page import Page
from keyhole.extract.html.visibility.rules import Layer, Rule, Rules
from keyhole.extract.html.visibility.screening import find_hiding_variables, may_hide_roughly, may_recolour, suspect
from keyhole.extract.html.visibility.selector_parts import ANY, Part, Specificity, split_selectors
from keyhole.extract.html.visibility.selectors import compile_selectors

_CLASSES: Final = etree.XPath("descendant-or-self::*/@class", smart_strings=False)
_IDS: Final = etree.XPath("descendant-or-self::*/@id", smart_strings=False)
_STYLES: Final = etree.XPath("descendant-or-self::*/@style[contains(., '--')]", smart_strings=False)
_NAMED: Final = etree.XPath("descendant-or-self::*[@class or @id]")
Priority = tuple[int, int, tuple[float, ...], Specificity, int]


class Cascade:
    """The style sheets of a page, applied to its elements on request."""

    def __init__(self, rules: Rules, page: Page) -> None:
        self.rules = rules
        self.page = page
        self._present: set[str] = set()
        self._hiding_variables: frozenset[str] | None = None
        self._has_registered = bool(rules.registered)
        self._rules_by_names: dict[frozenset[str], list[tuple[Part, Rule]]] = {}
        self._index: dict[str, list[tuple[Part, Rule]]] | None = None
        self._declared: dict[HtmlElement, dict[str, Declaration]] = {}
        self._styles: dict[HtmlElement, ComputedStyle] = {}
        registered = rules.registered.items()
        initial = {name: value for name, (value, _) in registered if value is not None}
        self._initial = INITIAL._replace(variables=initial)
        self._local = {name: value for name, (value, inherits) in registered if value is not None and not inherits}
        self._reset: tuple[Variables, Variables] = ({}, {})
        self.forgiven: set[HtmlElement] = set()
        """Elements that a control or a script shows, and that count as visible."""

    def find_candidates(self) -> dict[HtmlElement, None]:
        """Return the elements that rules match which may hide."""
        matching = self._index_hiding()
        found: dict[HtmlElement, None] = {}
        for key, element in self._iter_elements(matching):
            if element in found:
                continue
            names, above = self.page.names(element), self.page.names_above(element)
            self.page.spend(len(matching[key]) // 4)
            fitting = [each for each in matching[key] if each[0].own <= names and each[0].above <= above]
            if any(self._match(part, rule, element) for part, rule in fitting):
                found[element] = None
        return found

    def list_possibly_hidden(self, *, only_simple: bool = False) -> list[HtmlElement]:
        """Return the elements that a rule may hide, judged by its last name alone. It needs no comparisons.

        With `only_simple`, only rules count whose selector is a single name.
        """
        index = self._index_hiding()
        keys = {
            key for key, rules in index.items() if not only_simple or any(part.text == part.key for part, _ in rules)
        } - {ANY}
        return [element for element in self.page.root.iter("*") if not keys.isdisjoint(self.page.names(element))]

    def may_hide(self, block: str) -> bool:
        """Return whether a block of declarations may hide its element or the text in it.

        Colours alone count only if the backgrounds of the page are known.
        """
        suspicion = suspect(block)
        if suspicion.is_certain or (not self.rules.has_unread_sheets and may_recolour(block)):
            return True
        if not suspicion.variables:
            return False
        if self._hiding_variables is None:
            styles: list[str] = _STYLES(self.page.root)
            self._hiding_variables = find_hiding_variables([*(rule.body for rule in self.rules.rules), *styles])
        return not suspicion.variables.isdisjoint(self._hiding_variables) or self._has_registered

    def _index_hiding(self) -> dict[str, list[tuple[Part, Rule]]]:
        """Return the rules that may hide by key."""
        index = self._index_rules(rule for rule in self.rules.rules if self._may_hide_roughly(rule.body))
        kept = {key: [(part, rule) for part, rule in rules if self.may_hide(rule.body)] for key, rules in index.items()}
        return {key: rules for key, rules in kept.items() if rules}

    def _may_hide_roughly(self, block: str) -> bool:
        return may_hide_roughly(block) or (not self.rules.has_unread_sheets and may_recolour(block))

    def _index_rules(self, rules: Iterable[Rule]) -> dict[str, list[tuple[Part, Rule]]]:
        """Return rules by key, without those whose names do not occur in the page."""
        index: dict[str, list[tuple[Part, Rule]]] = {}
        for rule in rules:
            present = self._present = self._present or self._list_names()
            for part in split_selectors(rule.selector.lower() if self.page.quirks else rule.selector).parts:
                if part.own <= present and part.above <= present and part.elsewhere <= present:
                    index.setdefault(part.key, []).append((part, rule))
        return index

    def _list_names(self) -> set[str]:
        """Return the names of all elements."""
        words = set(" ".join(_CLASSES(self.page.root)).split())
        identifiers = set(_IDS(self.page.root))
        if self.page.quirks:
            words, identifiers = {word.lower() for word in words}, {word.lower() for word in identifiers}
        others: set[str] = set()
        attributes: set[str] = set()
        for element in self.page.root.iter("*"):
            others.add(element.tag)
            attributes.update(element.attrib)
        others.update(f"[{name}" for name in attributes)
        return {*others, *(f".{word}" for word in words), *(f"#{word}" for word in identifiers)}

    def _iter_elements(self, wanted: Mapping[str, object]) -> Iterator[tuple[str, HtmlElement]]:
        """Yield each wanted key with the elements that have it."""
        tags = [key for key in wanted if key[:1] not in {".", "#"}]
        for tag in tags:
            for element in self.page.root.iter(tag or "*"):
                yield tag, element
        if len(tags) < len(wanted):
            for element in _NAMED(self.page.root):
                for name in self.page.names(element) & wanted.keys():
                    if name[0] in ".#":
                        yield name, element

    def _match(self, part: Part, rule: Rule, element: HtmlElement) -> Specificity | None:
        """Return the specificity of a rule's selectors that match an element, or None."""
        self.page.spend()
        if not part.own <= self.page.names(element) or not part.above <= self.page.names_above(element):
            return None
        selectors = split_selectors(rule.selector.lower() if self.page.quirks else rule.selector)
        if selectors.is_plain and part.specificity is not None:
            return part.specificity
        compiled = compile_selectors(part.text if selectors.is_plain else rule.selector, self.page.quirks)
        if len(compiled) == selectors.length:
            compiled = compiled[part.place : part.place + 1]
        self.page.spend(len(compiled))
        return max((each.specificity for each in compiled if each.test(element, self.page)), default=None)

    def _find_matching(self, element: HtmlElement) -> list[tuple[Rule, Specificity]]:
        """Return the rules that match an element, each with its specificity."""
        if self._index is None:
            self._index = self._index_rules(self.rules.rules)
        names = self.page.names(element)
        rules = self._rules_by_names.get(names)
        if rules is None:
            # Elements repeat their names, so the rules that fit them are found once.
            keys = (ANY, *names)
            rules = [each for key in keys for each in self._index.get(key, ()) if each[0].own <= names]
            self.page.spend(sum(len(self._index.get(key, ())) for key in keys))
            self._rules_by_names[names] = rules
        matching: dict[int, tuple[Rule, Specificity]] = {}
        above = self.page.names_above(element)
        for part, rule in rules:
            specificity = self._match(part, rule, element) if part.above <= above else None
            if specificity is not None and (rule.order not in matching or specificity > matching[rule.order][1]):
                matching[rule.order] = rule, specificity
        return list(matching.values())

    def declare(self, element: HtmlElement) -> dict[str, Declaration]:
        """Return the declaration that wins for each property of an element. It depends on nothing that changes."""
        declared = self._declared.get(element)
        if declared is None:
            declared = self._declared[element] = self._declare(element)
        return declared

    def _declare(self, element: HtmlElement) -> dict[str, Declaration]:
        matching = self._find_matching(element)
        self.page.spend(sum(1 + len(rule.body) // 50 for rule, _ in matching))
        reverted: set[tuple[str, Layer | None]] = set()
        while True:
            winners = self._find_winners(element, matching, reverted)
            again = {
                (name, layer)
                for name, (layer, declaration) in winners.items()
                if _is_revert_layer(declaration) and (name, layer) not in reverted
            }
            if not again:
                return self._animate({name: declaration for name, (_, declaration) in winners.items()})
            reverted |= again

    def _find_winners(
        self,
        element: HtmlElement,
        matching: list[tuple[Rule, Specificity]],
        reverted: set[tuple[str, Layer | None]],
    ) -> dict[str, tuple[Layer | None, Declaration]]:
        """Return each winning declaration with its layer, apart from `reverted` properties of layers."""
        found: dict[str, tuple[Priority, Layer | None, Declaration]] = {}
        for declaration in presentational_hints(element):
            found[declaration.name] = ((0, 0, (-1.0,), (0, 0, 0), 0), (-1.0,), declaration)
        for rule, specificity in matching:
            _compete(found, parse_declarations(rule.body), rule.layer, specificity, rule.order, reverted)
        if style := element.get("style"):
            _compete(found, parse_declarations(style[:MAX_STYLE]), None, (0, 0, 0), 0, reverted)
        return {name: (layer, declaration) for name, (_, layer, declaration) in found.items()}

    def _animate(self, winners: dict[str, Declaration]) -> dict[str, Declaration]:
        """Return declarations with those of the frame that an animation stops at, or begins with if it repeats."""
        names = winners.get("animation-name")
        if names is None or not self.rules.keyframes:
            return winners
        words = {
            token.value
            for part in ("animation-name", "animation-fill-mode", "animation-iteration-count", "animation-play-state")
            if part in winners
            for token in winners[part].tokens
            if token.type in {"ident", "string"}
        }
        repeats, stays = "infinite" in words, not words.isdisjoint({"forwards", "both"})
        if not (repeats or stays) or "paused" in words:
            return winners
        ends = {"from", "0%"} if repeats else {"to", "100%"}
        for name in sorted(words & self.rules.keyframes.keys()):
            for positions, body in self.rules.keyframes[name]:
                if not ends.isdisjoint(each.strip() for each in positions.split(",")):
                    frame = {each.name: each for each in parse_declarations(body)}
                    kept = {key: each for key, each in winners.items() if each.is_important}
                    winners = winners | frame | kept
        return winners

    def style(self, element: HtmlElement) -> ComputedStyle:
        """Return the computed style of an element."""
        pending = []
        above: HtmlElement | None = element
        while above is not None and above not in self._styles:
            pending.append(above)
            above = above.getparent()
        style = self._styles[above] if above is not None else self._initial
        for each in reversed(pending):
            facts = describe(each.tag if isinstance(each.tag, str) else "", each.attrib)
            if self._local:
                style = style._replace(variables=self._reset_local(style.variables))
            style = compute_style(self.declare(each), style, facts)
            if each in self.forgiven:
                style = _forgive(style)
            self._styles[each] = style
        return style

    def _reset_local(self, variables: Variables) -> Variables:
        """Return variables with those that elements do not inherit at their initial values."""
        if self._reset[0] is not variables:
            # Neighbours inherit the same variables, so the last result is mostly the next one.
            self._reset = variables, {**variables, **self._local}
        return self._reset[1]

    def forget_styles(self) -> None:
        """Forget computed styles, after `forgiven` has changed."""
        self._styles.clear()


def _forgive(style: ComputedStyle) -> ComputedStyle:
    """Return a style without what hides the element."""
    hiding = {"opacity", "filter", "clip", "clip-path", "mask-image", "transform", "translate", "scale", "visibility",
              "content-visibility", "max-height", "height", "left", "top", "right", "bottom",
              "overflow-x", "overflow-y"}  # fmt: skip
    values = {name: value for name, value in style.values.items() if name not in hiding}
    if values.get("display") == "none":
        values["display"] = "block"
    return style._replace(values=values)


def _compete(
    found: dict[str, tuple[Priority, Layer | None, Declaration]],
    declarations: tuple[Declaration, ...],
    layer: Layer | None,
    specificity: Specificity,
    order: int,
    reverted: set[tuple[str, Layer | None]],
) -> None:
    """Let declarations replace those with a lower priority. `layer` is None for a style attribute."""
    place = layer or (float("inf"),)
    for declaration in declarations:
        if reverted and (declaration.name, layer) in reverted:
            continue
        important = declaration.is_important
        order_of_layer = tuple(-each for each in place) if important else place
        priority: Priority = (int(important), int(layer is None), order_of_layer, specificity, order)
        current = found.get(declaration.name)
        if current is None or priority >= current[0]:
            found[declaration.name] = (priority, layer, declaration)


def _is_revert_layer(declaration: Declaration) -> bool:
    tokens = declaration.tokens
    return len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value == "revert-layer"
