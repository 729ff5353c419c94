"""A result ends where the evidence ends, and says how many passages match less."""

from __future__ import annotations

from keyhole.passages import index_text, score_index, select
from keyhole.passages.index import Index
from keyhole.passages.query import parse_query
from keyhole.passages.rank import WindowScores
from keyhole.passages.stop import (
    MIN_SHOWN_CHARS,
    NEAREST_PLACES,
    NEXT_WINDOWS,
    count_more,
    end_with_evidence,
    nearest_places,
    take_chars,
)

TEXT = "".join(
    f"The committee number {n} met in the long hall and spoke about roads, bridges and grain.\n\n" for n in range(200)
)
INDEX = Index(TEXT)
FACT = "The zebra of Montreal is called Yodel and eats thistles.\n\n"


def shown_chars(windows: list[int]) -> int:
    return sum(INDEX.end(window) - INDEX.starts[window] for window in windows)


def scored_with(scores: list[float], first: list[float]) -> WindowScores:
    """Return scores of the windows of `TEXT`, after and before feedback."""
    return WindowScores(INDEX, parse_query("zebra", *INDEX.sample), [], [], 1.0, [("form", first), ("links", scores)])


def test_windows_are_yielded_while_those_after_them_score_well() -> None:
    good = 20
    scores = [1.0] * good + [0.0] * (INDEX.size - good)
    shown = list(end_with_evidence(scored_with(scores, scores), range(INDEX.size)))
    assert good - NEXT_WINDOWS < len(shown) <= good


def test_equal_scores_are_all_evidence() -> None:
    equal = [1.0] * INDEX.size
    shown = list(end_with_evidence(scored_with(equal, equal), range(INDEX.size)))
    assert shown == list(range(len(shown)))
    assert len(shown) > 0.9 * INDEX.size


def test_windows_that_feedback_alone_raised_are_no_evidence() -> None:
    first = [1.0, *[0.0] * (INDEX.size - 1)]
    shown = list(end_with_evidence(scored_with([1.0] * INDEX.size, first), range(INDEX.size)))
    assert MIN_SHOWN_CHARS <= shown_chars(shown) < 2 * MIN_SHOWN_CHARS


def test_some_text_is_shown_even_if_one_window_alone_has_a_score() -> None:
    scores = [1.0, *[0.0] * (INDEX.size - 1)]
    shown = list(end_with_evidence(scored_with(scores, scores), range(INDEX.size)))
    assert MIN_SHOWN_CHARS <= shown_chars(shown) < 2 * MIN_SHOWN_CHARS


def test_nearest_places_are_not_neighbours() -> None:
    places = list(nearest_places([7, 8, 6, 3, 20]))
    assert places == [7, 3]
    assert len(places) == NEAREST_PLACES


def test_the_first_windows_of_some_length_are_taken() -> None:
    assert shown_chars(list(take_chars(INDEX, range(INDEX.size), 1_000))) >= 1_000
    assert len(list(take_chars(INDEX, range(INDEX.size), 0))) == 1


def test_a_fact_that_stands_once_is_shown_with_little_else() -> None:
    text = TEXT[: len(TEXT) // 2] + FACT + TEXT[len(TEXT) // 2 :]
    selection = select(text, "what is the zebra of Montreal called", 9_000)
    assert FACT in selection.text
    assert len(selection.text) < 2_000
    assert selection.more == 0


def test_adjacent_windows_that_match_less_count_as_one_passage() -> None:
    weaker = "Montreal is a town.\n\n" * 40
    text = TEXT + FACT * 3 + TEXT + weaker + TEXT
    scored = score_index(index_text(text), "zebra of Montreal")
    place = text.index(FACT)
    assert count_more(scored, [(place, place + 3 * len(FACT))]) == 1
    assert count_more(scored, [(0, len(text))]) == 0


def test_filling_shows_more_than_the_evidence_needs() -> None:
    text = TEXT + FACT + TEXT
    ending, filled = select(text, "zebra of Montreal", 5_000), select(text, "zebra of Montreal", 5_000, fill=True)
    assert len(ending.text) < 2_000 < 4_000 < len(filled.text) <= 5_000
    assert index_text(text) is index_text(text)


def test_skip_shows_the_passages_after_those_of_the_first_result() -> None:
    facts = [f"The zebra of town {n} is called Yodel the {n}th, and eats thistles.\n\n" for n in range(12)]
    text = TEXT + (TEXT[:3_000]).join(facts) + TEXT
    first = select(text, "which thistles does the zebra called Yodel eat", 1_200)
    assert 0 < first.skip < INDEX.size
    assert first.more
    second = select(text, "which thistles does the zebra called Yodel eat", 1_200, skip=first.skip)
    assert second.skip > first.skip
    assert second.more < first.more
    assert not {fact for fact in facts if fact in first.text} & {fact for fact in facts if fact in second.text}
    assert any(fact in second.text for fact in facts)


def test_skipping_all_windows_shows_none() -> None:
    text = TEXT + FACT + TEXT
    assert select(text, "zebra of Montreal", 5_000, skip=10_000).spans == ()
