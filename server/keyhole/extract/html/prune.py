"""Remove the invisible parts of an HTML tree: scripts, widgets, comments and hidden elements.

Visible parts that are not content (menus, footers, teasers) are removed later by boilerplate/classify.py.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.css_hidden import (
    MAX_STYLE,
    apply_important,
    check_inline_style,
    hides_element,
    hides_text,
    parse_declarations,
    restyles_text,
)
from keyhole.extract.html.style_sheets import StyleSheets, list_keys

_INVISIBLE_TAGS: Final = (
    "style", "template", "iframe", "object", "embed", "svg", "canvas", "select", "textarea",
    "audio", "video", "datalist", "noembed",
)  # fmt: skip
# Elements that are never shown and occur on every page, so they are not counted. <head> itself stays: in a page without
# <body>, parsers leave the first unknown elements in it.
_METADATA_TAGS: Final = ("title", "meta", "link", "base")

_HIDING_CANDIDATES = etree.XPath(
    "descendant::*[@hidden or @style or @popover or @aria-hidden='true' or self::dialog[not(@open)]]"
)
_SHEETS = etree.XPath(
    "descendant::style[not(ancestor::svg or ancestor::template or ancestor::noscript or contains(@media, 'print'))]"
)
_NAMES = etree.XPath("descendant::*/@class | descendant::*/@id", smart_strings=False)
_WITH_NAMES = etree.XPath("descendant::*[@class or @id]")

_MAX_NAMES: Final = 300
"""Number of characters of class and role that are searched."""

HIDDEN_PAGE_SHARE: Final = 0.1
"""A hidden element with at least this share of the page's text stays: it is the page itself, which a script shows
later."""
HIDDEN_PAGE_MIN_CHARS: Final = 500
"""A hidden element with fewer characters is never the page itself."""
MAX_HIDDEN_PAGES: Final = 8
"""Largest number of hidden elements that stay as the page itself. They may be nested, and counting their text costs
time."""
MIN_GROUP_SIZE: Final = 3
"""If one rule hides at least this many elements with `HIDDEN_PAGE_MIN_CHARS` in total, they stay: a script shows them
later."""
TASK_DEPTH: Final = 3
"""Number of ancestors of a checkbox searched for a list item. A label or a paragraph may be in between."""
_MATHJAX_OUTPUT: Final = frozenset({"MathJax", "MathJax_Display", "MathJax_Preview", "MJX_Assistive_MathML"})
"""Classes of the elements that MathJax renders beside the script with a formula's TeX."""
_FORMULA = re.compile(r"\b(?:mwe-math-mathml|mwe-math-fallback-image|katex-mathml)")
"""Classes of a formula that is hidden because an image or other markup shows it."""
_STREAMED_ID = re.compile(r"S:[0-9a-f]+")
"""The id of a hidden part that React streams. A script moves it into place."""
_COLLAPSIBLE = re.compile(
    r"(?:\b|_)(?:tab|tabs|tab-?pane|tab-?panel|accordi[ao]n|collaps[a-z]*|expand[a-z]*|faq|panel|details?)(?:\b|_)",
    re.IGNORECASE,
)
"""Class and role of a part that the reader can open."""

NOSCRIPT_SHARE: Final = 0.5
"""`<noscript>` stays if its text is at least this share of the other text: some forums send their threads in it."""
NOSCRIPT_MIN_CHARS: Final = 200
"""`<noscript>` elements with fewer characters only ask to enable scripts, and are removed."""


def prune(root: HtmlElement) -> tuple[tuple[str, int], ...]:
    """Remove the invisible nodes of a tree in place. Returns the number of removed nodes of each kind."""
    sheets = StyleSheets(sheet.text or "" for sheet in _SHEETS(root))
    outside = sum(1 for _ in root.itersiblings(etree.Comment, preceding=True))
    comments = outside + sum(1 for _ in root.iter(etree.Comment))
    scripts = sum(1 for _ in root.iter(*_INVISIBLE_TAGS)) + _drop_scripts(root)
    etree.strip_elements(root, *_INVISIBLE_TAGS, *_METADATA_TAGS, with_tail=False)
    etree.strip_tags(root, etree.Comment, etree.PI, etree.Entity)
    scripts += _drop_noscript(root)
    counts = {"scripts": scripts, "hidden": _drop_hidden(root, sheets), "comments": comments}
    return tuple((kind, count) for kind, count in counts.items() if count)


def _drop_scripts(root: HtmlElement) -> int:
    """Drop scripts and inputs, except TeX for MathJax and task checkboxes. Returns the number dropped.

    MathJax's rendering of its TeX is dropped too, and not counted.
    """
    has_tex = False
    dropped = 0
    for element in list(root.iter("script", "input")):
        if element.tag == "script" and (element.get("type") or "").startswith("math/tex"):
            has_tex = True
        elif element.tag == "script" or element.get("type") != "checkbox" or not _is_task(element):
            dropped += 1
            element.drop_tree()
    if has_tex:
        for element in list(root.iter("span", "div")):
            if _MATHJAX_OUTPUT & set((element.get("class") or "").split()) and _is_below(element, root):
                element.drop_tree()
    return dropped


def _is_task(checkbox: HtmlElement) -> bool:
    """Return whether a checkbox belongs to an item of a task list."""
    return any(above.tag == "li" for above in islice(checkbox.iterancestors(), TASK_DEPTH))


def _drop_noscript(root: HtmlElement) -> int:
    """Drop `<noscript>` elements, unless they contain much of the page's text. Returns the number dropped."""
    noscripts = [(element, _count_chars(element)) for element in root.iter("noscript")]
    if all(length < NOSCRIPT_MIN_CHARS for _, length in noscripts):
        # This is the case on most pages. Do not count the text of the rest.
        etree.strip_elements(root, "noscript", with_tail=False)
        return len(noscripts)
    rest = _count_chars(root) - sum(length for _, length in noscripts)
    dropped = 0
    for element, length in noscripts:
        if length < NOSCRIPT_MIN_CHARS or length < NOSCRIPT_SHARE * rest:
            element.drop_tree()
            dropped += 1
        else:
            element.tag = "div"
    return dropped


def _drop_hidden(root: HtmlElement, sheets: StyleSheets) -> int:
    """Drop hidden elements, except hidden pages and collapsible parts. Returns the number of dropped elements.

    Elements inside a dropped element, and elements without text, are not counted.
    """
    page_length = dropped = hidden_pages = 0
    hidden_by_sheets = _find_hidden_by_sheets(root, sheets)
    for element in [*_HIDING_CANDIDATES(root), *hidden_by_sheets]:
        if (
            not (_is_hidden(element) or element in hidden_by_sheets)
            or _can_open(element)
            or not _is_below(element, root)
        ):
            continue
        length = _count_chars(element) if hidden_pages < MAX_HIDDEN_PAGES else 0
        if length >= HIDDEN_PAGE_MIN_CHARS:
            page_length = page_length or _count_chars(root)
            if length >= HIDDEN_PAGE_SHARE * page_length:
                hidden_pages += 1
                continue
        dropped += _has_text(element)
        element.drop_tree()
    return dropped


def _find_hidden_by_sheets(root: HtmlElement, sheets: StyleSheets) -> dict[HtmlElement, None]:
    """Return the elements that the page's own style sheets hide.

    Many elements with much text that one rule hides are left out, because a script shows them on scrolling.
    """
    keys = sheets.hiding_keys
    names = set(" ".join(_NAMES(root)).split()) if keys else set()
    if all(key[1:] not in names if key[0] in ".#" else next(root.iter(key), None) is None for key in keys):
        return {}
    groups: dict[str, list[HtmlElement]] = {}
    for element in root.iter() if any(key[0] not in ".#" for key in keys) else _WITH_NAMES(root):
        if isinstance(element.tag, str) and not keys.isdisjoint(list_keys(element)):
            style = apply_important(sheets.compute_style(element) | parse_declarations(element.get("style") or ""))
            if hides_element(style) or (hides_text(style) and _descendants_inherit(element)):
                groups.setdefault(next(key for key in list_keys(element) if key in keys), []).append(element)
    return dict.fromkeys(
        element
        for group in groups.values()
        if len(group) < MIN_GROUP_SIZE or sum(map(_count_chars, group)) < HIDDEN_PAGE_MIN_CHARS
        for element in group
    )


def _descendants_inherit(element: HtmlElement) -> bool:
    """Return whether all descendants inherit the visibility of the element's text."""
    return all(
        not (inner.get("class") or restyles_text(inner.get("style") or "")) for inner in element.iterdescendants()
    )


def _has_text(element: HtmlElement) -> bool:
    return any(text and not text.isspace() for text in element.itertext())


def _is_below(element: HtmlElement, root: HtmlElement) -> bool:
    """Return whether an element is still in the tree and is not the root."""
    return any(above is root for above in element.iterancestors(root.tag))


def _is_hidden(element: HtmlElement) -> bool:
    if any(element.get(name) is not None for name in ("hidden", "popover")) or element.get("aria-hidden") == "true":
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    hides_all, hides_own_text = check_inline_style((element.get("style") or "")[:MAX_STYLE])
    return hides_all or (hides_own_text and _descendants_inherit(element))


def _can_open(element: HtmlElement) -> bool:
    """Return whether a hidden element is collapsible, belongs to a formula, or is shown while the page loads."""
    names = f"{element.get('class') or ''} {element.get('role') or ''}"[:_MAX_NAMES]
    return (_COLLAPSIBLE.search(names) or _FORMULA.search(names)) is not None or _STREAMED_ID.match(
        element.get("id") or ""
    ) is not None


def _count_chars(element: HtmlElement) -> int:
    """Return the number of characters of an element's text, without white space."""
    return len("".join("".join(element.itertext()).split()))
