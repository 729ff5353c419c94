"""The text of the shown ranges of an output: marks of omissions and the summary."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.output import Output, OutputPart
from keyhole.outputs.output_text import OutputText
from keyhole.passages.gaps import Span, gap_line, insert_span, uncovered

TEXT = "class A:\n" + "    x = 1\n" * 30 + "class B:\n" + "    def f(self):\n        return 2\n" + "end\n" * 10
B = TEXT.index("class B")
F = TEXT.index("    def f")
END = TEXT.index("end\n")
SOURCE = Output(
    TEXT,
    "source",
    parts=(
        OutputPart(0, B, "class A", "1 class A"),
        OutputPart(B, END, "class B", "32 class B"),
        OutputPart(F, END, "def f", "33 def f"),
    ),
    summary_title="definitions",
)
RETURN = (TEXT.index("        return"), END)


def test_the_mark_before_a_passage_names_the_innermost_part_that_contains_it() -> None:
    assert OutputText(SOURCE, 200, 4_000).passages([RETURN]) == (
        f"[…0:{RETURN[0]}] def f\n        return 2\n[…{END}:{len(TEXT)}]\n"
    )


def test_a_part_is_not_named_if_its_first_line_is_shown() -> None:
    shown = OutputText(SOURCE, 200, 4_000)
    assert "def f\n" not in shown.passages([(F, END)])
    assert "class A\n" not in shown.passages([(0, 9), (19, 29)])


def test_a_mark_counts_the_lines_that_repeat_those_above_it() -> None:
    output = Output(TEXT, "log", repeats=((19, B),))
    shown = OutputText(output, 50, 4_000)
    assert shown.passages([(0, 19)]).endswith(f"[…19:{len(TEXT)}] 29 more lines like this, 13 others\n")
    assert shown.passages([(0, 19), (B, len(TEXT))]).count(f"[…19:{B}] 29 more lines like this\n") == 1
    assert "like this" not in shown.passages([(0, 9)])


def test_lines_are_like_a_shown_one_only_if_they_differ_from_it_in_numbers_alone() -> None:
    text = "test_1 PASSED\n" * 4 + "test_5 FAILED\n" + "test_6 PASSED\n" * 181
    failed = text.index("test_5"), text.index("test_6")
    output = Output(text, "test", repeats=((14, failed[0]), (failed[1], len(text))))
    shown = OutputText(output, 0, 4_000)
    assert "like this" not in shown.passages([failed])
    assert "180 more lines like this" in shown.passages([(failed[0], failed[1] + 14)])


@given(
    st.lists(st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 60)), min_size=1, max_size=8),
    st.booleans(),
)
def test_a_span_grows_the_passages_by_no_more_than_its_estimate(
    places: list[tuple[int, int]], is_excerpt: bool
) -> None:
    repeats, joints = ((19, B),), ((40, 1_000), (F, 99_999)) if is_excerpt else ()
    shown = OutputText(SOURCE._replace(repeats=repeats, joints=joints), 200, 4_000)
    spans: list[Span] = []
    for start, length in places:
        pieces = uncovered((start, min(len(TEXT), start + length)), spans)
        grown = spans
        for piece in pieces:
            grown = insert_span(grown, piece, len("\n" + gap_line(len(TEXT), len(TEXT))))
        size = len(shown.passages(grown))
        assert size <= (len(shown.passages(spans)) if spans else 0) + shown.most_chars(pieces)
        spans = grown


def test_the_summary_names_the_parts_that_are_not_shown_whole() -> None:
    shown = OutputText(SOURCE, 200, 4_000)
    assert shown.render([(0, B)]).startswith("[definitions not shown: 32 class B, 33 def f]\nclass A:\n")
    assert shown.render([(B, END)]).startswith("[definitions not shown: 1 class A]\n[…0:")
    assert shown.render([(0, END)]).startswith("class A:\n")


def test_a_summary_that_is_too_long_has_the_largest_parts_and_the_number_of_the_others() -> None:
    assert OutputText(SOURCE, 200, 4_000).summary((), 56) == "[definitions not shown: 1 class A, 2 more]\n"
    assert OutputText(SOURCE, 200, 4_000).summary((), 30) == ""


def test_the_longest_description_that_fits_is_shown_and_none_in_little_space() -> None:
    output = Output(TEXT, "json", about=("shape: {a, b: {c}}" + " " * 100, "shape: {a, b}"))
    assert OutputText(output, 100, 4_000).render([(0, 9)]).startswith("[shape: {a, b}]\nclass A:\n")
    assert OutputText(output, 70, 4_000).render([(0, 9)]).startswith("class A:\n")


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 50)), min_size=1, max_size=5), st.data())
def test_an_excerpt_is_rendered_with_the_offsets_of_the_larger_text(
    stretches: list[tuple[int, int]], data: st.DataObject
) -> None:
    whole, text, joints = "", "", []
    for shown, missing in stretches:
        text += "s" * shown
        joints.append((len(text), missing))
        whole += "s" * shown + "m" * missing
    output = Output(text, "text", joints=tuple(joints))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    rendered = OutputText(output, 100, 4_000).passages(spans)
    gaps = [(int(start), int(end)) for start, end in re.findall(r"\[…(\d+):(\d+)\]", rendered)]
    places = [OutputText(output, 100, 4_000).place(span) for span in OutputText(output, 100, 4_000).split(spans)]
    assert output.total == len(whole)
    assert all(set(whole[start:end]) == {"s"} for start, end in places)
    assert sum(end - start for start, end in [*places, *gaps]) == len(whole)
    assert [offset for _, offset in sorted([*places, *gaps])] == [
        offset for offset, _ in [*sorted([*places, *gaps])[1:], (len(whole), 0)]
    ]
