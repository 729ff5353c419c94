"""Rewrite the admonitions of a page (notes, tips, warnings) as quotes that begin with their title in bold.

Generators of manuals write them in many ways. As a quote, an admonition has a beginning and an end in Markdown, and its
title shares a paragraph with the text that it names.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

_CONTAINERS: Final = frozenset({
    "admonition", "admonitionblock", "theme-admonition", "markdown-alert", "custom-block", "starlight-aside",
    "notecard", "callout", "confluence-information-macro",
})  # fmt: skip
"""Classes of admonitions: Sphinx and MkDocs, Asciidoctor, Docusaurus, GitHub, VitePress, Starlight, MDN, Quarto and
Mintlify, Confluence."""
_KINDS: Final = frozenset({"note", "tip", "hint", "important", "warning", "caution", "danger", "attention", "error"})
"""Classes of admonitions in DocBook. Other pages use these words too, so such an element must have a title."""
_TAGS: Final = ("div", "aside", "section")
_TITLE: Final = re.compile(r"title|heading|header", re.IGNORECASE)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TITLE_REACH: Final = 12
"""Number of elements searched for the title at the beginning of an admonition: wrappers, and the parts of an icon."""
_MAX_TITLE: Final = 150
"""Characters of a title. A longer text is the admonition itself."""
_MAX_CLASS: Final = 500
"""Characters of `class` that are read."""
_TEXT_BLOCKS: Final = frozenset({"p", "div", "td", "dd"})
"""Elements whose first words can follow the title on the next line."""
_LAYOUT: Final = frozenset({"table", "tbody", "tr", "td", "th"})


def quote_admonitions(root: HtmlElement) -> None:
    """Rewrite the admonitions of a pruned tree, in place. No word of the tree is lost or moved past another word.

    An element with headings besides its title is a part of the page and stays as it is.
    """
    for element in [each for each in root.iter(*_TAGS) if each.get("class") and _may_be_admonition(each)]:
        title = _find_title(element)
        if title is None and _CONTAINERS.isdisjoint(_names(element)):
            continue
        if any(each is not title for each in element.iter(*sorted(_HEADINGS))) or not _has_words(element):
            continue
        _unfold_table(element)
        icon = _find_icon(element, title)
        if title is None and icon is not None:
            title = _write_icon(icon)
        elif icon is not None:
            icon.drop_tree()
        if title is not None:
            _embolden(element, title)
        element.tag = "blockquote"


def _names(element: HtmlElement) -> list[str]:
    return (element.get("class") or "")[:_MAX_CLASS].split()


def _may_be_admonition(element: HtmlElement) -> bool:
    names = _names(element)
    return not (_CONTAINERS.isdisjoint(names) and _KINDS.isdisjoint(names))


def _find_title(element: HtmlElement) -> HtmlElement | None:
    """Return the element at the beginning of an admonition that holds its title, None if there is none."""
    for inner in islice(element.iterdescendants(), _TITLE_REACH):
        is_title = inner.tag in _HEADINGS or inner.tag == "th" or _TITLE.search(" ".join(_names(inner))) is not None
        if not is_title and inner.text and inner.text.strip():
            return None
        if is_title and 0 < len(inner.text_content().strip()) <= _MAX_TITLE:
            return inner if not any(each.tag in {"p", "ul", "ol", "pre"} for each in inner.iterdescendants()) else None
    return None


def _has_words(element: HtmlElement) -> bool:
    return any(text and not text.isspace() for text in element.itertext())


def _unfold_table(element: HtmlElement) -> None:
    """Turn the table that places an admonition's icon beside its text into blocks."""
    if len(element) == 1 and element[0].tag == "table":
        table = element[0]
        for part in [table, *table.iter(*_LAYOUT)]:
            if next(part.iterancestors("table"), table) is table:
                part.tag = "div"


def _find_icon(element: HtmlElement, title: HtmlElement | None) -> HtmlElement | None:
    """Return the icon that begins an admonition and names its kind or repeats its title, None if there is none."""
    for inner in islice(element.iterdescendants(), _TITLE_REACH):
        if inner.text and inner.text.strip():
            return None
        if inner.tag == "img" or (inner.tag == "i" and inner.get("title")):
            name = _name_icon(inner)
            is_icon = name.lower() in _KINDS or "icon" in _names(inner) + _names(inner.getparent())
            repeats = title is not None and name == title.text_content().strip()
            return inner if name and (is_icon or repeats) else None
    return None


def _name_icon(icon: HtmlElement) -> str:
    return (icon.get("alt" if icon.tag == "img" else "title") or "").strip(" []")


def _write_icon(icon: HtmlElement) -> HtmlElement:
    """Replace an icon by its alternative text, which then is the title."""
    name, tail = _name_icon(icon), icon.tail
    icon.attrib.clear()
    icon.tag, icon.text, icon.tail = "span", name, tail
    return icon


def _embolden(element: HtmlElement, title: HtmlElement) -> None:
    """Write the title in bold, on a line of its own before the words that follow it."""
    following = _find_following(element, title)
    title.tag = "legend"
    bold = etree.SubElement(title, "strong")
    bold.text, title.text = title.text, None
    bold.extend(list(title)[:-1])
    if following is not None:
        title.remove(bold)
        bold.tail = None
        line_break = title.makeelement("br")
        line_break.tail, following.text = following.text, None
        following[:0] = [bold, line_break]


def _find_following(element: HtmlElement, title: HtmlElement) -> HtmlElement | None:
    """Return the text block directly after the title, None if a list, code or a bare text follows."""
    if title.tail and title.tail.strip():
        return None
    inside = {title, *title.iterdescendants()}
    is_past = False
    for inner in element.iterdescendants():
        if inner in inside:
            is_past = True
        elif is_past and inner.tag not in _TEXT_BLOCKS:
            # A paragraph may begin with an inline element, such as code.
            parent = inner.getparent()
            return parent if parent is not None and parent.tag == "p" else None
        elif is_past and inner.text and inner.text.strip():
            return inner
    return None
