"""Prepare the notes of a page for the search for footnotes."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

_ROLES: Final = frozenset({"doc-footnote", "doc-endnote", "doc-endnotes", "note"})
_SIDENOTE: Final = re.compile(r"(?:^|[-_])(?:side|margin)[-_]?notes?$|^remark$", re.IGNORECASE)
"""A class of notes that the style sheet moves into the margin."""
_NUMBERED: Final = "sidenote-number"
"""Class of the mark before a sidenote, which the style sheet numbers (Tufte CSS)."""
_PARAGRAPHS: Final = ("p", "li", "dd", "blockquote", "td")
_MAX_CLASS: Final = 200
"""Characters read of a `class` attribute."""


def prepare_notes(root: HtmlElement) -> None:
    """Rewrite the notes of a pruned tree, in place. No word is lost.

    Brackets around a mark are dropped, because Markdown writes its own. Notes in an `<aside>` are blocks of the text.
    Notes in the margin follow the paragraph that they stand in, instead of interrupting its sentence.
    """
    for sup in root.iter("sup"):
        if (
            len(sup) == 1
            and sup[0].tag == "a"
            and (sup.text or "").strip() == "["
            and (sup[0].tail or "").strip() == "]"
        ):
            sup.text = sup[0].tail = None
    for aside in root.iter("aside", "section"):
        if aside.get("role") in _ROLES or "footnote" in _names(aside):
            aside.tag = "div"
    for number, note in enumerate([each for each in root.iter("span", "small", "aside") if _is_sidenote(each)], 1):
        _move_out(note, number)


def _names(element: HtmlElement) -> list[str]:
    return (element.get("class") or "")[:_MAX_CLASS].split()


def _is_sidenote(element: HtmlElement) -> bool:
    return any(map(_SIDENOTE.search, _names(element)))


def _move_out(note: HtmlElement, number: int) -> None:
    """Move a note behind its paragraph, with a numbered mark in its place if the page shows a number there."""
    paragraph = next(note.iterancestors(*_PARAGRAPHS), None)
    if paragraph is None or paragraph.getparent() is None:
        return
    mark = note.makeelement("sup")
    if _has_number(note):
        link = etree.SubElement(mark, "a")
        link.text = str(number)
        link.set("href", f"#keyhole-sidenote-{number}")
        note.set("id", f"keyhole-sidenote-{number}")
    note.addprevious(mark)
    mark.tail, note.tail = note.tail, None
    note.tag = "div"
    if paragraph.tag == "p":
        note.tail, paragraph.tail = paragraph.tail, None
        paragraph.addnext(note)
    else:
        paragraph.append(note)


def _has_number(note: HtmlElement) -> bool:
    before = note.getprevious()
    while before is not None and before.tag == "input":
        before = before.getprevious()
    return before is not None and before.tag == "label" and _NUMBERED in _names(before)
