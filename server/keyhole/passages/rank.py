"""Score every window of a page for a query, one ingredient after the other."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.passages.find import Hits, Index, find
from keyhole.passages.query import Query, Term, parse

SATURATION: Final = 0.5
"""BM25's k1. Low: in 300 characters a second mention adds little, a second term much."""

IDF_POWER: Final = 1.3
"""Rare terms count a little more than their logarithm: a budget buys few windows."""

NEAR_DECAY: Final = 0.5
"""A term in the window beside counts half, two away a quarter: sentences say `it`."""

FAR_DECAY: Final = 0.85
FAR_SHARE: Final = 0.2
"""And a fifth at a longer range (half of it left after four windows): the passage's topic."""

REACH: Final = 20
"""Windows to each side that a hit is carried: beyond, less than a hundredth of it is left."""

HEADING_SHARE: Final = 0.4
"""A term in a section's heading counts this much in every window of the section."""

HEADING_MAX_SHARE: Final = 0.3
HEADING_MIN_WINDOWS: Final = 20
"""Sections longer than both say nothing about where on the page to look (the title's own)."""

WIDE_DECAY: Final = 0.8
WIDE_SHARE: Final = 0.3
"""The second scale: the mean score of some five windows to each side is added at this share."""

REFINED: Final = 100
"""The best windows, whose text is read for the ingredients of form; a reader sees ten to fifty."""

NUMBER_BOOST: Final = 0.15
"""For a window with a digit, when the question asks when or how many."""

CITATION_FACTOR: Final = 0.7
"""For reference lists: they repeat a page's words and answer nothing."""

CITATION_MIN_MARKS: Final = 2
LENGTH_POWER: Final = 0.2
"""Score goes down with length to this power: shorter windows leave room for others."""

SHORTEST_CHARS: Final = 60
"""Length below which a window is not favoured more (a lone heading, an orphaned line)."""

NORMAL_CHARS: Final = 250

_NUMBER_ASKED = re.compile(
    r"\b(?:when|how (?:many|much|long|old|far|often|tall|high|big|large|fast|deep|wide)"
    r"|(?:what|which) (?:year|date|day|month|time|percent\w*|age|number|temperature)"
    r"|number|percent\w*|date|year"
    r"|wann|wie ?viele?|welche[mns]? jahr|combien|quand|quelle (?:année|date)"
    r"|cuándo|cuánt[oa]s?|qué año|quando|quant[oiae]s?|когда|сколько|каком году"
    r"|πότε|πόσ\w+|متى|كم|कब|कितन\w*|kaç|ne zaman|bao nhiêu|khi nào|năm nào|când|câ[tț]\w*)\b"
    r"|几|多少|何时|哪一?年|何年|いつ|いくつ|何人|何月|何日"
    r"|เมื่อไร|เมื่อไหร่|เมื่อใด|เท่าไร|เท่าใด|เท่าไหร่|กี่",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_CITATION_MARK = re.compile(r"\^|IS[BS]N|doi|DOI|PMID|Retrieved|Archived|pp ?\.|Vol\.|https?:")


@dataclass(slots=True)
class Scored:
    """Every window's score, and the score after each ingredient (to explain it)."""

    index: Index
    query: Query
    hits: list[Hits]
    idf: list[float]
    """The weight of each term, by its rarity on the page; 0 when it is absent."""

    mass: float
    """The weight the whole query would have, its absent terms counted as found once."""

    stages: list[tuple[str, list[float]]]

    @property
    def scores(self) -> list[float]:
        """The final scores."""
        return self.stages[-1][1] if self.stages else []

    @property
    def order(self) -> list[int]:
        """All windows, best first, ties in page order."""
        return by_score(self.scores)

    def best(self, count: int) -> list[int]:
        """The best windows that have a score, ties in page order."""
        scores = self.scores
        return [window for window in self.order[:count] if scores[window] > 0]

    def explain(self, window: int) -> dict[str, float]:
        """What each ingredient added to (or took from) a window's score."""
        parts: dict[str, float] = {}
        before = 0.0
        for name, scores in self.stages:
            parts[name] = scores[window] - before
            before = scores[window]
        return parts


def by_score(scores: list[float]) -> list[int]:
    """Windows, best first, ties in page order."""
    return sorted(range(len(scores)), key=lambda window: -scores[window])


def score(index: Index, text: str) -> Scored:
    """Score the windows for a query. Nothing found leaves no stages, hence no scores."""
    query, hits = looked_up(index, text)
    return weighed(index, query, hits, [len(each.windows) for each in hits], index.size)


def looked_up(index: Index, text: str) -> tuple[Query, list[Hits]]:
    """A query's terms, and where each of them is."""
    query = parse(text, *index.sample)
    return query, [find(index, term, query.language, query.folded) for term in query.terms]


def weighed(index: Index, query: Query, hits: list[Hits], found: Sequence[int], windows: int) -> Scored:
    """The windows scored where each term was `found` in so many of so many `windows`: this page's, or more pages'."""
    idf = [_idf(each.term, count, windows) for each, count in zip(hits, found, strict=True)]
    mass = sum(weight or _idf(each.term, 0, windows, absent=1.0) for weight, each in zip(idf, hits, strict=True))
    scored = Scored(index, query, hits, idf, mass, [])
    if any(each.count for each in hits):
        _score_words(scored)
        scored.stages.append(("surroundings", _surroundings(scored.scores)))
        scored.stages.append(("form", _form(scored)))
    return scored


def _idf(term: Term, found: int, windows: int, absent: float = 0.0) -> float:
    """Weight of a term by its rarity; by default 0 for an absent one, which tells windows not apart."""
    return _rarity(found, windows) * term.weight * (1.0 if found else absent)


def _rarity(found: int, windows: int) -> float:
    return float(math.log(1 + (windows - found + 0.5) / (found + 0.5)) ** IDF_POWER)


def _score_words(scored: Scored) -> None:
    """Three stages: terms in the window, terms around it, and the share of the query covered."""
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
    mass = sum(scored.idf) or 1.0
    scored.stages.append(("words", words))
    scored.stages.append(("context", total))
    scored.stages.append(("coverage", [t * c / mass for t, c in zip(total, covered, strict=True)]))


def _saturate(frequency: float) -> float:
    """BM25's saturation: 1 for one hit, towards 1 + k1 for many."""
    return frequency * (SATURATION + 1) / (frequency + SATURATION)


def _with_context(index: Index, hits: Hits, own: dict[int, float]) -> dict[int, float]:
    """A term's presence in the windows: its own hits, or those near it, or its heading's."""
    presence = _spread_far(index.size, own) if len(own) * REACH > index.size else _spread_near(index.size, own)
    longest = max(HEADING_MIN_WINDOWS, index.size * HEADING_MAX_SHARE)
    for number, weight in hits.headings.items():
        heading = index.layout.headings[number]
        if heading.last - heading.first <= longest:
            share = HEADING_SHARE * weight
            for window in range(heading.first, heading.last):
                if share > presence.get(window, 0.0):
                    presence[window] = share
    return presence


def _spread_near(size: int, own: dict[int, float]) -> dict[int, float]:
    """A rare term's hits carried to the windows around each, fading."""
    fading = [max(NEAR_DECAY**distance, FAR_SHARE * FAR_DECAY**distance) for distance in range(REACH + 1)]
    presence: dict[int, float] = {}
    for window, value in own.items():
        capped = value if value < 1 else 1.0
        for distance in range(1, REACH + 1):
            carried = capped * fading[distance]
            for beside in (window - distance, window + distance):
                if 0 <= beside < size and carried > presence.get(beside, 0.0):
                    presence[beside] = carried
    for window, value in own.items():
        if value > presence.get(window, 0.0):
            presence[window] = value
    return presence


def _spread_far(size: int, own: dict[int, float]) -> dict[int, float]:
    """The same for a term that is nearly everywhere: one pass each way instead of one around each hit."""
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


def _surroundings(scores: list[float]) -> list[float]:
    """Add the mean score around each window: the second, wider scale."""
    result = list(scores)
    for order in (range(len(scores)), range(len(scores) - 1, -1, -1)):
        mean = 0.0
        for window in order:
            mean += (scores[window] - mean) * (1 - WIDE_DECAY)
            result[window] += WIDE_SHARE * mean
    return result


def _form(scored: Scored) -> list[float]:
    """What the best windows look like: numbers where asked for, references, length."""
    result = list(scored.scores)
    index = scored.index
    number_asked = _NUMBER_ASKED.search(scored.query.text) is not None
    for window in scored.best(REFINED):
        passage = index.text[index.starts[window] : index.end(window)]
        factor = (NORMAL_CHARS / max(SHORTEST_CHARS, len(passage))) ** LENGTH_POWER
        if number_asked and _DIGIT.search(passage):
            factor *= 1 + NUMBER_BOOST
        if len(_CITATION_MARK.findall(passage)) >= CITATION_MIN_MARKS:
            factor *= CITATION_FACTOR
        result[window] *= factor
    return result
