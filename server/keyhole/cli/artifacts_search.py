"""Search the stored pages and outputs, ranked as `search(scope="stored")` ranks pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.passages.stems import query_words, stem_text
from keyhole.records import Artifact, Passage, Source
from keyhole.retrieval.merge_sources import deduplicate, nothing_stored_error
from keyhole.retrieval.order_sources import first_different, order_sources, rank_found
from keyhole.retrieval.sources import STORED_PER_RESULT
from keyhole.store.base import Store
from keyhole.store.filters import NO_FILTERS, Filters
from keyhole.text.output_facts import is_output
from keyhole.text.secrets.mask import mask_secrets


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An artifact, the span of its best passage, and the passage's line with the most words of the question.

    Values in the line of an output that look like secrets are masked.
    """

    artifact: Artifact
    start: int
    end: int
    line: str


def search_store(store: Store, question: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchHit]:
    """Return at most `limit` artifacts, best first. Near duplicates are listed once.

    Raises KeyholeError (no_results) if no artifact contains a word of the question.
    """
    words = tuple(dict.fromkeys(query_words(question)))
    candidates = store.search(words, limit * STORED_PER_RESULT, filters)
    if not candidates:
        raise nothing_stored_error(words, store.contains_words(words), question)
    sources = deduplicate(Source(_address(a), a.title, "", a, True, from_store=True) for a in candidates)
    ranked = rank_found(sources, [question])
    order = [(sources[number], ranked[number]) for number in order_sources(sources, ranked)]
    stems = frozenset(stem_text(question))
    return [
        _make_hit(source.artifact, passages, stems)
        for source, passages in first_different(order, limit)
        if source.artifact
    ]


def _address(artifact: Artifact) -> str:
    """Return a unique address of an artifact. Outputs of one kind share their URL, so the id is added."""
    return f"{artifact.url}/{artifact.id}" if is_output(artifact.url) else artifact.url


def _make_hit(artifact: Artifact, passages: Sequence[Passage], stems: frozenset[str]) -> SearchHit:
    if not passages:
        return SearchHit(artifact, 0, 0, "")
    best = passages[0]
    lines = [line for line in artifact.text[best.start : best.end].split("\n") if line.strip()]
    line = max(lines, key=lambda line: len(stems.intersection(stem_text(line))), default="")
    if is_output(artifact.url):
        line = mask_secrets(line)
    return SearchHit(artifact, best.start, best.end, line.strip())
