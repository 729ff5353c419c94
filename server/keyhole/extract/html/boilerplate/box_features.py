"""Compute the features that the blocks of one box share: its landmarks, purposes, and the boxes above it."""

from __future__ import annotations

import re
from math import log1p
from typing import Final

from keyhole.extract.html.boilerplate.page_features import PageFacts
from keyhole.extract.html.boilerplate.segments import Box
from keyhole.extract.html.boilerplate.word_kinds import BOX_KINDS, match_box_kinds

_LANDMARKS: Final = ("nav", "header", "footer", "aside", "main", "article", "dialog", "section")
_LANDMARK_BITS: Final = {name: 1 << number for number, name in enumerate(_LANDMARKS)}
_ROLES: Final = {
    "navigation": "nav", "menu": "nav", "menubar": "nav", "banner": "header", "contentinfo": "footer",
    "complementary": "aside", "main": "main", "article": "article", "dialog": "dialog",
}  # fmt: skip
_ROLE = re.compile(r"\b(" + "|".join(_ROLES) + r")\b")
_LEVELS: Final = 6
"""Number of boxes described for each block: the block's box and those above it."""
_ALIKE_LEVELS: Final = 3
"""Number of levels described with the number of boxes that are alike."""
_NON_ITEM_TAGS: Final = frozenset({"p", "li", "td", "tr", "h2", "h3", "span", "br"})
"""Tags that repeat on any page, so they are not the items of a list even if many are alike."""


MAX_DISTANCE: Final = 9
"""Largest distance from a block up to a box of a kind, in boxes. Longer distances count as this one."""


_NO_ITEM: Final = (0.0, 0.0, 0.0, -1.0, -1.0)


class BoxFacts:
    """Facts about a box, partly inherited from the box above, and the features that all its blocks share."""

    __slots__ = ("_box", "_level", "_row", "above", "depth", "home", "item", "kinds", "landmarks")

    def __init__(self, box: Box, above: BoxFacts | None, page: PageFacts) -> None:
        self._box = box
        self._row: list[float] | None = None
        self._level: tuple[float, ...] | None = None
        self.above = above
        self.landmarks = _match_landmarks(box.tag, box.names)
        self.kinds = match_box_kinds(box.names) if box.names else 0
        self.item: Box | None = box if box.alike_count >= 3 and box.tag not in _NON_ITEM_TAGS else None
        """The nearest box, from this one upwards, that is one of several alike."""
        self.depth, self.home = 1, 0
        """The number of boxes from the root, and the number up to the box that holds half of the page's prose."""
        if above is not None:
            self.depth = above.depth + 1
            self.home = 0 if box.prose_bytes * 2 >= page.prose_bytes else above.home + 1
            self.item = self.item or above.item
            self.landmarks |= above.landmarks

    def compute_row(self, page: PageFacts) -> list[float]:
        """Return the features of this box and of the boxes above it. The result is cached."""
        if self._row is None:
            row = [1.0 if self._box.tag == "div" else 0.0]
            row += [float(self.landmarks >> number & 1) for number in range(len(_LANDMARKS))]
            row += self._measure_distances()
            level = self
            for number in range(_LEVELS):
                row += level.compute_level(page)[: 6 if number < _ALIKE_LEVELS else 5]
                level = level.above or level
            item = self.item
            row += (self.home, self.depth - self.home)
            if item is None:
                row += _NO_ITEM
            else:
                count, size = item.alike_count, item.size
                row += (log1p(count), log1p(size), log1p(size * count), item.link_bytes / size, item.prose_bytes / size)
            self._row = row
        return self._row

    def _measure_distances(self) -> list[float]:
        """Return for each kind the distance up to the nearest box of that kind, in boxes."""
        distances = [float(MAX_DISTANCE)] * len(BOX_KINDS)
        found, box = 0, self
        for distance in range(MAX_DISTANCE):
            new = box.kinds & ~found
            found |= new
            while new:
                distances[new.bit_length() - 1] = float(distance)
                new &= ~(1 << new.bit_length() - 1)
            if box.above is None:
                break
            box = box.above
        return distances

    def compute_level(self, page: PageFacts) -> tuple[float, ...]:
        """Return size, shares of links, of prose and of the page, size by block, and number of boxes that are alike."""
        if self._level is None:
            box = self._box
            size = box.size or 1
            shares = (box.link_bytes / size, box.prose_bytes / size, size / page.size)
            self._level = (log1p(size), *shares, log1p(size / (box.block_count or 1)), log1p(box.alike_count))
        return self._level


def _match_landmarks(tag: str, names: str) -> int:
    """Return the landmarks that a box is by its tag or role, as bits."""
    found = _LANDMARK_BITS.get(tag, 0)
    if names and (role := _ROLE.search(names)):
        found |= _LANDMARK_BITS[_ROLES[role[1]]]
    return found


BOX_FEATURES: Final = (
    "in div", *(f"inside {name}" for name in _LANDMARKS), *(f"boxes to {name}" for name in BOX_KINDS),
    *(
        f"level {level} {name}"
        for level in range(_LEVELS)
        for name in ("size", "links", "prose", "share of page", "mean", *(("alike",) if level < _ALIKE_LEVELS else ()))
    ),
    "boxes to home", "depth of home", "item alike", "item size", "items size", "item links", "item prose",
)  # fmt: skip
"""The names of the columns of `BoxFacts.compute_row`."""
