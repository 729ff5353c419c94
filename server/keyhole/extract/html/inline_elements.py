"""Write the inline elements of a page: links, images, emphasis, code, formulas and footnote references."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml.html import HtmlElement

from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.markdown_builder import SUP_SUB_TAGS, MarkdownBuilder
from keyhole.extract.html.part_labels import TAB_END, TAB_LABEL
from keyhole.extract.html.verbatim import (
    delimit,
    escape_formula,
    read_code,
    read_mathjax_script,
    read_mathml,
    read_rendering,
    strip_style,
)
from keyhole.extract.html.wordless_elements import EMBEDDED
from keyhole.text.clean import clean, has_suspect_characters
from keyhole.text.escape import escape_markdown

# Permalinks.

_PERMALINK_CLASS = re.compile(
    r"\b(?:permalink|head(?:er|ing)-?(?:link|anchor)|(?:hash|self|direct)-?link|anchor(?:js)?(?:-?link)?|headline-hash)\b"
)
_SIGNS = re.compile(r"[¶§#🔗⚓∞↩↑⇧⤴⏎↵⬆^\ue000-\uf8ff\ufe0e\ufe0f\s.]*")
"""The text of a link that is only a sign, also of an icon font (private use), or is empty."""
_INDEXED_SIGNS: Final = frozenset({"#", "."})
"""Signs that are also entries of an index of letters, beside other links. Such a sign is a word of the page."""
_UNMISTAKABLE_SIGNS: Final = frozenset({"¶", "§", "🔗"})
_UNMISTAKABLE = re.compile(r"permalink(?: (?:to|for) .*)?|link to this (?:heading|headline|section|definition|item)\.?")
_DESCRIPTIONS = re.compile(r"(?:(?:direct |anchor |copy )?link|anchor)(?: (?:to|for) .*)?|section titled .*")
_MAX_PERMALINK: Final = 200
"""Largest length of the text of a heading's link to itself, in characters. The text may name the heading."""
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt"})


def is_permalink(link: HtmlElement, *, is_same_page: bool) -> bool:
    """Return whether a link with a fragment is a permalink: only a sign, or a heading's link to itself in words.

    A sign means "link here", so it is no word of the page. The words "permalink" and "link to this heading" say the
    same anywhere on the page; "link" and "anchor" only in a heading or a link of a telling class.
    """
    text = ""
    for part in link.itertext():
        text += part
        if len(text) > _MAX_PERMALINK:
            return False
    text = clean(text).strip().lower()
    if not text:
        image = next(link.iter("img"), None)
        text = (image.get("alt") or "").strip().lower() if image is not None else ""
    if text in _INDEXED_SIGNS and _stands_beside_link(link):
        return False
    is_sign = _SIGNS.fullmatch(text) is not None
    if text in _UNMISTAKABLE_SIGNS or (is_same_page and (is_sign or _UNMISTAKABLE.fullmatch(text))):
        return True
    if not (is_sign or _UNMISTAKABLE.fullmatch(text) or _DESCRIPTIONS.fullmatch(text)):
        return False
    parent = link.getparent()
    is_in_heading = parent is not None and parent.tag in _HEADINGS
    return is_in_heading or _PERMALINK_CLASS.search((link.get("class") or "")[:200].lower()) is not None


def _stands_beside_link(link: HtmlElement) -> bool:
    return any(beside is not None and beside.tag == "a" for beside in (link.getprevious(), link.getnext()))


def find_only_link(element: HtmlElement) -> str:
    """Return the URL of a link that contains all text of an element, or ""."""
    if len(element) != 1 or element[0].tag != "a":
        return ""
    outside = f"{element.text or ''}{element[0].tail or ''}"
    return "" if outside.strip() else element[0].get("href") or ""


# Images: decide whether a description says nothing, repeats words of the text, or tells what a picture shows.

MAX_DESCRIPTION: Final = 300
"""Largest length of an image's description, in characters. Longer ones are captions, which the page repeats."""
_GENERIC = re.compile(
    r"(?:(?:the |our |site |website |company |brand |main |header |footer |mobile )*logo(?: image)?"
    r"|(?:user |profile |author |member )?(?:avatar|icon|photo|picture|image|img|pic|thumbnail|thumb)"
    r"|placeholder|spacer|blank|loading\W*|banner|hero(?: image)?|featured image|background(?: image)?"
    r"|(?:image|photo|picture|slide|img|dsc|screenshot)[ _-]?\d+)"
)
"""A description that says only that there is an image."""
_LOGO = re.compile(r".{0,80}\blogo\W*")
_HOME = re.compile(r"(?:https?://[^/]+)?/?")
"""The address of a site's home page, to which its logo leads."""
_ICON_NAME = re.compile(r"\b(?:icon|img|image|arrow|chevron|button|logo)\b")
_FILE_NAME = re.compile(r"\S+\.(?:jpe?g|png|gif|webp|svg|avif|bmp)")
_ICON_SIZE: Final = 32
"""Largest width and height of an icon, in pixels. In a sentence or a table cell its description is a word."""
_SOURCES: Final = ("data-src", "data-original", "data-lazy-src", "src")
"""The attributes with the address of a picture. Where scripts load it, `src` is a placeholder."""
_FIGURE_REACH: Final = 6
"""Number of elements above a picture that are searched for a figure."""
_MAX_SOURCE: Final = 300
"""Largest length of the address of a picture. Longer ones are made by services that resize pictures."""
_WORD = re.compile(r"\w+")
MAX_COMPARED: Final = 300
"""Different descriptions that are searched for in the text, which takes a fraction of a millisecond for each."""
_LABELLED: Final = frozenset({"a", "figure", "button"})
"""Elements that show an image together with its title."""
_LABEL_REACH: Final = 3
"""Number of elements above an image that are searched for one in `_LABELLED`."""
_LABEL_TEXTS: Final = 40
"""Number of text nodes of a labelled element that are compared with the description."""


class ImageRole(Enum):
    """The role of an image for its reader."""

    DECORATION = "decoration"
    WORD = "word"
    PICTURE = "picture"


def read_alt_text(attributes: Mapping[str, str]) -> str:
    """Return an image's description, truncated to `MAX_DESCRIPTION` and without square brackets."""
    label = attributes.get("aria-label") if attributes.get("role") == "img" else ""
    text = " ".join(clean((attributes.get("alt") or label or "")[: 2 * MAX_DESCRIPTION]).split())
    return text[:MAX_DESCRIPTION].replace("[", "(").replace("]", ")")


def find_role(image: HtmlElement, description: str) -> ImageRole:
    """Return the role of an image with a description.

    A decoration is the icon of a link with words, or its description is generic, is the name of a file, or repeats its
    label. A word is an emoji, another icon, the only content of a link, or the description of an image without an
    address, which browsers show in its place.
    """
    attributes = image.attrib
    if not description or attributes.get("role") in {"presentation", "none"} or is_pixel(image):
        return ImageRole.DECORATION
    words = description.lower()
    if _GENERIC.fullmatch(words) or _FILE_NAME.fullmatch(words):
        return ImageRole.DECORATION
    if not any("src" in name for name in attributes):
        return ImageRole.WORD
    if "emoji" in (attributes.get("class") or "")[:200]:
        return ImageRole.WORD
    is_icon = _is_icon(attributes)
    holder = next((above for above in islice(image.iterancestors(), _LABEL_REACH) if above.tag in _LABELLED), None)
    if holder is None and not is_icon:
        return ImageRole.PICTURE
    label = _read_text(image.getparent() if holder is None else holder)
    if words in label or (is_icon and ((holder is not None and label) or _ICON_NAME.search(words))):
        return ImageRole.DECORATION
    if holder is not None and holder.tag == "a":
        if _LOGO.fullmatch(words) and _HOME.fullmatch(holder.get("href") or "#"):
            return ImageRole.DECORATION
        return ImageRole.PICTURE if label else ImageRole.WORD
    return ImageRole.WORD if is_icon else ImageRole.PICTURE


def _list_words(text: str) -> str:
    """Return the words of a text in lower case, each between spaces."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def is_pixel(image: HtmlElement) -> bool:
    """Return whether an image is a spacer or a tracking pixel."""
    return image.get("width") in {"0", "1"} and image.get("height") in {"0", "1", None}


def _is_alone_in_cell(image: HtmlElement) -> bool:
    """Return whether an image is all that its table cell shows, such as a tick."""
    cell = next(image.iterancestors("td", "th"), None)
    return cell is not None and not _read_text(cell) and sum(1 for _ in islice(cell.iter("img"), 2)) == 1


def _is_icon(attributes: Mapping[str, str]) -> bool:
    sizes = (attributes.get("width") or "", attributes.get("height") or "")
    return all(size.isdecimal() and len(size) < 4 and int(size) <= _ICON_SIZE for size in sizes)


def _read_text(element: HtmlElement) -> str:
    """Return the beginning of an element's text, in lower case and in one line."""
    return " ".join("".join(islice(element.itertext(), _LABEL_TEXTS)).split()).lower()


# Footnotes: references, notes and return links.

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


# Read the formula that an image shows from its description, its title or its address.

_CLASSES = frozenset({
    "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display", "math", "tex", "latex", "texhtml",
})  # fmt: skip
_DELIMITED = re.compile(
    r"\s*(?:\$\$(?P<a>[^$]+)\$\$|\\\[(?P<b>.+)\\\]|\$(?P<c>[^$]+)\$|\\\((?P<d>.+)\\\))\s*", re.DOTALL
)
_COMMAND = re.compile(r"\\(?:[a-zA-Z]{2,}(?=[\s{}_^\\()\[\]=+,.-]|$)|[,;!{}])|[\w)}]\^[\w{(]|\w_\{")
"""A TeX command, a power or an index. Words with an underscore do not match."""
_ADDRESS = re.compile(
    r"(?:codecogs\.com/\w+\.(?:latex|image)\?|latex\.php\?latex=|equation\?tex=|\?cht=tx&chl=)([^&#]+)"
)
"""The address of a service that draws the formula in its query."""
_MAX_ADDRESS: Final = 4_000
"""Largest length of an address that is read, in characters."""


def read_formula_image(image: HtmlElement) -> str:
    """Return the TeX of a formula's image, or "" for other images."""
    alt = image.get("alt") or ""
    if match := _DELIMITED.fullmatch(alt):
        return delimit(match["a"] or match["b"] or match["c"] or match["d"], is_display=bool(match["a"] or match["b"]))
    tex = strip_style(alt) or strip_style(image.get("title") or "")
    if not _CLASSES.isdisjoint((image.get("class") or "")[:200].split()):
        return delimit(tex, is_display=False)
    parent = image.getparent()
    for above in (parent, None if parent is None else parent.getparent()):
        if above is not None and above.tag == "div" and above.get("class") == "math":
            return delimit(tex, is_display=True)
    if alt and ":\\" not in alt and _COMMAND.search(alt[:_MAX_ADDRESS]):  # ":\\" is in the path of a file
        return delimit(strip_style(alt), is_display=False)
    address = image.get("src") or ""
    if "?" in address and (match := _ADDRESS.search(address[:_MAX_ADDRESS])):
        return delimit(unquote(match[1]).replace("+", " ") if "%" in match[1] else match[1], is_display=False)
    return ""


def _read_following(element: HtmlElement) -> str:
    """Return the text after an element that is perhaps the last one in an inline element."""
    above: HtmlElement | None = element
    while above is not None and not above.tail and above.getnext() is None and above.tag in {*_WRAPPERS, element.tag}:
        above = above.getparent()
    return "" if above is None else above.tail or ""


# Write the inline elements of a page: links, images, emphasis, code, formulas and footnote references.

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CODE_BLOCKS = ("pre", "p", "div", "table", "ul", "ol", "dl", "li", "blockquote", *sorted(HEADINGS))
_OPENING: Final = ("(", "“", "„", "«", "'", '"')
_CLOSING: Final = (",", ".", ";", ":", "!", "?", ")", "”", "»", "'", '"', "…")
"""Signs before and after a button that stand close to its words."""
_WRAPPERS: Final = frozenset({"span", "b", "strong", "i", "em", "label"})
_BUTTON_TEXTS: Final = 20
"""Number of text nodes of a button that are searched for words. A button with more is assumed to have words."""
_MATH_REACH: Final = 8
"""Number of elements searched at the beginning of a wrapper that may contain a formula as `<math>` and as an image."""

EndAction = Callable[[], None]


class InlineWriter:
    """A writer of a page's inline elements to a `MarkdownBuilder`.

    Each `start_…` method begins an element and returns whether its content must be walked. The stack `_open_elements`
    contains the actions to run at the end of each element.
    """

    def __init__(self, region: HtmlElement, links: LinkResolver) -> None:
        self.builder = MarkdownBuilder(has_suspect_characters=has_suspect_characters(region.text_content()))
        self._region, self._links = region, links
        self._described: set[str] = set()
        """The descriptions of the pictures so far."""
        self._footnotes = find_footnotes(region, self._links)
        self._open_elements: list[tuple[HtmlElement, EndAction]] = []
        self._is_in_code = False

    def _open_mark(self, element: HtmlElement, kind: str, **attributes: str) -> bool:
        mark = self.builder.open_mark(kind, attributes)
        if mark is not None:
            self._open_elements.append((element, lambda: self.builder.close_mark(mark)))
        return True

    def start_link(self, element: HtmlElement) -> bool:
        """Begin a link. A link to a place on the page itself is written as its text alone."""
        href = element.get("href")
        if not href:
            return self._open_mark(element, "span")
        address = self._links.resolve(href)
        if "#" in href:
            if element in self._footnotes.references:
                self.builder.add_markdown(f"[^{self._footnotes.references[element]}]")
                return False
            if element in self._footnotes.unmatched:
                # Without brackets, a reference would be a power.
                self.builder.add_text(f"[{self._footnotes.unmatched[element]}]")
                return False
            if is_permalink(element, is_same_page=not address):
                return False
        # A link without an address is plain text, which the builder keeps apart from other links.
        return self._open_mark(element, "a", href=address) if address else self._open_mark(element, "span")

    def start_image(self, element: HtmlElement) -> bool:
        if tex := read_formula_image(element):
            parent = element.getparent()
            # Search only the beginning: a paragraph of a thousand such images is searched for each image.
            if parent is None or not any(near.tag == "math" for near in islice(parent.iter(), _MATH_REACH)):
                self.builder.add_markdown(escape_formula(tex))
            return False
        text = read_alt_text(element.attrib)
        role = find_role(element, text)
        if role is ImageRole.WORD:
            self.builder.keep_apart()
            self.builder.add_text(text)
            self.builder.keep_apart()
        elif role is ImageRole.PICTURE:
            # Write no Markdown image: a client that renders it would fetch it and reveal the reader to the site.
            if self._is_new(text) or (self.builder.is_in_cell and _is_alone_in_cell(element)):
                address = self._find_address(element)
                self.builder.add_markdown(f"[Image: {escape_markdown(text)}]" + (f"({address})" if address else ""))
            else:
                self.builder.keep_apart()
        elif not is_pixel(element):
            self.builder.keep_apart()
        return False

    def _find_address(self, image: HtmlElement) -> str:
        """Return the address of a picture of an article's own, which stands in a figure or alone in a paragraph.

        Return "" for other pictures, in a link, which leads elsewhere, and for data and long addresses.
        """
        is_own = any(above.tag == "figure" for above in islice(image.iterancestors(), _FIGURE_REACH))
        parent = image.getparent()
        is_own = is_own or (parent is not None and parent.tag == "p" and not _read_text(parent))
        if not is_own or self.builder.has_mark("a"):
            return ""
        sources = [image.get(name) or "" for name in _SOURCES]
        first = next((source for source in sources if source and not source.startswith("data:")), "")
        address = self._links.resolve(first) if len(first) <= _MAX_SOURCE else ""
        return address if address.startswith(("/", "http")) else ""

    def start_embedded(self, element: HtmlElement) -> bool:
        """Write the name of a file or page that the page embeds, as a link to it."""
        self.builder.keep_apart()
        self.start_link(element)
        self.builder.add_text(element.get("title") or "")
        self._open_elements.append((element, self.builder.keep_apart))
        return True

    def _is_new(self, description: str) -> bool:
        """Return whether a picture's description says more than the text and the pictures before it."""
        words = _list_words(description)
        is_new = words not in self._described and not (
            len(self._described) < MAX_COMPARED and words in self._text_words
        )
        self._described.add(words)
        return is_new

    @cached_property
    def _text_words(self) -> str:
        return _list_words(self._region.text_content())

    def start_line_break(self, _element: HtmlElement) -> bool:
        self.builder.add_line_break()
        return False

    def start_strong(self, element: HtmlElement) -> bool:
        """Begin strong emphasis. The words of a button are bold only by its design."""
        parent = element.getparent()
        return (parent is not None and parent.tag == "button") or self._open_mark(element, "strong")

    def start_emphasis(self, element: HtmlElement) -> bool:
        return self._open_mark(element, "em")

    def start_deletion(self, element: HtmlElement) -> bool:
        return self._open_mark(element, "del")

    def start_quotation(self, element: HtmlElement) -> bool:
        return self._open_mark(element, "q")

    def start_code(self, element: HtmlElement) -> bool:
        """Write inline code, and a link that contains all of it. `<code>` around blocks is ignored."""
        if self._is_in_code:
            return True
        if next(element.iter(*_CODE_BLOCKS), None) is not None:
            self._is_in_code = True
            self._open_elements.append((element, self._end_code))
            return True
        address = self._links.resolve(find_only_link(element))
        link = self.builder.open_mark("a", {"href": address}) if address else None
        has_breaks = next(element.iter("br"), None) is not None
        for number, line in enumerate(read_code(element).split("\n") if has_breaks else [element.text_content()]):
            if number:
                self.builder.add_line_break()
            self.builder.add_code(line)
        if link is not None:
            self.builder.close_mark(link)
        return False

    def _end_code(self) -> None:
        self._is_in_code = False

    def start_script(self, element: HtmlElement) -> bool:
        """Write the TeX of a MathJax script and skip other scripts."""
        if (element.get("type") or "").startswith("math/tex"):
            self._write_formula(read_mathjax_script(element))
        return False

    def start_sup_sub(self, element: HtmlElement) -> bool:
        if not (self.builder.has_mark("sup") or self.builder.has_mark("sub")):
            return self._open_mark(element, element.tag)
        parent, before = element.getparent(), element.getprevious()
        text = None if parent is None else parent.text if before is None else before.tail
        if parent is not None and parent.tag in SUP_SUB_TAGS and text and text[-1].isalnum():
            has_signs = not element.text_content().strip().isalnum()
            self.builder.add_text(("^" if element.tag == "sup" else "_") + "(" * has_signs)
            if has_signs:
                self._open_elements.append((element, lambda: self.builder.add_text(")")))
        return True

    def start_rendering(self, element: HtmlElement) -> bool:
        """Write a formula that a script of the page has rendered, or nothing if its source follows."""
        formula = read_rendering(element)
        if formula:
            self._write_formula(formula)
        return formula is None

    def start_math(self, element: HtmlElement) -> bool:
        self._write_formula(read_mathml(element))
        return False

    def _write_formula(self, tex: str) -> None:
        tex = escape_formula(tex)
        if tex.startswith("$$") and not self.builder.is_in_cell and not self.builder.heading_level:
            self.builder.add_block("math", tex, {})
        elif tex:
            self.builder.add_markdown(" ".join(tex.split()))

    def start_ruby_text(self, element: HtmlElement) -> bool:
        """Write the pronunciation of the preceding characters."""
        return self._open_mark(element, "rt")

    def start_button(self, element: HtmlElement) -> bool:
        """Write the words of a button. A button without words is skipped, and so is a sign to copy a heading's link."""
        parts = list(islice(element.itertext(), _BUTTON_TEXTS))
        if len(parts) < _BUTTON_TEXTS and all(part.isspace() for part in parts):
            return False
        parent = element.getparent()
        if parent is not None and parent.tag in _HEADINGS and _SIGNS.fullmatch("".join(parts)):
            return False
        if not self.builder.preceding.endswith(_OPENING):
            self.builder.add_text(" ")
        if not _read_following(element).startswith(_CLOSING):
            self._open_elements.append((element, lambda: self.builder.add_text(" ")))
        return True

    def skip(self, _element: HtmlElement) -> bool:
        return False

    def start_input(self, element: HtmlElement) -> bool:
        """Write the checkbox of a task list."""
        if element.get("type") == "checkbox":
            self.builder.add_markdown("[x] " if element.get("checked") is not None else "[ ] ")
        return False

    def start_tab_label(self, _element: HtmlElement) -> bool:
        self.builder.add_markdown("=== ")
        return True

    def start_tab_end(self, _element: HtmlElement) -> bool:
        if not self.builder.is_in_cell:
            self.builder.add_block("tab_end", "===", {})
        return False


INLINE_ELEMENTS: Final[dict[str, Callable[[InlineWriter, HtmlElement], bool]]] = {
    **dict.fromkeys(("b", "strong"), InlineWriter.start_strong),
    **dict.fromkeys(("i", "em"), InlineWriter.start_emphasis),
    **dict.fromkeys(("del", "s", "strike"), InlineWriter.start_deletion),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), InlineWriter.start_code),
    **dict.fromkeys(("sup", "sub"), InlineWriter.start_sup_sub),
    **dict.fromkeys(("rp", "style", "template"), InlineWriter.skip),
    "a": InlineWriter.start_link,
    "img": InlineWriter.start_image,
    "br": InlineWriter.start_line_break,
    "q": InlineWriter.start_quotation,
    "script": InlineWriter.start_script,
    **dict.fromkeys(("math", "m:math", "mml:math"), InlineWriter.start_math),
    "mjx-container": InlineWriter.start_rendering,
    "rt": InlineWriter.start_ruby_text,
    "input": InlineWriter.start_input,
    "button": InlineWriter.start_button,
    EMBEDDED: InlineWriter.start_embedded,
    TAB_LABEL: InlineWriter.start_tab_label,
    TAB_END: InlineWriter.start_tab_end,
}
"""The method that begins each inline element."""
