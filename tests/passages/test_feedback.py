"""Feedback raises windows that share words, names or section titles with the best windows."""

from __future__ import annotations

from keyhole.passages.feedback import add_feedback
from keyhole.passages.index import Index
from keyhole.passages.rank import WindowScores, score_query

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 4
FILLER = "\n\n" + PLAIN + "\n\n"


def gains(text: str, query: str, stage: str) -> tuple[WindowScores, list[float]]:
    """Return the scores, and the amount that a stage added to each window."""
    scores = add_feedback(score_query(Index(text), query))
    names = [name for name, _ in scores.stages]
    at = names.index(stage)
    before, after = scores.stages[at - 1][1], scores.stages[at][1]
    return scores, [new - old for new, old in zip(after, before, strict=True)]


def test_a_name_in_the_best_window_raises_other_windows_with_it() -> None:
    text = FILLER * 6 + "The bridge was drawn by Wilhelmine Okonkwo." + FILLER * 12
    text += "Okonkwo was born in Lagos." + FILLER * 12 + "Someone was born in Paris." + FILLER * 6
    scores, gain = gains(text, "where was who drew the bridge drawn", "feedback")
    lagos, paris = (scores.index.window_at(text.index(city)) for city in ("Lagos", "Paris"))
    assert gain[lagos] > gain[paris]
    assert gain[lagos] > 0


def test_names_and_numbers_raise_windows_more_than_other_words_do() -> None:
    text = FILLER * 6 + "The bridge was drawn by Okonkwo in 1912 with pencils." + FILLER * 12
    others = ("Okonkwo was born here.", "1912 was a cold year.", "There are pencils here.")
    text += "".join(other + FILLER * 12 for other in others)
    scores, gain = gains(text, "drawn bridge", "feedback")
    name, number, word = (gain[scores.index.window_at(text.index(other))] for other in others)
    assert name == number > word > 0


def test_a_section_title_in_the_best_window_raises_the_opening_of_the_section() -> None:
    text = "# Guide\n\n" + FILLER * 6 + "The zebra is described under Quagga hunting." + FILLER * 6
    text += "## Quagga hunting\n\nIt ended long ago.\n\n" + PLAIN * 6 + "\n\n## Fishing\n\nIt goes on.\n\n" + PLAIN * 6
    scores, gain = gains(text, "zebra described", "links")
    opening, other = (scores.index.window_at(text.index(words)) for words in ("It ended", "It goes on"))
    assert gain[opening] > 0
    assert gain[other] == 0


def test_a_title_inside_a_longer_word_does_not_count() -> None:
    text = "# Guide\n\n" + FILLER * 6 + "The zebra is among the quaggalike ones." + FILLER * 6
    text += "## Quagga\n\nIt ended long ago.\n\n" + PLAIN * 6
    _, gain = gains(text, "zebra", "links")
    assert set(gain) == {0.0}


def test_without_hits_no_feedback_is_added() -> None:
    assert add_feedback(score_query(Index(FILLER), "zebra")).stages == []


def test_feedback_never_lowers_a_score() -> None:
    text = (
        FILLER * 6 + "The bridge was drawn by Wilhelmine Okonkwo." + FILLER * 3 + "Okonkwo was born in Lagos." + FILLER
    )
    for stage in ("feedback", "links"):
        assert min(gains(text, "bridge", stage)[1]) >= 0
