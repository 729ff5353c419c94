"""Views of answers: the parts of a page or of search results that an answer shows, and their scores."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from keyhole.passages.gaps import Span
from keyhole.records import Artifact, EngineReport, Passage, Ranked, Source
from keyhole.retrieval.order_sources import collapse_copies, text_of

if TYPE_CHECKING:
    from keyhole.passages.index import Index
    from keyhole.passages.rank import WindowScores

OPENING: Final = 1_000
"""Characters of a passage's beginning that its view contains."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question and its number of occurrences in the whole text."""

    word: str
    count: int
    places: tuple[tuple[int, float], ...]
    """Offset of each window in which the word occurs, and the weight of its occurrences there."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the text up to the next heading. `shown`: number of its characters that are shown."""

    start: int
    end: int
    level: int
    title: str
    shown: int


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A range of the text that is shown, with the score of its best window.

    `parts`: the score's ingredients; `opening`: the beginning of that window.
    """

    start: int
    end: int
    score: float
    parts: tuple[tuple[str, float], ...]
    heading: str
    opening: str


@dataclass(frozen=True, slots=True)
class PageView:
    """A text and its ranges that an answer shows."""

    title: str
    url: str
    total: int
    spans: tuple[Span, ...]
    passages: tuple[ShownPassage, ...]
    words: tuple[Word, ...]
    sections: tuple[Section, ...]
    removed: tuple[tuple[str, int], ...]
    coverage: float | None
    """The greatest share of the question that a passage covers, from 0 to 1; None without a question."""
    weak: bool
    notice: str
    read: bool = True
    """True if the page was extracted in this call, so that all removed parts are known."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source of a search. `state`: how it was used; `best`, `coverage`: score and coverage of its best passage."""

    number: int
    """Its number in the answer; 0 if the answer does not name it."""
    title: str
    url: str
    state: str
    total: int = 0
    spans: tuple[Span, ...] = ()
    scores: tuple[tuple[float, float], ...] = ()
    """For each span: the best score of a passage in it, and the share of the question that the passage covers."""
    best: float = 0.0
    coverage: float = 0.0
    copies: tuple[str, ...] = ()
    removed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchView:
    """The sources of a search, in the order of the answer, and the outcome of each engine."""

    query: str
    engines: tuple[tuple[str, str], ...]
    sources: tuple[SourceView, ...]
    weak: bool


def rank_text(artifact: Artifact, query: str | None) -> tuple[Index, WindowScores | None]:
    """Return the index of the part of a text that is ranked for `query`, and its scores; None without a question."""
    from keyhole.passages import cut_to_ranked, index_text, score_index

    page = index_text(artifact.text, artifact.main_end)
    index = cut_to_ranked(page, query) if query else page
    return index, score_index(index, query) if query and query.strip() and index.text else None


def build_page_view(
    artifact: Artifact, query: str | None, spans: Sequence[Span], removed: Sequence[tuple[str, int]] | None
) -> PageView:
    """Return the view of a text whose `spans` an answer to `query` shows.

    `removed`: numbers of removed parts by kind; None for a stored page, whose notes contain some of the numbers.
    """
    from keyhole.passages.strength import judge_match, measure_evidence

    index, scored = rank_text(artifact, query)
    scored_windows = scored if scored and scored.stages else None
    coverage = measure_evidence(scored_windows).covered if scored_windows else 0.0 if scored else None
    return PageView(
        title=artifact.title,
        url=artifact.url,
        total=len(index.text),
        spans=tuple(spans),
        passages=tuple(describe_passage(index, scored_windows, span) for span in spans),
        words=_count_words(index, scored) if scored else (),
        sections=measure_sections(index, spans),
        removed=_noted_removals(artifact) if removed is None else tuple(removed),
        coverage=coverage,
        weak=scored is not None and judge_match(scored).is_weak,
        notice=artifact.notice,
        read=removed is not None,
    )


def build_search_view(
    query: str,
    found: Sequence[Source],
    reports: Sequence[EngineReport],
    ranked: Ranked | None,
    spans: Sequence[tuple[Span, ...] | None],
    numbers: Sequence[int],
    removed: Sequence[tuple[tuple[str, int], ...]],
) -> SearchView:
    """Return the view of a search.

    For each source of `found`: the `spans` that the answer shows, its number in the answer (0 for none) and the numbers
    of removed parts.
    """
    from keyhole.passages.strength import WEAK_STRENGTH

    passages = ranked or tuple(() for _ in found)
    copies = {source.url: source.copies for source, _ in collapse_copies(list(zip(found, passages, strict=True)))}
    views = [
        replace(
            _source_view(source, passages[index] if ranked else None, spans[index], copies),
            number=numbers[index],
            removed=removed[index],
        )
        for index, source in enumerate(found)
    ]
    strongest = max((each[0].strength for each in passages if each), default=0.0)
    return SearchView(
        query,
        tuple((report.name, _describe_engine(report)) for report in reports),
        tuple(sorted(views, key=lambda view: view.number or len(views) + 1)),
        weak=ranked is not None and strongest < WEAK_STRENGTH,
    )


def _source_view(
    source: Source,
    passages: Sequence[Passage] | None,
    spans: tuple[Span, ...] | None,
    copies: dict[str, tuple[str, ...]],
) -> SourceView:
    """Return the view of a source. `passages`: best first; None if they were not ranked in time."""
    state = "shown" if spans else "read, but no passage is shown" if source.artifact else "not read"
    if source.artifact and source.url not in copies:
        state = "dropped: a copy of another source"
    elif source.artifact and passages is None:
        state = "read, but not ranked in time"
    elif source.artifact and not passages:
        state = "read, but it has no word of the question"
    elif source.not_read:
        state = f"not read: {source.not_read}"
    passages = passages or ()
    return SourceView(
        0,
        source.title,
        source.url,
        state,
        total=len(text_of(source)),
        spans=spans or (),
        scores=tuple(_best_scores(passages, span) for span in spans or ()),
        best=max((passage.score for passage in passages), default=0.0),
        coverage=max((passage.coverage for passage in passages), default=0.0),
        copies=copies.get(source.url, ()),
    )


def _best_scores(passages: Sequence[Passage], span: Span) -> tuple[float, float]:
    within = [(each.score, each.coverage) for each in passages if each.start < span[1] and each.end > span[0]]
    return max(within, default=(0.0, 0.0))


def _describe_engine(report: EngineReport) -> str:
    unapplied = f"not applied: {', '.join(report.unapplied)}" if report.unapplied else ""
    return "; ".join(each for each in (report.fault or "answered", report.note, unapplied) if each)


def describe_passage(index: Index, scored: WindowScores | None, span: Span) -> ShownPassage:
    """Return a range of a text that is shown, with its best score. `index`, `scored`: as `rank_text` returns them."""
    start, end = span
    first, last = index.window_at(start), index.window_at(max(start, end - 1))
    above = bisect_right(index.headings_at, start) - 1
    heading = _title(index.text, *index.layout.headings[above][3:5]) if above >= 0 else ""
    if scored is None or start >= len(index.text):  # a passage of the rest, from a call without a question
        return ShownPassage(start, end, 0.0, (), heading, index.text[start : min(end, start + OPENING)])
    best = max(range(first, last + 1), key=lambda window: (scored.scores[window], -window))
    parts = tuple((name, round(value, 3)) for name, value in scored.explain(best).items())
    best_start = max(start, index.starts[best])
    opening = index.text[best_start : min(end, best_start + OPENING)]
    return ShownPassage(start, end, round(scored.scores[best], 3), parts, heading, opening)


def _count_words(index: Index, scored: WindowScores) -> tuple[Word, ...]:
    from keyhole.passages.query import Match

    return tuple(
        Word(
            hits.term.surface,
            hits.count,
            tuple((index.starts[window], round(weight, 3)) for window, weight in sorted(hits.windows.items())),
        )
        for hits in scored.hits
        if hits.term.match is not Match.GRAM or len(hits.term.surface) > 1  # the terms that the answer counts
    )


def measure_sections(index: Index, spans: Sequence[Span]) -> tuple[Section, ...]:
    """Return the headings of a text, each with the number of characters below it that are within `spans`."""
    headings = index.layout.headings
    if not headings:
        return ()
    ends = [*(heading.start for heading in headings[1:]), len(index.text)]
    titles = [_title(index.text, heading.start, heading.end) for heading in headings]
    shown = _overlaps([(heading.start, end) for heading, end in zip(headings, ends, strict=True)], spans)
    return tuple(
        Section(heading.start, end, heading.level, title, count)
        for heading, end, title, count in zip(headings, ends, titles, shown, strict=True)
    )


def _overlaps(ranges: Sequence[Span], spans: Sequence[Span]) -> list[int]:
    """Return for each range the number of its characters within `spans`. Both are in ascending order."""
    counts, number = [], 0
    for start, end in ranges:
        count = 0
        while number < len(spans) and spans[number][0] < end:
            count += max(0, min(end, spans[number][1]) - max(start, spans[number][0]))
            if spans[number][1] > end:
                break
            number += 1
        counts.append(count)
    return counts


def _title(text: str, start: int, end: int) -> str:
    return text[start : min(end, start + 300)].strip().lstrip("#").strip()


def _noted_removals(artifact: Artifact) -> tuple[tuple[str, int], ...]:
    return tuple((kind, int(count)) for kind in ("hidden", "invisible") if (count := artifact.note(kind)))
