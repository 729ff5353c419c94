"""Small rules for words within a line: powers and indices, permalinks, long forms. Writes no blocks."""

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
_SIGNS: Final = frozenset(
    {"¶", "§", "#", "🔗", "⚓", "∞", "¶.", "permalink", "link to this heading", "anchor", "direct link", "link"}
)
_WITHOUT_CLASS: Final = frozenset({"¶", "§", "🔗"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt"})
_ORDINAL = re.compile(r"(?i)(?:st|nd|rd|th|er|re|e|è|ème|o|a|os|as|º|ª|tm|sm|®|©|™|r|c)$")
_FORMULA = re.compile(r"(?:^|[^a-z])(?:[A-Z][a-z]?|\)|\])$")
_SIMPLE = re.compile(r"[\w.*′'+−-]{1,12}$")
_WORDLIKE = re.compile(r"[\w)\]}$*`|′]$")
_MAX_LONG_FORM: Final = 100
"""Characters of the long form of an abbreviation: longer ones are remarks."""


def raised(words: str, before: str, *, low: bool) -> str:
    """Words set above or below the line, after `before`: as a power or index where they would change the meaning."""
    core = words.strip()
    # Notes stand in brackets of their own, and what stands apart is no power of anything.
    if not core or core.startswith(("[", "$", "![")) or "\n" in core or not _WORDLIKE.search(before):
        return words
    if low:
        plain = core.isdigit() and _FORMULA.search(before) is not None
    else:
        plain = _ORDINAL.match(core) is not None and (before[-1].isdigit() or len(core) > 1 or not core.isascii())
    if plain or len(core) > 60:
        return words
    sign = "_" if low else "^"
    return sign + (core if _SIMPLE.match(core) else f"({core})")


def is_permalink(link: HtmlElement) -> bool:
    """Whether a link only gives a heading its own address."""
    href = link.get("href") or ""
    if "#" not in href:
        return False
    text = ""
    for part in link.itertext():
        text += part
        if len(text) > 60:
            return False
    text = text.strip().lower()
    if text in _WITHOUT_CLASS:
        return True
    if text not in _SIGNS:
        return False
    parent = link.getparent()
    in_heading = parent is not None and parent.tag in _HEADINGS
    return in_heading or not _PERMALINK_CLASSES.isdisjoint((link.get("class") or "")[:200].split())


def is_pixel(image: HtmlElement) -> bool:
    """Whether an image is a spacer or counts visits."""
    return image.get("width") in {"0", "1"} and image.get("height") in {"0", "1", None}


def only_link(element: HtmlElement) -> str:
    """The address of the one link that holds all the words of an element, or nothing."""
    if len(element) != 1 or element[0].tag != "a":
        return ""
    outside = f"{element.text or ''}{element[0].tail or ''}"
    return "" if outside.strip() else element[0].get("href") or ""


def long_form(element: HtmlElement, explained: set[str]) -> str:
    """What an abbreviation stands for, the first time that it stands in the text."""
    title = " ".join(clean((element.get("title") or "")[: 2 * _MAX_LONG_FORM]).split())
    short = (element.text or "").strip()
    if not title or not short or len(title) > _MAX_LONG_FORM or short in explained or title == short:
        return ""
    explained.add(short)
    return title
