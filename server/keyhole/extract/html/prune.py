"""Remove what a reader of an HTML page cannot see: scripts, widgets, comments, hidden elements and hidden text.

Visible parts that are not content (menus, footers, teasers) stay. boilerplate/classify.py tells them apart later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from textwrap import dedent
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import INLINE
from keyhole.extract.html.tree import parse_html
from keyhole.extract.html.visibility.computed_style import StyleValues
from keyhole.extract.html.visibility.hidden import MAX_WORK, Hidden, Visibility
from keyhole.extract.html.visibility.selectors import HOST, SLOTTED, Scopes
from keyhole.extract.html.wordless_elements import (
    decode_addresses,
    is_unspoken,
    mark_boxes,
    mark_embedded,
    mark_icon,
)

# Replace form fields and drawings by the words that a reader sees in them, and drop other widgets.

_DROPPED: Final = ("style", "template", "canvas", "datalist", "noembed", "noframes")
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
ITEM_REACH: Final = 40
"""Number of texts and elements of a list item that are searched for words and for a menu."""
_MENUS: Final = frozenset({"ul", "ol", "nav"})
_ICON_FONTS: Final = ("material-icons", "material-symbols")
"""Beginnings of the classes of icons whose text is the name of the icon, which a font draws instead."""
_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?")
_FIELDS: Final = ("input", "select", "textarea", "svg", "object", "meter", "progress")


def replace_widgets(root: HtmlElement) -> int:
    """Replace the fields and drawings of a tree by their words, in place. Returns the number of dropped elements.

    Checkboxes of task lists stay. Scripts are not changed.
    """
    dropped = sum(1 for _ in root.iter(*_DROPPED)) + mark_embedded(root)
    mark_boxes(root)
    decode_addresses(root)
    for element in list(root.iter(*_FIELDS)):
        if element.getparent() is None:  # removed with a field around it
            continue
        if element.tag == "input" and element.get("type", "").lower() == "checkbox" and _is_task(element):
            continue
        words = _READERS[element.tag](element)
        if not words and element.tag == "svg" and mark_icon(element):
            continue
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
    """Replace an element by a `<span>` with words, or drop it if there are none. The text after it stays.

    Several lines become a `<pre>`.
    """
    if not words:
        element.drop_tree()
        return
    for child in list(element):
        element.remove(child)
    tail = element.tail
    element.attrib.clear()
    is_block = "\n" in words
    element.tag, element.text, element.tail = ("pre", words, tail) if is_block else ("span", f" {words} ", tail)


def _read_input(element: HtmlElement) -> str:
    kind = element.get("type", "").lower()
    if kind in _WORDLESS_INPUTS:
        return ""
    words = element.get("value") or _BUTTONS.get(kind) or element.get("placeholder") or ""
    return " ".join(words.split())


def _read_select(element: HtmlElement) -> str:
    """Return the options of a list. A closed list begins with the option that it shows: `b (of a, b, c)`."""
    options = [(option.get("selected") is not None, _option_words(option)) for option in element.iter("option")]
    words = ", ".join(text for _, text in options if text)
    if len(options) < 2 or element.get("multiple") is not None or element.get("size", "1") not in {"", "0", "1"}:
        return words
    shown = ([text for chosen, text in options if chosen] or [options[0][1]])[-1]
    return f"{shown} (of {words})".lstrip()


def _option_words(option: HtmlElement) -> str:
    return " ".join((option.get("label") or "".join(option.itertext())).split())


def _read_gauge(element: HtmlElement) -> str:
    """Return the value that a gauge draws, "" for one that scripts fill."""
    value, largest = (element.get("value") or "").strip(), (element.get("max") or "").strip()
    if not _NUMBER.fullmatch(value) or float(value) == 0 or is_unspoken(element):
        return ""
    return f"{value} of {largest}" if _NUMBER.fullmatch(largest) else value


def _read_textarea(element: HtmlElement) -> str:
    text = (element.text or "").replace("\r\n", "\n").strip("\n")
    return text if "\n" in text and text.strip() else " ".join((text or element.get("placeholder") or "").split())


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
    """Return the text of an object that names no file."""
    return " ".join("".join(element.itertext()).split())


_READERS: Final = {
    "input": _read_input, "select": _read_select, "textarea": _read_textarea, "svg": _read_svg, "object": _read_object,
    "meter": _read_gauge, "progress": _read_gauge,
}  # fmt: skip


def _is_task(checkbox: HtmlElement) -> bool:
    """Return whether a checkbox belongs to an item of a task list.

    A box without words, or one with an id above a menu, is a switch of the page, such as that of its colors.
    """
    item = next((above for above in islice(checkbox.iterancestors(), TASK_DEPTH) if above.tag == "li"), None)
    if checkbox.get("disabled") is not None or next(checkbox.iterancestors("td", "th"), None) is not None:
        return True
    if next(checkbox.iterancestors("label"), None) is not None and _is_among_ticked(checkbox):
        return True
    if item is None or all(map(str.isspace, islice(item.itertext(), ITEM_REACH))):
        return False
    is_switch = checkbox.get("id") is not None and checkbox.get("disabled") is None
    return not (is_switch and any(inner.tag in _MENUS for inner in islice(item.iter(), ITEM_REACH)))


def _is_among_ticked(checkbox: HtmlElement) -> bool:
    """Return whether a box of the same form or list is ticked. Where none is, the boxes only filter the page."""
    group = next(checkbox.iterancestors("fieldset", "form", "ul", "ol"), checkbox)
    return any(each.get("checked") is not None for each in islice(group.iter("input"), ITEM_REACH))


# Put declarative shadow roots into the tree of their page, as browsers show them.
_MODES: Final = frozenset({"open", "closed"})
_HOST: Final = re.compile(r":host(?![\w-])")
_AFTER_SLOT: Final = re.compile(r"(?<=[\w\])*-])(?=::slotted\()")
_FALLBACK: Final = ""
"""The name of the slot that shows the children without a slot."""


def attach_shadow_roots(root: HtmlElement) -> Scopes:
    """Put the shadow roots of a tree into it, in place. Returns the elements that belong to a shadow root."""
    scopes: Scopes = {}
    templates = [each for each in root.iter("template") if (each.get("shadowrootmode") or "").lower() in _MODES]
    for number, template in enumerate(reversed(templates), start=1):  # those within another shadow root come first
        host = template.getparent()
        if host is not None and host is not root:
            _read_scope(template, f"{number}", scopes)
            _attach(template, host, f"{number}")
    return scopes


def name_slots(root: HtmlElement, scopes: Scopes) -> None:
    """Turn the slots of shadow roots into elements that the rest of the extraction knows."""
    for slot in list(root.iter("slot")) if scopes else ():
        slot.tag = "div" if len(slot) else "span"


def _read_scope(template: HtmlElement, scope: str, scopes: Scopes) -> None:
    """Note the elements of a shadow root, and let its style sheets select its host and its slots by attributes."""
    host, slotted = (f'[{name}="{scope}"]' for name in (HOST, SLOTTED))
    for element in template.iterdescendants("*"):
        if scopes.setdefault(element, scope) == scope and element.tag == "style":
            css = _AFTER_SLOT.sub(" > ", (element.text or "").replace(":host(", f"{host}:is("))
            element.text = _HOST.sub(host, css).replace("::slotted(", f"{slotted}:is(")


def _attach(template: HtmlElement, host: HtmlElement, scope: str) -> None:
    """Replace the content of a host by its shadow root, with the host's children in the slots that they name."""
    content, shadow_text = list(template), template.text
    template.drop_tree()
    for comment in host.xpath("comment()|processing-instruction()"):
        comment.drop_tree()
    children = list(host)
    slotted: dict[str, list[HtmlElement]] = {}
    for child in children:
        slotted.setdefault(child.get("slot") or _FALLBACK, []).append(child)
        child.set(SLOTTED, scope)
    text, host.text = host.text, shadow_text
    for child in children:
        host.remove(child)
    host.extend(content)
    host.set(HOST, scope)
    for slot in list(host.iter("slot")):
        name = slot.get("name") or _FALLBACK
        assigned = slotted.pop(name, [])
        has_text = name == _FALLBACK and bool(text and text.strip())
        if assigned or has_text:
            _fill(slot, assigned, text if name == _FALLBACK else None)
            text = None if name == _FALLBACK else text
    # Style sheets apply wherever they stand.
    host.extend(child for others in slotted.values() for child in others if child.tag in {"style", "link"})


def _fill(slot: HtmlElement, children: list[HtmlElement], text: str | None) -> None:
    for fallback in list(slot):
        slot.remove(fallback)
    slot.text = text
    slot.extend(children)


# Separate in the tree what the page's style sheets separate: blocks, the items of a row, and lines of text.
LAYOUT: Final = re.compile(
    r"display\s{0,9}:[^;]{0,40}(?:block|flex|grid|table|list-item|flow-root)|white-space|list-style", re.IGNORECASE
)
"""Text of declarations that may separate words or number a list."""
MAX_LINES: Final = 50_000
"""Number of lines of text that are separated by elements. Each costs memory."""
MAX_CODE: Final = 200_000
"""Longest text outside of `<pre>`, in characters, that is searched for the columns of code."""
_CONTAINERS: Final = frozenset({"flex", "inline-flex", "grid", "inline-grid", "-webkit-box", "-webkit-flex"})
_LINES: Final = frozenset({"block", "list-item", "flow-root", "table", "table-row", "table-cell", "flex", "grid"})
_KEPT_SPACES: Final = frozenset({"pre", "pre-wrap", "break-spaces", "preserve"})
_KEPT_LINES: Final = _KEPT_SPACES | {"pre-line", "preserve-breaks"}
_VERBATIM: Final = ("pre", "textarea", "listing", "xmp", "plaintext")
_CLOSING: Final = frozenset(",.;:!?)")
"""Signs that stand at the end of a word, however they are laid out."""
_CODE_HOLDERS: Final = frozenset({"div", "p", "span", "code", "samp", "kbd", "tt", "section", "article"})
_COLUMNS: Final = re.compile(r"\n[ \t]+(?=\S)|[^\s.!?:;,](?:\t| {2,})(?=\S)")
"""An indent, or a gap in a line, as code and columns have them. Two spaces after a sentence are none."""


def apply_layout(styles: Mapping[HtmlElement, StyleValues]) -> None:
    """Put line breaks and spaces into a tree where the styles of elements separate words, in place."""
    lines_left = MAX_LINES
    for element, style in styles.items():
        if style.get("list-style-type") and element.tag in {"ol", "li"}:
            element.set("type", style["list-style-type"][0])
        display, is_verbatim = style.get("display", "inline"), _is_verbatim(element)
        if display in _CONTAINERS:
            is_column = is_verbatim or style.get("flex-direction", "row").startswith("column")
            for child in filter(_is_inline, list(element)):
                _set_apart(child, is_line=is_column)
        elif _is_inline(element) and display in _LINES and not _is_item(element, styles):
            is_floating = style.get("float", "none") != "none"
            if not (is_floating and len(element.text_content().strip()) == 1):  # a drop cap stays in its word
                _set_apart(element, is_line=not is_floating and style.get("position") not in {"absolute", "fixed"})
        kept = set(style.get("white-space", ())) & _KEPT_LINES
        if kept and not is_verbatim and lines_left > 0:
            is_code = element.tag in _CODE_HOLDERS and kept <= _KEPT_SPACES and _is_code(element, "pre" in kept)
            if is_code:
                element.tag = "pre"
            else:
                lines_left -= _keep_lines(element, styles)


def _is_inline(element: HtmlElement) -> bool:
    """Return whether browsers place an element in a line, if no style sheet says otherwise."""
    tag = element.tag
    return isinstance(tag, str) and (tag in INLINE or tag == "button" or "-" in tag)


def _is_verbatim(element: HtmlElement) -> bool:
    return element.tag in _VERBATIM or next(element.iterancestors(*_VERBATIM), None) is not None


def _is_item(element: HtmlElement, styles: Mapping[HtmlElement, StyleValues]) -> bool:
    """Return whether an element is an item of a row, which is separated from the others already."""
    parent = element.getparent()
    return parent is not None and parent in styles and styles[parent].get("display") in _CONTAINERS


def _set_apart(element: HtmlElement, *, is_line: bool) -> None:
    """Separate an element from the words before and after it by a line break or a space."""
    parent = element.getparent()
    if parent is None or not (words := _read_beginning(element)):
        return
    previous, following = element.getprevious(), element.getnext()
    before, after = (parent.text if previous is None else previous.tail) or "", element.tail or ""
    is_after_words = bool(before.strip()) or (previous is not None and _is_inline(previous) and previous.tag != "br")
    if is_after_words and not before.endswith("\n") and words[0] not in _CLOSING:
        if is_line:
            element.addprevious(element.makeelement("br"))
        elif previous is None:
            parent.text = f"{before} "
        else:
            previous.tail = f"{before} "
    words = after.strip() or ("" if following is None or not _is_inline(following) else _read_beginning(following))
    if words and not after.startswith("\n") and words[0] not in _CLOSING:
        element.tail = f" {after}"
        if is_line:
            line_break = element.makeelement("br")
            element.tail, line_break.tail = None, after
            element.addnext(line_break)


def _read_beginning(element: HtmlElement) -> str:
    """Return the first words of an element."""
    return next((text.strip() for text in element.itertext() if not text.isspace()), "")


def _is_code(element: HtmlElement, is_exact: bool) -> bool:
    """Return whether an element that keeps its white space is lines of code or columns, not prose.

    `is_exact`: the lines are not wrapped either.
    """
    if len(text := element.text_content()) > MAX_CODE:
        return False
    text = dedent(text.strip("\n"))
    if "\n" not in text.strip() or not (is_exact or _COLUMNS.search(text)):
        return False
    return all(_is_inline(each) and each.tag not in {"a", "img"} for each in element.iterdescendants())


def _keep_lines(element: HtmlElement, styles: Mapping[HtmlElement, StyleValues]) -> int:
    """Put a line break in the place of each line break of a text. Returns the number of line breaks."""
    count = 0
    stack = [element]
    while stack:
        inner = stack.pop()
        if inner.tag in _VERBATIM or (inner is not element and "white-space" in styles.get(inner, ())):
            continue
        children = list(inner)
        stack += children
        for place, child in [(0, None), *((number, child) for number, child in enumerate(children, start=1))][::-1]:
            text = (inner.text if child is None else child.tail) or ""
            if "\n" not in text or (text.isspace() and not (child is not None and _is_between_words(child))):
                continue
            first, *lines = text.split("\n")
            count += len(lines)
            if child is None:
                inner.text = first
            else:
                child.tail = first
            for line in reversed(lines):
                line_break = inner.makeelement("br")
                line_break.tail = line
                inner.insert(place, line_break)
    return count


def _is_between_words(element: HtmlElement) -> bool:
    """Return whether an element and the next one are in a line."""
    following = element.getnext()
    return following is not None and _is_inline(element) and _is_inline(following)


# Remove hidden elements and hidden text, and apply the steps above.
HIDDEN_PAGE: Final = "hidden_page"
"""The notice of a page that hides its content until its scripts run."""
EMPTY_CHARS: Final = 200
"""A page with fewer visible characters is empty: it shows a heading, a spinner or a notice about cookies."""
MENU_CHARS: Final = 2_500
"""A page with fewer visible characters may show only its menus and footer, if one hidden element holds the rest."""
MIN_BLOCKS: Final = 6
"""Smallest number of paragraphs, headings and other blocks in a hidden element that holds the content of a page."""
PAGE_CHARS: Final = 500
"""A hidden part with fewer characters is never the content of a page."""
PAGE_SHARE: Final = 0.8
"""A page hides its content if at least this share of its text is hidden."""
PART_SHARE: Final = 0.1
"""A hidden part with a smaller share of the page's text stays hidden, even if the page hides its content."""
FADED_SHARE: Final = 0.5
"""A page fades its content in by scripts if blocks with at least this share of its text, or of its paragraphs, are
transparent."""
MIN_FADED_SHARE: Final = 0.25
"""Smallest share of a page's text in transparent blocks that are its content. Menus and footers may be most of it."""
_MAX_ROUNDS: Final = 8
"""Largest number of nested hidden elements, such as `<html>` and `<body>`, that are shown one by one."""
MAX_FRAMES: Final = 10
"""Number of frames of a page that are opened."""
MIN_FRAME_WORK: Final = 100
"""Smallest limit of comparisons with which a frame is opened. Deeply nested frames have a smaller limit."""

_STREAMED_ID: Final = re.compile(r"S:[0-9a-f]+")
"""The id of a hidden part that React streams. A script moves it into place."""
_MATHJAX_OUTPUT: Final = frozenset({"MathJax", "MathJax_Display", "MathJax_Preview", "MJX_Assistive_MathML"})
"""Classes of the elements that MathJax renders beside the script with a formula's TeX."""
_FORMULA: Final = re.compile(r"\b(?:mwe-math-mathml|mwe-math-fallback-image|katex-mathml|MJX_Assistive_MathML)")
"""Classes of a formula that is hidden because an image or other markup shows it."""
_ARIA_HIDDEN: Final = etree.XPath("descendant::*/@aria-hidden")
_COUNT_COMMENTS: Final = etree.XPath("count(descendant::comment()) + count(preceding-sibling::comment())")

NOSCRIPT_SHARE: Final = 0.5
"""`<noscript>` stays if its text is at least this share of the other text: some forums send their threads in it."""
NOSCRIPT_MIN_CHARS: Final = 200
"""`<noscript>` elements with fewer characters only ask to enable scripts, and are removed."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """The outcome of pruning."""

    counts: tuple[tuple[str, int], ...]
    """The number of removed nodes of each kind."""
    shows_hidden_page: bool = False
    """True if the page hides its content until its scripts run, and the content was kept."""


def prune(root: HtmlElement, work: int = MAX_WORK) -> Pruned:
    """Remove the invisible nodes of a tree in place.

    Elements inside a removed element, and elements without text, are not counted. `work` limits comparisons with
    selectors.
    """
    comments = int(_COUNT_COMMENTS(root))
    scopes = attach_shadow_roots(root)
    _show_noframes(root)
    visibility = Visibility(root, scopes, work)
    hidden, shows_hidden_page = _find_hidden(root, visibility)
    styles = {} if hidden.is_estimate else visibility.find_styles(LAYOUT)
    removed = _remove_hidden(root, hidden)
    name_slots(root, scopes)
    _open_frames(root, work // MAX_FRAMES**2)
    scripts = _drop_scripts(root)
    unspoken = [value.getparent() for value in _ARIA_HIDDEN(root) if value == "true"]
    _drop_katex_output(root, unspoken)
    scripts += replace_widgets(root) + drop_icons(unspoken)
    etree.strip_tags(root, etree.Comment, etree.PI, etree.Entity)
    scripts += _drop_noscript(root)
    apply_layout(styles)
    counts = {"scripts": scripts, "hidden": removed, "comments": comments}
    return Pruned(tuple((kind, count) for kind, count in counts.items() if count), shows_hidden_page)


def _find_hidden(root: HtmlElement, visibility: Visibility) -> tuple[Hidden, bool]:
    """Return the hidden parts without the page's content, and whether the page hides its content until scripts run."""
    hidden = visibility.find_hidden()
    forgiven = {element for element in [*hidden.boxes, *hidden.veils] if _is_shown_otherwise(element)}
    if forgiven:
        hidden = visibility.find_hidden(forgiven)
    shows_page = hidden.is_doubtful
    for _ in range(_MAX_ROUNDS):
        parts = _find_content(root, hidden)
        if not parts:
            break
        shows_page = True
        forgiven |= parts
        hidden = visibility.find_hidden(forgiven)
    return hidden, shows_page


def _show_noframes(root: HtmlElement) -> None:
    """Show the text beside the frames of a frameset, which are not read, as a page in a frame."""
    for element in list(root.iter("noframes")) if next(root.iter("frameset"), None) is not None else ():
        element.set("srcdoc", element.text or "")
        element.tag, element.text = "iframe", None


def _open_frames(root: HtmlElement, work: int) -> None:
    """Put the pages in the `srcdoc` of frames into the tree of their page. `work` limits the comparisons for each."""
    for frame in list(islice(root.iter("iframe"), MAX_FRAMES)) if work >= MIN_FRAME_WORK else ():
        if page := frame.get("srcdoc"):
            inner = parse_html(page)
            prune(inner, work)
            tail = frame.tail
            frame.clear()
            frame.tag, frame.tail = "div", tail
            for body in inner.iterchildren("body"):
                frame.text = body.text
                frame.extend(list(body))


def _is_shown_otherwise(element: HtmlElement) -> bool:
    """Return whether a hidden element is a formula that is shown in another way, or a part that React streams."""
    is_formula = element.tag == "mjx-assistive-mml" or _FORMULA.search(element.get("class") or "") is not None
    return is_formula or _STREAMED_ID.match(element.get("id") or "") is not None


def _find_content(root: HtmlElement, hidden: Hidden) -> set[HtmlElement]:
    """Return the hidden elements that hold the content of a page which would be empty without them."""
    concealing = [*hidden.boxes, *hidden.veils]
    parts = {element: _count_chars(element) for element in concealing}
    if sum(parts.values()) < PAGE_CHARS:
        return set()
    total = _count_chars(root)
    outermost = {
        element: length
        for element, length in parts.items()
        if not any(above in parts for above in element.iterancestors())
    }
    faded = {element: outermost[element] for element in outermost if element in hidden.faded or element in hidden.veils}
    if _is_faded_in(root, faded, total):
        blocks = {element: _count_blocks(element) for element in faded}
        if sum(blocks.values()) >= MIN_BLOCKS:
            return {element for element, count in blocks.items() if count}
    concealed = sum(outermost.values())
    visible = total - concealed
    if visible < EMPTY_CHARS and concealed >= max(PAGE_CHARS, PAGE_SHARE * total):
        return {element for element, length in outermost.items() if length >= PART_SHARE * concealed}
    if visible < MENU_CHARS:
        return {
            element
            for element, length in outermost.items()
            if length >= max(PAGE_CHARS, PAGE_SHARE**2 * total) and _has_structure(element)
        }
    return set()


def _is_faded_in(root: HtmlElement, faded: dict[HtmlElement, int], total: int) -> bool:
    """Return whether transparent elements hold most of the text of a page, or most of its paragraphs."""
    chars = sum(faded.values())
    if chars < max(PAGE_CHARS, MIN_FADED_SHARE * total):
        return False
    return chars >= FADED_SHARE * total or sum(map(_count_prose, faded)) >= FADED_SHARE * max(1, _count_prose(root))


def _count_prose(element: HtmlElement) -> int:
    """Return the number of characters of the paragraphs in an element, without white space."""
    return sum(_count_all(each) for each in element.iter("p") if _is_read(each))


def _count_blocks(element: HtmlElement) -> int:
    """Return the number of paragraphs and headings in an element, up to the number that the content of a page has."""
    return sum(1 for _ in islice(element.iter("p", "h1", "h2", "h3", "h4"), MIN_BLOCKS))


def _has_structure(element: HtmlElement) -> bool:
    """Return whether an element contains as many blocks as the content of a page has."""
    return sum(1 for _ in islice(element.iter("p", "div", "section", "h1", "h2", "h3", "li"), MIN_BLOCKS)) == MIN_BLOCKS


def _remove_hidden(root: HtmlElement, hidden: Hidden) -> int:
    """Remove hidden text and hidden elements. Returns how many elements with text are removed or lose their text."""
    removed = 0
    letters, boxes = (
        [element for element in elements if not any(above in hidden.boxes for above in element.iterancestors())]
        for elements in (hidden.letters, hidden.boxes)
    )
    for element in letters:
        had_text = _remove_own_text(element)
        removed += had_text and element.getparent() not in hidden.letters
    for element in boxes:
        removed += _has_text(element)
        if element is root or element.tag == "body":
            element.text = None
            for child in list(element):
                element.remove(child)
        else:
            element.drop_tree()
    return removed


def _remove_own_text(element: HtmlElement) -> bool:
    """Replace the text directly in an element by spaces, which keep words around it apart."""
    had_text = bool(element.text and element.text.strip())
    element.text = " " if element.text else None
    for child in element:
        had_text = had_text or bool(child.tail and child.tail.strip())
        child.tail = " " if child.tail else None
    return had_text


def _drop_scripts(root: HtmlElement) -> int:
    """Drop scripts, except TeX for MathJax, and renderings of formulas. Returns the number of dropped scripts."""
    scripts = list(root.iter("script"))
    others = [each for each in scripts if not (each.get("type") or "").startswith("math/tex")]
    if len(others) == len(scripts):
        etree.strip_elements(root, "script", with_tail=False)
    else:
        for element in others:
            element.drop_tree()
        for element in list(root.iter("span", "div")):
            if _MATHJAX_OUTPUT & set((element.get("class") or "").split()) and _is_below(element, root):
                element.drop_tree()
    return len(others)


def _drop_katex_output(root: HtmlElement, unspoken: list[HtmlElement]) -> None:
    """Drop what KaTeX renders beside a formula's TeX: elements that screen readers do not read."""
    for element in unspoken:
        is_output = "katex-html" in (element.get("class") or "")
        is_second = is_output and next(element.itersiblings("span", preceding=True), None) is not None
        if is_second and _is_below(element, root):
            element.drop_tree()


def _drop_noscript(root: HtmlElement) -> int:
    """Drop `<noscript>` elements, unless they contain much of the page's text. Returns the number dropped."""
    noscripts = [(element, _count_chars(element)) for element in root.iter("noscript")]
    if all(length < NOSCRIPT_MIN_CHARS for _, length in noscripts):
        # Most pages have no longer ones, so the text of the rest need not be counted.
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


def _has_text(element: HtmlElement) -> bool:
    return any(text and not text.isspace() for text in element.itertext())


def _is_below(element: HtmlElement, root: HtmlElement) -> bool:
    """Return whether an element is still in the tree and is not the root."""
    return any(above is root for above in element.iterancestors(root.tag))


_UNREAD: Final = ("script", "style", "template", "head", "svg")
"""Elements whose text is not read as text of the page."""
_SPACE: Final = b" \t\n\r\f\v"


def _count_chars(element: HtmlElement) -> int:
    """Return the number of characters of an element's text, without white space, scripts and style sheets."""
    if element.tag in _UNREAD or not _is_read(element):
        return 0
    return _count_all(element) - sum(_count_all(each) for each in element.iterdescendants(*_UNREAD) if _is_read(each))


def _is_read(element: HtmlElement) -> bool:
    """Return whether none of an element's ancestors is in `_UNREAD`."""
    return next(element.iterancestors(*_UNREAD), None) is None


def _count_all(element: HtmlElement) -> int:
    """Return the number of characters of all text in an element, without white space."""
    text = etree.tostring(element, encoding="utf-8", method="text", with_tail=False).translate(None, _SPACE).decode()
    return len(text) if text.isascii() else len("".join(text.split()))
