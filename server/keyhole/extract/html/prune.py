"""What of an HTML tree no reader of the page sees: scripts, widgets, hidden parts. Removes and counts; writes no text.

What a reader does see but did not come for (menus, footers, teasers) is content.py's to judge.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.css_hidden import (
    MAX_STYLE,
    Sheets,
    declared,
    final,
    hidden_by,
    hides,
    hides_words,
    keys,
    resets,
)

_UNREAD: Final = (
    "style", "template", "iframe", "object", "embed", "svg", "canvas", "select", "textarea",
    "audio", "video", "datalist", "noembed",
)  # fmt: skip
# Never shown, and on every page, so not worth a count. The head itself is entered: parsers leave the first unknown
# elements of a page without <body> in it.
_METADATA: Final = ("title", "meta", "link", "base")

_MAY_BE_HIDDEN = etree.XPath(
    "descendant::*[@hidden or @style or @popover or @aria-hidden='true' or self::dialog[not(@open)]]"
)
_SHEETS = etree.XPath(
    "descendant::style[not(ancestor::svg or ancestor::template or ancestor::noscript or contains(@media, 'print'))]"
)
_NAMES = etree.XPath("descendant::*/@class | descendant::*/@id", smart_strings=False)
_NAMED = etree.XPath("descendant::*[@class or @id]")

_MAX_NAMES: Final = 300
"""Characters of class and role that are searched."""

CURTAIN_SHARE: Final = 0.1
"""A hidden element with this share of the page's text is a curtain that a script draws: the page itself."""
CURTAIN_MIN_CHARS: Final = 500
"""Less hidden text than this is no page."""
MAX_CURTAINS: Final = 8
"""Curtains inside curtains that are looked behind: each costs a reading of the page."""
MIN_ALIKE: Final = 3
"""Elements that one rule hides: so many with so much text are parts of the page that open or move in."""
TASK_DEPTH: Final = 3
"""Elements from a task's checkbox up to its list item: a label or a paragraph may be between."""
_DRAWN: Final = frozenset({"MathJax", "MathJax_Display", "MathJax_Preview", "MJX_Assistive_MathML"})
"""What MathJax puts beside the script that holds a formula's TeX."""
_FORMULA = re.compile(r"\b(?:mwe-math-mathml|mwe-math-fallback-image|katex-mathml)")
"""Class of a formula that is hidden from the eye because a picture or other markup shows it."""
_STREAMED = re.compile(r"S:[0-9a-f]+")
"""The id of a part that a React server sends hidden and a script moves into its place."""
_FOLDED = re.compile(
    r"(?:\b|_)(?:tab|tabs|tab-?pane|tab-?panel|accordi[ao]n|collaps[a-z]*|expand[a-z]*|faq|panel|details?)(?:\b|_)",
    re.IGNORECASE,
)
"""Class and role of a part that opens when a reader asks for it."""

NOSCRIPT_SHARE: Final = 0.5
"""`<noscript>` is read if it has at least this share of the page's text: forums send their threads so."""
NOSCRIPT_MIN_CHARS: Final = 200
"""Shorter ones say only that scripts are needed."""


def prune(root: HtmlElement) -> tuple[tuple[str, int], ...]:
    """Remove what is not read; how many nodes of each kind went. Changes the tree."""
    sheets = Sheets(sheet.text or "" for sheet in _SHEETS(root))
    outside = sum(1 for _ in root.itersiblings(etree.Comment, preceding=True))
    comments = outside + sum(1 for _ in root.iter(etree.Comment))
    scripts = sum(1 for _ in root.iter(*_UNREAD)) + _drop_scripts(root)
    etree.strip_elements(root, *_UNREAD, *_METADATA, with_tail=False)
    etree.strip_tags(root, etree.Comment, etree.PI, etree.Entity)
    scripts += _drop_noscript(root)
    counts = {"scripts": scripts, "hidden": _drop_hidden(root, sheets), "comments": comments}
    return tuple((kind, count) for kind, count in counts.items() if count)


def _drop_scripts(root: HtmlElement) -> int:
    """Drop scripts, but TeX that one sets as a formula; drop what that script has drawn instead."""
    tex = False
    dropped = 0
    for element in list(root.iter("script", "input")):
        if element.tag == "script" and (element.get("type") or "").startswith("math/tex"):
            tex = True
        elif element.tag == "script" or element.get("type") != "checkbox" or not _is_task(element):
            dropped += 1
            element.drop_tree()
    if tex:
        for element in list(root.iter("span", "div")):
            if _DRAWN & set((element.get("class") or "").split()) and _is_in(element, root):
                element.drop_tree()
    return dropped


def _is_task(checkbox: HtmlElement) -> bool:
    """Whether a checkbox stands in a list item, as those of task lists do."""
    return any(above.tag == "li" for above in islice(checkbox.iterancestors(), TASK_DEPTH))


def _drop_noscript(root: HtmlElement) -> int:
    """Drop what is said only to readers without scripts, unless it is the page."""
    found = [(element, _length(element)) for element in root.iter("noscript")]
    if all(length < NOSCRIPT_MIN_CHARS for _, length in found):
        # Most pages: the text around is not read for them.
        etree.strip_elements(root, "noscript", with_tail=False)
        return len(found)
    rest = _length(root) - sum(length for _, length in found)
    dropped = 0
    for element, length in found:
        if length < NOSCRIPT_MIN_CHARS or length < NOSCRIPT_SHARE * rest:
            element.drop_tree()
            dropped += 1
        else:
            element.tag = "div"
    return dropped


def _drop_hidden(root: HtmlElement, sheets: Sheets) -> int:
    """Drop hidden elements, but curtains and folded parts; what stands in a dropped one is not counted again."""
    whole = dropped = curtains = 0
    by_sheet = _hidden_by_sheet(root, sheets)
    for element in [*_MAY_BE_HIDDEN(root), *by_sheet]:
        if not (_is_hidden(element) or element in by_sheet) or _opens(element) or not _is_in(element, root):
            continue
        length = _length(element) if curtains < MAX_CURTAINS else 0
        if length >= CURTAIN_MIN_CHARS:
            whole = whole or _length(root)
            if length >= CURTAIN_SHARE * whole:
                curtains += 1
                continue
        dropped += not _is_bare(element)
        element.drop_tree()
    return dropped


def _hidden_by_sheet(root: HtmlElement, sheets: Sheets) -> dict[HtmlElement, None]:
    """What the page's own style sheets hide. Where several that are alike are together as much as a page, a script
    shows them one by one as the reader comes to them."""
    names = set(" ".join(_NAMES(root)).split()) if sheets.keys else set()
    if all(key[1:] not in names if key[0] in ".#" else next(root.iter(key), None) is None for key in sheets.keys):
        return {}
    alike: dict[str, list[HtmlElement]] = {}
    for element in root.iter() if any(key[0] not in ".#" for key in sheets.keys) else _NAMED(root):
        if isinstance(element.tag, str) and not sheets.keys.isdisjoint(keys(element)):
            style = final(sheets.style(element) | declared(element.get("style") or ""))
            if hides(style) or (hides_words(style) and _passes_on(element)):
                alike.setdefault(next(key for key in keys(element) if key in sheets.keys), []).append(element)
    few = (group for group in alike.values() if len(group) < MIN_ALIKE or sum(map(_length, group)) < CURTAIN_MIN_CHARS)
    return dict.fromkeys(element for group in few for element in group)


def _passes_on(element: HtmlElement) -> bool:
    """Whether the elements in an element show their words as it shows its own."""
    return all(not (inner.get("class") or resets(inner.get("style") or "")) for inner in element.iterdescendants())


def _is_bare(element: HtmlElement) -> bool:
    return not any(text and not text.isspace() for text in element.itertext())


def _is_in(element: HtmlElement, root: HtmlElement) -> bool:
    """Whether an element is still in the tree, and is not its root."""
    return any(above is root for above in element.iterancestors(root.tag))


def _is_hidden(element: HtmlElement) -> bool:
    if any(element.get(name) is not None for name in ("hidden", "popover")) or element.get("aria-hidden") == "true":
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    whole, words = hidden_by((element.get("style") or "")[:MAX_STYLE])
    return whole or (words and _passes_on(element))


def _opens(element: HtmlElement) -> bool:
    """Whether a reader can open a hidden element, or the page itself does while it loads."""
    names = f"{element.get('class') or ''} {element.get('role') or ''}"[:_MAX_NAMES]
    return (_FOLDED.search(names) or _FORMULA.search(names)) is not None or _STREAMED.match(
        element.get("id") or ""
    ) is not None


def _length(element: HtmlElement) -> int:
    """Characters of text, white space not counted."""
    return len("".join("".join(element.itertext()).split()))
