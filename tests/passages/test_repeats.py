"""Windows that the reader was shown before are omitted, unless they are among the best."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages import index_text, select
from keyhole.passages.repeats import ALWAYS_SHOWN_CHARS, ShownSpans, skip_seen
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


def test_the_best_windows_are_yielded_also_if_they_were_seen() -> None:
    index, repeated = index_text(TEXT), list[tuple[int, int]]()
    seen = ShownSpans([(0, len(TEXT))])
    yielded = list(skip_seen(index, range(index.size), seen, repeated))
    assert index.end(yielded[-1]) >= ALWAYS_SHOWN_CHARS > index.starts[yielded[-1]]
    assert repeated == [(index.starts[window], index.end(window)) for window in range(len(yielded), index.size)]


def test_a_window_that_was_seen_in_part_is_yielded() -> None:
    index, repeated = index_text(TEXT), list[tuple[int, int]]()
    seen = ShownSpans([(0, len(TEXT) - 5)])
    assert list(skip_seen(index, range(index.size), seen, repeated))[-1] == index.size - 1


def test_a_new_query_shows_its_answer_although_the_whole_text_was_shown_before() -> None:
    again = select(TEXT, "pump 57", 20_000, shown_before=[(0, len(TEXT))])
    assert "Pump 57 runs at 577 rpm" in again.text
    assert again.shown < 2 * ALWAYS_SHOWN_CHARS


def test_after_the_best_windows_repeated_ones_are_listed_instead_of_shown() -> None:
    first = select(TEXT, "seal weather", 5_000, measure=serialized_size)
    second = select(TEXT, "seal weather", 5_000, measure=serialized_size, shown_before=first.spans)
    assert second.repeated
    assert not set(_offsets(second.repeated)) & set(_offsets(second.spans))
    assert set(_offsets(second.repeated)) <= set(_offsets(first.spans))
    assert serialized_size(second.text) <= 5_000


def test_without_a_query_nothing_is_omitted() -> None:
    assert select(TEXT, None, 2_000, shown_before=[(0, len(TEXT))]) == select(TEXT, None, 2_000)


def _offsets(spans: tuple[tuple[int, int], ...]) -> list[int]:
    return [offset for start, end in spans for offset in range(start, end)]


def licences(fees: list[int], heading: str = "") -> str:
    """Return a text that says the same about a licence for each fee, with other paragraphs between."""
    rule = (
        "The zebra licence must be renewed each year before March, and its holder pays a fee of {} crowns to the "
        "office that issued it. Without the fee it ends with the last day of the month in which it should be renewed, "
        "and the holder is told so by a letter, which is sent to the address on the licence by the same office."
    )
    parts = []
    for number, fee in enumerate(fees):
        other = [
            f"Committee {number} met for the {each}th time and spoke of town {number * each}. " * 7 for each in range(4)
        ]
        parts += [*other, heading.format(number) + rule.format(fee)]
    return "\n\n".join(parts)


def test_a_passage_that_only_repeats_a_better_one_is_counted_and_not_shown() -> None:
    found = select(licences([40] * 8), "when must the zebra licence be renewed", 2_000)
    assert found.text.count("The zebra licence") == 1
    assert found.copies == 7


def test_passages_that_differ_in_a_number_are_no_copies() -> None:
    found = select(licences([40, 41, 42]), "when must the zebra licence be renewed", 3_000)
    assert all(f"a fee of {fee} crowns" in found.text for fee in (40, 41, 42))


def test_the_same_sentence_under_another_heading_is_no_copy() -> None:
    found = select(licences([40] * 3, "## Town {}\n\n"), "when must the zebra licence be renewed", 3_000)
    assert found.text.count("The zebra licence") == 3
