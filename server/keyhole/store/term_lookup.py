"""Which of many artifacts hold most of a question's words, worked out from lists of keys. Pure; no SQL and no text.

A word counts by its rarity, as in BM25, and once more than half as much in an artifact that is about it. The lists of
the rarest words are read first; the long lists of words that nearly every artifact holds are read only where nothing
rarer found enough, as reading them costs most and tells least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.records import TOPIC
from keyhole.store.base import Word

TOPIC_SHARE: Final = 0.6
"""What it adds that an artifact is about a word: a word said often enough counts up to 2.2 times in BM25, in a text of
common length some 1.6 times."""
COMMON_SHARE: Final = 0.2
"""Of all artifacts: a word that more of them hold is read last, if at all."""
SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
"""BM25's k1 and b, at the values that most who use it have kept (Robertson and Zaragoza, 2009)."""
MAX_ROWS: Final = 25_000
"""Read of the lists: some 10 ms. Beyond are only the commonest words of a long question: with 60,000 no more of the
known artifacts are among the first twenty, with 10,000 fewer (`python -m benchmarks.search.stored`)."""
MAX_WORDS: Final = 48
"""The rarest ones of a question; a longer one is a pasted text, and these say enough. As the ranker's own limit."""
WEIGHED: Final = 10
"""Artifacts weighed by their length for each that is given."""


@dataclass(frozen=True, slots=True)
class Sought:
    """One list of artifacts to read."""

    word: int
    """The number of the word that they hold."""
    terms: tuple[str, ...]
    weight: float
    held: int
    """The most artifacts there can be in the list."""
    common: bool = False


def searchable(words: Iterable[str]) -> list[str]:
    """The words that the index can hold: FTS5 ends a token at every space, control and unassigned character."""
    # Printable is what is in neither of these categories, and the space; a loop over characters costs 30 times as much.
    return [word for word in words if word and word.isprintable() and " " not in word]


def forms_of(words: Iterable[Word]) -> list[tuple[str, ...]]:
    """Each word's forms that an index can hold, those words that have any."""
    given = ((word,) if isinstance(word, str) else word for word in words)
    return [forms for each in given if (forms := tuple(dict.fromkeys(searchable(each))))]


def plan(words: Sequence[tuple[str, ...]], held: Mapping[str, int], total: int) -> tuple[Sought, ...]:
    """The lists to read for words of which `held` artifacts of `total` hold each term: rarest first."""
    lists = []
    for number, forms in enumerate(words):
        count = min(total, sum(held.get(form, 0) for form in forms))
        weight = math.log(1 + (total - count + 0.5) / (count + 0.5))
        for mark, share in (("", 1.0), (TOPIC, TOPIC_SHARE)):
            terms = tuple(mark + form for form in forms if held.get(mark + form))
            size = min(total, sum(held[term] for term in terms))
            if terms:
                lists.append(Sought(number, terms, weight * share, size, size > COMMON_SHARE * total))
    rarest = sorted(lists, key=lambda each: (each.held, each.terms))
    kept = set(list(dict.fromkeys(each.word for each in rarest))[:MAX_WORDS])
    return tuple(each for each in rarest if each.word in kept)


def match_of(sought: Sought) -> str:
    """A list as FTS5's query language names it."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in sought.terms)


def affordable(lists: Sequence[Sought]) -> tuple[tuple[Sought, ...], tuple[Sought, ...]]:
    """The lists to read, as far as `MAX_ROWS` goes: without the common words first, then with them."""
    rare = tuple(each for each in lists if not each.common)
    return _within(rare), _within(lists)


def _within(lists: Iterable[Sought]) -> tuple[Sought, ...]:
    kept: list[Sought] = []
    left = MAX_ROWS
    for each in lists:
        left -= each.held
        if kept and left < 0:
            break
        kept.append(each)
    return tuple(kept)


def best(scores: Mapping[int, float], limit: int, passing: Callable[[Sequence[int]], Mapping[int, int]]) -> list[int]:
    """The best keys whose artifacts are there and pass the filters, by their length as well; `passing` gives of some
    keys those that do, with the lengths of their texts.

    The filters are first tried on the best few alone, and on all where they leave too little of these.
    """
    lengths = passing(best_first(scores, limit * WEIGHED))
    if len(lengths) < limit and limit * WEIGHED < len(scores):
        lengths = passing(list(scores))
    found = best_first({key: scores[key] for key in lengths}, limit * WEIGHED)
    usual = sum(lengths.values()) / max(1, len(lengths))
    return sorted(found, key=lambda key: (-shortened(scores[key], lengths[key], usual), -key))[:limit]


def best_first(scores: Mapping[int, float], count: int) -> list[int]:
    """The best artifacts, those with the most of the question first; ties to the latest."""
    # Floats alone sort ten times as fast as pairs; most of many scores are not looked at again.
    least = sorted(scores.values(), reverse=True)[min(count, len(scores)) - 1] if scores and count else math.inf
    return sorted((key for key, score in scores.items() if score >= least), key=lambda key: (-scores[key], -key))[
        :count
    ]


def shortened(score: float, chars: int, usual: float) -> float:
    """A score for a text of a length, as in BM25: a long text holds more words by chance."""
    return score / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * chars / usual))
