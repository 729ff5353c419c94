"""The benchmark of the token estimate: its rows, and the splits of its documents."""

from __future__ import annotations

from benchmarks.budget.token_texts import Sample, choose_split
from benchmarks.budget.tokens import make_rows
from keyhole.render.tokens import estimate


def test_a_row_has_the_share_of_safe_estimates_and_the_median_waste() -> None:
    texts = ["The pump runs. " * times for times in (20, 30, 40)]
    exact = [estimate(text) for text in texts]
    samples = [Sample("en", "test", text) for text in texts]
    counts = [[exact[0], 1], [2 * exact[1], 1], [exact[2], exact[2] // 2]]
    en, everything = make_rows(samples, counts)
    assert (en.kind, everything.kind, en.samples) == ("en", "all", 3)
    assert round(en.safe, 3) == 0.667
    assert en.waste == 0
    assert en.by_tokenizer[1] > 0.5


def test_a_document_is_always_in_the_same_split_and_both_splits_have_documents() -> None:
    assert {choose_split(f"page {n}.html") for n in range(50)} == {"dev", "test"}
    assert choose_split("a") == choose_split("a")
