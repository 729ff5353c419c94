"""Scores become orders that lose no passage, move only scored texts and keep the spread of lexical scores."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Passage, Ranked
from keyhole.rerank.base import fuse_ranks, list_places, order_by_score, reorder_passages

SCORES = st.lists(st.floats(-10, 10), max_size=30)


def test_a_high_score_moves_a_text_up_but_not_to_the_top() -> None:
    assert fuse_ranks([0.9, 0.5, 0.4, 0.3, 0.8], 0.0) == [0, 1, 4, 2, 3]


def test_the_best_lexical_text_stays_above_the_best_scored_text() -> None:
    assert fuse_ranks([0.1, 0.9], 1.0) == fuse_ranks([0.1, 0.9], 0.0) == [0, 1]


def test_a_score_counts_more_where_words_match_weakly() -> None:
    scores = [0.1, 0.2, 0.3, 0.4, 0.9]
    assert fuse_ranks(scores, 1.0).index(4) > fuse_ranks(scores, 0.0).index(4)


def test_the_score_alone_counts_where_no_word_matches() -> None:
    assert fuse_ranks([0.1, 0.2, 0.3, 0.4, 0.9], None) == [4, 3, 2, 1, 0]


def test_equal_orders_change_nothing() -> None:
    assert fuse_ranks([5.0, 4.0, 3.0, 2.0], 1.0) == [0, 1, 2, 3]


def test_equal_scores_stay_in_lexical_order() -> None:
    assert order_by_score([0.1, 0.7, 0.1, 0.7]) == [1, 3, 0, 2]
    assert fuse_ranks([0.5, 0.5, 0.5], 1.0) == [0, 1, 2]


@given(SCORES)
def test_every_order_keeps_every_text_once(scores: list[float]) -> None:
    for order in (fuse_ranks(scores, 1.0), fuse_ranks(scores, 0.0), order_by_score(scores)):
        assert sorted(order) == list(range(len(scores)))


RANKED: Ranked = (
    (Passage(0, 10, 9.0), Passage(10, 20, 2.0)),
    (),
    (Passage(5, 9, 4.0), Passage(0, 5, 3.0)),
)


def test_passages_of_all_sources_are_listed_by_lexical_score() -> None:
    assert list_places(RANKED) == [(0, 0), (2, 0), (2, 1), (0, 1)]


def test_reordered_passages_take_the_lexical_scores_in_order() -> None:
    assert reorder_passages(RANKED, [(2, 1), (0, 1), (0, 0), (2, 0)]) == (
        (Passage(10, 20, 4.0), Passage(0, 10, 3.0)),
        (),
        (Passage(0, 5, 9.0), Passage(5, 9, 2.0)),
    )


def test_the_same_order_gives_the_same_passages() -> None:
    assert reorder_passages(RANKED, list_places(RANKED)) == RANKED
