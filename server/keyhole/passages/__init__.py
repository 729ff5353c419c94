"""From stored text to the few stretches worth returning. Pure: text and numbers in, a Selection out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, tee

from keyhole.passages.baselines import baseline
from keyhole.passages.feedback import with_feedback
from keyhole.passages.find import Index
from keyhole.passages.order import ordered
from keyhole.passages.pack import Span, head_tail, render, with_lede
from keyhole.passages.pack import pack as pack_spans
from keyhole.passages.query import Match
from keyhole.passages.rank import Scored, score
from keyhole.passages.repeats import Before, repeated, room_to_name
from keyhole.records import Selection, Strategy, TermCount
from keyhole.text.measure import Measure, fits

WEAK_BELOW = 0.4
"""Share of the query's weight that the best window must have. On development pages, below it are 88 % of the
questions asked of another page of the same collection, and 9 % of those that the page does answer."""

KEPT_TEXTS = 4
"""Indexes and rankings kept: a second query on a page, or the same one at another budget, costs less than half.
An index takes some six bytes a character, so this is 240 MB for the largest pages there are, and mostly 2."""


def select(
    text: str,
    query: str | None,
    max_chars: int,
    *,
    measure: Measure = len,
    strategy: str = "passages",
    preferred: Sequence[int] = (),
    before: Sequence[Span] = (),
) -> Selection:
    """The part of `text` that answers `query`, within `max_chars` as `measure` counts them.

    The whole text when it fits. With a query, the passages that best answer it, in reading order; without one,
    or when nothing of it is found, the head and the tail. Gap lines name the offsets of what is left out and the
    heading above what follows, and they count. Equal arguments give equal results, and a larger budget shows
    everything that a smaller one shows. Never raises for any text, query or budget.

    `preferred` windows, best first, come before the others where anything of the query is found. Passages that lie in
    a stretch of `before`, which the reader has, are named in `repeated`, and others are shown in their room.
    `strategy` may name a baseline instead: `tf_cosine`, `bm25` or `head_tail` (see baselines.py).
    """
    index = index_of(text)
    if strategy != "passages":
        return _baseline(index, query or "", max_chars, measure, strategy)
    scored = ranked(text, query) if query and query.strip() and text else None
    found = scored is not None and bool(scored.stages)
    order: Iterable[int] = with_lede(index, chain(preferred, ordered(scored))) if scored and found else head_tail(index)
    order, rest = tee(order)
    spans = pack_spans(index, order, max_chars, measure) if max_chars > 0 else []
    again = repeated(index, spans, known, measure) if found and (known := Before(before)) else []
    if again:
        spans = _others(index, rest, max_chars, measure, known, spans, again)
    spans, rendered = _rendered(index, spans, max_chars, measure)
    best = [_best_window(scored, span) for span in spans] if scored and found else []
    return Selection(
        strategy="whole" if spans == [(0, len(text))] else "passages" if found else "head_tail",
        total=len(text),
        spans=tuple(spans),
        scores=tuple(round(scored.scores[window], 3) for window in best) if scored and found else (0.0,) * len(spans),
        text=rendered,
        terms=_terms(scored) if scored else (),
        matched=found,
        weak=found and scored is not None and strength(scored) < WEAK_BELOW,
        parts=tuple(tuple(scored.explain(window).items()) for window in best) if scored else (),
        repeated=tuple(again),
    )


def _others(
    index: Index,
    order: Iterable[int],
    room: int,
    measure: Measure,
    known: Before,
    chosen: Sequence[Span],
    again: Sequence[Span],
) -> list[Span]:
    """What is shown instead of `again`: the rest of what was chosen, then what comes next and is not known."""
    named, wanted = Before(again), Before(chosen)

    def due(window: int) -> bool:
        span = (index.starts[window], index.end(window))
        return not named.covers(*span) and (wanted.covers(*span) or not known.covers(*span))

    # A text that would have been shown whole has windows that no order names.
    in_turn = filter(
        due, dict.fromkeys(chain(order, range(index.size))) if wanted.covers(0, len(index.text)) else order
    )
    return pack_spans(index, in_turn, room - room_to_name(again), measure, all_of_it=False)


def _rendered(
    index: Index, spans: list[Span], max_chars: int, measure: Measure, *, labelled: bool = True
) -> tuple[list[Span], str]:
    text = render(index, spans, labelled=labelled)
    return (spans, text) if fits(text, max_chars, measure) else ([], "")  # a room in which not even one gap line fits


def _baseline(index: Index, query: str, max_chars: int, measure: Measure, strategy: str) -> Selection:
    chosen = baseline(strategy, index, query, max_chars, measure)
    spans, text = _rendered(index, chosen, max_chars, measure, labelled=False)
    kind: Strategy = "head_tail" if strategy == "head_tail" else "passages"
    kind = "whole" if spans == [(0, len(index.text))] else kind
    return Selection(kind, len(index.text), tuple(spans), (0.0,) * len(spans), text)


@lru_cache(maxsize=KEPT_TEXTS)
def index_of(text: str) -> Index:
    """A text prepared for queries; the last few are kept."""
    return Index(text)


@lru_cache(maxsize=KEPT_TEXTS)
def ranked(text: str, query: str) -> Scored:
    """The windows of a text scored for a query; the last few are kept."""
    return with_feedback(score(index_of(text), query))


def strength(scored: Scored) -> float:
    """The most of the query's weight that a window has with its context, from 0 to 1; absent terms count."""
    context = next((scores for name, scores in scored.stages if name == "context"), [])
    return max(context, default=0.0) / scored.mass if scored.mass else 0.0


def _best_window(scored: Scored, span: Span) -> int:
    first = scored.index.window_at(span[0])
    last = scored.index.window_at(span[1] - 1)
    return max(range(first, last + 1), key=lambda window: (scored.scores[window], -window))


def _terms(scored: Scored) -> tuple[TermCount, ...]:
    """The query's words with their counts; of unspaced scripts, the pairs they are matched by."""
    return tuple(
        TermCount(hits.term.surface, hits.count)
        for hits in scored.hits
        if hits.term.match is not Match.GRAM or len(hits.term.surface) > 1
    )
