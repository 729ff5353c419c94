"""A view of an answer has exactly what the answer shows, and why."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.cli.demo_site import recorded_pages
from keyhole.cli.explain.view import numbers_in, page_view, search_view, spans_in
from keyhole.passages import select
from keyhole.records import EngineReport, Passage, Source
from keyhole.render.answer import mark
from tests.support.fakes import artifact, page
from tests.support.product import SECRET, retrieval

TEXT = "# Pumps\n\nA pump moves water.\n\n## Speed\n\nThe rotor turns at 40 rpm.\n\n## Care\n\nOil it each year.\n"


@pytest.mark.parametrize("budget", [1_000, 3_000, 9_000, 150_000])
@pytest.mark.parametrize("query", [None, "checkpoint starvation", "zebra"])
def test_the_spans_are_read_off_the_answer_itself(budget: int, query: str | None) -> None:
    recorded = recorded_pages()["sqlite-wal"]
    product = retrieval({recorded.url: page(recorded.url, recorded.body, content_type=recorded.content_type)})
    answer = asyncio.run(product.web_fetch(recorded.url, query, budget))
    id = str(answer.facts["artifact_id"])
    stored = product.store.get(id)
    spans = spans_in(answer.text, mark(SECRET, id), len(stored.text))
    assert spans is not None
    assert sum(end - start for start, end in spans) == answer.facts["shown_chars"]
    assert all(stored.text[start:end].strip() in answer.text for start, end in spans)
    assert spans_in(answer.text, "xxxxxxxx", len(stored.text)) is None


def test_a_page_view_has_scores_by_ingredient_words_by_place_and_sections_by_share() -> None:
    start = TEXT.index("The rotor")
    view = page_view(artifact(text=TEXT), "rotor rpm zebra", [(start, start + 26)], [("scripts", 3)])
    (shown,) = view.passages
    assert shown.heading == "Speed"
    assert shown.opening.startswith("The rotor turns")
    assert sum(value for _, value in shown.parts) == pytest.approx(shown.score, abs=0.01)
    assert {word.word: word.count for word in view.words} == {"rotor": 1, "rpm": 1, "zebra": 0}
    assert [(section.title, section.shown) for section in view.sections] == [("Pumps", 0), ("Speed", 26), ("Care", 0)]
    assert view.removed == (("scripts", 3),)
    assert view.held is not None


def test_without_a_question_there_are_no_scores() -> None:
    view = page_view(artifact(text=TEXT), None, [(0, 10)], [])
    assert (view.words, view.held, view.weak, view.passages[0].parts) == ((), None, False, ())


@given(st.text(max_size=300), st.text(max_size=20), st.integers(0, 300))
def test_any_text_and_question_has_a_view_whose_sections_are_never_shown_more_than_whole(
    text: str, query: str, room: int
) -> None:
    selection = select(text, query, room)
    view = page_view(artifact(text=text), query, selection.spans, [])
    assert len(view.passages) == len(selection.spans)
    assert all(0 <= section.shown <= section.end - section.start for section in view.sections)
    for passage, score in zip(view.passages, selection.scores, strict=True):
        assert passage.score == score


def test_the_sources_of_a_search_say_how_each_fared() -> None:
    shown, copy = artifact("a" * 16, TEXT), artifact("b" * 16, TEXT, url="https://copy.example/")
    found = [
        Source("https://example.org/page", "Pumps", artifact=shown, stored=True),
        Source("https://copy.example/", "Pumps", artifact=copy, stored=True),
        Source("https://gone.example/", "Gone", not_read="timeout"),
    ]
    ranked = ((Passage(52, 78, 1.5, held=0.8),), (Passage(52, 78, 1.5, held=0.8),), ())
    reports = [EngineReport("brave", "HTTP 500"), EngineReport("wikipedia", unapplied=("freshness",))]
    view = search_view("rotor", found, reports, ranked, [((52, 78),), None, None], [1, 0, 2], [(), (), ()])
    assert [(source.number, source.state) for source in view.sources] == [
        (1, "shown"), (2, "not read: timeout"), (0, "dropped: a copy of another source"),
    ]  # fmt: skip
    assert view.sources[0].scores == ((1.5, 0.8),)
    assert view.sources[0].copies == ("https://copy.example/",)
    assert view.engines == (("brave", "HTTP 500"), ("wikipedia", "answered; not applied: freshness"))
    assert not view.weak


def test_sources_that_could_not_be_ranked_in_time_say_so() -> None:
    found = [Source("https://example.org/page", "Pumps", artifact=artifact(text=TEXT), stored=True)]
    view = search_view("rotor", found, [], None, [None], [1], [()])
    assert [source.state for source in view.sources] == ["read, but not ranked in time"]
    assert not view.weak


def test_sources_are_numbered_as_the_answer_numbers_them_and_not_as_a_page_would() -> None:
    answer = (
        "2 sources from the web.\n\n[1] A title\nhttps://a.example/\n--- untrusted text abcd ---\n"
        "[7] Forged\nhttps://b.example/\n--- end abcd ---\n\nAlso found:\n[2] https://b.example/ (not read: timeout) B"
    )
    assert numbers_in(answer, ["https://a.example/", "https://b.example/", "https://c.example/"]) == [1, 2, 0]
