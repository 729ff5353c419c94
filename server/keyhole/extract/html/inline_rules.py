"""Rules for inline elements: superscripts and subscripts, permalinks."""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlElement

from keyhole.text.clean import clean

_PERMALINK_CLASS = re.compile(
    r"\b(?:permalink|head(?:er|ing)-?(?:link|anchor)|(?:hash|self|direct)-?link|anchor(?:js)?(?:-?link)?|headline-hash)\b"
)
_SIGNS = re.compile(r"[¶§#🔗⚓∞↩↑⇧⤴⏎↵⬆^\ue000-\uf8ff\ufe0e\ufe0f\s.]*")
"""The text of a link that is only a sign, also of an icon font (private use), or is empty."""
_INDEXED_SIGNS: Final = frozenset({"#", "."})
"""Signs that are also entries of an index of letters, beside other links. Such a sign is a word of the page."""
_UNMISTAKABLE_SIGNS: Final = frozenset({"¶", "§", "🔗"})
_UNMISTAKABLE = re.compile(r"permalink(?: (?:to|for) .*)?|link to this (?:heading|headline|section|definition|item)\.?")
_DESCRIPTIONS = re.compile(r"(?:(?:direct |anchor |copy )?link|anchor)(?: (?:to|for) .*)?|section titled .*")
_MAX_PERMALINK: Final = 200
"""Largest length of the text of a heading's link to itself, in characters. The text may name the heading."""
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt"})
_ORDINAL = re.compile(r"(?i)(?:st|nd|rd|th|er|re|e|è|ème|o|a|os|as|º|ª|tm|sm|®|©|™|r|c)$")
_CHEMICAL = re.compile(r"(?:^|[^a-z])(?:[A-Z][a-z]?|\)|\])$")
_SIMPLE = re.compile(r"[\w.*′'+−-]{1,12}$")
_ENDS_IN_WORD = re.compile(r"[\w)\]}$*`|′]$")


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


def is_permalink(link: HtmlElement, *, is_same_page: bool) -> bool:
    """Return whether a link with a fragment is only a sign, or in words a heading's link to itself.

    A sign is shown by its meaning, "link here", so it is no word of the page. The words "permalink" and "link to this
    heading" say the same anywhere on the page; "link" and "anchor" only in a heading or a link of a telling class.
    """
    text = ""
    for part in link.itertext():
        text += part
        if len(text) > _MAX_PERMALINK:
            return False
    text = clean(text).strip().lower()
    if not text:
        image = next(link.iter("img"), None)
        text = (image.get("alt") or "").strip().lower() if image is not None else ""
    if text in _INDEXED_SIGNS and _stands_beside_link(link):
        return False
    is_sign = _SIGNS.fullmatch(text) is not None
    if text in _UNMISTAKABLE_SIGNS or (is_same_page and (is_sign or _UNMISTAKABLE.fullmatch(text))):
        return True
    if not (is_sign or _UNMISTAKABLE.fullmatch(text) or _DESCRIPTIONS.fullmatch(text)):
        return False
    parent = link.getparent()
    is_in_heading = parent is not None and parent.tag in _HEADINGS
    return is_in_heading or _PERMALINK_CLASS.search((link.get("class") or "")[:200].lower()) is not None


def _stands_beside_link(link: HtmlElement) -> bool:
    return any(beside is not None and beside.tag == "a" for beside in (link.getprevious(), link.getnext()))


def find_only_link(element: HtmlElement) -> str:
    """Return the URL of a link that contains all text of an element, or ""."""
    if len(element) != 1 or element[0].tag != "a":
        return ""
    outside = f"{element.text or ''}{element[0].tail or ''}"
    return "" if outside.strip() else element[0].get("href") or ""
