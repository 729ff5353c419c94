"""From stored text to the few stretches worth returning. Pure: text and numbers in, a Selection out."""

from __future__ import annotations

from keyhole.measure import Measure
from keyhole.passages.pack import assemble, head_tail, pack, whole
from keyhole.passages.rank import count_terms, rank
from keyhole.passages.split import split
from keyhole.passages.words import Query
from keyhole.records import Selection, TermCount


def select(text: str, query: str | None, max_chars: int, *, measure: Measure = len) -> Selection:
    """The part of `text` that answers `query`, within `max_chars` as `measure` counts them.

    The whole text when it fits. With a query, the best passages in reading order, the lede as anchor; without
    one, or when no passage matches, a head and tail window. Gap lines name the offsets of what is left out,
    and they count. Equal arguments give equal results.
    """
    if measure(text[: max_chars + 1]) <= max_chars and len(text) <= max_chars:
        return whole(text, _terms(text, query))
    if not query or not query.strip():
        return head_tail(text, max_chars, measure, terms=())
    asked = Query.of(query)
    terms = count_terms(text, asked)
    passages = split(text)
    scores = rank(text, passages, asked)
    if not any(scores):
        return head_tail(text, max_chars, measure, terms)
    chosen = pack(text, passages, scores, max_chars, measure)
    if not chosen:
        return head_tail(text, max_chars, measure, terms)
    return assemble(text, "passages", chosen, terms)


def _terms(text: str, query: str | None) -> tuple[TermCount, ...]:
    return count_terms(text, Query.of(query)) if query else ()
