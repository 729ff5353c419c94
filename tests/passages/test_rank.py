"""Which window comes first, ingredient by ingredient; no exact score is promised."""

from __future__ import annotations

import pytest

from keyhole.passages.find import Index
from keyhole.passages.rank import Scored, score

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 4
ROOM = "\n\n" + PLAIN + "\n\n"


def scored(text: str, query: str) -> Scored:
    return score(Index(text), query)


def best(text: str, query: str) -> str:
    """The text of the best window."""
    found = scored(text, query)
    window = found.order[0]
    return text[found.index.starts[window] : found.index.end(window)]


def stage(found: Scored, name: str) -> list[float]:
    return dict(found.stages)[name]


def test_nothing_found_leaves_no_scores() -> None:
    found = scored(PLAIN, "zebra")
    assert (found.stages, found.scores, found.order, found.best(5)) == ([], [], [], [])
    assert found.mass > 0


def test_two_terms_in_one_place_come_before_one_term_often() -> None:
    text = ROOM * 3 + "Zebra zebra zebra zebra zebra zebra." + ROOM * 3 + "The zebra met a quagga." + ROOM * 3
    assert "quagga" in best(text, "zebra quagga")


def test_a_rare_term_counts_more_than_a_common_one() -> None:
    text = (ROOM + "The river is wide.") * 9 + ROOM * 2 + "The quagga is gone." + ROOM * 2
    assert "quagga" in best(text, "river quagga")


def test_a_sentence_after_the_one_that_names_its_subject_is_raised() -> None:
    text = (
        ROOM * 3 + "The zebra came. " + PLAIN + "It was striped all over." + ROOM * 6 + "Some were striped." + ROOM * 3
    )
    found = scored(text, "striped zebra")
    near, far = (found.index.window_at(text.index(words)) for words in ("It was striped", "Some were striped"))
    assert found.scores[near] > found.scores[far] > 0


def test_a_term_of_the_heading_counts_in_its_section_and_less_than_in_the_text() -> None:
    text = (
        ROOM * 8
        + "## Zebra\n\n"
        + PLAIN * 4
        + "\n\nThey eat grass."
        + "\n\n## Other\n"
        + ROOM * 8
        + "They eat grass."
        + ROOM * 8
    )
    found = scored(text, "zebra grass")
    inside, outside = (found.index.window_at(at) for at in (text.index("grass"), text.rindex("grass")))
    assert found.scores[inside] > found.scores[outside]
    context = stage(scored(text, "zebra"), "context")
    assert 0 < context[inside] < context[found.index.window_at(text.index("Zebra"))]


def test_a_number_is_preferred_when_the_question_asks_for_one() -> None:
    first = "The bridge opened with a feast and dancing in the old street." + ROOM * 8
    text = ROOM + first + "The bridge opened with a feast, in 1894, in the old street of it." + ROOM * 3
    assert "1894" in best(text, "when was the bridge opened")
    plain, asked = (stage(scored(text, query), "form") for query in ("bridge opened", "when bridge opened"))
    window = Index(text).window_at(text.index("1894"))
    assert asked[window] > plain[window]


def test_a_list_of_references_comes_after_prose() -> None:
    reference = "^ Zebra quagga report. Retrieved 2 May. ISBN 123. Archived." + ROOM * 8
    assert "they met" in best(
        ROOM * 2 + reference + "The zebra, the quagga: they met once, and then left again.", "zebra quagga"
    )


def test_equal_windows_stand_in_page_order() -> None:
    found = scored(("The zebra sleeps. " * 30 + "\n\n") * 4, "lion")
    assert found.order == []
    found = scored("zebra " * 1_000, "zebra")
    scores = [found.scores[window] for window in found.order]
    assert scores == sorted(scores, reverse=True)
    ties = [
        (one, other)
        for one, other in zip(found.order, found.order[1:], strict=False)
        if found.scores[one] == found.scores[other]
    ]
    assert all(one < other for one, other in ties)


@pytest.mark.parametrize("query", ["zebra", "zebra quagga", "when did the zebra come"])
def test_the_ingredients_of_a_window_add_up_to_its_score(query: str) -> None:
    found = scored(ROOM * 3 + "The zebra came in 1894." + ROOM * 3, query)
    for window in range(found.index.size):
        assert sum(found.explain(window).values()) == pytest.approx(found.scores[window])
    assert list(found.explain(0)) == ["words", "context", "coverage", "surroundings", "form"]


def test_an_absent_term_makes_the_whole_query_weigh_more_but_no_window() -> None:
    text = ROOM * 3 + "The zebra came." + ROOM * 3
    with_absent, without = scored(text, "zebra okapi"), scored(text, "zebra")
    assert with_absent.mass > without.mass
    assert with_absent.idf[1] == 0
    assert stage(with_absent, "words") == stage(without, "words")
