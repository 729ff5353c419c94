"""Include the code blocks and data tables that stand in the main part, with the text around them.

A table or code block looks like no prose, so its own score may be low. It still belongs to its section of a manual, and
so does the text between the structures of a section.
"""

from __future__ import annotations

from typing import Final

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, TextBlock
from keyhole.extract.html.boilerplate.structures import CODE, LISTS, has_code
from keyhole.extract.html.boilerplate.word_kinds import BOX_KINDS, match_names

MAX_LINKS: Final = 0.8
"""Code and tables with a larger share of links may be menus."""
MAX_TEXT_LINKS: Final = 0.5
"""Text around a structure with a larger share of links is a menu or a list of related pages."""
SECTION_SHARE: Final = 0.5
"""Code and tables in a box are main part if at least this share of the box's other text is."""
HOME_SHARE: Final = 0.6
"""The home of the main part is the smallest box with at least this share of it."""
_STRUCTURES: Final = CODE | {"table", "math"}
_APART_TAGS: Final = frozenset({"nav", "header", "footer", "aside", "dialog", "form"})
_APART_ROLES: Final = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "dialog"})
_APART_KINDS: Final = sum(
    1 << number
    for number, kind in enumerate(BOX_KINDS)
    if kind in {"nav", "foot", "share", "promo", "author", "comment", "review", "related", "side", "slides", "filter"}
)
"""Kinds of boxes that are not main part even between paragraphs of it."""


def include_structures(blocks: list[TextBlock], is_main: list[bool]) -> list[bool]:
    """Return `is_main` with the code blocks and data tables of the main part added, and the text around them.

    A structure belongs to the main part if it is in the smallest box that contains most of the main part. It also
    belongs to it if half of the other text in the nearest box with as much other text is main part. It does not if a
    menu, comment or the like in that box contains it.
    """
    missing = [
        number
        for number, (block, main) in enumerate(zip(blocks, is_main, strict=True))
        if not main and _is_structure(block.box) and block.link_bytes <= MAX_LINKS * block.size
    ]
    if not missing:
        return is_main
    main_bytes = _sum_main(blocks, is_main)
    home = _find_home(main_bytes)
    result = list(is_main)
    for number in missing:
        block = blocks[number]
        if home is not None and _stands_in(block.box, home):
            result[number] = True
            _include_around(blocks, number, result, home)
        elif _stands_among_main(block, main_bytes):
            result[number] = True
    return result


def _is_structure(box: Box) -> bool:
    """Return whether a box is code, a formula, a data table, or a list with code, which is judged as a whole."""
    return box.tag in _STRUCTURES or (box.tag in LISTS and box.list_box is box and has_code(box.element))


def _sum_main(blocks: list[TextBlock], is_main: list[bool]) -> dict[Box, int]:
    """Return the bytes of main part in each box that contains some."""
    main_bytes: dict[Box, int] = {}
    for block, main in zip(blocks, is_main, strict=True):
        box: Box | None = block.box if main else None
        while box is not None:
            main_bytes[box] = main_bytes.get(box, 0) + block.size
            box = box.parent
    return main_bytes


def _find_home(main_bytes: dict[Box, int]) -> Box | None:
    """Return the smallest box that contains most of the main part, None if it is mostly rest."""
    least = HOME_SHARE * max(main_bytes.values(), default=0)
    homes = [box for box, count in main_bytes.items() if count >= least]
    home = min(homes, key=lambda box: box.size, default=None)
    return home if home is not None and main_bytes[home] >= SECTION_SHARE * home.size else None


def _stands_in(box: Box | None, home: Box) -> bool:
    """Return whether a box is in `home`, and neither it nor a box between them stands apart from the text."""
    while box is not None and box is not home:
        if box.tag in _APART_TAGS or box.element.get("role") in _APART_ROLES:
            return False
        if box.names and match_names(_read_purpose(box))[0] & _APART_KINDS:
            return False
        box = box.parent
    return box is home


def _read_purpose(box: Box) -> str:
    """Return the class and the id of a box, without an id that is made from the words of a heading."""
    classes, name = box.element.get("class") or "", box.element.get("id") or ""
    is_heading = name.count("-") + name.count("_") > 1
    return (classes if is_heading else f"{classes} {name}").lower()


def _stands_among_main(block: TextBlock, main_bytes: dict[Box, int]) -> bool:
    above = block.box.parent
    while above is not None and above.size < 2 * block.size:
        above = above.parent
    if above is None or main_bytes.get(above, 0) < SECTION_SHARE * (above.size - block.size):
        return False
    return _stands_in(block.box, above)


def _include_around(blocks: list[TextBlock], number: int, is_main: list[bool], home: Box) -> None:
    """Include the text around a structure in the nearest box with other text: from the heading above to the next one.

    The text ends at other structures, whose own surroundings are looked at.
    """
    box = blocks[number].box
    while box.parent is not None and box is not home and box.block_count == 1:
        box = box.parent
    for step in (-1, 1):
        place = number + step
        while 0 <= place < len(blocks) and blocks[place].box.tag not in _STRUCTURES:
            block = blocks[place]
            is_heading = block.box.tag in HEADINGS
            if (is_heading and step == 1) or not _stands_in(block.box, box):
                break
            if block.link_bytes <= MAX_TEXT_LINKS * block.size:
                is_main[place] = True
            if is_heading:
                break
            place += step
