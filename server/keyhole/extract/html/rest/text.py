"""Write the rest of a page as Markdown: each part under a line that names its kind.

Menus and footers make up half of an average page. So short blocks are written as plain lines with links, which takes a
tenth of the time of the converter for the main part. Tables, code and boxes of sentences are converted like the main
part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, Place, Segments, TextBlock
from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.links import LinkResolver, escape_label
from keyhole.extract.html.rest.parts import PagePart, find_parts, remove_parts
from keyhole.text.clean import clean, has_suspect_characters
from keyhole.text.escape import escape_markdown
from keyhole.text.rest import format_rest_cut, format_rest_line

MAX_REST_CHARS: Final = 200_000
"""Longest rest of a page that is kept. Menus have a few thousand characters; a longer rest is a catalogue of links."""
PROSE_SHARE: Final = 0.5
"""A box with at least this share of sentences is converted like the main part."""
MAX_INLINE_DEPTH: Final = 30
"""Depth of inline elements that are searched for links. Deeper nesting comes from unclosed tags."""
_STRUCTURE = re.compile(r"(?=#{1,6}(?:\s|$)|~{3}|(?:=+|-+)$)")
"""The start of a line that Markdown would read as a heading, a fence, or the underline of a heading."""


def take_rest(segments: Segments, is_main: list[bool], links: LinkResolver) -> str:
    """Remove the blocks that are not main from their tree and return them as Markdown, "" if all blocks are main.

    A rest longer than `MAX_REST_CHARS` is shortened and ends with a line that says so.
    """
    parts = find_parts(segments, is_main)
    if not parts:
        return ""
    has_suspects = has_suspect_characters("".join([block.text for block in segments.blocks]))
    writer = _RestWriter(links, _escape_suspect if has_suspects else escape_markdown)
    rest = "\n".join(map(writer.write_part, parts))
    remove_parts(parts)
    if len(rest) <= MAX_REST_CHARS:
        return rest
    end = rest.rfind("\n", 0, MAX_REST_CHARS) + 1 or MAX_REST_CHARS
    return f"{rest[:end]}\n{format_rest_cut(len(rest) - end)}\n"


class _RestWriter:
    """A writer of the parts of one page."""

    def __init__(self, links: LinkResolver, escape: Callable[[str], str]) -> None:
        self._links = links
        self._escape = escape

    def write_part(self, part: PagePart) -> str:
        """Return a part as Markdown that ends with a line break."""
        line = self._escape(format_rest_line(part.kind, part.heading))
        texts = [text for box, blocks in part.pieces for text in self._write_piece(box, blocks)]
        return f"{line}\n\n{_join_lines(texts)}\n"

    def _write_piece(self, box: Box | None, blocks: list[TextBlock]) -> Iterator[str]:
        if box is not None and box.prose_bytes >= PROSE_SHARE * box.size:
            yield self._convert(box.element)
            return
        for block in blocks:
            element, place = block.parts[0]
            if place is Place.INSIDE and element is block.box.element:  # a table, code or another structure
                yield self._convert(element)
            elif text := self._write_block(block):
                yield _begin_line(block.box) + (f"\\{text}" if _STRUCTURE.match(text) else text)

    def _convert(self, element: HtmlElement) -> str:
        """Return an element as Markdown. Its headings of level 1 become level 2, below the line of the part."""
        for heading in element.iter("h1"):
            heading.tag = "h2"
        return to_markdown(element, self._links).rstrip("\n")

    def _write_block(self, block: TextBlock) -> str:
        """Return the text of a block in one line, with its links."""
        if not block.link_bytes:
            return self._escape(block.text)
        if address := self._find_link(block):
            return f"[{escape_label(self._escape(block.text))}]({address})"
        return " ".join("".join([self._write_block_part(*part) for part in block.parts]).split())

    def _write_block_part(self, element: HtmlElement, place: Place) -> str:
        if place is Place.INSIDE:
            return self._write_inline(element, 0)
        return self._escape((element.text if place is Place.HEAD else element.tail) or "")

    def _find_link(self, block: TextBlock) -> str:
        """Return the address of the link around a block, or ""."""
        box: Box | None = block.box
        while box is not None and box.is_in_link:
            if href := box.element.get("href"):
                return self._links.resolve(href)
            box = box.parent
        return ""

    def _write_inline(self, element: HtmlElement, depth: int) -> str:
        """Return the text of an inline element, with its links."""
        tag = element.tag
        if tag == "br":
            return " "
        if tag == "a" and (address := self._links.resolve(element.get("href") or "")):
            text = " ".join(_read_text(element).split())
            return f"[{escape_label(self._escape(text))}]({address})" if text else ""
        if depth >= MAX_INLINE_DEPTH or not len(element):
            return self._escape(_read_text(element))
        texts = [self._escape(element.text or "")]
        for child in element:
            texts += self._write_inline(child, depth + 1), self._escape(child.tail or "")
        return "".join(texts)


def _read_text(element: HtmlElement) -> str:
    # Most elements of a menu have no children, and `text` takes a tenth of the time of `text_content`.
    return element.text_content() if len(element) else element.text or ""


def _escape_suspect(text: str) -> str:
    # Clean before escaping: two signs become adjacent if a character between them is removed.
    return escape_markdown(clean(text))


def _begin_line(box: Box) -> str:
    """Return the Markdown before a block in this box: the sign of a heading or of a list item."""
    if box.tag in HEADINGS:
        return "#" * max(2, int(box.tag[1])) + " "
    above: Box | None = box
    while above is not None and above.block_count == 1:
        if above.tag == "li":
            return "- "
        above = above.parent
    return ""


def _join_lines(texts: list[str]) -> str:
    """Join blocks by blank lines, and adjacent list items by line breaks."""
    pieces: list[str] = []
    was_item = False
    for text in texts:
        is_item = text.startswith("- ")
        if pieces:
            pieces.append("\n" if is_item and was_item else "\n\n")
        pieces.append(text)
        was_item = is_item
    return "".join(pieces)
