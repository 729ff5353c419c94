"""Which blocks of a page are what a reader came for; the others are dropped from the tree. Writes no text.

Each block gets a probability from a small fitted scorer (`content_trees.py`, made by benchmarks/extraction/fit_content.py);
which are kept is the choice that promises the best balance of what is kept and what is lost.
"""

from __future__ import annotations

import math
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.boilerplate.content_trees import log_odds
from keyhole.extract.html.boilerplate.features import features
from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, Place, Segments, TextBlock, segment

LOSS_WEIGHT: Final = 1.1
"""What a lost word weighs against a needless one (the beta of van Rijsbergen's F measure): a needless word costs a
little of a budget, a lost one may be the answer."""

MIN_JUDGED_BYTES: Final = 1_500
"""Pages with less text are judged by their landmarks alone: there is too little to compare."""

MAX_JUDGED_BLOCKS: Final = 20_000
"""So are pages with more blocks: books and logs on one page, which have few menus and would take seconds."""

MIN_MAIN_SHARE: Final = 0.3
"""Share of the page's text that `<main>` or a lone `<article>` must hold for the rest to be dropped where only
landmarks judge; with less it is a teaser beside the real thing."""

_APART: Final = frozenset({"nav", "footer", "aside", "dialog", "button"})
_APART_ROLES: Final = ("navigation", "contentinfo", "complementary", "search", "menu", "banner", "dialog")


def keep_content(root: HtmlElement, url: str, title: str = "") -> int:
    """Drop the blocks of a pruned tree that are not its content; returns how many. Changes the tree.

    `title` is the page's own: the line that says it is kept.
    """
    found = segment(root)
    if not found.blocks:
        return 0
    size = sum(block.size for block in found.blocks)
    if size < MIN_JUDGED_BYTES or len(found.blocks) > MAX_JUDGED_BLOCKS:
        kept = _by_landmarks(found, size)
    else:
        kept = choose([block.size for block in found.blocks], scores(found, url))
        kept = with_title(found.blocks, with_headings(found.blocks, kept), title)
    if not any(kept):
        return 0
    _drop(found, kept)
    return kept.count(False)


def scores(found: Segments, url: str) -> list[float]:
    """For each block, the probability that it is content."""
    return [1 / (1 + math.exp(-log_odds(row))) for row in features(found, url)]


def choose(sizes: list[int], chances: list[float]) -> list[bool]:
    """The blocks to keep: those above the threshold at which the expected F measure is greatest.

    With `a` the expected content that is kept, `b` all that is kept and `s` all the content expected on the page,
    it is (1 + beta²) a / (b + beta² s). A page of clear cases gets a threshold near one half, an unclear one a lower
    one, which keeps more. See Lipton, Elkan and Naryanaswamy, "Optimal Thresholding of Classifiers to Maximize F1
    Measure" (ECML 2014).
    """
    weight = LOSS_WEIGHT**2
    expected = sum(size * chance for size, chance in zip(sizes, chances, strict=True))
    best, threshold, content, kept = -1.0, 1.0, 0.0, 0
    for chance, size in sorted(zip(chances, sizes, strict=True), reverse=True):
        content += size * chance
        kept += size
        value = content / (kept + weight * expected)
        if value > best:
            best, threshold = value, chance
    return [chance >= threshold for chance in chances]


def with_headings(blocks: list[TextBlock], kept: list[bool]) -> list[bool]:
    """Also the headings that a kept block stands under: without them a reader does not know where it is."""
    result = list(kept)
    for number in range(len(blocks) - 2, -1, -1):
        if blocks[number].box.tag in HEADINGS:
            result[number] = result[number] or result[number + 1]
    return result


def with_title(blocks: list[TextBlock], kept: list[bool], title: str) -> list[bool]:
    """Also the first block that is the page's title, in whatever element it stands."""
    result = list(kept)
    number = next((n for n, block in enumerate(blocks) if title and block.text == title), None)
    if number is not None:
        result[number] = True
    return result


def _by_landmarks(found: Segments, size: int) -> list[bool]:
    """Without menus, footers and asides; only the main part, if one is marked that holds enough."""
    main = _main(found, size)
    apart: dict[Box, bool] = {}
    inside: dict[Box, bool] = {}
    for box in found.boxes:
        above = box.parent
        role = box.element.get("role")
        apart[box] = (above is not None and apart[above]) or box.tag in _APART or role in _APART_ROLES
        inside[box] = box is main or (above is not None and inside[above])
    return [not apart[block.box] and (main is None or inside[block.box]) for block in found.blocks]


def _main(found: Segments, size: int) -> Box | None:
    articles = [box for box in found.boxes if box.tag == "article"]
    marked = [box for box in found.boxes if box.tag == "main" or box.element.get("role") == "main"][:1]
    candidates = marked + (articles if len(articles) == 1 else [])
    for box in candidates:
        if box.size >= MIN_MAIN_SHARE * size:
            return box
    return None


def _drop(found: Segments, kept: list[bool]) -> None:
    """Take dropped blocks out of the tree, and boxes that had blocks and keep none."""
    left: dict[Box, int] = dict.fromkeys(found.boxes, 0)
    for block, keep in zip(found.blocks, kept, strict=True):
        left[block.box] += keep
    for box in reversed(found.boxes):
        if box.parent is not None:
            left[box.parent] += left[box]
    gone: set[Box] = set()
    for box in found.boxes[1:]:
        if box.parent in gone:
            gone.add(box)
        elif box.blocks and not left[box]:
            gone.add(box)
            box.element.drop_tree()
    for block, keep in zip(found.blocks, kept, strict=True):
        if not keep and block.box not in gone:
            _drop_block(block)


def _drop_block(block: TextBlock) -> None:
    for element, place in reversed(block.parts):
        if place is Place.HEAD:
            element.text = None
        elif place is Place.TAIL:
            element.tail = None
        elif element.getparent() is not None:
            element.drop_tree()
