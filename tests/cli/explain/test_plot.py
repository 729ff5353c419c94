"""Plots fit their width in every script, keep text from pages off the columns, and show even the smallest range."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from keyhole.cli.colours import PlotStyle
from keyhole.cli.explain.plot import ASCII, BLOCKS, describe_removed, draw_bar, draw_heat, draw_page, draw_search
from keyhole.passages import select
from keyhole.records import EngineReport, Passage, Source
from keyhole.retrieval.answer_view import build_page_view, build_search_view
from tests.support.fakes import artifact

PLAIN = PlotStyle(colours=False, plain=True, width=72)
TEXT = (
    "# Pumps\n\nA pump moves water from a low place to a high one, as long as somebody pays for the power.\n\n"
    "## Speed\n\nThe rotor of this pump turns at 40 rpm.\n\n## Care\n\nOil it each year, and never in the rain.\n"
)
GOLDEN = """\
Title: A page
From https://example.org/page
Shown: 60 of 202 characters (30 %) in 2 ranges.

page   |#+................#########+........|                   0 to 202
heads  |^                 ^        ^        |      3 main headings
word   |                  #                 |      1 rotor
word   |                  #                 |      1 rpm
word   |                                    |      0 zebra

Headings, and how much of the text under each is shown:
at         0  8.9 % of       101  # Pumps
at       101  100 % of        51  ## Speed
at       152    0 % of        50  ## Care

Passage 1: 0 to 9, 9 characters
  under Pumps
  the beginning of the page is shown because it says what the page is about
  score ######...... 2.58 = context +0.98 coverage -0.49
         surroundings +0.17 form +0.13 feedback +1.79
  | # Pumps
Passage 2: 101 to 152, 51 characters
  under Speed
  score ############ 4.78 = words +1.96 surroundings +0.28 form +0.74
         feedback +1.79
  | ## Speed The rotor of this pump turns at 40 rpm.

The best passage covers 67% of the question; the text lacks 1 of its 3
  words.
Left out: 2 hidden parts."""
SCRIPTS = "水泵每分钟转四十圈。 مضخة تدور أربعين مرة في الدقيقة. המשאבה 👩‍👩‍👧 é pump ﷽ "


def plot_lines(text: str, query: str | None, budget: int, style: PlotStyle = PLAIN) -> list[str]:
    """Return the plot of the passages that are selected from a text."""
    return plot_spans(text, query, select(text, query, budget).spans, style)


def plot_spans(text: str, query: str | None, spans: Sequence[tuple[int, int]], style: PlotStyle = PLAIN) -> list[str]:
    """Return the plot of a text of which some spans are shown."""
    view = build_page_view(artifact(text=text), query, spans, [("hidden", 2)])
    return [line.plain for line in draw_page(view, style)]


def test_an_output_has_a_kind_instead_of_an_address_and_no_removed_parts() -> None:
    view = build_page_view(artifact(text=TEXT, url="output:test"), None, [(0, 9)], None)
    drawn = "\n".join(line.plain for line in draw_page(view, PLAIN))
    assert "\nKind of output: test run\n" in drawn
    assert "From " not in drawn
    assert "Left out" not in drawn


def test_the_plot_of_a_small_page() -> None:
    assert "\n".join(plot_spans(TEXT, "rotor rpm zebra", [(0, 9), (101, 152)])) == GOLDEN


@pytest.mark.parametrize(
    ("total", "spans", "drawn"),
    [
        (100, [], ".........."),
        (100, [(0, 100)], "##########"),
        (100, [(20, 40)], "..##......"),
        (100, [(25, 40)], "..+#......"),
        (1_000_000, [(999_999, 1_000_000)], ".........+"),
        (1_000_000, [(0, 1)], "+........."),
        (3, [(1, 2)], "...+##+..."),
        (0, [], ".........."),
    ],
)
def test_a_bar_shows_even_the_smallest_range(total: int, spans: list[tuple[int, int]], drawn: str) -> None:
    assert draw_bar(total, spans, 10, ASCII) == drawn


def test_a_heat_line_is_highest_where_the_weight_is_greatest() -> None:
    assert draw_heat(100, [(0, 1.0), (55, 4.0), (99, 0.5)], 10, ASCII) == ".    #   ."
    assert draw_heat(100, [], 4, BLOCKS) == "    "


@given(st.integers(1, 10_000), st.lists(st.tuples(st.integers(0, 9_999), st.integers(1, 500))), st.integers(1, 150))
def test_a_bar_has_the_given_width_and_is_empty_only_if_nothing_is_shown(
    total: int, starts: list[tuple[int, int]], width: int
) -> None:
    spans = [(start, min(total, start + length)) for start, length in starts if start < total]
    drawn = draw_bar(total, spans, width, ASCII)
    assert len(drawn) == width
    assert bool(spans) == bool(set(drawn) - {ASCII.none})


@example(SCRIPTS * 20, 60, True)
@example(f"# {SCRIPTS}\n\n{SCRIPTS * 9}\n\n## Pump {SCRIPTS * 9}\n\npump", 61, False)
@given(st.text(st.sampled_from(SCRIPTS + "abc #\n"), max_size=400), st.integers(60, 200), st.booleans())
def test_no_line_is_wider_than_the_terminal(text: str, width: int, plain: bool) -> None:
    for line in plot_lines(text, f"pump {SCRIPTS}", 200, PlotStyle(False, plain, width)):
        assert cell_len(line) <= width, line


@given(st.text(st.sampled_from("مضخةתדור水泵 #\n"), max_size=200))
def test_right_to_left_text_comes_last_on_its_line_after_a_word_of_keyhole(text: str) -> None:
    for line in plot_lines(f"# مضخة\n\n{text}", "مضخة 水泵", 200):
        foreign = re.search(r"[\u0590-\u06ff]", line)
        if foreign and not line.startswith("  |"):  # a line of the page's text
            assert re.match(r"\s*[A-Za-z]", line), line
            assert not re.search(r"[|.+0-9^]", line[foreign.start() :]), line


def test_control_characters_of_a_page_never_reach_the_terminal() -> None:
    text = "# A\x1b[31m red\x07\n\npump \x1b]0;title\x07 \u202eback\n" * 3
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", "".join(plot_lines(text, "pump \x1b[2J", 100)))


def test_a_weak_match_states_its_share_of_the_question() -> None:
    lines = plot_lines(TEXT, "zebra stripes savanna water", 100)
    assert any(line.startswith("Weak match: the best passage covers ") for line in lines)


def test_the_parts_left_out_are_counted_by_kind() -> None:
    text = describe_removed([("scripts", 1_200), ("hidden", 1), ("comments", 0), ("other", 2)])
    assert text == "Left out: 1,200 scripts and styles, 1 hidden parts, 2 other."
    assert describe_removed([]) == "Left out: none of the parts that are counted."


def test_a_search_is_plotted_with_engines_sources_and_copies() -> None:
    found = [
        Source(
            "https://example.org/page",
            "Pumps",
            artifact=artifact(text=TEXT),
            stored=True,
            copies=("https://c.example/",),
        ),
        Source("https://gone.example/", "", not_read="timeout"),
    ]
    ranked = ((Passage(113, 152, 1.5, coverage=0.8),), ())
    view = build_search_view(
        "rotor", found, [EngineReport("brave", "HTTP 500")], ranked, [((113, 152),), None], [1, 2], [(), ()]
    )
    assert [line.plain for line in draw_search(view, PLAIN)] == [
        "Question: rotor",
        "Engine brave: HTTP 500",
        "",
        "Source [1] Pumps",
        "  https://example.org/page",
        "  shown; best score 1.50, covers 80% of the question",
        "  |....................+######+........| 39 of 202",
        "  113 to 152: score 1.50, covers 80%",
        "  the same text at https://c.example/",
        "",
        "Source [2] https://gone.example/",
        "  not read: timeout",
        "",
        "The best passage covers 80% of the question.",
    ]
