"""The order of the windows gives each part of a question its share."""

from __future__ import annotations

from keyhole.passages.feedback import add_feedback
from keyhole.passages.index import Index
from keyhole.passages.rank import WindowScores, score_query
from keyhole.passages.selection import rank_windows, select

PLAIN = "The committee met in the long hall and spoke about the price of grain, roads and bridges for the county. " * 4
PUMP = "\n\n".join(
    f"The pump {number} starts by the pump lever, when pump water is high. {PLAIN}" for number in range(9)
)
TEXT = f"{PUMP}\n\n{PLAIN}\n\nThe green valve closes on Friday.\n\n{PLAIN}"
QUESTION = "when does the pump start by its lever, and on which day closes the valve"


def scored(query: str) -> WindowScores:
    return add_feedback(score_query(Index(TEXT), query))


def test_every_window_is_ordered_once() -> None:
    for query in (QUESTION, "pump lever"):
        scores = scored(query)
        assert sorted(rank_windows(scores)) == list(range(scores.index.size))


def test_the_best_window_of_each_part_is_among_the_first() -> None:
    scores = scored(QUESTION)
    valve = scores.index.window_at(TEXT.index("green valve"))
    assert valve in rank_windows(scores)[:2]


def test_a_small_result_answers_both_parts() -> None:
    shown = select(TEXT, QUESTION, 1_500).text
    assert "pump lever" in shown
    assert "closes on Friday" in shown


def test_the_only_window_with_a_name_of_the_question_comes_first() -> None:
    records = "\n\n".join(f"The code and number of the currency and the country: {PLAIN}" for _ in range(9))
    text = f"{records}\n\nKwanza AOA 973. {PLAIN}\n\n{records}"
    scores = add_feedback(score_query(Index(text), "the code and number of the currency of the country Kwanza"))
    assert rank_windows(scores)[0] == scores.index.window_at(text.index("Kwanza"))
    preferred = (3, 1)
    assert rank_windows(scores, preferred)[:2] == [3, 1]


def test_a_name_in_several_windows_changes_no_order() -> None:
    text = f"{PUMP}\n\nKwanza. {PLAIN}\n\nKwanza. {PLAIN}"
    scores = add_feedback(score_query(Index(text), "the pump lever of Kwanza"))
    assert rank_windows(scores) == scores.order
