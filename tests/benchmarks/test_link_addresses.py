"""The sizes of a page with full URLs and with paths, and whether each path gives its URL again."""

from __future__ import annotations

from benchmarks.budget.link_addresses import format_row, measure_page

URL = "https://site.example/docs/page"
PAGE = "<p>Pumps lift water. See <a href='/wells'>wells</a> and <a href='https://other.example/'>valves</a>.</p>"


def test_a_link_to_the_own_origin_saves_the_origin() -> None:
    row = measure_page(("manual", URL, PAGE.encode()))
    assert row is not None and row.is_exact
    assert row.text[0] - row.text[1] == len("https://site.example")
    assert row.text == row.main == row.result
    assert format_row("manual", [row]).startswith("| manual | 1 | 96 | 76 | 20.8% |")


def test_a_page_without_text_is_left_out() -> None:
    assert measure_page(("manual", URL, b"")) is None
