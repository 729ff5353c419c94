"""What of an HTML tree is not content, and what in it would trip a converter. Removes and repairs; writes no text."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Comment, Tag
from bs4.element import PreformattedString

_NOISE = frozenset((
    "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas", "nav", "footer",
    "aside", "button", "select", "input", "textarea", "dialog", "audio", "video",
))  # fmt: skip
# Never shown, and on every page, so not worth a count. The head itself is entered: parsers leave the first unknown
# elements of a page without <body> in it.
_METADATA = frozenset({"title", "meta", "link", "base"})
_NOISE_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STANDARD_NAME = re.compile(r"h[1-6]|[a-z]+")
# Names that the converter takes for its own hooks.
_HOOKS = frozenset({"soup", "list", "hn"})
_MAX_STYLE = 2_000
"""Characters of a style attribute that are searched: hiding stands in its first few."""
MAX_SPAN = 50
"""Columns that one cell may span: wider ones are layout, and each column costs a bar."""


def prune(soup: BeautifulSoup) -> tuple[tuple[str, int], ...]:
    """Remove what is not content; how many nodes of each kind went. One walk: what is removed is not entered."""
    counts = {"boilerplate": 0, "hidden": 0, "comments": 0}
    waiting: list[Tag] = [soup]
    while waiting:
        parent = waiting.pop()
        number = _first_number(parent)
        for child in list(parent.children):
            if isinstance(child, PreformattedString):
                counts["comments"] += isinstance(child, Comment)
                child.extract()
            if not isinstance(child, Tag):
                continue
            if child.name in _METADATA:
                child.decompose()
                continue
            if kind := _noise_kind(child):
                counts[kind] += 1
                child.decompose()
                continue
            _repair(child)
            if child.name == "li" and parent.name == "ol":
                child["data-keyhole-number"] = str(number)
                number += 1
            waiting.append(child)
    return tuple((kind, count) for kind, count in counts.items() if count)


def _noise_kind(tag: Tag) -> str:
    if tag.name in _NOISE or tag.get("role") in _NOISE_ROLES:
        return "boilerplate"
    hidden = (
        tag.has_attr("hidden")
        or tag.get("aria-hidden") == "true"
        or _HIDDEN_STYLE.search(str(tag.get("style") or "")[:_MAX_STYLE])
    )
    return "hidden" if hidden else ""


def _repair(tag: Tag) -> None:
    """Names and numbers that the converter would fail on, made plain."""
    if not _STANDARD_NAME.fullmatch(tag.name) or tag.name in _HOOKS:
        tag.name = "span"
    del tag["data-keyhole-number"]
    if tag.has_attr("colspan"):
        tag["colspan"] = str(min(MAX_SPAN, _number(tag, "colspan", 1)))


def _first_number(tag: Tag) -> int:
    return _number(tag, "start", 1) if tag.name == "ol" else 1


def _number(tag: Tag, attribute: str, default: int) -> int:
    value = str(tag.get(attribute) or "").strip()
    return int(value) if re.fullmatch(r"[0-9]{1,6}", value) else default
