"""The measure of the token estimate: what its table says of counts, and halves that share no document."""

from __future__ import annotations

from benchmarks.budget.token_texts import Sample, half_of
from benchmarks.budget.tokens import rows
from keyhole.budget.tokens import estimate


def test_a_row_says_the_share_that_is_safe_and_the_median_of_what_is_wasted() -> None:
    texts = ["The pump runs. " * times for times in (20, 30, 40)]
    exact = [estimate(text) for text in texts]
    samples = [Sample("en", "test", text) for text in texts]
    counts = [[exact[0], 1], [exact[1] + 1, 1], [exact[2], exact[2] // 2]]
    en, everything = rows(samples, counts)
    assert (en.kind, everything.kind, en.samples) == ("en", "all", 3)
    assert round(en.safe, 3) == 0.667
    assert en.waste == 0
    assert en.each[1] > 0.5


def test_a_document_is_always_in_the_same_half_and_both_have_some() -> None:
    assert {half_of(f"page {n}.html") for n in range(50)} == {"dev", "test"}
    assert half_of("a") == half_of("a")
