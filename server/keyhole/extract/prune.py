"""What of an HTML tree is not content: scripts, hidden parts, boilerplate. Removes and counts; writes no text."""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlComment, HtmlElement

_NOISE = frozenset((
    "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas", "nav", "footer",
    "aside", "button", "select", "input", "textarea", "dialog", "audio", "video",
))  # fmt: skip
# Never shown, and on every page, so not worth a count. The head itself is entered: parsers leave the first unknown
# elements of a page without <body> in it.
_METADATA = frozenset({"title", "meta", "link", "base"})
_NOISE_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MAX_STYLE: Final = 2_000
"""Characters of a style attribute that are searched: hiding stands in its first few."""


def prune(root: HtmlElement) -> tuple[tuple[str, int], ...]:
    """Remove what is not content; how many nodes of each kind went. One walk: what is removed is not entered."""
    outside = sum(isinstance(node, HtmlComment) for node in root.itersiblings(preceding=True))
    counts = {"boilerplate": 0, "hidden": 0, "comments": outside}
    waiting = [root]
    while waiting:
        for child in list(waiting.pop()):
            kind = _noise_kind(child)
            if kind is None:
                waiting.append(child)
                continue
            if kind:
                counts[kind] += 1
            child.drop_tree()
    return tuple((kind, count) for kind, count in counts.items() if count)


def _noise_kind(element: HtmlElement) -> str | None:
    """What an element is removed as ("" is not worth a count), or None for content."""
    if not isinstance(element.tag, str):
        return "comments" if isinstance(element, HtmlComment) else ""
    if element.tag in _METADATA:
        return ""
    attributes = element.attrib
    if element.tag in _NOISE or attributes.get("role") in _NOISE_ROLES:
        return "boilerplate"
    style = attributes.get("style")
    hidden = (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or (style is not None and _HIDDEN_STYLE.search(style[:_MAX_STYLE]) is not None)
    )
    return "hidden" if hidden else None
