"""Find terms and their definitions: a short line in bold or in one width, and an indented paragraph below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from keyhole.extract.formats.pdf.blocks import PdfBlock
from keyhole.extract.formats.pdf.page_parts import Style

MAX_TERM_CHARS: Final = 80
"""Longest term. Signatures of functions have up to 80 characters."""
MIN_INDENT: Final = 0.8
"""Smallest indentation of a definition, in sizes of its font."""
MAX_INDENT: Final = 8.0
"""Largest indentation of a definition, in sizes of its font. What stands further right is a column or a quotation."""
MAX_GAP: Final = 2.0
"""Largest distance of a definition from its term, in sizes of its font."""
MIN_TERMS: Final = 2
"""Smallest number of terms of a document that begin at one place. One may be chance."""


def mark_definitions(blocks: Sequence[PdfBlock]) -> None:
    """Change the kind of blocks that are terms to `term`, and that of their texts to `definition`.

    A term below a wide gap looks like a heading. It is a term if most lines like it, at its place, are terms.
    """
    pairs = [n for n in range(len(blocks) - 1) if _is_term(blocks[n]) and _defines(blocks[n], blocks[n + 1])]
    places = Counter((_place(blocks[n]), blocks[n].kind == "heading") for n in pairs)
    for number in pairs:
        place = _place(blocks[number])
        if places[place, False] >= max(MIN_TERMS, places[place, True]):
            _mark(blocks, number)


def _mark(blocks: Sequence[PdfBlock], number: int) -> None:
    """Mark a term, its definition, and the paragraphs that follow with the same indentation."""
    term = blocks[number]
    term.kind = "term"
    for block in blocks[number + 1 :]:
        if block.kind != "paragraph" or _is_term(block) or not _is_indented(term, block):
            break
        block.kind = "definition"


def _place(block: PdfBlock) -> tuple[int, Style]:
    """Return the indentation of a block's first line, in points, and its style."""
    line = block.lines[0]
    return round(line.left - line.column[0]), line.style


def _is_term(block: PdfBlock) -> bool:
    if block.kind not in {"paragraph", "code", "heading"} or len(block.lines) != 1:
        return False
    line = block.lines[0]
    return len(line.text) <= MAX_TERM_CHARS and (line.style.bold or line.style.fixed)


def _defines(term: PdfBlock, block: PdfBlock) -> bool:
    """Return whether a paragraph is indented below a term, on its page or at the top of the next one."""
    if block.kind != "paragraph" or block.lines[0].style.fixed or not _is_indented(term, block):
        return False
    above, below = term.lines[0], block.lines[0]
    return below.page == above.page + 1 or 0 <= below.top - above.bottom < MAX_GAP * below.style.size


def _is_indented(term: PdfBlock, block: PdfBlock) -> bool:
    size = block.lines[0].style.size or 1.0
    return MIN_INDENT <= (min(line.left for line in block.lines) - term.lines[0].left) / size <= MAX_INDENT
