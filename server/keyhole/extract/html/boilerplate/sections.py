"""Include the sections of a manual that its generator marks as such, if most of the sections beside them are main part.

A short section of examples or notes at the end of a page looks like the boxes that follow an article. The classes that
DocBook, AsciiDoc, Sphinx and Doxygen write tell that it is a section like those before it.
"""

from __future__ import annotations

import re
from typing import Final

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, TextBlock

_SECTION: Final = re.compile(r"(?:ref|(?:sub)*)sect(?:ion)?[0-9]*(?:-level-extent)?(?:\s|$)")
"""The class of a section: sect1 and refsect1 (DocBook, AsciiDoc), section (Sphinx), subsection and
subsection-level-extent (Texinfo)."""
SECTION_SHARE: Final = 0.5
"""All sections of the same parent and class are main part if at least this share of their text is."""
MAX_LINKS: Final = 0.3
"""A section with a larger share of links is a list of related pages."""

MENU_LINKS: Final = 0.5
"""Minimum share of links in each cell of a menu."""


def include_sections(blocks: list[TextBlock], is_main: list[bool]) -> list[bool]:
    """Return `is_main` with all blocks of sections added, for each group of sections that is mostly main part."""
    sections = _find_sections(blocks)
    if not sections:
        return is_main
    main_bytes = dict.fromkeys(sections, 0)
    for block, main in zip(blocks, is_main, strict=True):
        for box in _list_sections(block, sections) if main else ():
            main_bytes[box] += block.size
    groups: dict[tuple[Box | None, str], list[Box]] = {}
    for box in sections:
        groups.setdefault((box.parent, box.names.partition(" ")[0]), []).append(box)
    included = {
        box
        for group in groups.values()
        if sum(main_bytes[box] for box in group) >= SECTION_SHARE * sum(box.size for box in group)
        for box in group
        if box.link_bytes < MAX_LINKS * box.size
    }
    return [
        main or (not _is_menu(block) and not included.isdisjoint(_list_sections(block, sections)))
        for block, main in zip(blocks, is_main, strict=True)
    ]


def _is_menu(block: TextBlock) -> bool:
    """Return whether a block is a cell of a menu, as Texinfo writes at the start of each section."""
    return block.box.tag == "td" and block.link_bytes >= MENU_LINKS * block.size


def _find_sections(blocks: list[TextBlock]) -> dict[Box, None]:
    """Return the sections in page order: boxes with the class of a section that begin with a heading."""
    seen: set[Box] = set()
    sections: dict[Box, None] = {}
    for block in blocks:
        is_heading = block.box.tag in HEADINGS
        if _is_menu(block):
            continue
        box: Box | None = block.box
        while box is not None and box not in seen:
            seen.add(box)
            if is_heading and _SECTION.match(box.names):
                sections[box] = None
            box = box.parent
    return sections


def _list_sections(block: TextBlock, sections: dict[Box, None]) -> list[Box]:
    """Return the sections around a block."""
    found = []
    box: Box | None = block.box
    while box is not None:
        if box in sections:
            found.append(box)
        box = box.parent
    return found
