"""Find the footnotes of a page: references, notes and return links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from lxml.html import HtmlElement

_REFERENCE_CLASSES = frozenset({"footnote", "footnote-reference", "footnote-ref", "fnref", "noteref", "footref"})
_BACK_CLASSES = frozenset({"footnote-backref", "footnote-back", "fn-backref", "reversefootnote"})
_NOTE_TAGS = frozenset({"li", "p", "div", "dd", "aside", "section"})
_LABEL = re.compile(r"[\w*†‡§]{1,12}")
_BACK_LABEL = re.compile(r"[\s↩︎⏎↑^⬆\ufe0e\ufe0f]*")


@dataclass(slots=True)
class Footnotes:
    """The labels of references and notes, and the elements that Markdown footnotes replace."""

    references: dict[HtmlElement, str] = field(default_factory=dict)
    notes: dict[HtmlElement, str] = field(default_factory=dict)
    redundant: set[HtmlElement] = field(default_factory=set)


def find_footnotes(region: HtmlElement) -> Footnotes:
    """Return the footnotes that have both a reference and a note in this region."""
    footnotes = Footnotes()
    pending: dict[str, tuple[str, list[HtmlElement]]] = {}
    reference_names: set[str] = set()
    for link in region.iter("a"):
        target = _find_target(link)
        if not target:
            continue
        if target in reference_names:
            _mark_return_link(link, footnotes)
        elif (label := _find_label(link)) and pending.setdefault(target, (label, []))[0] == label:
            pending[target][1].append(link)
            reference_names.update(_find_names(link))
    if pending:
        _match_notes(region, pending, footnotes)
    return footnotes


def _find_target(link: HtmlElement) -> str:
    href = link.get("href") or ""
    return href[1:] if href.startswith("#") and len(href) < 200 else ""


def _mark_return_link(link: HtmlElement, footnotes: Footnotes) -> None:
    text = _read_short_text(link)
    if _BACK_LABEL.fullmatch(text) or _LABEL.fullmatch(text.strip("[]() .")):
        footnotes.redundant.add(link)


def _find_label(link: HtmlElement) -> str:
    parent = link.getparent()
    inner = link[0] if len(link) == 1 else None
    is_reference = (
        link.get("role") == "doc-noteref"
        or link.get("data-footnote-ref") is not None
        or not _REFERENCE_CLASSES.isdisjoint((link.get("class") or "")[:200].split())
        or (parent is not None and parent.tag == "sup")
        or (inner is not None and inner.tag == "sup")
    )
    label = _read_short_text(link).strip("[]() ") if is_reference else ""
    return label if _LABEL.fullmatch(label) else ""


def _read_short_text(link: HtmlElement) -> str:
    """Return the text of a link, truncated after about 40 characters, because labels are short."""
    words: str = ""
    for part in link.itertext():
        words += str(part)
        if len(words) > 40:
            return words
    return words.strip()


def _find_names(link: HtmlElement) -> set[str]:
    """Return the ids to which a note may link back: those of the link, its first child and its inline ancestors."""
    parent = link.getparent()
    above = parent.getparent() if parent is not None and parent.tag in {"sup", "span"} else None
    near = [link, *list(link)[:1], *(element for element in (parent, above) if element is not None)]
    near = [element for element in near if element.tag not in _NOTE_TAGS]
    return {name for element in near if (name := element.get("id") or element.get("name"))}


def _match_notes(region: HtmlElement, pending: dict[str, tuple[str, list[HtmlElement]]], footnotes: Footnotes) -> None:
    used_labels: set[str] = set()
    for element in region.iter():
        name = element.get("id") or element.get("name")
        if not name or name not in pending:
            continue
        label, links = pending.pop(name)
        note = _find_note(element)
        if note is None or label in used_labels or note in footnotes.notes:
            continue
        used_labels.add(label)
        footnotes.notes[note] = label
        footnotes.references.update(dict.fromkeys(links, label))
        if element.tag == "dt":
            footnotes.redundant.add(element)
        _mark_labels(note, footnotes)


def _find_note(element: HtmlElement) -> HtmlElement | None:
    """Return the block of the note that `element` names: itself, the definition after a term, or a near ancestor."""
    if element.tag == "dt":
        following = element.getnext()
        return following if following is not None and following.tag == "dd" else None
    if element.tag == "table":
        return element if "footnote" in (element.get("class") or "")[:200].split() else None
    for _ in range(4):
        if element is None or element.tag in _NOTE_TAGS:
            return element
        element = element.getparent()
    return None


def _mark_labels(note: HtmlElement, footnotes: Footnotes) -> None:
    """Mark a note's number and return link as redundant, because the Markdown label replaces them."""
    for first in islice(note.iter("span", "sup", "td"), 1):
        if "label" in (first.get("class") or "")[:200].split():
            footnotes.redundant.add(first)
    for link in note.iter("a"):
        classes = (link.get("class") or "")[:200].split()
        is_return = link.get("role") == "doc-backlink" or link.get("data-footnote-backref") is not None
        if is_return or not _BACK_CLASSES.isdisjoint(classes):
            footnotes.redundant.add(link)
