"""Put declarative shadow roots into the tree of their page, as browsers show them.

A `<template shadowrootmode>` replaces the content of the element that it stands in (HTML Standard, 4.12.3). Its slots
show the children that name them; other children are not shown. The style sheets of a shadow root apply in it alone, so
each is judged as a page of its own before it becomes part of the tree.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

_MODES: Final = frozenset({"open", "closed"})
_HOST: Final = re.compile(r":host(?![\w(-])")
"""The selector of the host in its own style sheets. The body of the root stands for the host there."""
_FALLBACK: Final = ""
"""The name of the slot that shows the children without a slot."""


class ShadowRoot(NamedTuple):
    """A shadow root outside of the tree."""

    template: HtmlElement
    """The empty template, which keeps the place of the root in its host."""
    content: HtmlElement
    """An `<html>` element with the content of the template in its body."""


def detach_shadow_roots(root: HtmlElement) -> list[ShadowRoot]:
    """Take the shadow roots out of a tree. Those within another shadow root come before it."""
    found = []
    templates = [each for each in root.iter("template") if (each.get("shadowrootmode") or "").lower() in _MODES]
    for template in reversed(templates):
        host = template.getparent()
        if host is not None and host is not root:
            content = root.makeelement("html")
            body = etree.SubElement(content, "body")
            body.text = template.text
            body.extend(list(template))
            for style in body.iter("style"):
                style.text = _HOST.sub("body", style.text or "")
            template.text = None
            found.append(ShadowRoot(template, content))
    return found


def attach_shadow_root(shadow: ShadowRoot) -> None:
    """Replace the content of a host by its shadow root, with the host's children in the slots that they name."""
    host, body = shadow.template.getparent(), shadow.content.find("body")
    if host is None:  # removed, because the host is hidden
        return
    shadow.template.drop_tree()
    children = list(host)
    slotted: dict[str, list[HtmlElement]] = {}
    for child in children:
        slotted.setdefault(child.get("slot") or _FALLBACK, []).append(child)
    text, host.text = host.text, body.text
    for child in children:
        host.remove(child)
    host.extend(list(body))
    for slot in list(host.iter("slot")):
        name = slot.get("name") or _FALLBACK
        assigned = slotted.pop(name, [])
        has_text = name == _FALLBACK and bool(text and text.strip())
        if assigned or has_text:
            _fill(slot, assigned, text if name == _FALLBACK else None)
            text = None if name == _FALLBACK else text


def _fill(slot: HtmlElement, children: list[HtmlElement], text: str | None) -> None:
    for fallback in list(slot):
        slot.remove(fallback)
    slot.text = text
    slot.extend(children)
    slot.tag = "div" if children else "span"
