"""Scores become orders that lose no passage, move only what was judged, and keep the spread of the lexical scores."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Passage, Ranked
from keyhole.rerank.base import Verdict
from keyhole.rerank.fuse import applied, by_score, fused, places, reordered

SCORES = st.lists(st.none() | st.floats(-10, 10), max_size=30)


def test_a_text_moves_up_by_its_score_but_not_past_all_others() -> None:
    assert fused([0.9, 0.5, 0.4, 0.3, 0.8]).first == (0, 1, 2, 4, 3)


def test_the_lexical_favourite_stays_before_the_favourite_of_the_scores() -> None:
    assert fused([0.1, 0.9]).first == (0, 1)


def test_agreement_of_the_two_orders_changes_nothing() -> None:
    assert fused([5.0, 4.0, 3.0, 2.0]).first == (0, 1, 2, 3)


def test_without_any_score_the_order_stays() -> None:
    assert fused([None, None, None]).first == (0, 1, 2)


def test_by_score_ties_stay_in_lexical_order() -> None:
    assert by_score([0.1, 0.7, 0.1, 0.7], None) == Verdict((1, 3, 0, 2))


def test_what_scores_under_the_threshold_comes_after_what_was_not_judged() -> None:
    verdict = by_score([0.2, 0.9, 0.5], 0.5)
    assert verdict == Verdict((1, 2), (0,))
    assert applied(range(5), verdict, 3) == [1, 2, 3, 4, 0]


def test_a_threshold_above_all_scores_puts_the_judged_last() -> None:
    assert applied(range(4), by_score([0.1, 0.2], 1.0), 2) == [2, 3, 1, 0]


@given(SCORES, st.integers(0, 20), st.none() | st.floats(-10, 10))
def test_every_verdict_keeps_every_passage_once(scores: list[float | None], more: int, threshold: float | None) -> None:
    order = list(range(len(scores) + more))[::-1]
    for verdict in (fused(scores), by_score([score or 0.0 for score in scores], threshold)):
        assert sorted(applied(order, verdict, len(scores))) == sorted(order)
        unjudged = [at for at in applied(order, verdict, len(scores)) if at < more]
        assert unjudged == order[len(scores) :]


RANKED: Ranked = (
    (Passage(0, 10, 9.0), Passage(10, 20, 2.0)),
    (),
    (Passage(5, 9, 4.0), Passage(0, 5, 3.0)),
)


def test_passages_of_all_sources_stand_by_lexical_score() -> None:
    assert places(RANKED) == [(0, 0), (2, 0), (2, 1), (0, 1)]


def test_the_best_passage_takes_the_highest_score_and_so_on() -> None:
    found = reordered(RANKED, [(2, 1), (0, 1), (0, 0), (2, 0)])
    assert found == (
        (Passage(10, 20, 4.0), Passage(0, 10, 3.0)),
        (),
        (Passage(0, 5, 9.0), Passage(5, 9, 2.0)),
    )


def test_the_same_order_gives_the_same_passages() -> None:
    assert reordered(RANKED, places(RANKED)) == RANKED
