"""Rules for inline elements: superscripts and subscripts, permalinks, tracking pixels, abbreviations."""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlElement

from keyhole.text.clean import clean

_PERMALINK_CLASSES = frozenset((
    "headerlink", "header-anchor", "heading-link", "heading-anchor", "hash-link", "permalink", "anchor",
    "anchorjs-link", "doc-anchor", "anchor-link", "toclink-anchor", "self-link", "selflink", "headline-hash",
    "direct-link",
))  # fmt: skip
_PERMALINK_TEXTS: Final = frozenset(
    {"¶", "§", "#", "🔗", "⚓", "∞", "¶.", "permalink", "link to this heading", "anchor", "direct link", "link"}
)
_UNMISTAKABLE_TEXTS: Final = frozenset({"¶", "§", "🔗"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt"})
_ORDINAL = re.compile(r"(?i)(?:st|nd|rd|th|er|re|e|è|ème|o|a|os|as|º|ª|tm|sm|®|©|™|r|c)$")
_CHEMICAL = re.compile(r"(?:^|[^a-z])(?:[A-Z][a-z]?|\)|\])$")
_SIMPLE = re.compile(r"[\w.*′'+−-]{1,12}$")
_ENDS_IN_WORD = re.compile(r"[\w)\]}$*`|′]$")
_MAX_LONG_FORM: Final = 100
"""Largest length of the long form of an abbreviation, in characters. Longer titles are remarks."""


def format_sup_sub(words: str, before: str, *, is_sub: bool) -> str:
    """Mark superscript or subscript text with `^` or `_`, except in cases such as 1st and H2O.

    `before` is the end of the preceding text.
    """
    stripped = words.strip()
    # Footnotes have their own brackets, and text after a space is not a power or index.
    if not stripped or stripped.startswith(("[", "$", "![")) or "\n" in stripped or not _ENDS_IN_WORD.search(before):
        return words
    if is_sub:
        plain = stripped.isdigit() and _CHEMICAL.search(before) is not None
    else:
        plain = _ORDINAL.match(stripped) is not None and (
            before[-1].isdigit() or len(stripped) > 1 or not stripped.isascii()
        )
    if plain or len(stripped) > 60:
        return words
    sign = "_" if is_sub else "^"
    return sign + (stripped if _SIMPLE.match(stripped) else f"({stripped})")


def is_permalink(link: HtmlElement) -> bool:
    """Return whether a link is a heading's link to itself."""
    href = link.get("href") or ""
    if "#" not in href:
        return False
    text = ""
    for part in link.itertext():
        text += part
        if len(text) > 60:
            return False
    text = text.strip().lower()
    if text in _UNMISTAKABLE_TEXTS:
        return True
    if text not in _PERMALINK_TEXTS:
        return False
    parent = link.getparent()
    in_heading = parent is not None and parent.tag in _HEADINGS
    return in_heading or not _PERMALINK_CLASSES.isdisjoint((link.get("class") or "")[:200].split())


def is_pixel(image: HtmlElement) -> bool:
    """Return whether an image is a spacer or a tracking pixel."""
    return image.get("width") in {"0", "1"} and image.get("height") in {"0", "1", None}


def find_only_link(element: HtmlElement) -> str:
    """Return the URL of a link that contains all text of an element, or ""."""
    if len(element) != 1 or element[0].tag != "a":
        return ""
    outside = f"{element.text or ''}{element[0].tail or ''}"
    return "" if outside.strip() else element[0].get("href") or ""


def expand_abbreviation(element: HtmlElement, expanded: set[str]) -> str:
    """Return the long form of an abbreviation at its first use, else "". Adds the abbreviation to `expanded`."""
    title = " ".join(clean((element.get("title") or "")[: 2 * _MAX_LONG_FORM]).split())
    short = (element.text or "").strip()
    if not title or not short or len(title) > _MAX_LONG_FORM or short in expanded or title == short:
        return ""
    expanded.add(short)
    return title
