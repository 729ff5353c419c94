"""Views of answers: exactly the spans that the answer shows, with their scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages import select
from keyhole.records import EngineReport, Passage, Source
from keyhole.retrieval.answer_view import build_page_view, build_search_view
from tests.support.fakes import artifact

TEXT = "# Pumps\n\nA pump moves water.\n\n## Speed\n\nThe rotor turns at 40 rpm.\n\n## Care\n\nOil it each year.\n"


def test_a_page_view_has_scores_by_ingredient_words_by_place_and_sections_by_share() -> None:
    start = TEXT.index("The rotor")
    view = build_page_view(artifact(text=TEXT), "rotor rpm zebra", [(start, start + 26)], [("scripts", 3)])
    (shown,) = view.passages
    assert shown.heading == "Speed"
    assert shown.opening.startswith("The rotor turns")
    assert sum(value for _, value in shown.parts) == pytest.approx(shown.score, abs=0.01)
    assert {word.word: word.count for word in view.words} == {"rotor": 1, "rpm": 1, "zebra": 0}
    assert [(section.title, section.shown) for section in view.sections] == [("Pumps", 0), ("Speed", 26), ("Care", 0)]
    assert view.removed == (("scripts", 3),)
    assert view.coverage is not None


def test_without_a_question_there_are_no_scores() -> None:
    view = build_page_view(artifact(text=TEXT), None, [(0, 10)], [])
    assert (view.words, view.coverage, view.weak, view.passages[0].parts) == ((), None, False, ())


@given(st.text(max_size=300), st.text(max_size=20), st.integers(0, 300))
def test_no_section_of_any_text_has_more_characters_shown_than_it_contains(text: str, query: str, budget: int) -> None:
    selection = select(text, query, budget)
    view = build_page_view(artifact(text=text), query, selection.spans, [])
    assert len(view.passages) == len(selection.spans)
    assert all(0 <= section.shown <= section.end - section.start for section in view.sections)
    for passage, score in zip(view.passages, selection.scores, strict=True):
        assert passage.score == score


def test_each_source_of_a_search_has_its_outcome() -> None:
    shown, copy = artifact("a" * 16, TEXT), artifact("b" * 16, TEXT, url="https://copy.example/")
    found = [
        Source("https://example.org/page", "Pumps", artifact=shown, stored=True),
        Source("https://copy.example/", "Pumps", artifact=copy, stored=True),
        Source("https://gone.example/", "Gone", not_read="timeout"),
    ]
    ranked = ((Passage(52, 78, 1.5, coverage=0.8),), (Passage(52, 78, 1.5, coverage=0.8),), ())
    reports = [EngineReport("brave", "HTTP 500"), EngineReport("wikipedia", unapplied=("freshness",))]
    view = build_search_view("rotor", found, reports, ranked, [((52, 78),), None, None], [1, 0, 2], [(), (), ()])
    assert [(source.number, source.state) for source in view.sources] == [
        (1, "shown"), (2, "not read: timeout"), (0, "dropped: a copy of another source"),
    ]  # fmt: skip
    assert view.sources[0].scores == ((1.5, 0.8),)
    assert view.sources[0].copies == ("https://copy.example/",)
    assert view.engines == (("brave", "HTTP 500"), ("wikipedia", "answered; not applied: freshness"))
    assert not view.weak


def test_sources_not_ranked_in_time_are_marked() -> None:
    found = [Source("https://example.org/page", "Pumps", artifact=artifact(text=TEXT), stored=True)]
    view = build_search_view("rotor", found, [], None, [None], [1], [()])
    assert [source.state for source in view.sources] == ["read, but not ranked in time"]
    assert not view.weak
