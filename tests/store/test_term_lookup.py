"""Tests of planning posting lists: their order, weights and limits, and the ranking of artifacts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from keyhole.store import term_lookup
from keyhole.store.sqlite.search import build_match, select_rare
from keyhole.store.term_lookup import (
    CANDIDATES_PER_RESULT,
    limit_rows,
    list_forms,
    normalize_length,
    plan_lists,
    select_best,
    sort_best_first,
)

COUNTS = {"rare": 3, "*rare": 1, "usual": 900, "*usual": 40, "the": 9_000, "mice": 5, "mouse": 50}


def terms(lists: tuple[term_lookup.PostingList, ...]) -> list[str]:
    return [" ".join(each.terms) for each in lists]


def test_the_rarest_lists_come_first_without_absent_words() -> None:
    lists = plan_lists(list_forms(["the", "usual", "absent", "rare"]), COUNTS, 10_000)
    assert terms(lists) == ["*rare", "rare", "*usual", "usual", "the"]


def test_a_rare_word_weighs_more_and_a_topic_adds_to_its_word() -> None:
    weights = {each.terms[0]: each.weight for each in plan_lists(list_forms(["the", "usual", "rare"]), COUNTS, 10_000)}
    assert weights["rare"] > weights["usual"] > weights["the"] > 0
    assert weights["*usual"] == pytest.approx(term_lookup.TOPIC_SHARE * weights["usual"])


def test_all_forms_of_a_word_share_one_list() -> None:
    (both,) = plan_lists([("mice", "mouse")], COUNTS, 10_000)
    assert both.size == 55
    assert build_match(both.terms) == '"mice" OR "mouse"'


def test_common_words_are_read_last() -> None:
    rare, every = limit_rows(plan_lists(list_forms(["the", "usual"]), COUNTS, 10_000))
    assert terms(rare) == ["*usual", "usual"]
    assert terms(every) == ["*usual", "usual", "the"]


def test_lists_are_limited_in_rows_except_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_lookup, "MAX_ROWS", 950)
    assert terms(limit_rows(plan_lists(list_forms(["the", "usual", "rare"]), COUNTS, 10_000))[1]) == [
        "*rare", "rare", "*usual", "usual"
    ]  # fmt: skip
    monkeypatch.setattr(term_lookup, "MAX_ROWS", 1)
    assert terms(limit_rows(plan_lists(list_forms(["the"]), COUNTS, 10_000))[1]) == ["the"]


def test_a_long_query_is_reduced_to_its_rarest_words() -> None:
    counts = {f"w{n}": n + 1 for n in range(200)}
    lists = plan_lists(list_forms(counts), counts, 1_000)
    assert terms(lists) == [f"w{n}" for n in range(term_lookup.MAX_WORDS)]


def test_unindexable_forms_are_skipped_and_quotes_are_doubled() -> None:
    assert list_forms(["", "a b", ("x\x00", "y"), 'q"']) == [("y",), ('q"',)]
    assert build_match(['q"']) == '"q"""'


def test_the_best_scores_come_first_then_the_highest_keys() -> None:
    scores = {1: 2.0, 2: 3.0, 3: 2.0, 4: 1.0}
    assert sort_best_first(scores, 3) == [2, 3, 1]
    assert sort_best_first(scores, 9) == [2, 3, 1, 4]
    assert sort_best_first(scores, 0) == sort_best_first({}, 5) == []


def test_a_long_text_scores_lower() -> None:
    assert (
        normalize_length(1.0, 1_000, 2_000)
        > normalize_length(1.0, 2_000, 2_000)
        > normalize_length(1.0, 9_000, 2_000)
        > 0
    )


def test_all_keys_are_filtered_only_if_too_few_candidates_pass() -> None:
    scores = {key: float(key) for key in range(1, 3 * CANDIDATES_PER_RESULT)}
    tried: list[int] = []

    def filter_keys(keys: Sequence[int]) -> dict[int, int]:
        tried.append(len(keys))
        return {key: 100 for key in keys if key <= highest}

    highest = 1_000
    assert select_best(scores, 2, filter_keys) == [29, 28]
    highest = 2
    assert select_best(scores, 2, filter_keys) == [2, 1]
    assert select_best(scores, 3, filter_keys) == [2, 1]
    assert select_best({}, 3, filter_keys) == []
    assert tried == [2 * CANDIDATES_PER_RESULT, 2 * CANDIDATES_PER_RESULT, len(scores), len(scores), 0]


def test_a_shorter_text_wins_among_equal_scores() -> None:
    assert select_best({1: 1.0, 2: 1.0, 3: 1.0}, 2, lambda keys: {key: 1_000 * key for key in keys}) == [1, 2]


def test_the_rarest_words_are_looked_up_and_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    words = list_forms(["the", "usual", "absent", "rare", ("mice", "mouse")])
    assert select_rare(words, COUNTS) == ["rare", "mice", "mouse", "usual", "the"]
    monkeypatch.setattr("keyhole.store.sqlite.search.MAX_ROWS", 60)
    assert select_rare(words, COUNTS) == ["rare", "mice", "mouse"]
    assert select_rare(list_forms(["the"]), COUNTS) == ["the"]
