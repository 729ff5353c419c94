"""Compute the numeric features of each text block of a page. classify.py predicts from them which blocks are content.

Classifying text blocks by shallow features of themselves and their neighbours is an idea of Kohlschütter, Fankhauser
and Nejdl, "Boilerplate Detection using Shallow Text Features" (WSDM 2010).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

from keyhole.extract.html.boilerplate.segments import HEADINGS, Box, Segments, TextBlock

# Purposes of boxes by the words of their names, and of short texts by words in several languages.

_BOX_STEMS: Final = {
    "nav": "nav menu crumb toolbar skip masthead drawer dropdown",
    "foot": "foot copyright legal bottom disclaim",
    "share": "share sharing social follow like vote button btn action control",
    "promo": "promo advert _ad_ _ads_ sponsor newsletter subscri signup cookie consent popup modal overlay banner "
    "notice alert",
    "meta": "meta byline date time tag categor info label badge avatar user profile stat",
    "author": "author _bio contribut reviewer signature",
    "comment": "comment reply replies respond disqus discussion",
    "review": "review rating testimonial",
    "fold": "faq accordion collaps _tab expand",
    "related": "relat recommend popular trending _more similar latest recent upsell crosssell _cross _next _prev",
    "side": "side widget _rail",
    "slides": "carousel slider slick swiper slide gallery ticker playlist",
    "card": "card teaser tile grid item excerpt listing",
    "content": "content entry article body prose markdown rich _rte editor _post_ story text",
    "filter": "filter facet sort refine pagina pager search",
    "product": "product pdp price cart sku spec variant swatch shipping deliver",
    "caption": "caption credit figure image media photo",
    "heading": "title headline heading hero intro lead summary description",
    "quote": "quote signature onebox embed",
}
"""Parts of names by purpose; `_` is the edge of a word. Sites of all languages write class and id in English."""

_TEXT_WORDS: Final = {
    "related": "related recommended recommendations more also popular trending latest recent next similar sponsored "
    "stories explore featured read weitere ähnliche auch mehr meistgelesen empfehlungen lire aussi aimerez "
    "relacionados relacionadas más leídas también correlati leggi anche potrebbe lidas leia veja gerelateerd ook meer "
    "читайте похожие",
    "comment": "comment comments reply replies response responses discussion kommentar kommentare commentaire "
    "commentaires comentario comentarios commenti reacties комментарии",
    "promo": "newsletter subscribe subscription sign signup login log join follow share register download contact "
    "abonnieren anmelden teilen folgen inscrire inscription partager suscríbete suscribirse compartir iscriviti "
    "condividi assine inschrijven подписаться поделиться",
    "about": "author authors written reviewed about über propos sobre categories tags archives archive links company "
    "service legal privacy cookie cookies impressum menu navigation disclaimer",
    "credit": "© copyright rights reserved getty reuters photo photos photograph image credit credits courtesy foto "
    "crédit quelle advertisement",
    "shop": "add buy cart stock sold quantity shipping delivery return returns wishlist compare review reviews rating "
    "ratings star stars sort filter filters show view see all results warenkorb panier carrito",
    "time": "ago min minutes read hours hour day days january february march april may june july august september "
    "october november december jan feb mar apr jun jul aug sep sept oct nov dec",
}
"""Words of headings and labels by purpose."""

LANDMARKS: Final = ("nav", "header", "footer", "aside", "main", "article", "dialog", "section")
_ROLES: Final = {
    "navigation": "nav", "menu": "nav", "menubar": "nav", "banner": "header", "contentinfo": "footer",
    "complementary": "aside", "main": "main", "article": "article", "dialog": "dialog",
}  # fmt: skip
"""The landmark by a word of the names, which include the role."""

BOX_KINDS: Final = tuple(_BOX_STEMS)
TEXT_KINDS: Final = tuple(_TEXT_WORDS)
_STEMS: Final = [
    (stem.replace("_", " "), number) for number, stems in enumerate(_BOX_STEMS.values()) for stem in stems.split()
]
_START: Final = 3
"""Characters of the shortest stem, with its edges."""
_STEMS_BY_START: Final = {
    start: [(stem, kind) for stem, kind in _STEMS if stem.startswith(start)]
    for start in {stem[:_START] for stem, _ in _STEMS}
}
_WORDS: Final = {word: 1 << number for number, words in enumerate(_TEXT_WORDS.values()) for word in words.split()}
_SEPARATORS: Final = str.maketrans("-_:/[]", "      ")
_MARKS: Final = ".,:;!?|·•()\"'"
_WORDS_READ: Final = 12
"""Words at the beginning of a text that are looked up."""


@lru_cache(maxsize=4_096)
def match_names(names: str) -> tuple[frozenset[int], int]:
    """Return the numbers of the kinds of a box with these names, and its landmarks as bits."""
    kinds: set[int] = set()
    landmarks = 0
    for word in names.translate(_SEPARATORS).split():
        more, landmark = _match_word(word)
        kinds |= more
        landmarks |= landmark
    return frozenset(kinds), landmarks


@lru_cache(maxsize=16_384)
def _match_word(word: str) -> tuple[frozenset[int], int]:
    kinds = set()
    padded = f" {word} "
    for place in range(len(padded) - _START + 1):
        for stem, kind in _STEMS_BY_START.get(padded[place : place + _START], ()):
            if padded.startswith(stem, place):
                kinds.add(kind)
    role = _ROLES.get(word)
    return frozenset(kinds), 1 << LANDMARKS.index(role) if role else 0


def match_text_kinds(text: str) -> int:
    """Return the kinds of a text by its first words, as bits."""
    found = 0
    for word in text.lower().split(None, _WORDS_READ)[:_WORDS_READ]:
        found |= _WORDS.get(word, 0) or _WORDS.get(word.strip(_MARKS), 0)
    return found


# Facts about a whole page that tell its kind, such as an article, a forum thread or a shop.

_DATE = re.compile(r"(?:19|20)\d\d|\d[:/.]\d\d|(?i:\b(?:ago|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))")
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?i:€|usd|eur)")
_DATED_BYTES: Final = 100
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
class PageMeasures:
    """Facts about the whole page."""

    block_count: int
    size: int
    prose_bytes: int
    first_heading: int
    """The number of the first block in an `<h1>`, -1 if there is none."""
    title_words: set[str]
    """The words of that block and of the URL's path."""
    text_counts: dict[str, int] = field(default_factory=dict)
    row: tuple[float, ...] = ()


def measure_page(segments: Segments, url: str, digits: list[int]) -> PageMeasures:
    """Return the facts about a page. `digits` has the number of digits near the start of each block."""
    blocks = segments.blocks
    size = sum(block.size for block in blocks) or 1
    prose = sum(block.prose_bytes for block in blocks)
    heading = next((n for n, block in enumerate(blocks) if block.box.tag == "h1"), -1)
    split = urlsplit(url)
    words = set(_WORD.findall(split.path.lower()))
    if heading >= 0:
        words |= set(blocks[heading].text.lower().split())
    page = PageMeasures(len(blocks), size, prose, heading, words)
    for block in blocks:
        page.text_counts[block.text] = page.text_counts.get(block.text, 0) + 1
    page.row = (*_describe_texts(blocks, digits, size, prose), *_describe_url(split), *_describe_boxes(segments))
    return page


def _describe_texts(blocks: list[TextBlock], digits: list[int], size: int, prose: int) -> tuple[float, ...]:
    short = [block.text for block, count in zip(blocks, digits, strict=True) if count and block.size < _DATED_BYTES]
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
"""The names of the columns of `PageMeasures.row`."""


# Compute the features that the blocks of one box share: its landmarks, purposes, and the boxes above it.

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
_NO_ITEM: Final = (0, 0, 0, -1.0, -1.0)


class BoxFacts:
    """Facts about a box, partly inherited from the box above, and the features that all its blocks share."""

    __slots__ = (
        "_above",
        "_alike",
        "_depth",
        "_distances",
        "_home",
        "_is_div",
        "_item",
        "_landmarks",
        "_level",
        "_row",
    )

    def __init__(self, box: Box, above: BoxFacts | None, page: PageMeasures) -> None:
        kinds, landmarks = match_names(box.names)
        tag, size, alike = box.tag, box.size, box.alike_count
        prose = box.prose_bytes
        self._above = above
        self._row: tuple[float, ...] | None = None
        self._is_div = tag == "div"
        self._landmarks = landmarks | _LANDMARK_BITS.get(tag, 0)
        self._item = box if alike >= 3 and tag not in _NON_ITEM_TAGS else None
        """The nearest box, from this one upwards, that is one of several alike."""
        self._level = (size, box.link_bytes / size, prose / size, size / page.size, size / box.block_count)
        self._alike = alike
        if above is None:
            self._depth, self._home = 1, 0
            self._distances = _FAR
        else:
            self._depth = above._depth + 1
            self._home = 0 if prose * 2 >= page.prose_bytes else above._home + 1
            """The number of boxes up to the box that holds half of the page's prose."""
            self._item = self._item or above._item
            self._landmarks |= above._landmarks
            self._distances = above._distances.translate(_ONE_MORE)
        if kinds:
            near = bytearray(self._distances)
            for kind in kinds:
                near[kind] = 0
            self._distances = bytes(near)

    @property
    def row(self) -> tuple[float, ...]:
        """The features of this box and of the boxes above it, in the order of `BOX_FEATURES`."""
        if self._row is None:
            item = self._item
            levels: list[float] = []
            alike: list[float] = []
            facts: BoxFacts = self
            for _ in range(_LEVELS):
                levels += facts._level
                alike.append(facts._alike)
                facts = facts._above or facts
            self._row = (
                self._is_div,
                *_FLAGS[self._landmarks],
                *self._distances,
                *levels,
                *alike[:_ALIKE_LEVELS],
                self._home,
                self._depth - self._home,
                *(_describe_item(item) if item is not None else _NO_ITEM),
            )
        return self._row


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


# Compute the numeric features of each text block of a page. classify.py predicts from them which blocks are
# content.

_SENTENCE_ENDS: Final = tuple(".!?。！？…:")
_CLOSING_MARKS: Final = "\"'”’)]"
_DIGIT = re.compile(r"\d")
_NEIGHBOURS: Final = 6
"""Blocks on each side that count as neighbours."""
_HEADING_REACH: Final = 50
"""Largest distance from a heading or from prose, in blocks. Longer distances count as this one."""
_SHORT_BYTES: Final = 120
"""Longer texts are neither labels nor headings, and their words tell no kind."""
_LABEL_BYTES: Final = 40
"""A shorter text that tells a kind is a label for the blocks below it."""
_READ_CHARS: Final = 100
"""Characters at the beginning of a block that are read for capitals, digits and the words of the title."""
_TAG_CODES: Final = {
    tag: number
    for number, tags in enumerate(
        ("p", "div section article main body", "span a button label summary", "li dd dt", "ul ol dl menu dir",
         "table td th", "pre code", "figure figcaption", "blockquote", "h1", "h2", "h3", "h4 h5 h6"), 1,
    )
    for tag in tags.split()
}  # fmt: skip
"""Numbers for the tags of a block's box. Similar tags have the same number."""


FeatureRow = tuple[tuple[float, ...], ...]
"""The numbers of a block, in the groups of `FEATURE_GROUPS`. Blocks share groups, so rows are not flat."""


def compute_features(segments: Segments, url: str) -> list[FeatureRow]:
    """Return a row of numbers for each block. Linear in blocks and boxes."""
    blocks = segments.blocks
    digits = [len(_DIGIT.findall(block.text[:_READ_CHARS])) for block in blocks]
    kinds = [match_text_kinds(block.text) if block.size < _SHORT_BYTES else 0 for block in blocks]
    page = measure_page(segments, url, digits)
    boxes: dict[Box, BoxFacts] = {}
    for box in segments.boxes:
        boxes[box] = BoxFacts(box, boxes[box.parent] if box.parent is not None else None, page)
    endings = [block.text.rstrip(_CLOSING_MARKS).endswith(_SENTENCE_ENDS) for block in blocks]
    neighbours = _describe_neighbours(blocks, endings)
    headings = _describe_headings(blocks, kinds)
    prose_before = _measure_gaps(blocks)
    prose_after = _measure_gaps(blocks[::-1])[::-1]
    likes = _describe_likes(blocks)
    rows: list[FeatureRow] = []
    size = prose = 0
    for number, block in enumerate(blocks):
        rows.append(
            (
                (*_describe_block(block, digits[number], kinds[number], page), endings[number]),
                _describe_position(number, size, prose, page),
                boxes[block.box].row,
                neighbours[number],
                headings[number],
                prose_before[number],
                prose_after[number],
                likes[number],
                page.row,
            )
        )
        size += block.size
        prose += block.prose_bytes
    return rows


def _describe_block(block: TextBlock, digits: int, kinds: int, page: PageMeasures) -> tuple[float, ...]:
    text = block.text[:_READ_CHARS]
    words = text.split()
    own_words = set(text.lower().split())
    shared = len(own_words & page.title_words)
    tag = block.box.tag
    return (
        block.size,
        block.link_bytes / block.size,
        block.mark_count / (block.text.count(" ") + 1),
        tag in HEADINGS,
        page.text_counts[block.text],
        _TAG_CODES.get(tag, 0),
        sum(map(str.istitle, words)) / len(words),
        digits / len(text),
        shared / (len(page.title_words) or 1),
        shared / len(own_words),
        kinds,
    )


def _describe_position(number: int, before: int, prose_before: int, page: PageMeasures) -> tuple[float, ...]:
    offset = number - page.first_heading
    return (
        number / page.block_count,
        before / page.size,
        before,
        max(-_HEADING_REACH, min(_HEADING_REACH, offset)) if page.first_heading >= 0 else 0,
        prose_before / (page.prose_bytes or 1),
        page.size - before,
        page.prose_bytes - prose_before,
    )


def _describe_neighbours(blocks: list[TextBlock], endings: list[bool]) -> list[tuple[float, ...]]:
    """Return the size and links of each block's neighbours: around it, above and below it, and directly beside it."""
    sizes, links, finished = [0], [0], [0]
    for block, end in zip(blocks, endings, strict=True):
        sizes.append(sizes[-1] + block.size)
        links.append(links[-1] + block.link_bytes)
        finished.append(finished[-1] + end)
    rows: list[tuple[float, ...]] = []
    last = len(blocks) - 1
    for number in range(len(blocks)):
        low, high = max(0, number - _NEIGHBOURS), min(last, number + _NEIGHBOURS) + 1
        size = sizes[high] - sizes[low] or 1
        above, below = sizes[number] - sizes[low], sizes[high] - sizes[number + 1]
        rows.append(
            (
                size,
                (links[high] - links[low]) / size,
                (finished[high] - finished[low]) / (high - low),
                above,
                (links[number] - links[low]) / (above or 1),
                below,
                (links[high] - links[number + 1]) / (below or 1),
                blocks[number - 1].size if number else -1,
                blocks[number + 1].size if number < last else -1,
            )
        )
    return rows


def _describe_headings(blocks: list[TextBlock], kinds: list[int]) -> list[tuple[float, ...]]:
    """Return facts about the headings before each block: the nearest one's level, distance and kinds of text.

    They are followed by the kinds of the last short label below that heading, and the kinds and number of all headings.
    """
    rows: list[tuple[float, ...]] = []
    level, at, kind, label, seen, count = 0, -1, 0, 0, 0, 0
    for number, block in enumerate(blocks):
        tag = block.box.tag
        if tag in HEADINGS:
            level, at, kind, label = int(tag[1]), number, kinds[number], 0
            seen |= kind
            count += 1
        elif kinds[number] and block.size < _LABEL_BYTES:
            label = kinds[number]
        distance = min(number - at, _HEADING_REACH)
        rows.append((level, distance, kind & 15, kind >> 4, label & 15, seen & 15, count))
    return rows


def _measure_gaps(blocks: list[TextBlock]) -> list[tuple[float, ...]]:
    """Return the distance to the nearest prose before each block, in bytes and blocks, and its size."""
    rows: list[tuple[float, ...]] = []
    gap = steps = size = 0
    for block in blocks:
        rows.append((gap, min(_HEADING_REACH, steps), size))
        gap, steps = gap + block.size, steps + 1
        if prose := block.prose_bytes:
            gap, steps, size = 0, 0, prose
    return rows


def _describe_likes(blocks: list[TextBlock]) -> list[tuple[float, ...]]:
    """Return facts about all blocks of the page whose boxes have the same tag and names as a block's box."""
    keys = [_name_style(block.box) for block in blocks]
    totals: dict[tuple[str, ...], list[int]] = {}
    for key, block in zip(keys, blocks, strict=True):
        total = totals.setdefault(key, [0, 0, 0, 0])
        total[0] += 1
        total[1] += block.size
        total[2] += block.link_bytes
        total[3] += block.prose_bytes
    rows = {
        key: (count, size, size / count, links / size, prose / size)
        for key, (count, size, links, prose) in totals.items()
    }
    return [rows[key] for key in keys]


def _name_style(box: Box) -> tuple[str, ...]:
    """Return the tags and names of a box and the box above it. Boxes of one purpose look alike."""
    above = box.parent
    return (box.tag, box.names, above.tag, above.names) if above is not None else (box.tag, box.names)


FEATURE_GROUPS: Final[tuple[tuple[str, ...], ...]] = (
    ("own size", "own links", "own marks", "is heading", "times seen", "tag", "capitals", "digits",
     "title in text", "text in title", "text kinds", "ends a sentence"),
    ("place among blocks", "text before, share", "text before", "blocks from first heading", "prose before, share",
     "text after", "prose after"),
    BOX_FEATURES,
    ("around size", "around links", "around sentences", "size above", "links above", "size below", "links below",
     "size of previous", "size of next"),
    ("heading level", "blocks from heading", "heading kinds", "heading kinds 2", "label kinds", "heading kinds before",
     "headings before"),
    *(tuple(f"prose {way} {name}" for name in ("bytes", "blocks", "size")) for way in ("before", "after")),
    ("like count", "like size", "like mean size", "like links", "like prose"),
    PAGE_FEATURES,
)  # fmt: skip
"""The names of the numbers in each group. content_trees.py has a variable for each."""
