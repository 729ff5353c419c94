"""Build the view of a stored text: a part of it or all, the passages that a call showed, and the scores along it."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Final

from keyhole.extensions.look.text_view.heat import Cell, axis_ticks, heat
from keyhole.extensions.look.text_view.marks import Segment, Span, choose_readable, divide, mark
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
from keyhole.text.markdown import find_link_origin
from keyhole.text.output_facts import is_output

if TYPE_CHECKING:
    from keyhole.passages.index import Index
    from keyhole.passages.rank import WindowScores

MAX_RANKED_CHARS: Final = 20_000_000
"""Characters of the longest text that is ranked again. Ranking 10 million takes a second; only an output is longer."""
MAX_WORDS: Final = 12
"""Words of the query with a strip of their own. The others are listed."""
WORD_CELLS: Final = 100
BEST_PLACES: Final = 8
"""Best parts of a text that are listed."""
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
    """A word of the query, its number of occurrences in the text, and where they are."""

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
    """Return the view of a whole text, with gaps folded. Gaps for which `room` characters do not suffice are empty.

    `query`, `quote`: what was looked for in the text, "" for nothing; both are marked.
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
