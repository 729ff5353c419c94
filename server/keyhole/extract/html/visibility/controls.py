"""Find the parts of a page that a control on it shows: tabs, accordions, dialogs that a button opens."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
    revealed: set[HtmlElement] = set()
    while True:
        closed = {element for element in hidden if element not in revealed}
        found = {element for control, element in links if element not in revealed and not is_within(control, closed)}
        if not found:
            return revealed
        revealed |= found


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


def is_within(element: HtmlElement, closed: Collection[HtmlElement]) -> bool:
    """Return whether an element or one of its ancestors is among the closed ones."""
    above: HtmlElement | None = element
    while above is not None:
        if above in closed:
            return True
        above = above.getparent()
    return False
