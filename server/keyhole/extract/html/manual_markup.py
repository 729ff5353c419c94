"""Rewrite what generators of manuals mark up with scripts in mind: admonitions and tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

# Admonitions (notes, tips, warnings) become quotes that begin with their title in bold. As a quote, an admonition has a
# beginning and an end in Markdown, and its title shares a paragraph with the text that it names.

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


# Tabs: the label of each moves above its panel, because a list of labels does not tell which panel is which.

TAB_LABEL: Final = "keyhole-tab-label"
"""The element of a label in its panel. The walk writes it as `=== label`."""
TAB_END: Final = "keyhole-tab-end"
"""The element after the last panel of a tab set, written as `===`."""
_MAX_LABEL: Final = 100
"""Characters of a label. Longer texts are teasers, whose markup must stay."""
_MAX_TABS: Final = 50
"""Largest number of tabs in a set. Tab sets of manuals have up to twenty."""
_REACH: Final = 4
"""Number of ancestors of a list of tabs that are searched for its panels."""
_PANEL_REACH: Final = 8
"""Number of ancestors of a panel that may contain the list of its tabs."""
_PANEL_TAGS: Final = ("div", "section", "article")
_TOGGLES: Final = ("data-toggle", "data-bs-toggle")
_TARGETS: Final = ("aria-controls", "href", "data-target", "data-bs-target")
_LABEL_CLASSES: Final = frozenset({"tabbed-labels", "tabs"})
_PANEL_CLASSES: Final = frozenset({"tabbed-content", "blocks"})
"""Classes of the two halves of a tab set in MkDocs and VitePress, whose labels are `<label>` and whose panels follow in
their order."""
_SETS: Final = frozenset({"tabbed-set", "tab-set", "sd-tab-set", "vp-code-group"})


class _TabSet(NamedTuple):
    """The tabs of a set and their panels, in the same order."""

    tabs: list[HtmlElement]
    panels: list[HtmlElement]


def label_panels(root: HtmlElement) -> None:
    """Move the labels of tabs into their panels, in place.

    A set is not changed if a tab has no panel, or if a label or a panel has no words, so no word is lost.
    """
    for tabs, panels in [*_find_aria_sets(root), *_find_label_sets(root)]:
        if 0 < len(tabs) == len(panels) <= _MAX_TABS and _is_regular(root, tabs, panels):
            _move_labels(tabs, panels)


def _is_regular(root: HtmlElement, tabs: list[HtmlElement], panels: list[HtmlElement]) -> bool:
    """Return whether the labels are short, and the panels have words, are distinct and not within each other."""
    if len(set(panels)) < len(panels) or not all(0 < len(_read_label(tab)) <= _MAX_LABEL for tab in tabs):
        return False
    around = {above for element in (*tabs, *panels) for above in element.iterancestors()}
    is_in_tree = all(element is root or root in element.iterancestors() for element in (*tabs, *panels))
    return is_in_tree and around.isdisjoint((*tabs, *panels)) and all(map(_has_words, panels))


def _read_label(tab: HtmlElement) -> str:
    return " ".join(tab.text_content().split())


def _move_labels(tabs: list[HtmlElement], panels: list[HtmlElement]) -> None:
    for tab, panel in zip(tabs, panels, strict=True):
        line = _make_line(panel, TAB_LABEL, _read_label(tab))
        line.tail, panel.text = panel.text, None
        panel.insert(0, line)
        tab.drop_tree()
    panels[-1].append(_make_line(panels[-1], TAB_END, "==="))


def _make_line(near: HtmlElement, tag: str, text: str) -> HtmlElement:
    line = near.makeelement("p")
    etree.SubElement(line, tag).text = text
    return line


def _find_aria_sets(root: HtmlElement) -> Iterator[_TabSet]:
    """Yield the sets whose tabs name their panels, or have as many panels near them."""
    tab_lists = [
        each for each in root.iter("div", "ul", "ol", "nav") if each.get("role") == "tablist" or _has_toggles(each)
    ]
    if not tab_lists:
        return
    by_id = {name: element for element in root.iter() if (name := element.get("id"))}
    labelled = {
        name: panel
        for panel in root.iter(*_PANEL_TAGS)
        if panel.get("role") == "tabpanel"
        for name in (panel.get("aria-labelledby") or "").split()
    }
    near = _list_panels(root)
    for tab_list in tab_lists:
        tabs = [each for each in tab_list.iterdescendants() if each.get("role") == "tab" or _is_toggle(each)]
        found = [_find_panel(tab, by_id, labelled) for tab in tabs]
        panels = [panel for panel in found if panel is not None]
        if len(panels) < len(tabs):
            panels = next((near[above] for above in islice(tab_list.iterancestors(), _REACH) if above in near), [])
        yield _TabSet(tabs, panels)


def _has_toggles(element: HtmlElement) -> bool:
    """Return whether an element is a list of Bootstrap's tabs."""
    return "nav" in (element.get("class") or "").split() and any(
        map(_is_toggle, islice(element.iter("a", "button"), 1))
    )


def _is_toggle(element: HtmlElement) -> bool:
    return any(element.get(name) in {"tab", "pill"} for name in _TOGGLES) and element.get("role") != "tab"


def _find_panel(
    tab: HtmlElement, by_id: dict[str, HtmlElement], labelled: dict[str, HtmlElement]
) -> HtmlElement | None:
    for name in _TARGETS:
        value = tab.get(name) or ""
        if (name == "aria-controls" or value.startswith("#")) and (
            panel := by_id.get(value.removeprefix("#"))
        ) is not None:
            return panel
    return labelled.get(tab.get("id") or "")


def _list_panels(root: HtmlElement) -> dict[HtmlElement, list[HtmlElement]]:
    """Return, by each near ancestor of panels, the panels in it, without those inside other panels."""
    panels: dict[HtmlElement, list[HtmlElement]] = {}
    for panel in root.iter(*_PANEL_TAGS):
        if panel.get("role") == "tabpanel":
            for above in islice(panel.iterancestors(), _PANEL_REACH):
                if above.get("role") == "tabpanel":
                    break
                panels.setdefault(above, []).append(panel)
    return panels


def _find_label_sets(root: HtmlElement) -> Iterator[_TabSet]:
    """Yield the sets whose tabs are the labels of radio buttons, as MkDocs, Sphinx and VitePress write them."""
    for element in root.iter("div"):
        names = set((element.get("class") or "").split())
        if _SETS.isdisjoint(names):
            continue
        halves = [_find_child(element, classes) for classes in (_LABEL_CLASSES, _PANEL_CLASSES)]
        if halves[0] is not None and halves[1] is not None:
            yield _TabSet([each for each in halves[0] if each.tag == "label"], list(halves[1]))
        else:
            labels = [each for each in element if each.tag == "label"]
            yield _TabSet(labels, [each for each in element if each.tag == "div"])


def _find_child(element: HtmlElement, classes: frozenset[str]) -> HtmlElement | None:
    return next((each for each in element if not classes.isdisjoint((each.get("class") or "").split())), None)
