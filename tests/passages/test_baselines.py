"""The baseline strategies select the right places and obey the size limit."""

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
def test_a_ranking_baseline_shows_the_paragraph_with_an_inflected_form(strategy: str) -> None:
    selection = select(PAGE, "surrender of a zebra", 900, strategy=strategy)
    assert "surrendered zebras" in selection.text


@pytest.mark.parametrize("strategy", ["tf_cosine", "bm25"])
def test_a_ranking_baseline_reports_the_strategy_passages(strategy: str) -> None:
    assert select(PAGE, "surrender of a zebra", 900, strategy=strategy).strategy == "passages"


def test_tf_cosine_keeps_the_first_paragraph() -> None:
    assert select(PAGE, "zebra", 900, strategy="tf_cosine").text.startswith("The opening.")


def test_head_tail_ignores_the_query() -> None:
    with_query, without_query = (select(PAGE, query, 1_500, strategy="head_tail") for query in ("zebra", None))
    assert with_query == without_query
    assert with_query.strategy == "head_tail"
    assert with_query.text.startswith("The opening.")
    assert with_query.text.endswith("The end.")
    assert "zebras" not in with_query.text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_text_that_fits_is_returned_whole(strategy: str) -> None:
    assert select(PAGE, "zebra", len(PAGE), strategy=strategy).text == PAGE
    assert select(PAGE, "zebra", len(PAGE), strategy=strategy).strategy == "whole"


def test_an_unknown_strategy_raises_key_error() -> None:
    with pytest.raises(KeyError):
        select(PAGE, "zebra", 500, strategy="tfidf")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(PIECES, max_size=12).map("".join),
    st.sampled_from(["zebra", "", "投降", "the", "\udc80"]),
    st.integers(-5, 2_000),
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_baseline_never_exceeds_the_budget(strategy: str, text: str, query: str, budget: int) -> None:
    for measure in (len, serialized_size):
        selection = select(text, query, budget, measure=measure, strategy=strategy)
        assert measure(selection.text) <= max(0, budget)
        bounds = [offset for span in selection.spans for offset in span]
        assert bounds == sorted(bounds)
