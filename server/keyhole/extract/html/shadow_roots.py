"""Put declarative shadow roots into the tree of their page, as browsers show them.

A `<template shadowrootmode>` replaces the content of the element that it stands in (HTML Standard, 4.12.3). Its slots
show the children that name them; other children are not shown. The style sheets of a shadow root apply to its own
elements, and by `:host` and `::slotted()` to its host and to the children in its slots.
"""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.page import HOST, SLOTTED, Scopes

_MODES: Final = frozenset({"open", "closed"})
_HOST: Final = re.compile(r":host(?![\w-])")
_AFTER_SLOT: Final = re.compile(r"(?<=[\w\])*-])(?=::slotted\()")
_FALLBACK: Final = ""
"""The name of the slot that shows the children without a slot."""


def attach_shadow_roots(root: HtmlElement) -> Scopes:
    """Put the shadow roots of a tree into it, in place. Returns the elements that belong to a shadow root."""
    scopes: Scopes = {}
    templates = [each for each in root.iter("template") if (each.get("shadowrootmode") or "").lower() in _MODES]
    for number, template in enumerate(reversed(templates), start=1):  # those within another shadow root come first
        host = template.getparent()
        if host is not None and host is not root:
            _read_scope(template, f"{number}", scopes)
            _attach(template, host, f"{number}")
    return scopes


def name_slots(root: HtmlElement, scopes: Scopes) -> None:
    """Turn the slots of shadow roots into elements that the rest of the extraction knows."""
    for slot in list(root.iter("slot")) if scopes else ():
        slot.tag = "div" if len(slot) else "span"


def _read_scope(template: HtmlElement, scope: str, scopes: Scopes) -> None:
    """Note the elements of a shadow root, and let its style sheets select its host and its slots by attributes."""
    host, slotted = (f'[{name}="{scope}"]' for name in (HOST, SLOTTED))
    for element in template.iterdescendants("*"):
        if scopes.setdefault(element, scope) == scope and element.tag == "style":
            css = _AFTER_SLOT.sub(" > ", (element.text or "").replace(":host(", f"{host}:is("))
            element.text = _HOST.sub(host, css).replace("::slotted(", f"{slotted}:is(")


def _attach(template: HtmlElement, host: HtmlElement, scope: str) -> None:
    """Replace the content of a host by its shadow root, with the host's children in the slots that they name."""
    content, shadow_text = list(template), template.text
    template.drop_tree()
    children = list(host)
    slotted: dict[str, list[HtmlElement]] = {}
    for child in children:
        slotted.setdefault(child.get("slot") or _FALLBACK, []).append(child)
        child.set(SLOTTED, scope)
    text, host.text = host.text, shadow_text
    for child in children:
        host.remove(child)
    host.extend(content)
    host.set(HOST, scope)
    for slot in list(host.iter("slot")):
        name = slot.get("name") or _FALLBACK
        assigned = slotted.pop(name, [])
        has_text = name == _FALLBACK and bool(text and text.strip())
        if assigned or has_text:
            _fill(slot, assigned, text if name == _FALLBACK else None)
            text = None if name == _FALLBACK else text
    # Style sheets apply wherever they stand.
    host.extend(child for others in slotted.values() for child in others if child.tag in {"style", "link"})


def _fill(slot: HtmlElement, children: list[HtmlElement], text: str | None) -> None:
    for fallback in list(slot):
        slot.remove(fallback)
    slot.text = text
    slot.extend(children)
