"""Footnotes of a page: which links are references, and which elements they lead to. Changes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from lxml.html import HtmlElement

_REFERENCE_CLASSES = frozenset({"footnote", "footnote-reference", "footnote-ref", "fnref", "noteref", "footref"})
_BACK_CLASSES = frozenset({"footnote-backref", "footnote-back", "fn-backref", "reversefootnote"})
_HOLDERS = frozenset({"li", "p", "div", "dd", "aside", "section"})
_LABEL = re.compile(r"[\w*†‡§]{1,12}")
_BACK_LABEL = re.compile(r"[\s↩︎⏎↑^⬆\ufe0e\ufe0f]*")


@dataclass(slots=True)
class Footnotes:
    """The label of each reference and of each note, and what only leads back."""

    references: dict[HtmlElement, str] = field(default_factory=dict)
    notes: dict[HtmlElement, str] = field(default_factory=dict)
    dropped: set[HtmlElement] = field(default_factory=set)


def find(region: HtmlElement) -> Footnotes:
    """The footnotes that have both a reference and a text in this region. Two walks."""
    found = Footnotes()
    waiting: dict[str, tuple[str, list[HtmlElement]]] = {}
    origins: set[str] = set()
    for link in region.iter("a"):
        target = _target(link)
        if not target:
            continue
        if target in origins:
            _drop_return(link, found)
        elif (label := _reference_label(link)) and waiting.setdefault(target, (label, []))[0] == label:
            waiting[target][1].append(link)
            origins.update(_names(link))
    if waiting:
        _tie(region, waiting, found)
    return found


def _target(link: HtmlElement) -> str:
    href = link.get("href") or ""
    return href[1:] if href.startswith("#") and len(href) < 200 else ""


def _drop_return(link: HtmlElement, found: Footnotes) -> None:
    text = _text(link)
    if _BACK_LABEL.fullmatch(text) or _LABEL.fullmatch(text.strip("[]() .")):
        found.dropped.add(link)


def _reference_label(link: HtmlElement) -> str:
    parent = link.getparent()
    inner = link[0] if len(link) == 1 else None
    marked = (
        link.get("role") == "doc-noteref"
        or link.get("data-footnote-ref") is not None
        or not _REFERENCE_CLASSES.isdisjoint((link.get("class") or "")[:200].split())
        or (parent is not None and parent.tag == "sup")
        or (inner is not None and inner.tag == "sup")
    )
    label = _text(link).strip("[]() ") if marked else ""
    return label if _LABEL.fullmatch(label) else ""


def _text(link: HtmlElement) -> str:
    """The words of a link if they are few: a label is short."""
    words: str = ""
    for part in link.itertext():
        words += str(part)
        if len(words) > 40:
            return words
    return words.strip()


def _names(link: HtmlElement) -> set[str]:
    """What a note may call the place of its reference: the link, or an element close around or inside it."""
    parent = link.getparent()
    above = parent.getparent() if parent is not None and parent.tag in {"sup", "span"} else None
    near = [link, *list(link)[:1], *(element for element in (parent, above) if element is not None)]
    near = [element for element in near if element.tag not in _HOLDERS]
    return {name for element in near if (name := element.get("id") or element.get("name"))}


def _tie(region: HtmlElement, waiting: dict[str, tuple[str, list[HtmlElement]]], found: Footnotes) -> None:
    used: set[str] = set()
    for element in region.iter():
        name = element.get("id") or element.get("name")
        if not name or name not in waiting:
            continue
        label, links = waiting.pop(name)
        note = _holder(element)
        if note is None or label in used or note in found.notes:
            continue
        used.add(label)
        found.notes[note] = label
        found.references.update(dict.fromkeys(links, label))
        if element.tag == "dt":
            found.dropped.add(element)
        _drop_labels(note, found)


def _holder(element: HtmlElement) -> HtmlElement | None:
    """The block that is the note: the element itself, what it names in a list of terms, or a near parent."""
    if element.tag == "dt":
        following = element.getnext()
        return following if following is not None and following.tag == "dd" else None
    if element.tag == "table":
        return element if "footnote" in (element.get("class") or "")[:200].split() else None
    for _ in range(4):
        if element is None or element.tag in _HOLDERS:
            return element
        element = element.getparent()
    return None


def _drop_labels(note: HtmlElement, found: Footnotes) -> None:
    """The note's own number and its way back, which its label replaces."""
    for first in islice(note.iter("span", "sup", "td"), 1):
        if "label" in (first.get("class") or "")[:200].split():
            found.dropped.add(first)
    for link in note.iter("a"):
        classes = (link.get("class") or "")[:200].split()
        back = link.get("role") == "doc-backlink" or link.get("data-footnote-backref") is not None
        if back or not _BACK_CLASSES.isdisjoint(classes):
            found.dropped.add(link)
