"""Score every window of a page for a query, in stages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.passages.find import Hits, find_hits
from keyhole.passages.index import Index
from keyhole.passages.light_words import LIGHT_FACTOR, light_stems
from keyhole.passages.query import Query, parse_query

SATURATION: Final = 0.5
"""BM25's k1. It is low because in 300 characters a second mention adds little and a second term much."""

NEAR_DECAY: Final = 0.5
"""A term in the next window counts half, two windows away a quarter: sentences refer to it by pronouns."""

FAR_DECAY: Final = 0.85
FAR_SHARE: Final = 0.2
"""At a longer range a term counts a fifth, halved every four windows, because it is the topic of the passage."""

SPREAD_WINDOWS: Final = 20
"""Windows on each side in which a hit counts. Further away it would count less than a hundredth."""

HEADING_SHARE: Final = 0.4
"""Weight of a term of a section's heading in every window of the section."""

SHORT_HEADING_SHARE: Final = 0.9
SHORT_SECTION_WINDOWS: Final = 5
"""The same weight in a section of at most this many windows. Such a heading tells what nearly all of its section is
about, and often is the question itself."""

HEADING_MAX_SHARE: Final = 0.3
HEADING_MIN_WINDOWS: Final = 20
"""A heading does not count if its section is longer than this share of the page and than this many windows. Such a
heading, for example the page's title, does not locate an answer."""

WIDE_DECAY: Final = 0.8
WIDE_SHARE: Final = 0.3
"""Share of the mean score of about five windows on each side that is added to a window's score."""

REFINED_WINDOWS: Final = 100
"""Best windows whose text is examined in the stage `form`; a reader sees ten to fifty."""

CITATION_FACTOR: Final = 0.7
"""Factor for reference lists, which repeat a page's words without answering anything."""

CITATION_MIN_MARKS: Final = 2
LENGTH_POWER: Final = 0.2
"""The score decreases with the length to this power: shorter windows leave space for others."""

SHORTEST_CHARS: Final = 60
"""Shorter windows, such as a lone heading, are treated as having this length."""

NORMAL_CHARS: Final = 250

_CITATION_MARK = re.compile(r"\^|IS[BS]N|doi|DOI|PMID|Retrieved|Archived|pp ?\.|Vol\.|https?:|\]\(/")


@dataclass(slots=True)
class WindowScores:
    """The scores of a page's windows for a query, after each stage."""

    index: Index
    query: Query
    hits: list[Hits]
    idf: list[float]
    """The weight of each term by its rarity on the page; 0 if it is absent."""

    query_weight: float
    """The weight of all terms, including the absent ones with the rarity of a term without hits."""

    stages: list[tuple[str, list[float]]]
    """The name of each stage and the scores after it; empty if no term was found."""

    @property
    def scores(self) -> list[float]:
        """The scores after the last stage; empty if no term was found."""
        return self.stages[-1][1] if self.stages else []

    @property
    def order(self) -> list[int]:
        """All windows, best first, with ties in page order."""
        return sort_by_score(self.scores)

    def best(self, count: int) -> list[int]:
        """Return the `count` best windows with a score above 0."""
        scores = self.scores
        return [window for window in self.order[:count] if scores[window] > 0]

    def explain(self, window: int) -> dict[str, float]:
        """Return by how much each stage changed a window's score."""
        parts: dict[str, float] = {}
        before = 0.0
        for name, scores in self.stages:
            parts[name] = scores[window] - before
            before = scores[window]
        return parts


def sort_by_score(scores: list[float]) -> list[int]:
    """Return the windows, best first, with ties in page order."""
    return sorted(range(len(scores)), key=lambda window: -scores[window])


def score_query(index: Index, query: str) -> WindowScores:
    """Score the windows of a page for a query."""
    parsed, hits = find_terms(index, query)
    return score_windows(index, parsed, hits, [len(term_hits.windows) for term_hits in hits], index.size)


def find_terms(index: Index, query: str) -> tuple[Query, list[Hits]]:
    """Parse a query and find the hits of its terms."""
    parsed = parse_query(query, *index.sample)
    return parsed, [find_hits(index, term, parsed.language, parsed.folded) for term in parsed.terms]


def score_windows(index: Index, query: Query, hits: list[Hits], counts: Sequence[float], windows: int) -> WindowScores:
    """Score the windows of a page; each term occurs in `counts` of `windows` windows, of this page or of several."""
    weights = _weigh_terms(query)
    idf = [weight * rarity(count, windows) if count else 0.0 for weight, count in zip(weights, counts, strict=True)]
    query_weight = sum(found or weight * rarity(0, windows) for found, weight in zip(idf, weights, strict=True))
    scored = WindowScores(index, query, hits, idf, query_weight, [])
    if any(term_hits.count for term_hits in hits):
        _score_words(scored)
        scored.stages.append(("surroundings", _add_surroundings(scored.scores)))
        scored.stages.append(("form", _apply_form(scored)))
    return scored


def _weigh_terms(query: Query) -> list[float]:
    """Return the weight of each term, before its rarity: light words say little about the answer."""
    light = light_stems(query.language)
    return [term.weight * (LIGHT_FACTOR if term.stem in light else 1.0) for term in query.terms]


def rarity(count: float, windows: int) -> float:
    """Return BM25's inverse document frequency of a term in `count` of `windows` windows."""
    return math.log(1 + (windows - count + 0.5) / (count + 0.5))


def _score_words(scored: WindowScores) -> None:
    """Add three stages: terms in the window, terms around it, and the share of the query that is covered."""
    size = scored.index.size
    words, total, covered = [0.0] * size, [0.0] * size, [0.0] * size
    for hits, idf in zip(scored.hits, scored.idf, strict=True):
        if not hits.count:
            continue
        own = {window: _saturate(weight) for window, weight in hits.windows.items()}
        for window, value in own.items():
            words[window] += idf * value
        for window, value in _with_context(scored.index, hits, own).items():
            total[window] += idf * value
            covered[window] += idf * (value if value < 1 else 1.0)
    total_idf = sum(scored.idf) or 1.0
    scored.stages.append(("words", words))
    scored.stages.append(("context", total))
    scored.stages.append(("coverage", [t * c / total_idf for t, c in zip(total, covered, strict=True)]))


def _saturate(frequency: float) -> float:
    """Return BM25's saturation: 1 for one hit, approaching 1 + k1 for many."""
    return frequency * (SATURATION + 1) / (frequency + SATURATION)


def _with_context(index: Index, hits: Hits, own: dict[int, float]) -> dict[int, float]:
    """Return a term's weight by window: the largest weight of its own hits, the hits near it and its heading's hits."""
    spread = _spread_in_passes if len(own) * SPREAD_WINDOWS > index.size else _spread_by_hit
    presence = spread(index.size, own)
    longest = max(HEADING_MIN_WINDOWS, index.size * HEADING_MAX_SHARE)
    for number, weight in hits.headings.items():
        heading = index.layout.headings[number]
        size = heading.last - heading.first
        if size <= longest:
            share = weight * (SHORT_HEADING_SHARE if size <= SHORT_SECTION_WINDOWS else HEADING_SHARE)
            for window in range(heading.first, heading.last):
                if share > presence.get(window, 0.0):
                    presence[window] = share
    return presence


def _spread_by_hit(size: int, own: dict[int, float]) -> dict[int, float]:
    """Spread the hits of a rare term to the windows around each hit, decaying."""
    decay = [max(NEAR_DECAY**distance, FAR_SHARE * FAR_DECAY**distance) for distance in range(SPREAD_WINDOWS + 1)]
    presence: dict[int, float] = {}
    for window, value in own.items():
        capped = value if value < 1 else 1.0
        for distance in range(1, SPREAD_WINDOWS + 1):
            spread = capped * decay[distance]
            for neighbour in (window - distance, window + distance):
                if 0 <= neighbour < size and spread > presence.get(neighbour, 0.0):
                    presence[neighbour] = spread
    for window, value in own.items():
        if value > presence.get(window, 0.0):
            presence[window] = value
    return presence


def _spread_in_passes(size: int, own: dict[int, float]) -> dict[int, float]:
    """Spread the hits of a frequent term like `_spread_by_hit`, but in one pass in each direction."""
    presence = [0.0] * size
    for window, value in own.items():
        presence[window] = value
    for order in (range(size), range(size - 1, -1, -1)):
        near = far = 0.0
        for window in order:
            near *= NEAR_DECAY
            far *= FAR_DECAY
            if window in own:
                value = own[window]
                value = value if value < 1 else 1.0
                near = value if value > near else near
                far = FAR_SHARE * value if FAR_SHARE * value > far else far
            here = near if near > far else far
            if here > presence[window]:
                presence[window] = here
    return dict(enumerate(presence))


def _add_surroundings(scores: list[float]) -> list[float]:
    """Add the mean score around each window."""
    result = list(scores)
    for order in (range(len(scores)), range(len(scores) - 1, -1, -1)):
        mean = 0.0
        for window in order:
            mean += (scores[window] - mean) * (1 - WIDE_DECAY)
            result[window] += WIDE_SHARE * mean
    return result


def _apply_form(scored: WindowScores) -> list[float]:
    """Adjust the best windows' scores for length and for reference lists."""
    result = list(scored.scores)
    index = scored.index
    for window in scored.best(REFINED_WINDOWS):
        passage = index.text[index.starts[window] : index.end(window)]
        factor = (NORMAL_CHARS / max(SHORTEST_CHARS, len(passage))) ** LENGTH_POWER
        if len(_CITATION_MARK.findall(passage)) >= CITATION_MIN_MARKS:
            factor *= CITATION_FACTOR
        result[window] *= factor
    return result
