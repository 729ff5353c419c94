"""The view of a text: windows and folded gaps are the stored text, and its scores are those of the ranking."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.look import text_view
from keyhole.extensions.look.text_view import SHORT_GAP, StoredText, cut_window, read_text, view_whole, view_window
from keyhole.passages import select
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock, artifact

FILLER = "This line says nothing about it at all. " * 80 + "\n\n"
TEXT = (
    f"# Pumps\n\nA pump moves water.\n\n{FILLER}## Speed\n\nThe rotor turns at 40 rpm.\n\n{FILLER}## Care\n\nOil it.\n"
)


def stored(text: str = TEXT, main_end: int | None = None) -> StoredText:
    return StoredText(replace(artifact(text=text), main_end=main_end), len(text), lambda start, end: text[start:end])


@given(st.text(max_size=400), st.integers(1, 50), st.text("ab ", max_size=5))
def test_the_windows_of_a_text_joined_are_the_text(text: str, chars: int, query: str) -> None:
    joined, start = "", 0
    while start < len(text):
        view = view_window(stored(text), [(3, 9)], query, start, chars)
        assert view.start == start < view.end <= start + chars
        joined += "".join(segment.text for segment in view.segments)
        start = view.end
    assert joined == text


SPANS = st.lists(
    st.tuples(st.integers(0, 9_000), st.integers(1, 900)).map(lambda span: (span[0], sum(span))), max_size=4
)


@given(st.text("ab\n# ", max_size=30), SPANS, st.integers(0, 9_000), st.none() | st.integers(1, 9_000))
def test_the_passages_and_gaps_of_a_text_follow_each_other_and_are_its_characters(
    part: str, spans: list[tuple[int, int]], room: int, main_end: int | None
) -> None:
    text = part * 300
    view = view_whole(stored(text, main_end and min(main_end, len(text))), spans, "ab", room)
    assert [segment.start for segment in view.segments] == [0, *(segment.end for segment in view.segments)][:-1]
    assert view.end == len(text)
    for segment in view.segments:
        is_left_out = not segment.pieces
        assert segment.text == ("" if is_left_out else text[segment.start : segment.end])
        assert not is_left_out or (not segment.shown and segment.chars > SHORT_GAP)


def test_a_window_ends_after_a_line_and_starts_within_the_text() -> None:
    assert cut_window(stored("one two\nthree four\n"), 0, 10) == (0, 8)
    assert cut_window(stored("one two\nthree four\n"), 8, 100) == (8, 19)
    assert cut_window(stored("one"), 99, 10) == (3, 3)


def test_a_whole_text_has_its_passages_and_short_gaps_and_offsets_of_long_gaps() -> None:
    start = TEXT.index("The rotor")
    view = view_whole(stored(), [(start, start + 26)], "rotor", 0)
    gap, passage, rest = view.segments
    assert (gap.text, gap.end, rest.text, rest.start) == ("", start, "", start + 26)
    assert gap.chars > SHORT_GAP
    assert [(piece.text, piece.marked) for piece in passage.pieces][:2] == [("The ", False), ("rotor", True)]
    assert view.shown == 26


def test_the_scores_are_those_of_the_selection_and_absent_words_are_named() -> None:
    query = "rotor speed zebra"
    selection = select(TEXT, query, 200)
    scores = view_whole(stored(), selection.spans, query, 0).scores
    assert [round(passage.score, 3) for passage in scores.passages] == [round(each, 3) for each in selection.scores]
    assert scores.absent == ("zebra",)
    start, end = scores.best[0]
    assert "rotor" in TEXT[start:end]
    hottest = max(scores.cells, key=lambda cell: cell.level)
    assert hottest.start < end and hottest.end > start


def test_without_a_query_there_are_headings_and_no_scores() -> None:
    view = view_whole(stored(), [(0, 7)], "", 0)
    assert [(section.title, section.shown) for section in view.sections] == [("Pumps", 7), ("Speed", 0), ("Care", 0)]
    assert (view.scores.cells, view.scores.words, view.scores.coverage) == ((), (), None)


def test_words_are_marked_in_the_rest_of_a_page_too() -> None:
    text = "# Pumps\n\nThe rotor turns.\n\n# [rest: footer]\n\nA rotor, and more.\n"
    main_end = text.index("# [rest")
    view = view_whole(stored(text, main_end), [(0, main_end)], "rotor", 99)
    assert [segment.rest for segment in view.segments] == [False, True]
    assert [piece.text for segment in view.segments for piece in segment.pieces if piece.marked] == ["rotor", "rotor"]


def test_a_passage_of_the_rest_has_no_score_if_only_the_main_part_was_ranked() -> None:
    text = "# Pumps\n\nThe rotor turns.\n\n# [rest: footer]\n\nImprint and terms.\n"
    main_end = text.index("# [rest")
    (passage,) = view_whole(stored(text, main_end), [(main_end, len(text))], "rotor", 0).scores.passages
    assert (passage.score, passage.parts) == (0.0, ())


def test_a_text_that_is_too_long_is_read_in_parts_and_not_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_view, "MAX_RANKED_CHARS", 100)
    store = MemoryStore(Clock())
    store.put(artifact("a" * 16, TEXT), "")
    text = read_text(store, "a" * 16)
    assert text.artifact.text == ""
    view = view_window(text, [(2, 7)], "pumps", 0, 30)
    assert (view.is_ranked, view.scores.cells, view.total) == (False, (), len(TEXT))
    assert "".join(segment.text for segment in view.segments) == TEXT[: view.end]
    assert not view.artifact.text


def test_the_headings_with_shown_text_come_first_if_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_view, "MAX_SECTIONS", 2)
    view = view_whole(stored(), [(len(TEXT) - 5, len(TEXT))], "", 0)
    assert [section.title for section in view.sections] == ["Pumps", "Care"]
