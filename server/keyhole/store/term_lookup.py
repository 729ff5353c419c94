"""Rank artifacts by search terms, from posting lists alone.

A word is weighted by its rarity, as in BM25, and more in artifacts about it. The posting lists of the rarest words are
read first. The long lists of common words are read only if the rarer words match too few artifacts, because they cost
most and distinguish least.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.records import TOPIC
from keyhole.store.base import Word

TOPIC_SHARE: Final = 0.6
"""Additional weight of a word in an artifact about it. In BM25, a frequent word counts up to 2.2 times; in a text of
average length, about 1.6 times."""
COMMON_SHARE: Final = 0.2
"""A word in more than this share of all artifacts is common."""
BM25_K1: Final = 1.2
BM25_B: Final = 0.75
"""BM25's k1 and b, at their usual values (Robertson and Zaragoza, 2009)."""
MAX_ROWS: Final = 25_000
"""Rows read from posting lists, in about 10 ms. Only the commonest words of a long query exceed it. With 60,000 rows,
the first twenty results contain no more known artifacts; with 10,000, fewer (`python -m benchmarks.search.stored`)."""
MAX_WORDS: Final = 48
"""Words of a query that are looked up, rarest first, as many as the ranker uses. A longer query is a pasted text."""
CANDIDATES_PER_RESULT: Final = 10
"""Candidates rescored by text length for each result."""


MAX_TOPICS: Final = 24
"""Topics of a text besides the terms of its title: its most frequent terms. A page of 8 KB has about 500 terms."""
MIN_TOPIC_COUNT: Final = 3
"""Occurrences that make a term a topic."""


@dataclass(frozen=True, slots=True)
class PostingList:
    """A list of the artifacts that contain any of `terms`, to be read from the index."""

    word: int
    """Index of the word in the query."""
    terms: tuple[str, ...]
    weight: float
    size: int
    """Upper bound of the artifacts in the list."""
    is_common: bool = False


def list_terms(words: str) -> list[str]:
    """Return the distinct terms of a text, and its topics with the prefix `TOPIC`. `words`: as `Store.put` has them.

    The topics are the terms of its title and its most frequent terms. They distinguish a text about a word from a text
    that contains it, although the posting lists have no counts.
    """
    terms = words.split()
    title = [term for term in terms if term.startswith(TOPIC)]
    counts = Counter(term for term in terms if not term.startswith(TOPIC))
    frequent = [TOPIC + term for term, count in counts.most_common(MAX_TOPICS) if count >= MIN_TOPIC_COUNT]
    return list(dict.fromkeys([*counts, *(term.removeprefix(TOPIC) for term in title), *title, *frequent]))


def make_words(title: str, pieces: Iterable[str]) -> str:
    """Return the words of a title and of pieces of its text, as `Store.put` has them."""
    from keyhole.passages.stems import index_terms  # stemmers take a tenth of the start's time

    return " ".join(index_terms(title, "\n".join(pieces)))


def select_indexable(words: Iterable[str]) -> list[str]:
    """Return the words that the index can hold: FTS5 ends a token at a space, control or unassigned character."""
    # isprintable() excludes these categories except the space; a loop over the characters takes 30 times as long.
    return [word for word in words if word and word.isprintable() and " " not in word]


def list_forms(words: Iterable[Word]) -> list[tuple[str, ...]]:
    """Return each word's indexable forms, without words that have none."""
    forms_by_word = ((word,) if isinstance(word, str) else word for word in words)
    return [forms for each in forms_by_word if (forms := tuple(dict.fromkeys(select_indexable(each))))]


def plan_lists(words: Sequence[tuple[str, ...]], counts: Mapping[str, int], total: int) -> tuple[PostingList, ...]:
    """Return a query's posting lists, rarest first. `counts`: how many of `total` artifacts contain each term."""
    lists = []
    for number, forms in enumerate(words):
        count = min(total, sum(counts.get(form, 0) for form in forms))
        weight = math.log(1 + (total - count + 0.5) / (count + 0.5))
        for prefix, share in (("", 1.0), (TOPIC, TOPIC_SHARE)):
            terms = tuple(prefix + form for form in forms if counts.get(prefix + form))
            size = min(total, sum(counts[term] for term in terms))
            if terms:
                lists.append(PostingList(number, terms, weight * share, size, size > COMMON_SHARE * total))
    rarest = sorted(lists, key=lambda each: (each.size, each.terms))
    words_used = set(list(dict.fromkeys(each.word for each in rarest))[:MAX_WORDS])
    return tuple(each for each in rarest if each.word in words_used)


def limit_rows(lists: Sequence[PostingList]) -> tuple[tuple[PostingList, ...], tuple[PostingList, ...]]:
    """Return the lists to read within `MAX_ROWS`: first without common words, then with them."""
    rare = tuple(each for each in lists if not each.is_common)
    return _take_within_limit(rare), _take_within_limit(lists)


def _take_within_limit(lists: Iterable[PostingList]) -> tuple[PostingList, ...]:
    """Return the first lists with at most `MAX_ROWS` rows together; at least one list."""
    selected: list[PostingList] = []
    rows_left = MAX_ROWS
    for each in lists:
        rows_left -= each.size
        if selected and rows_left < 0:
            break
        selected.append(each)
    return tuple(selected)


def select_best(
    scores: Mapping[int, float], limit: int, filter_keys: Callable[[Sequence[int]], Mapping[int, int]]
) -> list[int]:
    """Return the keys of the best artifacts that pass the filters, by score and text length.

    `filter_keys` returns the keys that pass the filters, with the lengths of their texts. It is called for the best
    candidates, and for all keys if too few candidates pass.
    """
    lengths = filter_keys(sort_best_first(scores, limit * CANDIDATES_PER_RESULT))
    if len(lengths) < limit and limit * CANDIDATES_PER_RESULT < len(scores):
        lengths = filter_keys(list(scores))
    candidates = sort_best_first({key: scores[key] for key in lengths}, limit * CANDIDATES_PER_RESULT)
    average = sum(lengths.values()) / max(1, len(lengths))
    return sorted(candidates, key=lambda key: (-normalize_length(scores[key], lengths[key], average), -key))[:limit]


def sort_best_first(scores: Mapping[int, float], count: int) -> list[int]:
    """Return the `count` keys with the highest scores, best first; of equal scores, the highest key first."""
    # Sorting floats alone is ten times as fast as sorting pairs, and excludes most keys.
    minimum = sorted(scores.values(), reverse=True)[min(count, len(scores)) - 1] if scores and count else math.inf
    best = (key for key, score in scores.items() if score >= minimum)
    return sorted(best, key=lambda key: (-scores[key], -key))[:count]


def normalize_length(score: float, chars: int, average: float) -> float:
    """Divide a score by a factor of the text length, as in BM25: a long text contains more words by chance."""
    return score / (1 + BM25_K1 * (1 - BM25_B + BM25_B * chars / average))
