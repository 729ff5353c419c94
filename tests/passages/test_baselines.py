"""The named strategies that the default is measured against work, and obey the same budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.passages import select
from keyhole.passages.baselines import STRATEGIES
from keyhole.text.measure import serialized_size

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 4
PAGE = "The opening.\n\n" + f"{PLAIN}\n\n" * 12 + "The surrendered zebras slept.\n\n" + f"{PLAIN}\n\n" * 12 + "The end."
PIECES = st.sampled_from(
    [PLAIN, "\n\n", "zebra ", "# Zebra\n\n", "蒙特利尔投降。", "\udc80", "\u0301", "| a |\n", "\x00"]
)


@pytest.mark.parametrize("strategy", ["tf_cosine", "bm25"])
def test_a_ranking_baseline_shows_the_place_of_the_stem(strategy: str) -> None:
    selection = select(PAGE, "surrender of a zebra", 900, strategy=strategy)
    assert "surrendered zebras" in selection.text


@pytest.mark.parametrize("strategy", ["tf_cosine", "bm25"])
def test_a_ranking_baseline_does_not_call_itself_head_and_tail(strategy: str) -> None:
    assert select(PAGE, "surrender of a zebra", 900, strategy=strategy).strategy == "passages"


def test_tf_cosine_keeps_the_first_paragraph() -> None:
    assert select(PAGE, "zebra", 900, strategy="tf_cosine").text.startswith("The opening.")


def test_head_tail_does_not_look_at_the_query() -> None:
    asked, unasked = (select(PAGE, query, 1_500, strategy="head_tail") for query in ("zebra", None))
    assert asked == unasked
    assert asked.strategy == "head_tail"
    assert asked.text.startswith("The opening.")
    assert asked.text.endswith("The end.")
    assert "zebras" not in asked.text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_text_that_fits_is_given_whole(strategy: str) -> None:
    assert select(PAGE, "zebra", len(PAGE), strategy=strategy).text == PAGE
    assert select(PAGE, "zebra", len(PAGE), strategy=strategy).strategy == "whole"


def test_a_name_that_is_no_strategy_is_an_error() -> None:
    with pytest.raises(KeyError):
        select(PAGE, "zebra", 500, strategy="tfidf")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(PIECES, max_size=12).map("".join),
    st.sampled_from(["zebra", "", "投降", "the", "\udc80"]),
    st.integers(-5, 2_000),
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_baseline_obeys_the_budget_for_any_text(strategy: str, text: str, query: str, budget: int) -> None:
    for measure in (len, serialized_size):
        selection = select(text, query, budget, measure=measure, strategy=strategy)
        assert measure(selection.text) <= max(0, budget)
        bounds = [offset for span in selection.spans for offset in span]
        assert bounds == sorted(bounds)
