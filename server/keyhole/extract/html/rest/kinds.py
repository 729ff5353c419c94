"""Name the kind of a part of a page's rest, from its element, its class and role, and its links."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from keyhole.extract.html.boilerplate.segments import Box
from keyhole.text.rest import RestKind

_KINDS_BY_TAG: Final[dict[str, RestKind]] = {
    "nav": "navigation", "menu": "navigation", "form": "form", "search": "form", "dialog": "dialog",
    "figcaption": "captions", "aside": "sidebar", "address": "byline",
}  # fmt: skip
_EDGES: Final[dict[str, RestKind]] = {"header": "header", "footer": "footer"}
_SECTIONS: Final = frozenset({"article", "main", "section", "li"})
"""Elements whose `<header>` and `<footer>` are their own, not those of the page: author, date, share links."""
_ROOTS: Final = frozenset({"body", "html"})
"""Elements whose class describes the whole page."""
_KINDS_BY_ROLE: Final[dict[str, RestKind]] = {
    "navigation": "navigation", "menu": "navigation", "menubar": "navigation", "contentinfo": "footer",
    "search": "form", "form": "form", "dialog": "dialog", "alertdialog": "dialog", "complementary": "sidebar",
    "banner": "header", "directory": "navigation",
}  # fmt: skip
_WORDS_BY_KIND: Final[dict[RestKind, str]] = {
    "comments": r"\bcomments?|disqus|replies|respond|discussion",
    "related links": r"related|recommend|popular|trending|most[-_]?read|more[-_]|read[-_]next|teaser",
    "navigation": r"nav|menu|crumb|toc\b|pagina|pager|toolbar|skip|tabs\b|langs?\b|language",
    "footer": r"foot|copyright|legal|colophon|imprint",
    "advertisement": r"\bads?\b|\bad[-_]|advert|sponsor|promo",
    "dialog": r"cookie|consent|modal|popup|overlay",
    "form": r"newsletter|subscri|sign[-_]?up|log[-_]?in|search|form\b",
    "share links": r"share|sharing|social|follow",
    "byline": r"byline|author|\bmeta\b|dateline|publish|post[-_]?info|tags?\b|categor",
    "captions": r"caption|credit",
    "sidebar": r"side[-_]?bar|\baside\b|widget|rail\b",
    "header": r"header|masthead|\blogo",
}
"""The kind by the first of these words in an element's class and id, which sites of all languages write in English."""
_KINDS: Final = tuple(_WORDS_BY_KIND)
_WORDS = re.compile("|".join(f"({words})" for words in _WORDS_BY_KIND.values()))
_NAVIGATION_LINKS: Final = 0.6
"""The share of links from which a part without a telling name is navigation."""


def name_kind(box: Box) -> RestKind | None:
    """Return the kind of a box by its element, role, class and id, None if they do not tell."""
    if box.tag in _EDGES:
        is_inside = any(above.tag in _SECTIONS for above in box.element.iterancestors())
        return "byline" if is_inside else _EDGES[box.tag]
    return _name_kind(box.tag, box.element.get("role") or "", box.names)


@lru_cache(maxsize=4_096)
def _name_kind(tag: str, role: str, names: str) -> RestKind | None:
    kind = _KINDS_BY_ROLE.get(role)
    if kind is None and names and tag not in _ROOTS:
        match = _WORDS.search(names)
        kind = _KINDS[(match.lastindex or 1) - 1] if match else None
    return kind or _KINDS_BY_TAG.get(tag)


def guess_kind(size: int, link_bytes: int) -> RestKind:
    """Return the kind of a part without a telling name, by the share of links in its text."""
    return "navigation" if link_bytes > _NAVIGATION_LINKS * size else "other"
