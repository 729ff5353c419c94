"""Judge from the matches of a query whether a page probably contains the answer. Pure.

The judgement counts content words: names and numbers weigh most, light words (light_words.py) least. Its constants
are fitted on questions asked of their own page and of another page of the same collection, by
`python -m benchmarks.ranking.weak DATA`, which also measures it on kinds of pages that it was not fitted on.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from keyhole.passages.find import Hits
from keyhole.passages.languages import FUNCTION_WORDS, UNKNOWN, count_function_words
from keyhole.passages.light_words import light_stems
from keyhole.passages.query import Match, Query
from keyhole.passages.rank import HEADING_SHARE, NEAR_DECAY, WindowScores
from keyhole.passages.words import WORD
from keyhole.text.letters import lower

WEAK_STRENGTH: Final = 0.17
"""Strength below which a match is weak. About 3 % of the development questions are below it on their own page."""

ABSENT_STRENGTH: Final = 0.04
"""Strength below which a reader is told that the page may not contain the answer. On development pages, two of five
questions asked of another page of the same collection fall below it, and 0.6 % of questions that the page answers."""

MAX_ABSENT_NAMES: Final = 0.2
"""A match is weak if absent names and numbers have at least this share of the query's weight. On development pages,
these are 1.5 % of the questions that the page answers, and a third of those that it does not."""

NAME_WEIGHT: Final = 1.5
"""Weight of a name or number, relative to an ordinary content word: a page that answers has it."""

IDENTIFIER_WEIGHT: Final = 4.0
IDENTIFIER_CHARS: Final = 4
IDENTIFIER_PLACES: Final = 2
"""Weight of a word of letters and digits of at least this length that stands in at most so many windows of the page,
such as "001B21": the page is probably about it, even if it lacks the other words."""

LIGHT_WEIGHT: Final = 0.3
"""Weight of a light word: a page may answer in other words."""

SHORT_WEIGHT: Final = 0.4
SHORT_CHARS: Final = 2
"""Weight of a term of at most this length, such as the parts of "SARS-CoV-2": it occurs by chance."""

MIN_FUNCTION_WORDS: Final = 2
"""Minimum number of function words that tell the language of a query."""

TITLE_CASE_SHARE: Final = 0.6
"""Above this share of capitalised words, capital letters do not mark names: the query is a title, or in capitals."""

BEST_WINDOWS: Final = 8
"""Windows that are examined: those that match most with their context."""

NEAR_WINDOWS: Final = 4
"""Windows on each side in which a hit counts for a window."""

PEAK_WINDOWS: Final = 10
"""The best window is compared with the one at this rank."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The signs for and against a page in the matches of a query; each value is from 0 to 1."""

    covered: float
    """Share of the query's weight that one window holds together with the windows around it."""
    absent: float
    """Share of the query's weight that is nowhere on the page."""
    together: float
    """Share of the query's terms that stand together in one window."""
    peak: float
    """How much less the tenth best window matches than the best one."""


FITTED: Final = (-5.7, Evidence(covered=4.85, absent=-3.61, together=4.49, peak=3.76))
"""The constant and the factors of a logistic regression."""


def match_strength(scored: WindowScores) -> float:
    """Return how probable it is, from 0 to 1, that the page answers the query, if half of all pages asked do."""
    if not scored.stages:
        return 0.0
    found = measure_evidence(scored)
    constant, factor = FITTED
    value = (
        constant
        + factor.covered * found.covered
        + factor.absent * found.absent
        + factor.together * found.together
        + factor.peak * found.peak
    )
    return 1 / (1 + math.exp(-value))


class Judgement(NamedTuple):
    """The judgement of how well a page's passages match a query."""

    strength: float
    """How probable it is that the page answers, from 0 to 1 (`match_strength`)."""
    lacks_names: bool
    """True if much of the query's weight is of names and numbers that the page does not have."""

    @property
    def is_weak(self) -> bool:
        """True if the passages match so little that the answer may be elsewhere, on this page or on another one."""
        return self.strength < WEAK_STRENGTH or self.lacks_names

    @property
    def is_probably_absent(self) -> bool:
        """True if the page probably does not contain the answer: it lacks a name, or matches hardly at all.

        Of the weak matches between, most are of pages that answer in other words.
        """
        return self.strength < ABSENT_STRENGTH or self.lacks_names


def judge_match(scored: WindowScores) -> Judgement:
    """Return how well a page's passages match a query."""
    return Judgement(match_strength(scored), lacks_names(scored))


def lacks_names(scored: WindowScores) -> bool:
    """Return whether much of the query's weight is of names and numbers that the page does not have."""
    weights = weigh_terms(scored.query, scored.hits)
    terms = zip(weights, scored.hits, strict=True)
    absent = sum(weight for weight, hits in terms if weight >= NAME_WEIGHT and not hits.count)
    return absent >= MAX_ABSENT_NAMES * sum(weights) and absent > 0


def measure_evidence(scored: WindowScores) -> Evidence:
    """Return the evidence of a query's matches. At least one term has a hit."""
    hits, weights = scored.hits, weigh_terms(scored.query, scored.hits)
    total = sum(weights) or 1.0
    counted = [each for each, weight in zip(hits, weights, strict=True) if weight] or hits
    best = _best_windows(scored)
    covered = max(_weigh_window(scored, window, weights) for window in best)
    together = max(sum(window in each.windows for each in counted) for window in best)
    quality = [min(1.0, max(each.windows.values(), default=0.0)) for each in hits]
    present = sum(weight * value for weight, value in zip(weights, quality, strict=True))
    values = dict(scored.stages)["context"]
    peak = 1 - heapq.nlargest(PEAK_WINDOWS, values)[-1] / values[best[0]]
    return Evidence(covered / total, 1 - present / total, together / len(counted), peak)


def weigh_terms(query: Query, hits: Sequence[Hits]) -> list[float]:
    """Return the weight of each term: how strongly its presence or absence speaks for or against a page."""
    names = find_names(query)
    language = find_language(query.text)
    light = light_stems(query.language) | light_stems(language)
    ignored = FUNCTION_WORDS.get(language, frozenset()) - names
    return [0.0 if each.term.surface in ignored else _weigh_term(each, names, light) for each in hits]


def find_language(query: str) -> str:
    """Return the language of a query by its function words, or `UNKNOWN`. The page may be in another one."""
    counts = count_function_words(WORD.findall(lower(query)))
    language = max(counts, key=lambda each: counts[each])
    return language if counts[language] >= MIN_FUNCTION_WORDS else UNKNOWN


def _weigh_term(hits: Hits, names: frozenset[str], light: frozenset[str]) -> float:
    term = hits.term
    if term.match is Match.GRAM:
        return term.weight
    if "-" in term.surface and not hits.count:
        return 0.0  # The parts of a hyphenated word are terms, too.
    if len(term.surface) <= SHORT_CHARS:
        return SHORT_WEIGHT * term.weight
    has_digit = any(char.isdigit() for char in term.surface)
    is_identifier = has_digit and not term.surface.isdigit() and len(term.surface) >= IDENTIFIER_CHARS
    if is_identifier and 0 < len(hits.windows) <= IDENTIFIER_PLACES:
        return IDENTIFIER_WEIGHT * term.weight
    if has_digit or term.surface in names:
        return NAME_WEIGHT * term.weight
    return (LIGHT_WEIGHT if term.stem in light else 1.0) * term.weight


def find_names(query: Query) -> frozenset[str]:
    """Return the words of a query, in lower case, whose capital letters mark them as names.

    The first word counts only with a capital after its first letter. German capitalises every noun, so there too.
    """
    words = WORD.findall(query.text)
    capitalised = [word for word in words if word[0].isupper()]
    inner = {word for word in words if word[1:] != word[1:].lower()}
    if len(capitalised) > TITLE_CASE_SHARE * len(words):
        inner = set() if query.text == query.text.upper() else inner
        capitalised = []
    named = inner if query.language == "de" else inner | set(capitalised) - set(words[:1])
    return frozenset(map(lower, named))


def _best_windows(scored: WindowScores) -> list[int]:
    """Return the windows that match most with their context, best first, with ties in page order."""
    values = dict(scored.stages)["context"]
    return heapq.nlargest(BEST_WINDOWS, range(len(values)), key=lambda window: (values[window], -window))


def _weigh_window(scored: WindowScores, window: int, weights: Sequence[float]) -> float:
    """Return the weight of the terms in a window and, reduced, in the windows around it and in its headings."""
    headings = [
        number for number, heading in enumerate(scored.index.layout.headings) if heading.first <= window < heading.last
    ]
    total = 0.0
    for weight, hits in zip(weights, scored.hits, strict=True):
        near = max(
            hits.windows.get(window + step, 0.0) * NEAR_DECAY ** abs(step)
            for step in range(-NEAR_WINDOWS, NEAR_WINDOWS + 1)
        )
        above = max((hits.headings.get(number, 0.0) for number in headings), default=0.0)
        total += weight * min(1.0, max(near, HEADING_SHARE * above))
    return total
