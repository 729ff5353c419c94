"""Select the passages of a text that answer a query, and cache what that needs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, takewhile

from keyhole.passages.baselines import select_baseline
from keyhole.passages.coverage import cover_lists
from keyhole.passages.feedback import add_feedback
from keyhole.passages.find import find_hits
from keyhole.passages.gaps import Span, find_gaps, gap_line, merge_spans, uncovered
from keyhole.passages.gram_runs import join_grams
from keyhole.passages.index import Index
from keyhole.passages.labels import outline_label, outline_size
from keyhole.passages.languages import is_function_word
from keyhole.passages.packing.fences import add_fences
from keyhole.passages.packing.one_text import head_tail_order, insert_lede, pack_windows, render_spans
from keyhole.passages.packing.units import complete_units
from keyhole.passages.page_language import page_language_if_other
from keyhole.passages.query import Match
from keyhole.passages.query_parts import divide_query
from keyhole.passages.rank import WindowScores, score_query, score_windows
from keyhole.passages.reading import read_window
from keyhole.passages.repeats import ShownSpans, skip_copies, skip_seen
from keyhole.passages.stop import (
    MIN_MEAN_SHARE,
    MIN_SHOWN_CHARS,
    WEAK_MIN_MEAN_SHARE,
    count_more,
    end_with_evidence,
    nearest_places,
    take_chars,
)
from keyhole.passages.strength import ABSENT_STRENGTH, LIGHT_WEIGHT, Judgement, find_names, judge_match, weigh_terms
from keyhole.passages.words import HANGUL, fold
from keyhole.records import Selection, Strategy, TermCount
from keyhole.text.letters import lower
from keyhole.text.measure import Measure, fits
from keyhole.text.page_structure import PageStarts

PREFERRED_CHARS = 2_000
"""Characters shown in any case if a scorer puts windows first: its order does not follow the scores of their words.
With 1,200, two of 255 reading tasks are lost at 9,000 characters; 3,000 shows 3 % more and answers one task more."""

MIN_NAME_CHARS = 4
"""Letters of a name of the question whose only window comes first. A shorter one stands on a page by chance."""

OUTLINE_DIVISOR = 10
"""Without a query, one part in this many of a result names the skipped headings, which the next call needs."""

UNMATCHED_CHARS = 1_000
"""Characters of the beginning and the end that are shown if no word of the query is on the page."""

SECTION_SHARE = 2 / 3
"""Largest share of the space for the part that the address names, if there is a query too."""

SHORT_TEXT_CHARS = 8_000
"""A text of at most this length is shown whole where it fits: without a question it would be, so a question must not
hide a part of it."""

NEARLY_WHOLE_SHARE = 0.5
"""A longer text is shown whole if the passages would leave out at most this share of it."""

REPEATED_CHARS = 1_500
REPEATED_SHARE = 0.2
"""Up to this length, or if the passages would leave out at most this share, passages that an earlier call showed are
shown again: naming them would cost as much."""

CACHED_PAGES = 2
"""Cached indexes of pages. With them a second query on a page, or the same query with another budget, takes less than
half the time. An index takes about six bytes per character, and twice as many if the rest of the page is ranked too:
usually 2 MB in all, at most 240 MB."""
CACHED_SCORES = 4
"""Cached scores of a query: of the main part and of the whole page, for two queries."""


def select(
    text: str,
    query: str | None,
    max_chars: int,
    *,
    main_end: int | None = None,
    pages: PageStarts = (),
    measure: Measure = len,
    strategy: str = "passages",
    preferred: Sequence[int] = (),
    shown_before: Sequence[Span] = (),
    answered_before: Sequence[Span] = (),
    skip: int = 0,
    fill: bool = False,
    place: int = -1,
) -> Selection:
    """Select the passages of `text` that best answer `query`. Raise KeyError for an unknown strategy.

    Returns the best passages in reading order, as far as the evidence goes (see `stop.py`), or the whole text if that
    leaves out little of it. Without a query, returns the whole text if it fits, else its beginning and its end. A gap
    line marks each omission with its offsets and the heading above the next passage. A larger limit keeps every passage
    that a smaller limit shows. The text is the main part, unless the rest of the page answers the query better (see
    `cut_to_ranked`).

    `main_end`: the end of the main part, after which the rest of the page follows; None if all of the text is main.
    `pages`: where the pages of a PDF file begin.
    `max_chars`: the maximum size of the result's `text` with its gap lines, as `measure` counts it.
    `strategy`: "passages", or one of the baselines "tf_cosine", "bm25" and "head_tail".
    `preferred`: windows to show first, best first. They alone are shown if no word of the query is in the text.
    `shown_before`: spans that the reader was shown in earlier calls. The best passages are shown again; the others are
    listed in `repeated` instead of shown.
    `answered_before`: spans that the reader was shown for this query. The next best passages are shown instead.
    `skip`: the number of the best windows that earlier results showed (`Selection.skip`). The next ones fill the limit.
    `place`: where the part begins that the reader asks for by its address, -1 for none. Without a query, the text is
    shown from there on; with one, the part is shown before passages, in up to `SECTION_SHARE` of the space.
    `fill`: True shows passages up to `max_chars`, also where they match less than what the evidence needs.
    """
    if strategy != "passages":
        return _select_baseline(index_text(text, main_end or None).main, query or "", max_chars, measure, strategy)
    page = index_text(text, main_end or None, pages)
    index = page if place >= (main_end or len(text)) else cut_to_ranked(page, query)
    text = index.text
    scored = score_index(index, query) if query and query.strip() and text else None
    matched = scored is not None and bool(scored.stages)
    judged = judge_match(scored) if scored and matched else None
    is_foreign = scored and (judged is None or judged.is_weak)
    language = page_language_if_other(index, scored.query.text) if scored and is_foreign else ""
    ranked = rank_windows(scored, preferred) if scored and matched else []
    repeated: list[Span] = []
    copies: list[tuple[Span, set[int]]] = []
    if scored is None:
        order: Iterable[int] = head_tail_order(index)
    elif judged is None and preferred:
        order = take_chars(index, preferred, PREFERRED_CHARS)
    elif judged is None:
        order = take_chars(index, head_tail_order(index), UNMATCHED_CHARS)
    elif skip or fill:
        order = ranked[skip:] if fill else skip_copies(scored, ranked[skip:], copies)
        order = insert_lede(index, complete_units(scored, order, max_chars)) if fill else order
    else:
        seen, answered = ShownSpans(shown_before), ShownSpans(answered_before)
        min_chars = PREFERRED_CHARS if preferred else MIN_SHOWN_CHARS
        order = _order_evidence(scored, judged, ranked, copies, min_chars, max_chars)
        order = insert_lede(index, chain(order, ranked) if answered_before else order)
        order = skip_seen(index, skip_seen(index, order, seen, repeated), answered, repeated, always_shown=0)
    if place >= 0 and scored:
        order = _each_once(chain(_windows_of_section(index, place, int(max_chars * SECTION_SHARE)), order))
    is_chosen = matched or place >= 0 or bool(scored and preferred)
    is_bounded = scored is not None and not fill
    # Without a query, the gap between head and tail names the headings that it skips.
    has_outline = scored is None and place < 0 and not fits(text, max_chars, measure)
    outline = min(max_chars // OUTLINE_DIVISOR, outline_size(index, measure)) if has_outline else 0
    space = max_chars - outline
    spans = pack_windows(index, order, space, measure, allow_whole=not is_bounded) if space > 0 else []
    is_first = is_bounded and not (skip or answered_before)
    if is_first and fits(text, max_chars, measure):
        spans = _whole_or_rest(index, spans, repeated, shown_before, max_chars, measure)
    if place >= 0 and not scored and not fits(text, max_chars, measure):
        spans, rendered = _read_from(index, place, max_chars, measure)
    else:
        spans, rendered = _render(index, spans, max_chars, measure, outline=outline)
    selection = Selection(
        strategy="whole" if spans == [(0, len(text))] else "passages" if is_chosen else "head_tail",
        total=len(text),
        spans=tuple(spans),
        scores=(0.0,) * len(spans),
        text=rendered,
        terms=_count_terms(scored, page.rest if index is not page else None) if scored else (),
        matched=matched,
        weak=judged.is_probably_absent if judged else is_chosen and place < 0,
        page_language=language,
    )
    return _describe(selection, scored, ranked, skip, repeated, copies) if scored and matched else selection


def _each_once(windows: Iterable[int]) -> Iterator[int]:
    """Yield the windows in order, each at its first place."""
    seen: set[int] = set()
    for window in windows:
        if window not in seen:
            seen.add(window)
            yield window


def _windows_of_section(index: Index, place: int, most: int) -> Iterator[int]:
    """Yield the windows of the section that begins at `place`, or else of what follows it, up to `most` characters."""
    first, heading = index.window_at(place), index.heading_at(place)
    section = range(first, heading.last if heading else index.size)
    return takewhile(lambda window: window == first or index.end(window) - place <= most, section)


def _read_from(index: Index, place: int, max_size: int, measure: Measure) -> tuple[list[Span], str]:
    """Return the span of the text from `place` on that fits, and what is shown: with gap lines, and fences of code."""
    gaps = 2 * measure("\n" + gap_line(len(index.text), len(index.text)))
    window = read_window(index.text, place, None, max(1, max_size - gaps), measure)
    spans = [(window.start, window.end)]
    fenced, rendered = _render(index, add_fences(index.layout.code, spans), max_size, measure)
    return (fenced, rendered) if fenced else _render(index, spans, max_size, measure)


def _order_evidence(
    scored: WindowScores,
    judged: Judgement,
    ranked: Sequence[int],
    copies: list[tuple[Span, set[int]]],
    min_chars: int,
    max_chars: int,
) -> Iterator[int]:
    """Return the first windows of `ranked`, up to where the evidence ends, and the rest of their units."""
    if judged.strength < ABSENT_STRENGTH and judged.lacks_names:
        return nearest_places(ranked)
    evidence = end_with_evidence(scored, ranked, min_chars, _min_share(judged))
    return complete_units(scored, skip_copies(scored, evidence, copies), max_chars)


def _min_share(judged: Judgement) -> float:
    """Return the share of the best score at which the evidence ends.

    A weak match without an absent name fills the limit: the page answers in other words as often as not at all.
    """
    if judged.lacks_names:
        return WEAK_MIN_MEAN_SHARE
    return 0.0 if judged.is_weak else MIN_MEAN_SHARE


def _describe(
    selection: Selection,
    scored: WindowScores,
    ranked: Sequence[int],
    skip: int,
    repeated: Sequence[Span],
    copies: Sequence[tuple[Span, set[int]]],
) -> Selection:
    """Return the selection with the scores of its spans, and what it leaves out of the windows that match."""
    index, spans = scored.index, selection.spans
    best = [_best_window(scored, span) for span in spans]
    shown = ShownSpans(spans)
    ordered = (index.starts[window] for window in ranked[skip:])
    numbers = (number for at in ordered for number, span in enumerate(spans, 1) if span[0] <= at < span[1])
    repeated = merge_spans(span for span in repeated if not shown.covers(*span))
    repeats = (span for span, of in copies if all(shown.covers(at, at + 1) for at in of))
    copied = merge_spans(span for span in repeats if not shown.covers(*span))
    named = [*spans, *repeated, *copied]
    return replace(
        selection,
        scores=tuple(round(scored.scores[window], 3) for window in best),
        parts=tuple(tuple(scored.explain(window).items()) for window in best),
        repeated=tuple(repeated),
        copies=len(copied),
        best=next(numbers, 0),
        more=count_more(scored, named, ranked[:skip]),
        skip=skip + _count_shown(index, ranked[skip:], named),
    )


def rank_windows(scored: WindowScores, preferred: Sequence[int] = ()) -> list[int]:
    """Return all windows of a page, best first, the `preferred` ones before the others; none if no term was found.

    The best window that alone has a name of the question comes first. The parts of a question and the question as a
    whole get the same number of characters, and the words of a list are covered before others are repeated. The order
    does not depend on the size limit.
    """
    index = scored.index
    ordered = dict.fromkeys((*preferred, *_windows_of_names(scored)[:1]))
    parts = [each.order for each in _score_parts(scored)]
    if not parts:
        return list(ordered | dict.fromkeys(cover_lists(scored, scored.order)))
    orders = [iter(order) for order in (*parts, scored.order)]
    shown = [0] * len(orders)
    while len(ordered) < len(scored.scores):
        turn = min(range(len(orders)), key=shown.__getitem__)
        window = next(orders[turn])
        shown[turn] += index.end(window) - index.starts[window]
        ordered[window] = None
    return list(ordered)


def _windows_of_names(scored: WindowScores) -> list[int]:
    """Return the windows that alone have a name of the question, such as the record of a country, best first."""
    names = find_names(scored.query)
    unique = {
        window
        for hits in scored.hits
        if hits.term.surface in names and len(hits.term.surface) >= MIN_NAME_CHARS and len(hits.windows) == 1
        for window, weight in hits.windows.items()
        if weight >= 1  # not a compound, or a word one letter away
    }
    return sorted(unique, key=lambda window: (-scored.scores[window], window))


def _score_parts(scored: WindowScores) -> list[WindowScores]:
    """Return the scores for each part of the question; nothing if it is one."""
    counts = [len(hits.windows) for hits in scored.hits]
    return [
        add_feedback(score_windows(scored.index, part, scored.hits, counts, scored.index.size))
        for part in divide_query(scored.query)
    ]


def _count_shown(index: Index, ranked: Iterable[int], spans: Sequence[Span]) -> int:
    """Return how many of the best windows the spans show, up to the first one that they do not show whole."""
    shown = ShownSpans(spans)
    return sum(1 for _ in takewhile(lambda window: shown.covers(index.starts[window], index.end(window)), ranked))


def _whole_or_rest(
    index: Index,
    spans: list[Span],
    repeated: list[Span],
    shown_before: Sequence[Span],
    most: int,
    measure: Measure,
) -> list[Span]:
    """Return the spans of a text that fits: all of it where it is short, or the passages would leave out little of it.

    What earlier calls showed is left out, and put into `repeated`, unless it is little.
    """
    size = len(index.text)
    omitted = size - sum(end - start for start, end in [*spans, *repeated])
    if not (size <= SHORT_TEXT_CHARS or omitted <= NEARLY_WHOLE_SHARE * size):
        return spans
    if not shown_before or size <= REPEATED_CHARS or omitted <= REPEATED_SHARE * size:
        return [(0, size)]
    before = merge_spans(shown_before)
    rest = merge_spans([*spans, *uncovered((0, size), before)])
    if not fits(render_spans(index, rest, labelled=False), most, measure):
        return spans
    repeated[:] = before
    return rest


def _render(
    index: Index, spans: list[Span], max_size: int, measure: Measure, *, labelled: bool = True, outline: int = 0
) -> tuple[list[Span], str]:
    """Return the spans and their text, without labels if they do not fit, or nothing if a gap line does not.

    `outline`: the size of the headings that the first gap line names; 0 for none.
    """
    gaps = find_gaps(len(index.text), spans) if outline else []
    label = outline_label(index, *gaps[0], outline, measure) if gaps else ""
    text = render_spans(index, spans, labelled=labelled, label=label)
    if labelled and not fits(text, max_size, measure):
        text = render_spans(index, spans, labelled=False)
    return (spans, text) if fits(text, max_size, measure) else ([], "")


def _select_baseline(index: Index, query: str, max_size: int, measure: Measure, strategy: str) -> Selection:
    selected = select_baseline(strategy, index, query, max_size, measure)
    spans, text = _render(index, selected, max_size, measure, labelled=False)
    kind: Strategy = "head_tail" if strategy == "head_tail" else "passages"
    kind = "whole" if spans == [(0, len(index.text))] else kind
    return Selection(kind, len(index.text), tuple(spans), (0.0,) * len(spans), text)


def cut_to_ranked(page: Index, query: str | None) -> Index:
    """Return the index of the part of a page from which passages for `query` are chosen.

    It is the main part, unless the main part lacks words of the query or answers it weakly, and a passage of the rest
    matches more of the query than every passage of the main part. Then it is the whole page.
    """
    if page.rest and query and query.strip():
        scored = score_index(page.main, query)
        is_complete = not judge_match(scored).is_weak and all(hits.count for hits in scored.hits)
        if not is_complete and _matches_more(page.rest, scored):
            return page
    return page.main


def _matches_more(rest: Index, scored: WindowScores) -> bool:
    """Return whether a window of the rest matches more of the query than every scored window of the main part.

    A term weighs what it weighs in the main part. So only the rest is searched, and not the whole text again.
    """
    query = scored.query
    hits = [find_hits(rest, term, query.language, query.folded) for term in query.terms]
    counts = [max(1, len(term_hits.windows)) for term_hits in scored.hits]
    found = score_windows(rest, query, hits, counts, scored.index.size)
    return _best_coverage(found) > _best_coverage(scored)


@lru_cache(maxsize=CACHED_PAGES)
def index_text(text: str, main_end: int | None = None, pages: PageStarts = ()) -> Index:
    """Index a page for queries; the last few indexes are cached. `main_end`, `pages`: as for `Index`."""
    return Index(text, main_end, pages)


@lru_cache(maxsize=CACHED_SCORES)
def score_index(index: Index, query: str) -> WindowScores:
    """Score the windows of a page, or of a part of it, for a query; the last few results are cached."""
    return add_feedback(score_query(index, query))


def _best_coverage(scored: WindowScores) -> float:
    """Return the largest weight of query terms that a window holds together with its context."""
    return max(dict(scored.stages).get("context", ()), default=0.0)


def _best_window(scored: WindowScores, span: Span) -> int:
    first = scored.index.window_at(span[0])
    last = scored.index.window_at(span[1] - 1)
    return max(range(first, last + 1), key=lambda window: (scored.scores[window], -window))


def _count_terms(scored: WindowScores, rest: Index | None) -> tuple[TermCount, ...]:
    """Return how often each word of the query occurs; in unspaced scripts and Korean, each run of its characters.

    `rest`: the part of the page that was not scored, in which words that the scored text lacks are counted. Absent
    words that say little, such as "get", are left out, and function words of any language: a short question may not
    tell its own.
    """
    weights, query = weigh_terms(scored.query, scored.hits), scored.query
    counts, grams = list[TermCount](), dict[str, int]()
    for hits, weight in zip(scored.hits, weights, strict=True):
        term, count, in_rest = hits.term, hits.count, False
        is_korean = HANGUL.search(term.surface) is not None
        if len(term.surface) == 1 if term.match is Match.GRAM else is_korean and len(term.surface) > 1:
            continue
        if not count and weight > LIGHT_WEIGHT and rest:
            count = find_hits(rest, term, query.language, query.folded).count
            in_rest = count > 0
        if term.match is Match.GRAM or is_korean:
            grams[term.needle] = 1 if in_rest else 2 if count else 0
        elif count or (weight > LIGHT_WEIGHT and not is_function_word(term.surface)):
            counts.append(TermCount(term.surface, count, in_rest))
    if grams:
        texts = [each.searchable_text(query.folded) for each in (scored.index, rest) if each]
        for run, state in join_grams(grams, fold(lower(query.text))):
            count = next(filter(None, (text.count(run) for text in texts)), 0)
            if count or not state:
                counts.append(TermCount(run, count, in_rest=state == 1))
    return tuple(counts)
