"""Tests of BM25 from posting lists: frequencies, rarity, and the length of a text."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import pytest

from keyhole.extensions.postgresql.search import (
    FREQUENCIES,
    K1,
    B,
    PostingList,
    count_terms,
    rank_by_length,
    rarity,
    sort_best_first,
    sum_scores,
)


def test_a_term_has_the_number_of_its_frequency_and_one_of_the_title_counts_three_times() -> None:
    assert dict(count_terms("*pump pump seal seal")) == {"pump": FREQUENCIES.index(4), "seal": FREQUENCIES.index(2)}
    assert dict(count_terms(" ".join(["worn"] * 8))) == {"worn": FREQUENCIES.index(6)}
    assert dict(count_terms(" ".join(["worn"] * 999))) == {"worn": len(FREQUENCIES) - 1}
    assert not dict(count_terms(""))


def test_a_rare_term_weighs_more_and_a_term_of_all_texts_hardly_anything() -> None:
    assert rarity(1, 1_000) > rarity(10, 1_000) > rarity(400, 1_000) > rarity(1_000, 1_000) > 0


def test_scores_are_those_of_the_formula() -> None:
    random = Random(3)
    counts = {key: {term: random.choice((0, *FREQUENCIES)) for term in "abc"} for key in range(1, 40)}
    lengths = {key: random.randint(500, 5_000) for key in counts}
    average = sum(lengths.values()) / len(lengths)
    weights = {term: rarity(sum(row[term] > 0 for row in counts.values()), len(counts)) for term in "abc"}

    def score(key: int) -> float:
        norm = K1 * (1 - B + B * lengths[key] / average)
        return sum(weights[term] * count * (K1 + 1) / (count + norm) for term, count in counts[key].items())

    lists = [
        PostingList(weights[term], count, frozenset(key for key in counts if counts[key][term] == count))
        for term in "abc"
        for count in FREQUENCIES
    ]
    assert rank_by_length(lists, lengths) == sorted(counts, key=lambda key: (-score(key), -key))
    assert sum_scores(lists).keys() == {key for key, row in counts.items() if any(row.values())}


def test_a_more_frequent_term_and_a_shorter_text_come_first() -> None:
    lists = [PostingList(1.0, 1, frozenset({1, 2})), PostingList(1.0, 9, frozenset({3}))]
    assert sum_scores(lists)[3] > sum_scores(lists)[1] == sum_scores(lists)[2]
    assert rank_by_length(lists, {1: 2_000, 2: 1_000, 3: 1_000}) == [3, 2, 1]
    assert rank_by_length([], {}) == []


def test_the_best_scores_come_first_then_the_highest_keys() -> None:
    scores = {1: 2.0, 2: 3.0, 3: 2.0, 4: 1.0}
    assert sort_best_first(scores, 3) == [2, 3, 1]
    assert sort_best_first(scores, 9) == [2, 3, 1, 4]
    assert sort_best_first(scores, 0) == sort_best_first({}, 5) == []


def test_the_greatest_frequency_changes_a_score_little() -> None:
    most = FREQUENCIES[-1] * (K1 + 1) / (FREQUENCIES[-1] + K1)
    assert most == pytest.approx(K1 + 1, rel=0.05)
    steps = [math.log(b * (a + K1) / (a * (b + K1))) for a, b in pairwise(FREQUENCIES)]
    assert max(steps[1:]) < 0.17
