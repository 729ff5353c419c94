"""What is known of each block of a page, as numbers: the evidence that content.py judges by. Judges nothing.

The idea of judging text blocks by shallow features of themselves and their neighbours is of Kohlschütter, Fankhauser
and Nejdl, "Boilerplate Detection using Shallow Text Features" (WSDM 2010).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, Segments, TextBlock

_SENTENCE_END = re.compile(r"[.!?。！？…:][\"'”’)\]]*$")
_END_REACH: Final = 12
"""Characters at the end of a block in which its last mark is looked for, under any quotes and brackets."""
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[:/.]\d\d|\b(?:ago|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:€|usd|eur)\b", re.IGNORECASE)
_SHORT_BYTES: Final = 100
_LONG_BYTES: Final = 200
"""Blocks in which dates and prices are counted, and those that count as paragraphs."""

KINDS: Final = {
    "nav": re.compile(r"nav|menu|breadcrumb|crumb|toolbar|skip|masthead|drawer|dropdown"),
    "foot": re.compile(r"foot|copyright|legal|bottom"),
    "share": re.compile(r"share|social|follow|like|vote|button|btn|action|control"),
    "promo": re.compile(
        r"promo|advert|\bads?\b|sponsor|newsletter|subscri|signup|cookie|consent|popup|modal|overlay|banner|notice|alert"
    ),
    "meta": re.compile(r"meta|byline|author|date|time|tag|categor|info|label|badge|avatar|user|profile|stat"),
    "comment": re.compile(r"comment|reply|replies|respond|disqus|discussion"),
    "review": re.compile(r"review|rating|testimonial|faq|accordion|\btab"),
}
"""What the words in class and id names say that a box is for; sites of every language name these in English."""

_FAR: Final = 9
"""Boxes up at which a name is no longer looked for."""

_LANDMARKS: Final = ("nav", "header", "footer", "aside", "main", "article", "dialog")
_ROLES: Final = {
    "navigation": "nav", "menu": "nav", "menubar": "nav", "banner": "header", "contentinfo": "footer",
    "complementary": "aside", "main": "main", "article": "article", "dialog": "dialog",
}  # fmt: skip
_ROLE = re.compile(r"\b(" + "|".join(_ROLES) + r")\b")

_PLACES: Final = {
    "forum": re.compile(
        r"forum|thread|topic|/t/|discuss|communit|question|showthread|viewtopic|comments/|/r/|answers|support\.|/post"
    ),
    "shop": re.compile(r"product|/p/|/dp/|/item|/pr/|/pd/|\.p\b|/itm"),
    "blog": re.compile(r"blog|news|article|/20[12]\d|story|post/|how-to|magazine|/\d{5,}|best-"),
}
"""What a URL's words say of the page."""

_H1_REACH: Final = 50
"""Blocks from the first heading; beyond, near and far are the same."""
_AROUND: Final = 6
"""Blocks to each side that are taken together."""
_LEVELS: Final = 5
"""The block's own box and those above it that are looked at one by one."""
_ALIKE_LEVELS: Final = 3
"""Levels at which boxes that are alike are counted."""


def features(found: Segments, url: str) -> list[list[float]]:
    """A row of numbers for each block, in the order of `NAMES`. Time is linear in blocks and boxes."""
    page = _page(found, url)
    boxes: dict[Box, _BoxFacts] = {}
    for box in found.boxes:
        if not box.blocks:
            continue  # icons and spacers
        boxes[box] = _BoxFacts(box, boxes[box.parent] if box.parent is not None else None, page)
    ends = [1.0 if _SENTENCE_END.search(block.text[-_END_REACH:]) else 0.0 for block in found.blocks]
    around = _around(found.blocks, ends)
    rows = []
    before = prose_before = 0
    for number, block in enumerate(found.blocks):
        rows.append(
            [
                *_own(block, ends[number], page),
                *_position(number, before, prose_before, page),
                *boxes[block.box].row(page),
                *around[number],
                *page.row,
            ]
        )
        before += block.size
        prose_before += block.prose
    return rows


@dataclass(slots=True)
class _Page:
    """What holds for the whole page."""

    blocks: int
    size: int
    prose: int
    first_heading: int
    seen: dict[str, int] = field(default_factory=dict)
    row: tuple[float, ...] = ()


def _page(found: Segments, url: str) -> _Page:
    blocks, boxes = found.blocks, found.boxes
    size = sum(block.size for block in blocks) or 1
    prose = sum(block.prose for block in blocks)
    heading = next((n for n, block in enumerate(blocks) if block.box.tag == "h1"), -1)
    page = _Page(len(blocks), size, prose, heading)
    for block in blocks:
        page.seen[block.text] = page.seen.get(block.text, 0) + 1
    short = [block.text for block in blocks if block.size < _SHORT_BYTES]
    split = urlsplit(url)
    place = f"{split.netloc}{split.path}?{split.query}".lower()
    page.row = (
        _log(size),
        sum(block.links for block in blocks) / size,
        prose / size,
        _log(max((block.size for block in blocks), default=0)),
        _log(sum(block.size > _LONG_BYTES for block in blocks)),
        _log(max((box.alike for box in boxes if box.blocks >= 3), default=0)),
        _log(sum(_DATE.search(text) is not None for text in short)),
        _log(sum(_PRICE.search(text) is not None for text in short)),
        _log(sum("product" in box.names for box in boxes)),
        _log(sum("comment" in box.names for box in boxes)),
        _log(len(split.path)),
        float(split.path.count("-")),
        *(1.0 if pattern.search(place) else 0.0 for pattern in _PLACES.values()),
    )
    return page


class _BoxFacts:
    """What is handed down from box to box, and the numbers that the blocks of this box share."""

    __slots__ = ("_box", "_level", "_row", "above", "depth", "distances", "home", "item", "landmarks")

    def __init__(self, box: Box, above: _BoxFacts | None, page: _Page) -> None:
        self._box = box
        self._row: list[float] | None = None
        self._level: tuple[float, ...] | None = None
        self.above = above
        self.landmarks, hits = _named(box.tag, box.names)
        self.distances = hits
        self.item: Box | None = box if box.alike >= 3 and box.tag not in _NO_ITEMS else None
        """The nearest box, this one or above, that is one of several alike."""
        self.depth, self.home = 1, 0
        """Boxes from the root, and up to the one that holds half of the page's prose."""
        if above is not None:
            self.depth = above.depth + 1
            self.home = 0 if box.prose * 2 >= page.prose else above.home + 1
            self.item = self.item or above.item
            self.landmarks |= above.landmarks
            self.distances = _nearest(hits, above.distances)

    def row(self, page: _Page) -> list[float]:
        """The numbers of a block's box and of those above it; made for the first block that asks."""
        if self._row is None:
            row = [1.0 if self._box.tag == "div" else 0.0]
            row += [1.0 if name in self.landmarks else 0.0 for name in _LANDMARKS]
            row += self.distances
            level = self
            for number in range(_LEVELS):
                row += level.level(page)[: 5 if number < _ALIKE_LEVELS else 4]
                level = level.above or level
            item = self.item
            row += (self.home, self.depth - self.home)
            row += (_log(item.alike), _log(item.size), _log(item.size * item.alike)) if item else (0.0, 0.0, 0.0)
            self._row = row
        return self._row

    def level(self, page: _Page) -> tuple[float, ...]:
        """Size, share of links, share of prose, share of the page, alike."""
        if self._level is None:
            box = self._box
            size = box.size or 1
            self._level = (_log(size), box.links / size, box.prose / size, size / page.size, _log(box.alike))
        return self._level


_NO_ITEMS: Final = frozenset({"p", "li", "td", "tr", "h2", "h3", "span", "br"})
"""Boxes that are always many: their being alike says nothing."""


@lru_cache(maxsize=4_096)
def _named(tag: str, names: str) -> tuple[frozenset[str], tuple[int, ...]]:
    """The landmarks that an element is, and for each kind 0 if its names say it, else far."""
    role = _ROLE.search(names)
    landmarks = {tag} & set(_LANDMARKS) | ({_ROLES[role[1]]} if role else set())
    return frozenset(landmarks), tuple(0 if pattern.search(names) else _FAR for pattern in KINDS.values())


@lru_cache(maxsize=4_096)
def _nearest(hits: tuple[int, ...], above: tuple[int, ...]) -> tuple[int, ...]:
    """For each kind, boxes up to the nearest one that is named so, from what is known of the box above."""
    return tuple(0 if own == 0 else min(up + 1, _FAR) for own, up in zip(hits, above, strict=True))


def _own(block: TextBlock, ends: float, page: _Page) -> tuple[float, ...]:
    return (
        _log(block.size),
        block.links / block.size,
        block.marks / (block.text.count(" ") + 1),
        1.0 if block.box.tag in HEADINGS else 0.0,
        ends,
        _log(page.seen[block.text] - 1),
    )


def _position(number: int, before: int, prose_before: int, page: _Page) -> tuple[float, ...]:
    offset = number - page.first_heading
    from_heading = max(-_H1_REACH, min(_H1_REACH, offset)) if page.first_heading >= 0 else 0
    return (
        number / page.blocks,
        before / page.size,
        _log(before),
        float(from_heading),
        prose_before / (page.prose or 1),
    )


def _around(blocks: list[TextBlock], ends: list[float]) -> list[tuple[float, float, float]]:
    """Size, share of links and of finished sentences of each block with its neighbours."""
    sizes, links, finished = [0], [0], [0.0]
    for block, end in zip(blocks, ends, strict=True):
        sizes.append(sizes[-1] + block.size)
        links.append(links[-1] + block.links)
        finished.append(finished[-1] + end)
    rows = []
    for number in range(len(blocks)):
        low, high = max(0, number - _AROUND), min(len(blocks), number + _AROUND + 1)
        size = sizes[high] - sizes[low] or 1
        rows.append((_log(size), (links[high] - links[low]) / size, (finished[high] - finished[low]) / (high - low)))
    return rows


def _log(count: float) -> float:
    return math.log1p(count)


NAMES: Final = (
    "own size", "own links", "own marks", "is heading", "ends a sentence", "seen again",
    "place among blocks", "text before, share", "text before", "blocks from first heading", "prose before, share",
    "in div", *(f"inside {name}" for name in _LANDMARKS), *(f"boxes to {name}" for name in KINDS),
    *(
        f"level {level} {name}"
        for level in range(_LEVELS)
        for name in ("size", "links", "prose", "share of page", *(("alike",) if level < _ALIKE_LEVELS else ()))
    ),
    "boxes to home", "depth of home", "item alike", "item size", "items size",
    "around size", "around links", "around sentences",
    "page size", "page links", "page prose", "page longest", "page paragraphs", "page alike", "page dates",
    "page prices", "page product boxes", "page comment boxes", "path length", "path dashes",
    *(f"URL of a {name}" for name in _PLACES),
)  # fmt: skip
"""The columns of `features`, as the weights file names them."""
