"""The view of a stored text: a part of it or all, the passages that a call showed, and the scores along it."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Final, Self

from keyhole.passages.gaps import Span
from keyhole.records import Artifact
from keyhole.retrieval.answer_view import (
    Section,
    ShownPassage,
    Word,
    build_page_view,
    describe_passage,
    measure_sections,
    rank_text,
)
from keyhole.store.base import Store
from keyhole.text.markdown import expand_paths, find_link_origin, find_paths
from keyhole.text.output_facts import is_output

if TYPE_CHECKING:
    from keyhole.passages.index import Index
    from keyhole.passages.rank import WindowScores

# The view.

MAX_RANKED_CHARS: Final = 20_000_000
"""Characters of the longest text that is ranked again. Ranking 10 million takes a second; only outputs are longer."""
MAX_WORDS: Final = 12
"""Maximum words of the query that have a strip. Further words are only listed."""
WORD_CELLS: Final = 100
BEST_PLACES: Final = 8
"""Number of the best parts of a text that are listed."""
MAX_SECTIONS: Final = 200
"""Headings of the outline. If there are more, those with shown text come first."""
CACHED_TEXTS: Final = 4
"""Texts whose scores are cached, as many as the ranking caches."""


@dataclass(frozen=True, slots=True)
class StoredText:
    """A stored text. `artifact.text` is all of it, or "" if it is too long to be ranked."""

    artifact: Artifact
    total: int
    read: Callable[[int, int], str]
    """Returns the characters `[start, end)` of the text."""


@dataclass(frozen=True, slots=True)
class WordView:
    """A word of the query with the number and the places of its occurrences."""

    word: str
    count: int
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a text for a query, computed again from the text. All is empty without a query."""

    cells: tuple[Cell, ...] = ()
    words: tuple[WordView, ...] = ()
    passages: tuple[ShownPassage, ...] = ()
    best: tuple[Span, ...] = ()
    """The parts of the text with the greatest scores, best first."""
    coverage: float | None = None
    """The greatest share of the query that a passage covers, from 0 to 1; None without a query."""
    weak: bool = False

    @property
    def absent(self) -> tuple[str, ...]:
        """Return the words of the query that the text does not contain."""
        return tuple(word.word for word in self.words if not word.count)


@dataclass(frozen=True, slots=True)
class TextView:
    """A stored text with its passages that a call showed."""

    artifact: Artifact
    """The facts of the text; its own text is left out."""
    total: int
    query: str
    spans: tuple[Span, ...]
    segments: tuple[Segment, ...]
    """The segments of the part from `start` to `end`."""
    start: int
    end: int
    scores: Scores
    sections: tuple[Section, ...]
    is_ranked: bool
    """False if the text is too long to be ranked."""

    @property
    def shown(self) -> int:
        """Return the number of characters that the call showed."""
        return sum(segment.chars for segment in divide(0, self.total, self.spans) if segment.shown)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Return the offsets that an axis along the text names, besides its end."""
        return axis_ticks(self.total)

    @property
    def is_output(self) -> bool:
        """Return whether the text is the output of a command or another tool."""
        return is_output(self.artifact.url)

    @property
    def link_origin(self) -> str:
        """Return the origin on which the paths in the text are displayed as full URLs, "" if there are none."""
        return find_link_origin(self.artifact.url, self.artifact.media_type)


def read_text(store: Store, id: str) -> StoredText:
    """Read a stored text. Raises KeyholeError if it is unknown, expired or damaged."""
    part = store.part(id, 0, 0)
    if part.total > MAX_RANKED_CHARS:
        return StoredText(
            replace(part.artifact, text=""), part.total, lambda start, end: store.part(id, start, end).artifact.text
        )
    artifact = store.get(id)
    return StoredText(artifact, len(artifact.text), lambda start, end: artifact.text[start:end])


def view_whole(text: StoredText, spans: Sequence[Span], query: str, room: int, quote: str = "") -> TextView:
    """Return the view of a whole text, with gaps folded. Long gaps beyond `room` characters in total are empty.

    `query`, `quote`: the words and the quote to mark, or "".
    """
    segments = divide(0, text.total, spans, text.artifact.main_end)
    return _view(text, spans, (query, quote), segments, choose_readable(segments, room))


def view_window(
    text: StoredText, spans: Sequence[Span], query: str, start: int, chars: int, quote: str = ""
) -> TextView:
    """Return the view of `chars` characters of a text from `start` on; it ends after a line where possible."""
    segments = divide(*cut_window(text, start, chars), spans, text.artifact.main_end)
    return _view(text, spans, (query, quote), segments, (True,) * len(segments))


def cut_window(text: StoredText, start: int, chars: int) -> Span:
    """Return the range of at most `chars` characters from `start` on. It ends after a line where possible."""
    start = min(max(0, start), text.total)
    window = text.read(start, start + chars)
    if start + len(window) < text.total:
        window = window[: window.rfind("\n", len(window) // 2) + 1 or len(window)]
    return start, start + len(window)


def _view(
    text: StoredText,
    spans: Sequence[Span],
    sought: tuple[str, str],
    segments: Sequence[Segment],
    readable: Sequence[bool],
) -> TextView:
    from keyhole.passages import index_text

    query, quote = sought
    artifact, is_ranked = text.artifact, text.total <= MAX_RANKED_CHARS
    index = index_text(artifact.text, artifact.main_end)
    ranked, scored = rank_text(artifact, query if is_ranked else "")
    words = _find_words(index, scored, list(compress(segments, readable)))
    quotes = _find_quotes(artifact.text, quote)
    marked = [
        mark(each, text.read(each.start, each.end), [*words.get(each.start, ()), *quotes]) if is_readable else each
        for each, is_readable in zip(segments, readable, strict=True)
    ]
    found = scored if scored and scored.stages else None  # None if no word of the query is in the text
    passages = tuple(describe_passage(ranked, found, span) for span in spans) if scored else ()
    return TextView(
        artifact=replace(artifact, text=""),
        total=text.total,
        query=query,
        spans=tuple(spans),
        segments=tuple(marked),
        start=segments[0].start if segments else 0,
        end=segments[-1].end if segments else 0,
        scores=replace(_score(artifact, query), passages=passages) if scored else Scores(),
        sections=() if is_output(artifact.url) else _outline(index, spans),
        is_ranked=is_ranked,
    )


def _find_words(index: Index, scored: WindowScores | None, segments: Sequence[Segment]) -> Mapping[int, list[Span]]:
    """Return the places of the query's words in segments, by the start of the segment.

    Single characters of unspaced scripts are left out: they are in half of all words.
    """
    from keyhole.passages.find import find_places
    from keyhole.passages.query import Match

    starts = [segment.start for segment in segments]
    places: dict[int, list[Span]] = defaultdict(list)
    for hits in scored.hits if scored else ():
        if hits.count and scored and not (hits.term.match is Match.GRAM and len(hits.term.surface) == 1):
            for place in find_places(index, hits.term, scored.query, [(each.start, each.end) for each in segments]):
                places[starts[bisect_right(starts, place[0]) - 1]].append(place)
    return places


def _find_quotes(text: str, quote: str) -> tuple[Span, ...]:
    """Return the first places of a quote in a text."""
    from keyhole.passages.quotes import find_quote

    found = find_quote(text, quote) if quote else None
    return found.places if found else ()


@lru_cache(maxsize=CACHED_TEXTS)
def _score(artifact: Artifact, query: str) -> Scores:
    """Return the scores of a text for a query, without passages. The last few are cached: each window needs them."""
    total = len(artifact.text)
    ranked, scored = rank_text(artifact, query)
    if scored is None:
        return Scores()
    page = build_page_view(artifact, query, (), None)
    windows = ((ranked.starts[window], ranked.end(window), score) for window, score in enumerate(scored.scores))
    words = tuple(_view_word(word, total if number < MAX_WORDS else 0) for number, word in enumerate(page.words))
    best = tuple((ranked.starts[window], ranked.end(window)) for window in scored.best(BEST_PLACES))
    return Scores(heat(total, windows), words, (), best, page.coverage, page.weak)


def _view_word(word: Word, total: int) -> WordView:
    places = ((place, place + 1, weight) for place, weight in word.places)
    return WordView(word.word, word.count, heat(total, places, WORD_CELLS) if word.count else ())


def _outline(index: Index, spans: Sequence[Span]) -> tuple[Section, ...]:
    sections = measure_sections(index, sorted(spans))
    if len(sections) > MAX_SECTIONS:
        first = sorted(sections, key=lambda section: not section.shown)[:MAX_SECTIONS]
        return tuple(sorted(first, key=lambda section: section.start))
    return sections


# Segments: passages that a result shows and gaps between them, with the words of the query marked. They follow each
# other without a hole: their texts, with those of the gaps whose text is left out, are the text.

SHORT_GAP: Final = 2_000
"""Characters of a gap that is always in the page, folded: at most a screen of text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text. `marked`: True for a word of the query."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A range of the stored text that is shown as a whole or not at all, in the main part or in the rest."""

    start: int
    end: int
    shown: bool
    rest: bool = False
    """True if it is in the rest of the page, after its main part."""
    pieces: tuple[Piece, ...] = ()
    """The text of the range; empty if it is left out because it is too long."""

    @property
    def chars(self) -> int:
        """Return the number of characters of the range."""
        return self.end - self.start

    @property
    def text(self) -> str:
        """Return the text of the range, "" if it is left out."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def is_blank(self) -> bool:
        """Return whether the range has text, and all of it is white space."""
        return bool(self.pieces) and not self.text.strip()

    def with_full_links(self, origin: str) -> Self:
        """Return the segment as it is displayed: its links to paths are full URLs on `origin`, as in `expand_links`."""
        paths = list(find_paths(self.text)) if origin else []
        if not paths:
            return self
        pieces, start = list[Piece](), 0
        for piece in self.pieces:
            end = start + len(piece.text)
            inside = [path - start for path in paths if start <= path < end]
            pieces.append(replace(piece, text=expand_paths(piece.text, inside, origin)))
            start = end
        return replace(self, pieces=tuple(pieces))


def divide(start: int, end: int, spans: Iterable[Span], main_end: int | None = None) -> tuple[Segment, ...]:
    """Return the segments of the range `[start, end)`, without their texts.

    `spans`: the ranges that are shown, in any order; they may overlap. `main_end`: where the rest of the page begins.
    """
    segments: list[Segment] = []
    at = start
    for first, last in [*sorted(spans), (end, end)]:
        first, last = max(at, min(first, end)), min(last, end)
        if at < first:
            segments += _split_at(Segment(at, first, shown=False), main_end)
            at = first
        if first < last:
            segments += _split_at(Segment(first, last, shown=True), main_end)
            at = last
    return tuple(segments)


def choose_readable(segments: Sequence[Segment], room: int) -> tuple[bool, ...]:
    """Return for each segment whether its text is part of the page: passages and short gaps always are.

    Longer gaps are added, the shortest first, while all of them together fit `room` characters.
    """
    readable = [segment.shown or segment.chars <= SHORT_GAP for segment in segments]
    for number in sorted(range(len(segments)), key=lambda number: segments[number].chars):
        if not readable[number] and segments[number].chars <= room:
            readable[number] = True
            room -= segments[number].chars
    return tuple(readable)


def mark(segment: Segment, text: str, words: Iterable[Span]) -> Segment:
    """Return the segment with its `text`. `words`: ranges of the stored text, in any order; they may overlap."""
    pieces: list[Piece] = []
    at = segment.start
    for first, last in [*sorted(words), (segment.end, segment.end)]:
        first, last = max(at, min(first, segment.end)), min(last, segment.end)
        if at < first:
            pieces.append(Piece(text[at - segment.start : first - segment.start]))
            at = first
        if first < last:
            pieces.append(Piece(text[first - segment.start : last - segment.start], marked=True))
            at = last
    return replace(segment, pieces=tuple(pieces))


def _split_at(segment: Segment, main_end: int | None) -> list[Segment]:
    """Return the segment, divided where the rest of the page begins."""
    if main_end is None or segment.end <= main_end:
        return [segment]
    if main_end <= segment.start:
        return [replace(segment, rest=True)]
    return [replace(segment, end=main_end), replace(segment, start=main_end, rest=True)]


# The strip along a page that shows where its text matches a query, and which parts are shown.

CELLS: Final = 200
"""Cells of a strip. In a column of 600 pixels each is 3 pixels wide."""
LEVELS: Final = 9
"""Levels of heat above none, each a class of the style sheet."""

MAX_TICKS: Final = 5
"""Parts into which ticks divide an axis: on a phone, five numbers of seven digits fit beside each other."""
CLEAR: Final = 0.15
"""Share of the axis at its end without ticks, because the length of the text is written there."""

Weight = tuple[int, int, float]
"""A range of the text and its score."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A range of the text with the same heat: 0 for none, `LEVELS` for the greatest of the text."""

    start: int
    end: int
    level: int


def heat(total: int, weights: Iterable[Weight], cells: int = CELLS) -> tuple[Cell, ...]:
    """Return the cells of a text of `total` characters; neighbours of the same level are joined.

    A cell has the level of the greatest score that reaches into it. A score of 0 or less has no heat.
    """
    if not total:
        return ()
    count = min(cells, total)
    best = [0.0] * count
    for start, end, score in weights:
        if score <= 0 or start >= end:
            continue
        for cell in range(max(0, start) * count // total, min(count, -(-end * count // total))):
            best[cell] = max(best[cell], score)
    most = max(best, default=0.0)
    joined: list[Cell] = []
    for number, score in enumerate(best):
        level = _level(score, most)
        end = -(-(number + 1) * total // count)
        if joined and joined[-1].level == level:
            joined[-1] = Cell(joined[-1].start, end, level)
        else:
            joined.append(Cell(joined[-1].end if joined else 0, end, level))
    return tuple(joined)


def axis_ticks(total: int) -> tuple[int, ...]:
    """Return round offsets at equal distances along a text, from 0 on and clear of its end."""
    steps = (digit * 10**power for power in range(len(str(total))) for digit in (1, 2, 5))
    step = next((step for step in steps if total <= MAX_TICKS * step), max(total, 1))
    return tuple(tick for tick in range(0, total, step) if not tick or total - tick >= CLEAR * total)


def _level(score: float, most: float) -> int:
    """Return the level of a score: at least 1 for every score above 0."""
    return max(1, round(LEVELS * score / most)) if score > 0 else 0
