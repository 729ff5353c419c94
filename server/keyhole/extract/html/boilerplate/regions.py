"""Fill the holes in the main part: blocks and structures that their own score would cut out of a region of main part.

A block's own score may be wrong, such as that of a short paragraph or a table of numbers in a section of prose. So the
page is also judged with a cost for each change between main part and rest. The cost is high where the page continues
and low where a part of it ends.
"""

from __future__ import annotations

from operator import mul
from typing import Final

from keyhole.extract.html.boilerplate.segments import HEADINGS, TextBlock
from keyhole.extract.html.boilerplate.structures import CODE, LISTS

CHANGE_COST: Final = 0.8
"""The cost of a change between two blocks of one box, in log odds. In cross-validation (benchmarks/extraction/
fit_content.py), the F1 of words is as high as without costs, and half of the holes are gone."""

_BOUND: Final = 1_000.0
"""The cost of a change between a structure and its caption or introduction: more than any score."""
_STRUCTURES: Final = CODE | LISTS | {"table", "math", "figure"}
_INTRODUCTION_ENDS: Final = (":", "：")


def fill_holes(blocks: list[TextBlock], scores: list[float]) -> list[bool]:
    """Return whether each block is main part: its own score is at least 0, or its region is main part.

    A score is the log odds that a block is main part, minus the log odds at which both choices are equally good. The
    regions are the choice with the greatest sum of scores minus costs of changes.
    """
    scores = share_scores(blocks, scores)
    return [score >= 0 or main for score, main in zip(scores, _choose_regions(blocks, scores), strict=True)]


def share_scores(blocks: list[TextBlock], scores: list[float]) -> list[float]:
    """Give a structure, its caption and its introduction the same score: their mean, weighted by size."""
    shared = list(scores)
    start = 0
    for end in range(1, len(blocks) + 1):
        if end == len(blocks) or not _belong_together(blocks[end - 1], blocks[end]):
            if end - start > 1:
                sizes = [block.size for block in blocks[start:end]]
                products = map(mul, sizes, scores[start:end])
                shared[start:end] = [sum(products) / sum(sizes)] * (end - start)
            start = end
    return shared


def _choose_regions(blocks: list[TextBlock], scores: list[float]) -> list[bool]:
    """Return the best choice for each block, found by dynamic programming (Viterbi) in linear time."""
    if not blocks:
        return []
    main, rest = scores[0], 0.0
    steps: list[tuple[bool, bool]] = []
    """For each block after the first: whether the block before it is main in the best choice with this block as main
    part, and in the best choice with this block as rest."""
    for above, below, score in zip(blocks, blocks[1:], scores[1:], strict=False):
        cost = measure_change(above, below)
        steps.append((main >= rest - cost, main - cost > rest))
        main, rest = max(main, rest - cost) + score, max(rest, main - cost)
    is_main = main >= rest
    result = [is_main]
    for before_main, before_rest in reversed(steps):
        is_main = before_main if is_main else before_rest
        result.append(is_main)
    return result[::-1]


def measure_change(above: TextBlock, below: TextBlock) -> float:
    """Return the cost of a change between two adjacent blocks. It falls with their distance in the tree."""
    if _belong_together(above, below):
        return _BOUND
    first, second = above.box, below.box
    if first is second:
        return CHANGE_COST
    if first.parent is second.parent:
        is_alike = first.tag == second.tag and first.names == second.names
        return CHANGE_COST if is_alike else 0.7 * CHANGE_COST
    if first.parent is second or second.parent is first:
        return 0.6 * CHANGE_COST
    up, down = first.parent, second.parent
    if up is not None and down is not None and (up.parent is down.parent or up.parent is down or down.parent is up):
        return 0.4 * CHANGE_COST
    return 0.25 * CHANGE_COST


def _belong_together(above: TextBlock, below: TextBlock) -> bool:
    """Return whether one of two blocks is a structure and the other its caption or the sentence before it."""
    return _introduces(above, below) or _is_caption(above, below) or _is_caption(below, above)


def _introduces(block: TextBlock, below: TextBlock) -> bool:
    """Return whether a block is a sentence that introduces the structure below it."""
    if below.box.tag not in _STRUCTURES or not block.text.endswith(_INTRODUCTION_ENDS):
        return False
    return block.link_bytes < block.size and block.box.tag not in HEADINGS


def _is_caption(block: TextBlock, structure: TextBlock) -> bool:
    """Return whether a block is the caption of a structure beside it."""
    return structure.box.tag in _STRUCTURES and (block.box.tag == "figcaption" or "caption" in block.box.names)
