"""Compute facts about a whole page that tell its kind, such as an article, a forum thread or a shop."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from keyhole.extract.html.boilerplate.segments import Segments, TextBlock

_DATE = re.compile(r"(?:19|20)\d\d|\d[:/.]\d\d|(?i:\b(?:ago|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))")
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?i:€|usd|eur)")
_SHORT_BYTES: Final = 100
"""Dates and prices are counted in blocks shorter than this, with a digit."""
_LONG_BYTES: Final = 200
"""Longer blocks count as paragraphs."""
_ITEM_BLOCKS: Final = 3
"""Boxes with fewer blocks are not the items of a page of items."""
_URL_KINDS: Final = {
    "forum": re.compile(
        r"forum|thread|topic|/t/|discuss|communit|question|showthread|viewtopic|comments/|/r/|answers|support\.|/post"
    ),
    "shop": re.compile(r"product|/p/|/dp/|/item|/pr/|/pd/|\.p\b|/itm"),
    "listing": re.compile(r"categor|collection|/c/|/shop|catalog|/tag|search|list|browse"),
    "blog": re.compile(r"blog|news|article|/20[12]\d|story|post/|how-to|magazine|/\d{5,}|best-"),
    "manual": re.compile(r"docs?\b|manual|reference|guide|wiki|api|help|learn|tutorial"),
}
"""The kind of a page by the words in its URL."""


_COUNTED_TAGS: Final = ("article", "main", "pre", "blockquote", "h1", "h2", "h3", "p", "form")
_WORD = re.compile(r"[^\W_]{3,}")
"""A word of a URL's path. Shorter ones are mostly file types and languages."""


@dataclass(slots=True)
class PageFacts:
    """Facts about the whole page."""

    block_count: int
    size: int
    prose_bytes: int
    first_heading: int
    """The number of the first block in an `<h1>`, -1 without one."""
    title_words: set[str]
    """The words of that block and of the URL's path."""
    text_counts: dict[str, int] = field(default_factory=dict)
    row: tuple[float, ...] = ()


def measure_page(segments: Segments, url: str, digits: list[int]) -> PageFacts:
    """Return the facts about a page. `digits` has the number of digits near the start of each block."""
    blocks = segments.blocks
    size = sum(block.size for block in blocks) or 1
    prose = sum(block.prose_bytes for block in blocks)
    heading = next((n for n, block in enumerate(blocks) if block.box.tag == "h1"), -1)
    split = urlsplit(url)
    words = set(_WORD.findall(split.path.lower()))
    if heading >= 0:
        words |= set(blocks[heading].text.lower().split())
    page = PageFacts(len(blocks), size, prose, heading, words)
    for block in blocks:
        page.text_counts[block.text] = page.text_counts.get(block.text, 0) + 1
    page.row = (*_describe_texts(blocks, digits, size, prose), *_describe_url(split), *_describe_boxes(segments))
    return page


def _describe_texts(blocks: list[TextBlock], digits: list[int], size: int, prose: int) -> tuple[float, ...]:
    short = [block.text for block, count in zip(blocks, digits, strict=True) if count and block.size < _SHORT_BYTES]
    long_count = sum(block.size > _LONG_BYTES for block in blocks)
    return (
        size,
        sum(block.link_bytes for block in blocks) / size,
        prose / size,
        max((block.size for block in blocks), default=0),
        long_count,
        prose / (long_count or 1),
        len(blocks),
        sum(_DATE.search(text) is not None for text in short),
        sum(_PRICE.search(text) is not None for text in short),
    )


def _describe_url(url: SplitResult) -> tuple[float, ...]:
    address = f"{url.netloc}{url.path}?{url.query}".lower()
    kinds = (pattern.search(address) is not None for pattern in _URL_KINDS.values())
    return (len(url.path), url.path.count("-"), *kinds)


def _describe_boxes(segments: Segments) -> tuple[float, ...]:
    boxes = segments.boxes
    tags = Counter([box.tag for box in boxes])
    return (
        max((box.alike_count for box in boxes if box.block_count >= _ITEM_BLOCKS), default=0),
        sum("product" in box.names for box in boxes),
        sum("comment" in box.names for box in boxes),
        *[tags[tag] for tag in _COUNTED_TAGS],
    )


PAGE_FEATURES: Final = (
    "page size", "page links", "page prose", "page longest", "page paragraphs", "page mean prose", "page blocks",
    "page dates", "page prices", "path length", "path dashes", *(f"URL of a {name}" for name in _URL_KINDS),
    "page alike", "page product boxes", "page comment boxes", *(f"page {tag}" for tag in _COUNTED_TAGS),
)  # fmt: skip
"""The names of the columns of `PageFacts.row`."""
