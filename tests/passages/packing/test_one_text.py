"""Windows are packed in order of priority within a size limit and rendered with gap lines."""

from __future__ import annotations

from itertools import pairwise

import pytest

from keyhole.passages.index import Index
from keyhole.passages.packing.one_text import (
    LEDE_CHARS,
    head_tail_order,
    insert_lede,
    pack_windows,
    render_spans,
)
from keyhole.text.measure import Measure, serialized_size

SENTENCES = "".join(f"Sentence number {n} is about the price of grain in the county. " for n in range(200))
INDEX = Index(SENTENCES)


def test_gaps_before_between_and_after_are_lines_of_their_own() -> None:
    index = Index("0123456789")
    assert render_spans(index, [(2, 4), (6, 7)]) == "[…0:2]\n23\n[…4:6]\n6\n[…7:10]\n"
    assert render_spans(index, [(0, 10)]) == "0123456789"
    assert render_spans(index, []) == "[…0:10]\n"
    assert render_spans(Index(""), []) == ""


def test_successive_passages_under_one_heading_have_one_label() -> None:
    text = "## Siege\n\n" + SENTENCES
    index = Index(text)
    spans = [(index.starts[window], index.end(window)) for window in (2, 4, 6)]
    assert render_spans(index, spans).count("] Siege\n") == 1


def test_windows_are_packed_in_order_of_priority_while_they_fit() -> None:
    order = [9, 3, 20, 1]
    spans = pack_windows(INDEX, order, 900, len)
    assert (INDEX.starts[9], INDEX.end(9)) in spans
    assert (INDEX.starts[3], INDEX.end(3)) in spans
    assert all(start < INDEX.starts[20] or start == INDEX.starts[20] for start, _ in spans)
    assert spans == sorted(spans)


def test_a_window_that_does_not_fit_is_cut_after_a_sentence() -> None:
    size = INDEX.end(5) - INDEX.starts[5]
    ((start, end),) = pack_windows(INDEX, [5], size // 2 + 50, len)
    assert start == INDEX.starts[5]
    assert INDEX.starts[5] < end < INDEX.end(5)
    assert SENTENCES[start:end].endswith("county. ")


def test_code_that_does_not_fit_is_cut_after_a_line_and_keeps_both_fences() -> None:
    lines = "".join(f"line {n} of the setting that closes idle connections\n" for n in range(20))
    index = Index(f"Arguments: none\n\n```\n{lines}```\n\nThe end of it all.")
    spans = pack_windows(index, [0], 400, len)
    shown = render_spans(index, spans)
    assert len(shown) <= 400
    assert "line 5 of the setting that closes idle connections\n[…" in shown
    assert shown.count("```") == 2


def test_adjacent_windows_are_one_span() -> None:
    assert (INDEX.starts[4], INDEX.end(6)) in pack_windows(INDEX, [5, 4, 6], 1_200, len)


@pytest.mark.parametrize("measure", [len, serialized_size])
@pytest.mark.parametrize("max_size", [1, 30, 200, 777, 2_000, 12_000])
def test_rendered_spans_fit_the_size_limit(measure: Measure, max_size: int) -> None:
    text = SENTENCES.replace("grain", '"grän"\n\n## Heading \\ of "it"\n\n')
    index = Index(text)
    spans = pack_windows(index, range(0, index.size, 2), max_size, measure)
    assert not spans or measure(render_spans(index, spans)) <= max_size


def test_the_head_grows_three_times_as_fast_as_the_tail() -> None:
    order = list(head_tail_order(INDEX))
    assert sorted(order) == list(range(INDEX.size))
    assert order[0] == 0
    head = [window for window in order[: INDEX.size // 2] if window < INDEX.size // 2]
    assert 0.6 <= len(head) / (INDEX.size // 2) <= 0.9
    for taken in range(1, INDEX.size):
        missing = sorted(set(range(INDEX.size)) - set(order[:taken]))
        assert all(other == one + 1 for one, other in pairwise(missing)), "one gap, in the middle"


def test_the_opening_is_inserted_after_other_windows_and_each_window_comes_once() -> None:
    text = "Chronicle.\n\n## One\n\n" + SENTENCES
    index = Index(text)
    ranked = list(range(index.size - 1, -1, -1))
    order = list(insert_lede(index, ranked))
    assert sorted(order) == sorted(ranked)
    assert 0 < order.index(0) < index.size - 1
    opening = {window for window in ranked if index.end(window) <= LEDE_CHARS}
    assert [window for window in order if window not in opening] == [w for w in ranked if w not in opening]
