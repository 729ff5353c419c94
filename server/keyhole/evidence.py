"""The sources of a search within a budget: ranked together, their passages packed breadth first. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from keyhole import wording
from keyhole.bound import bounded, fitting
from keyhole.passages.across import join_spans, pack_across
from keyhole.records import Answer, Artifact, EngineReport, Ranked, Source, Window, next_gap


def evidence(
    sources: Sequence[Source],
    ranked: Ranked,
    budget: int,
    *,
    keep: int,
    scope: str,
    reports: Sequence[EngineReport],
    mark: Callable[[str], str],
    following: Callable[[Artifact, int, int], Window],
) -> Answer:
    """At most `keep` sources with their best passages; a source that does not fit is left out whole, and said to be.

    Stored sources come in no order of relevance and are put in that of their best passage; hits of engines keep the
    engines' order. `mark` signs a boundary, `following` gives the window that reads on in an omitted stretch.
    """
    order = list(range(len(sources)))
    if scope == "stored":
        order.sort(key=lambda number: -max((passage.score for passage in ranked[number]), default=0.0))
    kept = [(sources[number], ranked[number]) for number in order[:keep]]
    from_store = sum(source.from_store for source, _ in kept)
    late = sum(source.not_read == "timed out" for source, _ in kept)

    def render(count: int, room: int) -> Answer:
        texts = [_text(source) for source, _ in kept[:count]]
        packed = pack_across(texts, [passages for _, passages in kept[:count]], room)
        shown = [
            replace(
                source,
                spans=tuple((passage.start, passage.end) for passage in passages),
                scores=tuple(round(passage.score, 3) for passage in passages),
            )
            for (source, _), passages in zip(kept, packed, strict=False)
        ]
        return wording.results(
            shown,
            status=wording.search_status(count, len(kept), reports, late, scope, from_store),
            bodies=[_body(source, room // count) for source in shown],
            marks=[mark(source.artifact.id if source.artifact else source.url) for source in shown],
            next_windows=[_next_window(source, following) for source in shown],
        )

    for count in range(len(kept), 1, -1):
        if answer := fitting(budget, partial(render, count)):
            return answer
    return bounded(budget, partial(render, 1))


def _text(source: Source) -> str:
    return source.artifact.text if source.artifact else ""


def _body(source: Source, share: int) -> str:
    """A source's passages, or the engine's snippet where no passage stands for it."""
    return join_spans(_text(source), source.spans) if source.spans else wording.snippet(source.snippet, share)


def _next_window(source: Source, following: Callable[[Artifact, int, int], Window]) -> Window | None:
    best = max(range(len(source.scores)), key=lambda number: source.scores[number], default=None)
    gap = next_gap(len(_text(source)), source.spans, best)
    return following(source.artifact, *gap) if source.artifact and gap else None
