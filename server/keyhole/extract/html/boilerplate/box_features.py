"""Compute the features that the blocks of one box share: its landmarks, purposes, and the boxes above it."""

from __future__ import annotations

from typing import Final

from keyhole.extract.html.boilerplate.page_features import PageFacts
from keyhole.extract.html.boilerplate.segments import Box
from keyhole.extract.html.boilerplate.word_kinds import BOX_KINDS, LANDMARKS, match_names

_LANDMARK_BITS: Final = {name: 1 << number for number, name in enumerate(LANDMARKS)}
_FLAGS: Final = [tuple(bits >> number & 1 for number in range(len(LANDMARKS))) for bits in range(1 << len(LANDMARKS))]
"""For each combination of landmark bits, a number per landmark: 1 if its bit is set, else 0."""
_LEVELS: Final = 6
"""Number of boxes described for each block: the block's box and those above it."""
_LEVEL_NAMES: Final = ("size", "links", "prose", "share of page", "mean")
_ALIKE_LEVELS: Final = 3
"""Number of levels whose features include the number of alike boxes."""
_NON_ITEM_TAGS: Final = frozenset({"p", "li", "td", "tr", "h2", "h3", "span", "br"})
"""Tags that repeat on any page, so they are not the items of a list even if many are alike."""

MAX_DISTANCE: Final = 9
"""Largest distance from a block up to a box of a kind, in boxes. Longer distances count as this one."""
_FAR: Final = bytes([MAX_DISTANCE] * len(BOX_KINDS))
_ONE_MORE: Final = bytes(min(distance + 1, MAX_DISTANCE) for distance in range(256))
"""A table for `bytes.translate` that adds 1 to each distance."""
_NO_ITEM: Final = (0, 0, 0, -1, -1)


class BoxFacts:
    """Facts about a box, partly inherited from the box above, and the features that all its blocks share."""

    __slots__ = ("_alike", "_depth", "_distances", "_home", "_is_div", "_item", "_landmarks", "_levels", "_row")

    def __init__(self, box: Box, above: BoxFacts | None, page: PageFacts) -> None:
        kinds, landmarks = match_names(box.names)
        size, count = box.size, box.block_count
        level: tuple[float, ...] = (size, box.link_bytes / size, box.prose_bytes / size, size / page.size, size / count)
        item = box if box.alike_count >= 3 and box.tag not in _NON_ITEM_TAGS else None
        self._row: tuple[float, ...] | None = None
        self._is_div = box.tag == "div"
        self._landmarks = landmarks | _LANDMARK_BITS.get(box.tag, 0)
        self._item: Box | None = item
        """The nearest box, from this one upwards, that is one of several alike."""
        if above is None:
            self._depth, self._home = 1, 0
            self._levels = level * _LEVELS
            self._alike = (box.alike_count,) * _ALIKE_LEVELS
            self._distances = _FAR
        else:
            self._depth = above._depth + 1
            self._home = 0 if box.prose_bytes * 2 >= page.prose_bytes else above._home + 1
            """The number of boxes up to the box that holds half of the page's prose."""
            self._item = item or above._item
            self._landmarks |= above._landmarks
            self._levels = level + above._levels[: -len(level)]
            self._alike = (box.alike_count, *above._alike[:-1])
            self._distances = above._distances.translate(_ONE_MORE)
        if kinds:
            self._distances = _set_to_zero(self._distances, kinds)

    @property
    def row(self) -> tuple[float, ...]:
        """The features of this box and of the boxes above it, in the order of `BOX_FEATURES`."""
        if self._row is None:
            item = self._item
            self._row = (
                self._is_div,
                *_FLAGS[self._landmarks],
                *self._distances,
                *self._levels,
                *self._alike,
                self._home,
                self._depth - self._home,
                *(_describe_item(item) if item is not None else _NO_ITEM),
            )
        return self._row


def _set_to_zero(distances: bytes, kinds: int) -> bytes:
    """Return the distances with 0 for each of the kinds."""
    changed = bytearray(distances)
    while kinds:
        number = kinds.bit_length() - 1
        changed[number] = 0
        kinds &= ~(1 << number)
    return bytes(changed)


def _describe_item(item: Box) -> tuple[float, ...]:
    size, count = item.size, item.alike_count
    return (count, size, size * count, item.link_bytes / size, item.prose_bytes / size)


BOX_FEATURES: Final = (
    "in div", *(f"inside {name}" for name in LANDMARKS), *(f"boxes to {name}" for name in BOX_KINDS),
    *(f"level {level} {name}" for level in range(_LEVELS) for name in _LEVEL_NAMES),
    *(f"level {level} alike" for level in range(_ALIKE_LEVELS)),
    "boxes to home", "depth of home", "item alike", "item size", "items size", "item links", "item prose",
)  # fmt: skip
"""The names of the columns of `BoxFacts.row`."""
