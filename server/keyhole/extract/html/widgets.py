"""Replace form fields and drawings by the words that a reader sees in them, and drop other widgets."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

_DROPPED: Final = (
    "style", "template", "iframe", "embed", "canvas", "audio", "video", "datalist", "noembed", "noframes", "meter",
    "progress",
)  # fmt: skip
"""Widgets and elements that are not shown. The content of some is shown only by old browsers."""
_METADATA_TAGS: Final = ("title", "meta", "link", "base")
"""Elements that are never shown and occur on every page, so they are not counted. `<head>` itself stays: in a page
without `<body>`, parsers leave the first unknown elements in it."""
_UNPAINTED: Final = frozenset({"title", "desc", "metadata", "defs", "symbol", "style", "script", "clippath", "mask",
                               "pattern", "marker", "lineargradient", "radialgradient"})  # fmt: skip
"""Elements of a drawing that are not painted where they stand."""
_WORDLESS_INPUTS: Final = frozenset({"hidden", "checkbox", "radio", "file", "image", "range", "color", "password"})
_BUTTONS: Final = {"submit": "Submit", "reset": "Reset"}
"""Inputs that browsers label themselves if the page does not."""
TASK_DEPTH: Final = 3
"""Number of ancestors of a checkbox searched for a list item. A label or a paragraph may be in between."""
_ICON_FONTS: Final = ("material-icons", "material-symbols")
"""Beginnings of the classes of icons whose text is the name of the icon, which a font draws instead."""
_FIELDS: Final = ("input", "select", "textarea", "svg", "object")


def replace_widgets(root: HtmlElement) -> int:
    """Replace the fields and drawings of a tree by their words, in place. Returns the number of dropped elements.

    Checkboxes of task lists stay. Scripts are not changed.
    """
    dropped = sum(1 for _ in root.iter(*_DROPPED))
    for element in list(root.iter(*_FIELDS)):
        if element.getparent() is None:  # removed with a field around it
            continue
        if element.tag == "input" and element.get("type", "").lower() == "checkbox" and _is_task(element):
            continue
        words = _READERS[element.tag](element)
        dropped += not words
        _replace(element, words)
    etree.strip_elements(root, *_DROPPED, *_METADATA_TAGS, with_tail=False)
    return dropped


def drop_icons(unspoken: Iterable[HtmlElement]) -> int:
    """Drop icons that a font draws from their names. Returns their number.

    `unspoken` are elements that screen readers do not read. Those that are not in the tree any more are not changed.
    """
    dropped = 0
    for element in unspoken:
        names = (element.get("class") or "").split()
        if element.getparent() is not None and any(name.startswith(_ICON_FONTS) for name in names):
            dropped += 1
            element.drop_tree()
    return dropped


def _replace(element: HtmlElement, words: str) -> None:
    """Replace an element by a `<span>` with words, or drop it if there are none. The text after it stays."""
    if not words:
        element.drop_tree()
        return
    for child in list(element):
        element.remove(child)
    tail = element.tail
    element.attrib.clear()
    element.tag, element.text, element.tail = "span", f" {words} ", tail


def _read_input(element: HtmlElement) -> str:
    kind = element.get("type", "").lower()
    if kind in _WORDLESS_INPUTS:
        return ""
    words = element.get("value") or _BUTTONS.get(kind) or element.get("placeholder") or ""
    return " ".join(words.split())


def _read_select(element: HtmlElement) -> str:
    """Return the options of a list. Before those of a closed list stands the one that it shows: `b (of a, b, c)`."""
    options = [(option.get("selected") is not None, _option_words(option)) for option in element.iter("option")]
    words = ", ".join(text for _, text in options if text)
    if len(options) < 2 or element.get("multiple") is not None or element.get("size", "1") not in {"", "0", "1"}:
        return words
    shown = ([text for chosen, text in options if chosen] or [options[0][1]])[-1]
    return f"{shown} (of {words})".lstrip()


def _option_words(option: HtmlElement) -> str:
    return " ".join((option.get("label") or "".join(option.itertext())).split())


def _read_textarea(element: HtmlElement) -> str:
    return " ".join((element.text or element.get("placeholder") or "").split())


def _read_svg(element: HtmlElement) -> str:
    """Return the words that a drawing shows."""
    if next(element.iter("text", "foreignobject"), None) is None:
        return ""
    words: list[str] = []
    stack: list[HtmlElement] = [element]
    while stack:
        inner = stack.pop()
        if isinstance(inner.tag, str) and inner.tag.lower() not in _UNPAINTED:
            if inner.text:
                words.append(inner.text)
            stack += list(reversed(inner))
        words.append(inner.tail or "" if inner is not element else "")
    return " ".join(" ".join(words).split())


def _read_object(element: HtmlElement) -> str:
    """Return the text that is shown if an object names no file."""
    return "" if element.get("data") else " ".join("".join(element.itertext()).split())


_READERS: Final = {
    "input": _read_input, "select": _read_select, "textarea": _read_textarea, "svg": _read_svg, "object": _read_object,
}  # fmt: skip


def _is_task(checkbox: HtmlElement) -> bool:
    """Return whether a checkbox belongs to an item of a task list."""
    return any(above.tag == "li" for above in islice(checkbox.iterancestors(), TASK_DEPTH))
