"""What an answer shows of a page or of the sources of a search, and why, as values. Pure: draws nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from keyhole.records import Artifact, EngineReport, Passage, Ranked, Source
from keyhole.render.answer import MAX_URL
from keyhole.retrieval.search_answer import collapsed
from keyhole.text.measure import clip

if TYPE_CHECKING:
    from keyhole.passages.find import Index
    from keyhole.passages.rank import Scored

Span = tuple[int, int]
OPENING: Final = 1_000
"""Characters kept of how a place begins: more than three lines of any terminal."""
_GAP: Final = re.compile(r"^\[…(\d+):(\d+)\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: how often it stands in the whole text, and how much of it in which windows."""

    word: str
    count: int
    places: tuple[tuple[int, float], ...]
    """Offsets of windows, with the weight of the hits in each."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it up to the next heading, and how much of that is shown."""

    start: int
    end: int
    level: int
    title: str
    shown: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A stretch that is shown, with the score of its best place, what made it, and how that place begins."""

    start: int
    end: int
    score: float
    parts: tuple[tuple[str, float], ...]
    heading: str
    opening: str


@dataclass(frozen=True, slots=True)
class PageView:
    """One text, seen from above."""

    title: str
    url: str
    total: int
    spans: tuple[Span, ...]
    passages: tuple[Shown, ...]
    words: tuple[Word, ...]
    sections: tuple[Section, ...]
    removed: tuple[tuple[str, int], ...]
    held: float | None
    """The most of the question that any place of the text holds, from 0 to 1; None where nothing was asked."""
    weak: bool
    notice: str
    read: bool = True
    """Whether the page was read just now, so that all that was left out is known."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """One source of a search: `state` is how it fared, `best` and `held` are of its best passage."""

    number: int
    """As the answer counts it; 0 for one that is not in it."""
    title: str
    url: str
    state: str
    total: int = 0
    spans: tuple[Span, ...] = ()
    scores: tuple[tuple[float, float], ...] = ()
    """Of each span: the best score of a passage in it, and the share of the question that it holds."""
    best: float = 0.0
    held: float = 0.0
    copies: tuple[str, ...] = ()
    removed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchView:
    """The sources of a search, in the order of the answer, and what the engines did."""

    query: str
    engines: tuple[tuple[str, str], ...]
    sources: tuple[SourceView, ...]
    weak: bool


def page_view(
    artifact: Artifact, query: str | None, spans: Sequence[Span], removed: Sequence[tuple[str, int]] | None
) -> PageView:
    """A text of which these spans are shown for a query; `removed` is what reading it left out, by kind, None for one
    that was read before: of that only its notes are left."""
    from keyhole.passages import WEAK_BELOW, index_of, ranked, strength

    text = artifact.text
    index = index_of(text)
    scored = ranked(text, query) if query and query.strip() and text else None
    found = scored if scored and scored.stages else None
    held = strength(scored) if scored else None
    return PageView(
        title=artifact.title,
        url=artifact.url,
        total=len(text),
        spans=tuple(spans),
        passages=tuple(_shown(index, found, span) for span in spans),
        words=_words(index, scored) if scored else (),
        sections=_sections(index, spans),
        removed=_noted(artifact) if removed is None else tuple(removed),
        held=held,
        weak=held is not None and held < WEAK_BELOW,
        notice=artifact.notice,
        read=removed is not None,
    )


def spans_in(answer: str, sign: str, total: int) -> tuple[Span, ...] | None:
    """The stretches of a text that an answer shows within the boundary of this mark: all but its gap lines. None where
    it shows nothing of the text."""
    _, opened, rest = answer.partition(f"--- untrusted text {sign} ---\n")
    if not opened:
        return None
    body = rest.partition(f"\n--- end {sign} ---")[0]
    edges = [0, *(int(edge) for gap in _GAP.findall(body) for edge in gap), total]
    spans = zip(edges[::2], edges[1::2], strict=True)
    return tuple(span for span in spans if span[0] < span[1])


def search_view(
    query: str,
    found: Sequence[Source],
    reports: Sequence[EngineReport],
    ranked: Ranked | None,
    spans: Sequence[tuple[Span, ...] | None],
    named: Sequence[int],
    removed: Sequence[tuple[tuple[str, int], ...]],
) -> SearchView:
    """For each source `spans` that the answer shows, the number it is `named` by there, 0 for none, and what reading
    it left out."""
    from keyhole.passages import WEAK_BELOW

    passages = ranked or tuple(() for _ in found)
    copies = {source.url: source.copies for source, _ in collapsed(list(zip(found, passages, strict=True)))}
    views = [
        replace(
            _source(source, passages[place] if ranked else None, spans[place], copies),
            number=named[place],
            removed=removed[place],
        )
        for place, source in enumerate(found)
    ]
    held = max((view.held for view in views), default=0.0)
    return SearchView(
        query,
        tuple((report.name, _engine(report)) for report in reports),
        tuple(sorted(views, key=lambda view: view.number or len(views) + 1)),
        weak=ranked is not None and held < WEAK_BELOW,
    )


def _source(
    source: Source,
    passages: Sequence[Passage] | None,
    spans: tuple[Span, ...] | None,
    copies: dict[str, tuple[str, ...]],
) -> SourceView:
    """`passages`: best first; None where there was no time to rank them."""
    state = "shown" if spans else "read, but no passage of it is shown" if source.artifact else "not read"
    if source.artifact and source.url not in copies:
        state = "dropped: a copy of another source"
    elif source.artifact and passages is None:
        state = "read, but not ranked in time"
    elif source.artifact and not passages:
        state = "read, and holds nothing of the question"
    elif source.not_read:
        state = f"not read: {source.not_read}"
    passages = passages or ()
    return SourceView(
        0,
        source.title,
        source.url,
        state,
        total=len(source.artifact.text) if source.artifact else 0,
        spans=spans or (),
        scores=tuple(_best(passages, span) for span in spans or ()),
        best=max((passage.score for passage in passages), default=0.0),
        held=max((passage.held for passage in passages), default=0.0),
        copies=copies.get(source.url, ()),
    )


def _best(passages: Sequence[Passage], span: Span) -> tuple[float, float]:
    within = [(each.score, each.held) for each in passages if each.start < span[1] and each.end > span[0]]
    return max(within, default=(0.0, 0.0))


def _engine(report: EngineReport) -> str:
    unapplied = f"not applied: {', '.join(report.unapplied)}" if report.unapplied else ""
    return "; ".join(each for each in (report.fault or "answered", report.note, unapplied) if each)


def _shown(index: Index, scored: Scored | None, span: Span) -> Shown:
    start, end = span
    first, last = index.window_at(start), index.window_at(max(start, end - 1))
    above = bisect_right(index.headings_at, start) - 1
    heading = _title(index.text, *index.layout.headings[above][3:5]) if above >= 0 else ""
    if scored is None:
        return Shown(start, end, 0.0, (), heading, index.text[start : min(end, start + OPENING)])
    best = max(range(first, last + 1), key=lambda window: (scored.scores[window], -window))
    parts = tuple((name, round(value, 3)) for name, value in scored.explain(best).items())
    best_start = max(start, index.starts[best])
    opening = index.text[best_start : min(end, best_start + OPENING)]
    return Shown(start, end, round(scored.scores[best], 3), parts, heading, opening)


def _words(index: Index, scored: Scored) -> tuple[Word, ...]:
    from keyhole.passages.query import Match

    return tuple(
        Word(
            hits.term.surface,
            hits.count,
            tuple((index.starts[window], round(weight, 3)) for window, weight in sorted(hits.windows.items())),
        )
        for hits in scored.hits
        if hits.term.match is not Match.GRAM or len(hits.term.surface) > 1  # as the answer counts them
    )


def _sections(index: Index, spans: Sequence[Span]) -> tuple[Section, ...]:
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


def _overlaps(stretches: Sequence[Span], spans: Sequence[Span]) -> list[int]:
    """How much of each stretch the spans cover; both are in order, and each is looked at once."""
    counts, number = [], 0
    for start, end in stretches:
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


def _noted(artifact: Artifact) -> tuple[tuple[str, int], ...]:
    return tuple((kind, int(count)) for kind in ("hidden", "invisible") if (count := artifact.note(kind)))


def numbers_in(answer: str, urls: Sequence[str]) -> list[int]:
    """The number by which a search's answer names each of these URLs; 0 for one that it does not name."""
    outside = re.sub(r"(?s)--- untrusted text (\w+) ---\n.*?\n--- end \1 ---", "", answer)
    named: dict[str, int] = {}
    for found in re.finditer(r"^\[(\d+)\] (.*)(?:\n(\S+))?", outside, re.MULTILINE):
        for url in (found[2].split(" ")[0], found[3] or ""):
            named.setdefault(url, int(found[1]))
    return [named.get(clip(url, MAX_URL), 0) for url in urls]
