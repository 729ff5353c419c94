"""Compute the numeric features of each text block of a page. classify.py predicts from them which blocks are content.

Classifying text blocks by shallow features of themselves and their neighbours is an idea of Kohlschütter, Fankhauser
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
_ENDING_CHARS: Final = 12
"""Number of characters at the end of a block that are searched for the end of a sentence."""
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[:/.]\d\d|\b(?:ago|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:€|usd|eur)\b", re.IGNORECASE)
_SHORT_BYTES: Final = 100
"""Dates and prices are counted in blocks shorter than this."""
_LONG_BYTES: Final = 200
"""Longer blocks count as paragraphs."""

_BOX_KINDS: Final = {
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
"""The purpose of a box by the words in its class and id, which sites of all languages write in English."""

_MAX_DISTANCE: Final = 9
"""Largest distance from a block up to a box of a kind, in boxes. Longer distances count as this one."""

_LANDMARKS: Final = ("nav", "header", "footer", "aside", "main", "article", "dialog")
_ROLES: Final = {
    "navigation": "nav", "menu": "nav", "menubar": "nav", "banner": "header", "contentinfo": "footer",
    "complementary": "aside", "main": "main", "article": "article", "dialog": "dialog",
}  # fmt: skip
_ROLE = re.compile(r"\b(" + "|".join(_ROLES) + r")\b")

_URL_KINDS: Final = {
    "forum": re.compile(
        r"forum|thread|topic|/t/|discuss|communit|question|showthread|viewtopic|comments/|/r/|answers|support\.|/post"
    ),
    "shop": re.compile(r"product|/p/|/dp/|/item|/pr/|/pd/|\.p\b|/itm"),
    "blog": re.compile(r"blog|news|article|/20[12]\d|story|post/|how-to|magazine|/\d{5,}|best-"),
}
"""The kind of a page by the words in its URL."""

_HEADING_REACH: Final = 50
"""Largest distance from the first heading, in blocks. Longer distances count as this one."""
_NEIGHBOURS: Final = 6
"""Blocks on each side that count as neighbours."""
_LEVELS: Final = 5
"""Number of boxes described for each block: the block's box and those above it."""
_ALIKE_LEVELS: Final = 3
"""Number of levels described with the number of boxes that are alike."""


def compute_features(segments: Segments, url: str) -> list[list[float]]:
    """Return a row of numbers for each block, in the order of `FEATURE_NAMES`. Linear in blocks and boxes."""
    page = _measure_page(segments, url)
    boxes: dict[Box, _BoxFacts] = {}
    for box in segments.boxes:
        if not box.block_count:
            continue  # icons and spacers
        boxes[box] = _BoxFacts(box, boxes[box.parent] if box.parent is not None else None, page)
    endings = [1.0 if _SENTENCE_END.search(block.text[-_ENDING_CHARS:]) else 0.0 for block in segments.blocks]
    neighbours = _describe_neighbours(segments.blocks, endings)
    rows = []
    before = prose_before = 0
    for number, block in enumerate(segments.blocks):
        rows.append(
            [
                *_describe_block(block, endings[number], page),
                *_describe_position(number, before, prose_before, page),
                *boxes[block.box].compute_row(page),
                *neighbours[number],
                *page.row,
            ]
        )
        before += block.size
        prose_before += block.prose_bytes
    return rows


@dataclass(slots=True)
class _PageFacts:
    """Facts about the whole page."""

    block_count: int
    size: int
    prose_bytes: int
    first_heading: int
    text_counts: dict[str, int] = field(default_factory=dict)
    row: tuple[float, ...] = ()


def _measure_page(segments: Segments, url: str) -> _PageFacts:
    blocks, boxes = segments.blocks, segments.boxes
    size = sum(block.size for block in blocks) or 1
    prose = sum(block.prose_bytes for block in blocks)
    heading = next((n for n, block in enumerate(blocks) if block.box.tag == "h1"), -1)
    page = _PageFacts(len(blocks), size, prose, heading)
    for block in blocks:
        page.text_counts[block.text] = page.text_counts.get(block.text, 0) + 1
    short = [block.text for block in blocks if block.size < _SHORT_BYTES]
    split = urlsplit(url)
    address = f"{split.netloc}{split.path}?{split.query}".lower()
    page.row = (
        _log1p(size),
        sum(block.link_bytes for block in blocks) / size,
        prose / size,
        _log1p(max((block.size for block in blocks), default=0)),
        _log1p(sum(block.size > _LONG_BYTES for block in blocks)),
        _log1p(max((box.alike_count for box in boxes if box.block_count >= 3), default=0)),
        _log1p(sum(_DATE.search(text) is not None for text in short)),
        _log1p(sum(_PRICE.search(text) is not None for text in short)),
        _log1p(sum("product" in box.names for box in boxes)),
        _log1p(sum("comment" in box.names for box in boxes)),
        _log1p(len(split.path)),
        float(split.path.count("-")),
        *(1.0 if pattern.search(address) else 0.0 for pattern in _URL_KINDS.values()),
    )
    return page


class _BoxFacts:
    """Facts about a box, partly inherited from the box above, and the features that all its blocks share."""

    __slots__ = ("_box", "_level", "_row", "above", "depth", "distances", "home", "item", "landmarks")

    def __init__(self, box: Box, above: _BoxFacts | None, page: _PageFacts) -> None:
        self._box = box
        self._row: list[float] | None = None
        self._level: tuple[float, ...] | None = None
        self.above = above
        self.landmarks, own_distances = _match_names(box.tag, box.names)
        self.distances = own_distances
        self.item: Box | None = box if box.alike_count >= 3 and box.tag not in _NON_ITEM_TAGS else None
        """The nearest box, from this one upwards, that is one of several alike."""
        self.depth, self.home = 1, 0
        """The number of boxes from the root, and the number up to the box that holds half of the page's prose."""
        if above is not None:
            self.depth = above.depth + 1
            self.home = 0 if box.prose_bytes * 2 >= page.prose_bytes else above.home + 1
            self.item = self.item or above.item
            self.landmarks |= above.landmarks
            self.distances = _find_distances(own_distances, above.distances)

    def compute_row(self, page: _PageFacts) -> list[float]:
        """Return the features of this box and of the boxes above it. The result is cached."""
        if self._row is None:
            row = [1.0 if self._box.tag == "div" else 0.0]
            row += [1.0 if name in self.landmarks else 0.0 for name in _LANDMARKS]
            row += self.distances
            level = self
            for number in range(_LEVELS):
                row += level.compute_level(page)[: 5 if number < _ALIKE_LEVELS else 4]
                level = level.above or level
            item = self.item
            row += (self.home, self.depth - self.home)
            count, size = (item.alike_count, item.size) if item else (0, 0)
            row += (_log1p(count), _log1p(size), _log1p(size * count))
            self._row = row
        return self._row

    def compute_level(self, page: _PageFacts) -> tuple[float, ...]:
        """Return size, share of links, share of prose, share of the page, and number of boxes that are alike."""
        if self._level is None:
            box = self._box
            size = box.size or 1
            shares = (box.link_bytes / size, box.prose_bytes / size, size / page.size)
            self._level = (_log1p(size), *shares, _log1p(box.alike_count))
        return self._level


_NON_ITEM_TAGS: Final = frozenset({"p", "li", "td", "tr", "h2", "h3", "span", "br"})
"""Tags that repeat on any page, so they are not the items of a list even if many are alike."""


@lru_cache(maxsize=4_096)
def _match_names(tag: str, names: str) -> tuple[frozenset[str], tuple[int, ...]]:
    """Return an element's landmarks, and for each kind of box 0 if the element is of it, else `_MAX_DISTANCE`."""
    role = _ROLE.search(names)
    landmarks = {tag} & set(_LANDMARKS) | ({_ROLES[role[1]]} if role else set())
    return frozenset(landmarks), tuple(0 if pattern.search(names) else _MAX_DISTANCE for pattern in _BOX_KINDS.values())


@lru_cache(maxsize=4_096)
def _find_distances(own_distances: tuple[int, ...], above: tuple[int, ...]) -> tuple[int, ...]:
    """Return the distance up to the nearest box of each kind, in boxes."""
    return tuple(0 if own == 0 else min(up + 1, _MAX_DISTANCE) for own, up in zip(own_distances, above, strict=True))


def _describe_block(block: TextBlock, ends_sentence: float, page: _PageFacts) -> tuple[float, ...]:
    return (
        _log1p(block.size),
        block.link_bytes / block.size,
        block.mark_count / (block.text.count(" ") + 1),
        1.0 if block.box.tag in HEADINGS else 0.0,
        ends_sentence,
        _log1p(page.text_counts[block.text] - 1),
    )


def _describe_position(number: int, before: int, prose_before: int, page: _PageFacts) -> tuple[float, ...]:
    offset = number - page.first_heading
    from_heading = max(-_HEADING_REACH, min(_HEADING_REACH, offset)) if page.first_heading >= 0 else 0
    return (
        number / page.block_count,
        before / page.size,
        _log1p(before),
        float(from_heading),
        prose_before / (page.prose_bytes or 1),
    )


def _describe_neighbours(blocks: list[TextBlock], endings: list[float]) -> list[tuple[float, float, float]]:
    """Return the size, share of links and share of sentence ends of each block together with its neighbours."""
    sizes, links, finished = [0], [0], [0.0]
    for block, end in zip(blocks, endings, strict=True):
        sizes.append(sizes[-1] + block.size)
        links.append(links[-1] + block.link_bytes)
        finished.append(finished[-1] + end)
    rows = []
    for number in range(len(blocks)):
        low, high = max(0, number - _NEIGHBOURS), min(len(blocks), number + _NEIGHBOURS + 1)
        size = sizes[high] - sizes[low] or 1
        rows.append((_log1p(size), (links[high] - links[low]) / size, (finished[high] - finished[low]) / (high - low)))
    return rows


def _log1p(count: float) -> float:
    return math.log1p(count)


FEATURE_NAMES: Final = (
    "own size", "own links", "own marks", "is heading", "ends a sentence", "seen again",
    "place among blocks", "text before, share", "text before", "blocks from first heading", "prose before, share",
    "in div", *(f"inside {name}" for name in _LANDMARKS), *(f"boxes to {name}" for name in _BOX_KINDS),
    *(
        f"level {level} {name}"
        for level in range(_LEVELS)
        for name in ("size", "links", "prose", "share of page", *(("alike",) if level < _ALIKE_LEVELS else ()))
    ),
    "boxes to home", "depth of home", "item alike", "item size", "items size",
    "around size", "around links", "around sentences",
    "page size", "page links", "page prose", "page longest", "page paragraphs", "page alike", "page dates",
    "page prices", "page product boxes", "page comment boxes", "path length", "path dashes",
    *(f"URL of a {name}" for name in _URL_KINDS),
)  # fmt: skip
"""The names of the columns of `compute_features`. content_trees.py has a variable for each."""
