"""Holes in the main part are filled where a region goes on."""

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
