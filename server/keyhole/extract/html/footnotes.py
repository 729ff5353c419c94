"""Find the footnotes of a page: references, notes and return links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.links import LinkResolver

_REFERENCE_CLASSES = frozenset({"footnote", "footnote-reference", "footnote-ref", "fnref", "noteref", "footref"})
_RETURN_CLASSES = frozenset({
    "footnote-backref", "footnote-back", "footnote-backlink", "fn-backref", "reversefootnote", "mw-cite-backlink",
})  # fmt: skip
_NOTE_TAGS = frozenset({"li", "p", "div", "dd", "aside", "section"})
_LABEL = re.compile(r"[\w*†‡§]{1,12}")
_RETURN_SIGNS: Final = r"[\s↩⏎↵↑⇧⬆^,.\ufe0e\ufe0f\[\]()]*+"
_RETURN_LABEL = re.compile(rf"{_RETURN_SIGNS}(?:(?:\d{{1,4}}+|\w{{1,2}}+)(?!\w){_RETURN_SIGNS})*+")
"""The text of a return link or of several: signs, numbers and single letters."""


@dataclass(slots=True)
class Footnotes:
    """The labels of references and notes, and the elements that Markdown footnotes replace."""

    references: dict[HtmlElement, str] = field(default_factory=dict)
    notes: dict[HtmlElement, str] = field(default_factory=dict)
    redundant: set[HtmlElement] = field(default_factory=set)
    unmatched: dict[HtmlElement, str] = field(default_factory=dict)
    """The labels of references whose note is not in the region."""


def find_footnotes(region: HtmlElement, links: LinkResolver) -> Footnotes:
    """Return the footnotes that have both a reference and a note in this region."""
    footnotes = Footnotes()
    pending: dict[str, tuple[str, list[HtmlElement]]] = {}
    reference_names: set[str] = set()
    for link in region.iter("a"):
        href = link.get("href")
        if not href or "#" not in href:
            continue
        target = links.read_fragment(href)
        if not target or target in reference_names or not (label := _find_label(link)):
            continue
        footnotes.unmatched[link] = label
        if pending.setdefault(target, (label, []))[0] == label:
            pending[target][1].append(link)
            reference_names.update(_find_names(link))
    if pending:
        _match_notes(region, pending, footnotes)
        for note, label in footnotes.notes.items():
            _mark_labels(note, label, footnotes)
            _mark_return_links(note, label, reference_names, links, footnotes)
    return footnotes


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


def _read_short_text(element: HtmlElement) -> str:
    """Return the text of an element, truncated after about 40 characters, because labels are short."""
    words: str = ""
    for part in element.itertext():
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
        if note is None or label in used_labels or note in footnotes.notes or _contains_any(note, links):
            continue
        used_labels.add(label)
        footnotes.notes[note] = label
        for link in links:
            footnotes.references[link] = footnotes.unmatched.pop(link)
        if element.tag == "dt" and _RETURN_LABEL.fullmatch(_read_short_text(element)):
            footnotes.redundant.add(element)


def _contains_any(note: HtmlElement, links: list[HtmlElement]) -> bool:
    """Return whether one of the references is inside the note, so that the note is a part of the text."""
    return any(above is note for link in links for above in link.iterancestors(note.tag))


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


def _mark_labels(note: HtmlElement, label: str, footnotes: Footnotes) -> None:
    """Mark the number at the beginning of a note as redundant, because the Markdown label replaces it."""
    for first in islice(note.iter("span", "sup", "td"), 1):
        text = _read_short_text(first)
        if "label" in (first.get("class") or "")[:200].split():
            is_label = _RETURN_LABEL.fullmatch(text) is not None
        else:
            beginning = next((part for part in note.itertext() if not part.isspace()), "")
            is_label = text.strip("[]() .") == label and text.startswith(beginning.strip())
        if is_label:
            footnotes.redundant.add(first)


def _mark_return_links(
    note: HtmlElement, label: str, reference_names: set[str], links: LinkResolver, footnotes: Footnotes
) -> None:
    """Mark a note's links back to its references as redundant."""
    for element in note.iter("a", "span"):
        classes = (element.get("class") or "")[:200].split()
        is_marked = element.get("role") == "doc-backlink" or element.get("data-footnote-backref") is not None
        if is_marked or not _RETURN_CLASSES.isdisjoint(classes):
            footnotes.redundant.add(element)
        elif element.tag == "a" and "#" in (href := element.get("href") or ""):
            text = _read_short_text(element)
            is_label = _RETURN_LABEL.fullmatch(text) or text.strip("[]() .") == label
            if is_label and links.read_fragment(href) in reference_names:
                footnotes.redundant.add(element)
