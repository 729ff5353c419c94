"""Find the parts of a page that a control on it shows: tabs, accordions, dialogs that a button opens."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

_REFERENCES: Final = tuple(
    etree.XPath(f"descendant::{path}")
    for path in (
        "*/@aria-controls", "*/@data-target", "*/@data-bs-target", "*/@popovertarget", "*/@commandfor",
        "*/@data-tab-target", "a/@href[starts-with(., '#')]", "label/@for",
    )
)  # fmt: skip
"""The attributes by which controls name what they show. Predicates on elements take several times longer."""
_PANEL_ROLES: Final = frozenset({"tabpanel", "region"})
_CONTROL_ROLES: Final = frozenset({"tab", "button"})
_TOGGLE: Final = re.compile(r"accordion|collaps|toggle|faq|expand|question", re.IGNORECASE)
"""A class or id of the heading of a part of an accordion."""
_MAX_NAMES: Final = 200
"""Characters read of `class` and `id`."""
_BUTTON_REACH: Final = 8
"""Number of elements searched for a button above a folded box."""
_TAB_REACH: Final = 4
"""Number of ancestors of a tab list that may hold its panels."""


def list_references(root: HtmlElement) -> dict[str, list[HtmlElement]]:
    """Return the controls of a page by the ids that they name."""
    references: dict[str, list[HtmlElement]] = {}
    for find_values in _REFERENCES:
        for value in find_values(root):
            for name in value.split():
                references.setdefault(name.removeprefix("#"), []).append(value.getparent())
    return references


def find_revealed(
    root: HtmlElement, hidden: Collection[HtmlElement], references: Mapping[str, list[HtmlElement]]
) -> set[HtmlElement]:
    """Return the hidden elements that a visible control refers to.

    A control in a hidden element counts only if another control shows that element.
    """
    by_id = {element.get("id"): element for element in hidden if element.get("id")}
    links = [(control, element) for name, element in by_id.items() for control in references.get(name, ())]
    links += _find_labels(root, hidden)
    links += _find_tab_lists(root, hidden)
    revealed: set[HtmlElement] = set()
    while True:
        closed = {element for element in hidden if element not in revealed}
        found = {element for control, element in links if element not in revealed and not is_within(control, closed)}
        if not found:
            return revealed
        revealed |= found


def find_unfolded(folded: Iterable[HtmlElement], hidden: Collection[HtmlElement]) -> set[HtmlElement]:
    """Return the parts of an accordion: boxes without height that stand below a visible button, which opens them.

    A box that begins another one, such as a grid whose rows fold, stands where the other one does.
    """
    found, closed = set(), set(hidden)
    for box in folded:
        around = box.getparent()
        above = box.getprevious() if around is None or around[0] is not box else around.getprevious()
        if above is not None and not is_within(above, closed) and _has_button(above):
            found.add(box)
    return found


def _has_button(element: HtmlElement) -> bool:
    names = f"{element.get('class') or ''} {element.get('id') or ''}"[:_MAX_NAMES]
    if _TOGGLE.search(names):
        return True
    return any(each.tag == "button" or each.get("role") == "button" for each in islice(element.iter(), _BUTTON_REACH))


def _find_labels(root: HtmlElement, hidden: Collection[HtmlElement]) -> list[tuple[HtmlElement, HtmlElement]]:
    """Return pairs of a tab and the hidden panel that names it as its label."""
    pairs = []
    for panel in hidden:
        if panel.get("role") in _PANEL_ROLES:
            for name in (panel.get("aria-labelledby") or "").split():
                label = next(iter(root.xpath("descendant::*[@id=$name]", name=name)), None)
                if label is not None and (label.tag == "button" or label.get("role") in _CONTROL_ROLES):
                    pairs.append((label, panel))
    return pairs


def _find_tab_lists(root: HtmlElement, hidden: Collection[HtmlElement]) -> list[tuple[HtmlElement, HtmlElement]]:
    """Return pairs of a tab list and a hidden panel near it, which need not name each other."""
    panels = [element for element in hidden if element.get("role") == "tabpanel"]
    if not panels:
        return []
    lists: dict[HtmlElement, HtmlElement] = {}
    for value in root.xpath("descendant::*/@role[. = 'tablist']"):
        tab_list = value.getparent()
        for above in islice(tab_list.iterancestors(), _TAB_REACH):
            lists.setdefault(above, tab_list)
    nearest = {panel: next(filter(lists.__contains__, panel.iterancestors()), None) for panel in panels}
    return [(lists[above], panel) for panel, above in nearest.items() if above is not None]


def is_within(element: HtmlElement, closed: Collection[HtmlElement]) -> bool:
    """Return whether an element or one of its ancestors is among the closed ones."""
    above: HtmlElement | None = element
    while above is not None:
        if above in closed:
            return True
        above = above.getparent()
    return False
