"""Rules of a page's own style sheets that hide or show elements.

This is not a CSS engine: it reads selectors that are chains of names, classes and ids, and of each rule only the
properties that can hide. External style sheets are not fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from lxml.html import HtmlElement

from keyhole.extract.html.css_hidden import (
    COMMENT,
    Style,
    apply_important,
    hides_element,
    hides_text,
    parse_declarations,
)

MAX_SHEETS: Final = 400_000
"""Characters of style sheets read per page: pages carry about 50,000."""
MAX_RULES: Final = 5_000
"""Rules read per page."""
_MAX_CHAIN: Final = 6
"""Compounds of one selector."""
_MAX_CLASSES: Final = 1_000
"""Characters of a class attribute that are read."""

_BRACE = re.compile(r"[{}]")
_COMPOUND = re.compile(r"([a-z][\w-]*|\*)?((?:[.#][\w-]+)*)$", re.IGNORECASE)
_CLASS_OR_ID = re.compile(r"[.#][\w-]+")
_COMBINATOR = re.compile(r"\s*(>)\s*|\s+")
_UNCONDITIONAL = re.compile(r"@media\s*(?:only\s+)?(?:all|screen)\s*|@layer.*|@supports\s*\(\s*[a-z].*")
_HIDING_WORDS: Final = (
    "display", "visib", "opacity", "size", "clip", "color", "indent", "position", "transform", "overflow", "margin",
    "\\", "filter", "scale", "zoom",
)  # fmt: skip
"""A block of declarations without any of these words neither hides nor shows."""


class Compound(NamedTuple):
    """One compound of a selector, such as `p.note`."""

    name: str
    classes: frozenset[str]
    ids: frozenset[str]
    is_child: bool
    """True if `>` stands before it, False for a descendant."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector with its declarations; `chain` goes from the element itself to its ancestors."""

    chain: tuple[Compound, ...]
    style: Style
    specificity: tuple[int, int, int]
    is_unconditional: bool
    """True if the rule holds for every screen. Other rules can show what is hidden, but never hide."""


def parse_rules(sheets: Iterable[str]) -> list[Rule]:
    """Return the rules that could hide or show elements, skipping those that cannot be parsed. One pass."""
    css = COMMENT.sub(" ", "\n".join(sheets)[:MAX_SHEETS]).replace("<!--", " ").replace("-->", " ")
    rules: list[Rule] = []
    open_blocks: list[str] = []
    start = 0
    for brace in _BRACE.finditer(css):
        if brace[0] == "{":
            open_blocks.append(css[start : brace.start()].rpartition(";")[2].strip()[:1_000])
        elif open_blocks:
            selectors = open_blocks.pop()
            if not selectors.startswith("@") and len(rules) < MAX_RULES:
                rules += _parse_rule(selectors, css[start : brace.start()], open_blocks)
        start = brace.end()
    return rules


def _parse_rule(selectors: str, block: str, at_rules: list[str]) -> list[Rule]:
    """Return one rule for each selector; none if the enclosing at-rules are for print or unknown."""
    conditions = " ".join(at_rules).lower()
    if (
        conditions and not all(part.startswith(("@media", "@layer", "@supports")) for part in at_rules)
    ) or "print" in conditions:
        return []
    if ":" not in block or not any(word in block.lower() for word in _HIDING_WORDS):
        return []
    style = parse_declarations(block)
    is_unconditional = all(_UNCONDITIONAL.fullmatch(part.lower()) is not None for part in at_rules)
    return [
        Rule(chain, style, _compute_specificity(chain), is_unconditional)
        for selector in selectors.split(",")[:50]
        if (chain := _parse_selector(selector.strip().replace(":root", "html")))
    ]


def _parse_selector(selector: str) -> tuple[Compound, ...]:
    """Return a selector's compounds from the last to the first, or () for an unsupported selector."""
    parts = _COMBINATOR.split(selector)
    compounds, combinators = parts[::2], parts[1::2]
    if not selector or len(compounds) > _MAX_CHAIN:
        return ()
    chain = []
    for number, compound in enumerate(compounds):
        match = _COMPOUND.fullmatch(compound)
        if match is None or not compound:
            return ()
        names = _CLASS_OR_ID.findall(match[2])
        classes = frozenset(name[1:] for name in names if name[0] == ".")
        ids = frozenset(name[1:] for name in names if name[0] == "#")
        name = (match[1] or "").lower().replace("*", "")
        chain.append(Compound(name, classes, ids, number > 0 and combinators[number - 1] == ">"))
    return tuple(reversed(chain))


def _compute_specificity(chain: tuple[Compound, ...]) -> tuple[int, int, int]:
    """Return a selector's specificity (Selectors Level 4, 17): ids, classes, names."""
    return (
        sum(len(compound.ids) for compound in chain),
        sum(len(compound.classes) for compound in chain),
        sum(bool(compound.name) for compound in chain),
    )


class StyleSheets:
    """The rules of a page, indexed by the id, class or name in their last compound."""

    def __init__(self, sheets: Iterable[str]) -> None:
        self._rules_by_key: dict[str, list[tuple[int, Rule]]] = {}
        rules = parse_rules(sheets)
        hiding = {_find_index_key(rule) for rule in rules if rule.is_unconditional and _is_hiding(rule.style)}
        for number, rule in enumerate(rules):
            self._rules_by_key.setdefault(_find_index_key(rule), []).append((number, rule))
        self.hiding_keys = frozenset(hiding - {""})
        """Keys of the rules that hide: `.class`, `#id` or a name. A hidden element has at least one of them."""

    def compute_style(self, element: HtmlElement) -> Style:
        """Return the declarations of the rules for an element, the most specific last.

        A rule for some screens only counts where it shows the element.
        """
        matching = []
        for key in list_keys(element):
            for number, rule in self._rules_by_key.get(key, ()):
                if _matches_rule(rule, element):
                    matching.append((rule.specificity, number, rule))
        style: Style = {}
        for *_, rule in sorted(matching, key=lambda match: match[:2]):
            if rule.is_unconditional:
                style |= rule.style
            elif not _is_hiding(rule.style):
                style |= {name: value for name, value in rule.style.items() if name in style}
        return style


def _is_hiding(style: Style) -> bool:
    style = apply_important(style)
    return hides_element(style) or hides_text(style)


def _find_index_key(rule: Rule) -> str:
    name, classes, ids, _ = rule.chain[0]
    return next((f"#{id}" for id in sorted(ids)), "") or next((f".{each}" for each in sorted(classes)), name)


def list_keys(element: HtmlElement) -> list[str]:
    """Return an element's name, `.class` names and `#id`, the keys under which rules are indexed."""
    classes = (element.get("class") or "")[:_MAX_CLASSES].split()
    return [str(element.tag), *(f".{each}" for each in classes), *([f"#{id}"] if (id := element.get("id")) else [])]


def _matches_rule(rule: Rule, element: HtmlElement) -> bool:
    if not _matches_compound(rule.chain[0], element):
        return False
    at: HtmlElement | None = element
    for inner, compound in pairwise(rule.chain):
        at = at.getparent() if at is not None else None
        while not inner.is_child and at is not None and not _matches_compound(compound, at):
            at = at.getparent()
        if at is None or (inner.is_child and not _matches_compound(compound, at)):
            return False
    return True


def _matches_compound(compound: Compound, element: HtmlElement) -> bool:
    name, classes, ids, _ = compound
    if (name and element.tag != name) or (ids and element.get("id") not in ids):
        return False
    return not classes or classes <= set((element.get("class") or "")[:_MAX_CLASSES].split())
