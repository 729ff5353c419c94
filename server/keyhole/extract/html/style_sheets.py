"""Read the rules in a page's own style sheets that hide or show elements.

This is not a CSS engine. It supports selectors that are chains of names, classes and ids, and only properties that can
hide. External style sheets are not fetched.
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
"""Largest length of style sheets read per page, in characters. Pages have about 50,000."""
MAX_RULES: Final = 5_000
"""Largest number of rules read per page."""
_MAX_CHAIN: Final = 6
"""Largest number of compounds in a selector."""
_MAX_CLASSES: Final = 1_000
"""Number of characters read of a class attribute."""

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
    """True after the combinator `>`, False after the descendant combinator."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A selector with its declarations. `chain` lists compounds from the element itself to its ancestors."""

    chain: tuple[Compound, ...]
    style: Style
    specificity: tuple[int, int, int]
    is_unconditional: bool
    """True if the rule applies to every screen. Conditional rules can show elements, but never hide them."""


def parse_rules(sheets: Iterable[str]) -> list[Rule]:
    """Return the rules that could hide or show elements. Unsupported rules are skipped."""
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
    """Return one rule per selector, or [] if the enclosing at-rules are for print or unknown."""
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
        """Return the merged declarations of the rules that match an element. More specific rules override others.

        A conditional rule counts only if it does not hide, and only for properties that other rules set.
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
    """Return the keys under which rules for an element are indexed: its name, `.class` names and `#id`."""
    classes = (element.get("class") or "")[:_MAX_CLASSES].split()
    return [str(element.tag), *(f".{each}" for each in classes), *([f"#{id}"] if (id := element.get("id")) else [])]


def _matches_rule(rule: Rule, element: HtmlElement) -> bool:
    if not _matches_compound(rule.chain[0], element):
        return False
    above: HtmlElement | None = element
    for inner, compound in pairwise(rule.chain):
        above = above.getparent() if above is not None else None
        while not inner.is_child and above is not None and not _matches_compound(compound, above):
            above = above.getparent()
        if above is None or (inner.is_child and not _matches_compound(compound, above)):
            return False
    return True


def _matches_compound(compound: Compound, element: HtmlElement) -> bool:
    name, classes, ids, _ = compound
    if (name and element.tag != name) or (ids and element.get("id") not in ids):
        return False
    return not classes or classes <= set((element.get("class") or "")[:_MAX_CLASSES].split())
