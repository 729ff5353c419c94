"""Windows that the reader was shown before are omitted if that saves enough."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages import index_text, select
from keyhole.passages.reading import next_gap
from keyhole.passages.repeats import MIN_SAVED_BYTES, ShownSpans, find_repeated
from keyhole.text.measure import serialized_size

TEXT = "".join(
    f"Pump {n} runs at {n}7 rpm, and its seal number {n} holds for years in any weather.\n\n" for n in range(99)
)
SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda pair: (min(pair), max(pair))))


@given(spans=SPANS, start=st.integers(0, 50), length=st.integers(0, 20))
def test_a_range_is_covered_if_one_span_contains_all_of_it(
    spans: list[tuple[int, int]], start: int, length: int
) -> None:
    expected = any(first <= start and start + length <= last for first, last in spans)
    assert ShownSpans(spans).covers(start, start + length) is expected


def test_an_overlap_is_not_a_repetition() -> None:
    index = index_text(TEXT)
    middle = index.starts[3] + 5
    assert find_repeated(index, [(0, len(TEXT))], ShownSpans([(0, middle)]), len) == [(0, index.starts[3])]


def test_a_short_repetition_is_shown_again() -> None:
    index = index_text(TEXT)
    small = next(start for start in index.starts if start > MIN_SAVED_BYTES // 3)
    assert find_repeated(index, [(0, len(TEXT))], ShownSpans([(0, small)]), len) == []


def test_repeated_windows_are_replaced_by_the_next_best() -> None:
    first = select(TEXT, "seal weather", 2_000, measure=serialized_size)
    second = select(TEXT, "seal weather", 2_000, measure=serialized_size, shown_before=first.spans)
    assert set(_offsets(second.repeated)) <= set(_offsets(first.spans))
    assert second.shown > 1_000
    again = set(_offsets(first.spans)) & set(_offsets(second.spans))
    assert len(again) < 0.2 * second.shown  # the first selection ended with a part of a window
    assert serialized_size(second.text) <= 2_000


def test_a_text_that_was_shown_whole_is_omitted_whole() -> None:
    again = select(TEXT, "seal", 20_000, measure=serialized_size, shown_before=[(0, len(TEXT))])
    assert (again.spans, again.repeated) == ((), ((0, len(TEXT)),))
    assert again.text == f"[…0:{len(TEXT)}]\n"
    assert next_gap(again.total, again.spans, again.scores, again.repeated) is None


def test_without_a_query_nothing_is_omitted() -> None:
    assert select(TEXT, None, 2_000, shown_before=[(0, len(TEXT))]) == select(TEXT, None, 2_000)


def _offsets(spans: tuple[tuple[int, int], ...]) -> list[int]:
    return [offset for start, end in spans for offset in range(start, end)]
