"""Holes in the main part are filled where a region goes on, and structures keep their introductions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.html.boilerplate.classify import fill_holes, measure_change
from keyhole.extract.html.boilerplate.segments import TextBlock, segment
from keyhole.extract.html.tree import parse_html


def read_blocks(html: str) -> list[TextBlock]:
    return segment(parse_html(f"<body>{html}</body>")).blocks


def test_a_block_with_a_slightly_low_score_between_two_good_ones_is_main() -> None:
    blocks = read_blocks("<p>One<p>Two<p>Three")
    assert fill_holes(blocks, [2.0, -0.5, 2.0]) == [True, True, True]
    assert fill_holes(blocks, [2.0, -5.0, 2.0]) == [True, False, True]


def test_a_block_with_a_good_score_is_never_cut() -> None:
    assert fill_holes(read_blocks("<p>One<p>Two<p>Three"), [-5.0, 0.1, -5.0]) == [False, True, False]


def test_a_structure_and_the_sentence_that_introduces_it_are_judged_as_one() -> None:
    assert fill_holes(read_blocks("<p>It is equivalent to:<pre>a = 1; b = 2</pre>"), [3.0, -1.0]) == [True, True]
    assert fill_holes(read_blocks("<p>It is:<pre>a = 1; b = 2; c = 3</pre>"), [1.0, -3.0]) == [False, False]
    assert fill_holes(read_blocks("<p>It is.<pre>a = 1; b = 2; c = 3</pre>"), [1.0, -3.0]) == [True, False]


def test_a_caption_is_judged_with_its_table() -> None:
    table = "<table><tr><td>1<td>2<tr><td>3<td>4</table>"
    assert fill_holes(read_blocks(f"{table}<p class=caption>Table 1</p>"), [-1.0, 2.0]) == [True, True]


def test_a_change_costs_less_where_blocks_are_farther_apart() -> None:
    paragraphs = read_blocks("<p>One<p>Two")
    parts = read_blocks("<main><div><p>One</div></main><aside><div><p>Two</div></aside>")
    assert measure_change(*paragraphs) > measure_change(*parts) > 0


@given(st.lists(st.floats(-9, 9), max_size=12))
def test_every_block_is_judged(scores: list[float]) -> None:
    blocks = read_blocks("".join(f"<p>Paragraph {number}" for number in range(len(scores))))
    result = fill_holes(blocks, scores)
    assert len(result) == len(scores)
    assert all(main for main, score in zip(result, scores, strict=True) if score >= 0)
