"""The segments of a text are the text: nothing is lost, doubled or moved by marking it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.look.text_view import SHORT_GAP, Piece, Segment, choose_readable, divide, mark

SPANS = st.lists(st.tuples(st.integers(-5, 120), st.integers(-5, 120)), max_size=6)
TEXTS = st.text(max_size=100)


@given(TEXTS, SPANS, SPANS, st.none() | st.integers(0, 120), st.integers(0, 50))
def test_the_texts_of_the_segments_joined_are_the_text(
    text: str, spans: list[tuple[int, int]], words: list[tuple[int, int]], main_end: int | None, start: int
) -> None:
    start = min(start, len(text))
    segments = [
        mark(segment, text[segment.start : segment.end], words) for segment in divide(start, len(text), spans, main_end)
    ]
    assert "".join(segment.text for segment in segments) == text[start:]
    assert all(segment.text == text[segment.start : segment.end] for segment in segments)
    assert all(piece.text for segment in segments for piece in segment.pieces)


@given(st.integers(0, 100), SPANS, st.none() | st.integers(0, 120))
def test_a_character_is_shown_exactly_if_a_span_contains_it(
    total: int, spans: list[tuple[int, int]], main_end: int | None
) -> None:
    for segment in divide(0, total, spans, main_end):
        for place in range(segment.start, segment.end):
            assert segment.shown == any(start <= place < end for start, end in spans)
            assert segment.rest == (main_end is not None and place >= main_end)


@given(TEXTS, SPANS)
def test_a_character_is_marked_exactly_if_a_word_contains_it(text: str, words: list[tuple[int, int]]) -> None:
    place = 0
    for piece in mark(Segment(0, len(text), shown=True), text, words).pieces:
        for _ in piece.text:
            assert piece.marked == any(start <= place < end for start, end in words)
            place += 1


def test_passages_that_touch_stay_apart() -> None:
    assert [(each.start, each.end) for each in divide(0, 30, [(10, 20), (5, 10)])] == [
        (0, 5),
        (5, 10),
        (10, 20),
        (20, 30),
    ]


def test_a_blank_gap_is_told_from_a_gap_that_is_left_out() -> None:
    gap = Segment(5, 7, shown=False)
    assert mark(gap, "\n\n", ()).is_blank
    assert not mark(gap, "ab", ()).is_blank
    assert not gap.is_blank


def test_a_word_at_the_edge_of_a_segment_is_marked_within_it() -> None:
    assert mark(Segment(10, 14, shown=True), "pump", [(8, 11), (13, 20)]).pieces == (
        Piece("p", marked=True), Piece("um"), Piece("p", marked=True),
    )  # fmt: skip


def test_passages_and_short_gaps_are_in_the_page_and_long_gaps_as_far_as_there_is_room() -> None:
    segments = divide(0, 100_000, [(SHORT_GAP, SHORT_GAP + 50_000), (60_000, 60_001), (63_000, 63_001)])
    sizes = [segment.chars for segment in segments]
    assert sizes == [2_000, 50_000, 8_000, 1, 2_999, 1, 36_999]
    assert choose_readable(segments, 11_000) == (True, True, True, True, True, True, False)
    assert choose_readable(segments, 10_000) == (True, True, False, True, True, True, False)
    assert choose_readable(segments, 0) == (True, True, False, True, False, True, False)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
def test_links_are_displayed_as_full_urls_wherever_a_mark_divides_them(words: list[tuple[int, int]]) -> None:
    text = "See [one](/one), `[code](/x)` and [two](/two?a)."
    segment = mark(Segment(0, len(text), shown=True), text, words)
    displayed = segment.with_full_links("https://example.org")
    assert displayed.text == text.replace("one](", "one](https://example.org").replace(
        "two](", "two](https://example.org"
    )
    assert [piece.marked for piece in displayed.pieces] == [piece.marked for piece in segment.pieces]
    assert segment.with_full_links("") == segment
