"""Each stage ranks windows as intended; no exact score is promised."""

from __future__ import annotations

import pytest

from keyhole.passages.index import Index
from keyhole.passages.rank import WindowScores, score_query

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 4
FILLER = "\n\n" + PLAIN + "\n\n"


def score(text: str, query: str) -> WindowScores:
    return score_query(Index(text), query)


def best(text: str, query: str) -> str:
    """Return the text of the best window."""
    result = score(text, query)
    window = result.order[0]
    return text[result.index.starts[window] : result.index.end(window)]


def stage_scores(result: WindowScores, name: str) -> list[float]:
    return dict(result.stages)[name]


def test_without_hits_there_are_no_scores() -> None:
    result = score(PLAIN, "zebra")
    assert (result.stages, result.scores, result.order, result.best(5)) == ([], [], [], [])
    assert result.query_weight > 0


def test_two_terms_together_rank_above_one_frequent_term() -> None:
    text = FILLER * 3 + "Zebra zebra zebra zebra zebra zebra." + FILLER * 3 + "The zebra met a quagga." + FILLER * 3
    assert "quagga" in best(text, "zebra quagga")


def test_a_rare_term_ranks_above_a_common_one() -> None:
    text = (FILLER + "The river is wide.") * 9 + FILLER * 2 + "The quagga is gone." + FILLER * 2
    assert "quagga" in best(text, "river quagga")


def test_a_window_after_the_one_that_names_its_subject_is_raised() -> None:
    text = (
        FILLER * 3
        + "The zebra came. "
        + PLAIN
        + "It was striped all over."
        + FILLER * 6
        + "Some were striped."
        + FILLER * 3
    )
    result = score(text, "striped zebra")
    near, far = (result.index.window_at(text.index(words)) for words in ("It was striped", "Some were striped"))
    assert result.scores[near] > result.scores[far] > 0


def test_a_heading_weighs_more_in_a_short_section_than_in_a_long_one() -> None:
    short = score("# Page\n\n## Quagga\n\n" + PLAIN + "\n\n## Other\n\n" + PLAIN * 10, "quagga")
    long = score("# Page\n\n## Quagga\n\n" + PLAIN * 10 + "\n\n## Other\n\n" + PLAIN * 40, "quagga")
    assert stage_scores(short, "context")[1] > stage_scores(long, "context")[4]


def test_a_term_in_the_heading_raises_its_section_less_than_a_term_in_the_text() -> None:
    text = (
        FILLER * 8
        + "## Zebra\n\n"
        + PLAIN * 4
        + "\n\nThey eat grass."
        + "\n\n## Other\n"
        + FILLER * 8
        + "They eat grass."
        + FILLER * 8
    )
    result = score(text, "zebra grass")
    inside, outside = (result.index.window_at(at) for at in (text.index("grass"), text.rindex("grass")))
    assert result.scores[inside] > result.scores[outside]
    context = stage_scores(score(text, "zebra"), "context")
    assert 0 < context[inside] < context[result.index.window_at(text.index("Zebra"))]


def test_a_reference_list_ranks_below_prose() -> None:
    reference = "^ Zebra quagga report. Retrieved 2 May. ISBN 123. Archived." + FILLER * 8
    assert "they met" in best(
        FILLER * 2 + reference + "The zebra, the quagga: they met once, and then left again.", "zebra quagga"
    )


def test_windows_with_equal_scores_are_in_page_order() -> None:
    result = score(("The zebra sleeps. " * 30 + "\n\n") * 4, "lion")
    assert result.order == []
    result = score("zebra " * 1_000, "zebra")
    scores = [result.scores[window] for window in result.order]
    assert scores == sorted(scores, reverse=True)
    ties = [
        (one, other)
        for one, other in zip(result.order, result.order[1:], strict=False)
        if result.scores[one] == result.scores[other]
    ]
    assert all(one < other for one, other in ties)


@pytest.mark.parametrize("query", ["zebra", "zebra quagga", "when did the zebra come"])
def test_the_stages_of_a_window_add_up_to_its_score(query: str) -> None:
    result = score(FILLER * 3 + "The zebra came in 1894." + FILLER * 3, query)
    for window in range(result.index.size):
        assert sum(result.explain(window).values()) == pytest.approx(result.scores[window])
    assert list(result.explain(0)) == ["words", "context", "coverage", "surroundings", "form"]


def test_an_absent_term_adds_to_the_query_weight_but_to_no_window() -> None:
    text = FILLER * 3 + "The zebra came." + FILLER * 3
    with_absent, without = score(text, "zebra okapi"), score(text, "zebra")
    assert with_absent.query_weight > without.query_weight
    assert with_absent.idf[1] == 0
    assert stage_scores(with_absent, "words") == stage_scores(without, "words")


@pytest.mark.parametrize("address", ["/zebra", "https://example.org/zebra"])
def test_a_list_of_links_ranks_below_a_sentence_whether_its_links_are_paths_or_urls(address: str) -> None:
    links = f"- [Zebra]({address}/1)\n- [Zebra]({address}/2)\n"
    text = links + FILLER * 3 + "A zebra eats the grass of the plain for most of its day." + FILLER * 3
    assert "grass" in best(text, "zebra")
