"""The stored artifacts that answer a question, in the order in which a search of the store gives them. Pure but for
the store that it asks; prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.passages.rank_sources import rank_sources
from keyhole.passages.stems import query_words, stems
from keyhole.records import Artifact, Passage, Source
from keyhole.retrieval.merge_sources import each_once, nothing_stored
from keyhole.retrieval.search_answer import different, ordered
from keyhole.retrieval.sources import NARROWED
from keyhole.store.base import Store
from keyhole.store.filters import Filters


@dataclass(frozen=True, slots=True)
class Found:
    """An artifact, where in its text the best passage stands, and the line of it that says most."""

    artifact: Artifact
    start: int
    end: int
    line: str


def find(store: Store, question: str, limit: int, sites: Sequence[str]) -> list[Found]:
    """The best artifacts, each page once. Raises KeyholeError: no_results."""
    words = tuple(dict.fromkeys(query_words(question)))
    narrowed = store.search(words, limit * NARROWED, Filters(tuple(sites)))
    if not narrowed:
        raise nothing_stored(words, store.held(words))
    sources = each_once(Source(a.url, a.title, "", a, True, from_store=True) for a in narrowed)
    ranked = rank_sources([source.artifact.text if source.artifact else "" for source in sources], [question])
    order = [(sources[number], ranked[number]) for number in ordered(sources, ranked, "stored")]
    asked = frozenset(stems(question))
    return [_found(source.artifact, best, asked) for source, best in different(order, limit) if source.artifact]


def _found(artifact: Artifact, passages: Sequence[Passage], asked: frozenset[str]) -> Found:
    if not passages:
        return Found(artifact, 0, 0, "")
    best = passages[0]
    lines = [line for line in artifact.text[best.start : best.end].split("\n") if line.strip()]
    line = max(lines, key=lambda line: len(asked.intersection(stems(line))), default="")
    return Found(artifact, best.start, best.end, line.strip())
