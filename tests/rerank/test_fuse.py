"""Scores become orders that lose no passage, move only scored texts and keep the spread of lexical scores."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Passage, Ranked
from keyhole.rerank.base import Order
from keyhole.rerank.fuse import apply_order, fuse_ranks, list_places, order_by_score, reorder_passages

SCORES = st.lists(st.none() | st.floats(-10, 10), max_size=30)


def test_a_high_score_moves_a_text_up_but_not_to_the_top() -> None:
    assert fuse_ranks([0.9, 0.5, 0.4, 0.3, 0.8]).first == (0, 1, 2, 4, 3)


def test_the_best_lexical_text_stays_above_the_best_scored_text() -> None:
    assert fuse_ranks([0.1, 0.9]).first == (0, 1)


def test_equal_orders_change_nothing() -> None:
    assert fuse_ranks([5.0, 4.0, 3.0, 2.0]).first == (0, 1, 2, 3)


def test_without_scores_the_order_stays() -> None:
    assert fuse_ranks([None, None, None]).first == (0, 1, 2)


def test_equal_scores_stay_in_lexical_order() -> None:
    assert order_by_score([0.1, 0.7, 0.1, 0.7], None) == Order((1, 3, 0, 2))


def test_texts_below_the_threshold_come_after_texts_without_a_score() -> None:
    order = order_by_score([0.2, 0.9, 0.5], 0.5)
    assert order == Order((1, 2), (0,))
    assert apply_order(range(5), order) == [1, 2, 3, 4, 0]


def test_a_threshold_above_all_scores_puts_scored_texts_last() -> None:
    assert apply_order(range(4), order_by_score([0.1, 0.2], 1.0)) == [2, 3, 1, 0]


@given(SCORES, st.integers(0, 20), st.none() | st.floats(-10, 10))
def test_every_order_keeps_every_passage_once(scores: list[float | None], more: int, threshold: float | None) -> None:
    positions = list(range(len(scores) + more))[::-1]
    for order in (fuse_ranks(scores), order_by_score([score or 0.0 for score in scores], threshold)):
        assert sorted(apply_order(positions, order)) == sorted(positions)
        unscored = [at for at in apply_order(positions, order) if at < more]
        assert unscored == positions[len(scores) :]


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
