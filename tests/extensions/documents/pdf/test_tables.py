"""Tables with drawn lines: between rows only, cell by cell, over two pages, and texts that touch the next cell."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import cache

import pytest
import typst

from keyhole.extract import extract
from keyhole.records import Document
from tests.extensions.documents.pdf.test_pdf_reader import make_pdf
from tests.support.machine import allowed


def read(body: bytes) -> Document:
    return extract(body, url="https://example.org/a.pdf", content_type="application/pdf")


@cache
def read_typst(source: str) -> Document:
    return read(bytes(typst.compile(source.encode())))


def draw(texts: list[tuple[float, float, str]], lines: list[tuple[float, float, float, float]]) -> str:
    """Return the text of a page with texts at a left and height, and lines from one point to another."""
    content = "".join(f"BT /F 10 Tf {left} {height} Td ({text}) Tj ET\n" for left, height, text in texts)
    content += "".join(f"{a} {b} m {c} {d} l S\n" for a, b, c, d in lines)
    return read(make_pdf(content.encode())).text


BOOKTABS = """
#set page(width: 400pt, height: 300pt, margin: 30pt)
Before the table.
#table(columns: 3, stroke: none, column-gutter: 20pt,
  table.hline(), [Name], [Size], [Use], table.hline(),
  [alpha], [12], [the first of all],
  [beta], [7], [the second],
  [gamma], [1904], [the last], table.hline())
After the table.
"""


def test_lines_above_and_below_the_header_and_at_the_end_make_a_table() -> None:
    table = (
        "| Name | Size | Use |\n| --- | --- | --- |\n| alpha | 12 | the first of all |\n| beta | 7 | the second |\n"
        "| gamma | 1904 | the last |\n"
    )
    assert read_typst(BOOKTABS).text == f"Before the table.\n\n{table}\nAfter the table.\n"


def test_a_row_between_lines_is_one_row_though_its_cells_have_several_lines_of_text() -> None:
    first = [(50.0, 700.0, "Name"), (50.0, 680.0, "the long"), (50.0, 668.0, "piston"), (50.0, 648.0, "rod")]
    names = ("Use", "for wells", "and rivers", "for lakes")
    texts = first + [(200.0, height, text) for (_, height, _), text in zip(first, names, strict=True)]
    lines = [(45.0, float(height), 400.0, float(height)) for height in (712, 692, 662, 640)]
    assert "| the long piston | for wells and rivers |\n| rod | for lakes |\n" in draw(texts, lines)


def test_lines_around_groups_hold_several_rows_where_the_first_column_goes_on_after_a_gap() -> None:
    rows = [("Name", "Use"), ("lm", "linear models"), ("", "of all kinds"), ("glm", "others"), ("polr", "odds"),
            ("", "and probit"), ("clm", "links")]  # fmt: skip
    texts = [
        (left, 700.0 - 12 * number, cell)
        for number, row in enumerate(rows) for left, cell in zip((50.0, 150.0), row, strict=True) if cell
    ]  # fmt: skip
    lines = [(45.0, height, 400.0, height) for height in (712.0, 696.0, 660.0, 624.0)]
    lines += [(left, 624.0, left, 712.0) for left in (45.0, 140.0, 400.0)]
    table = "| lm | linear models of all kinds |\n| glm | others |\n| polr | odds and probit |\n| clm | links |\n"
    assert table in draw(texts, lines)


def test_prose_between_lines_of_the_same_width_is_no_table() -> None:
    texts = [(50.0, 700.0 - 14 * n, f"Sentence {n} of the text goes on from the left to the right.") for n in range(12)]
    lines = [(45.0, float(height), 400.0, float(height)) for height in (715, 660, 600, 520)]
    assert "|" not in draw(texts, lines)


def test_lines_that_are_drawn_cell_by_cell_show_the_columns() -> None:
    columns = (45.0, 150.0, 300.0, 400.0)
    texts = [
        (left + 3, 700.0 - 20 * row, f"r{row} {name}")
        for row in range(3)
        for left, name in zip(columns, "abc", strict=False)
    ]
    texts += [(303.0, 628.0, "r2 more")]
    heights = (712.0, 692.0, 672.0, 620.0)
    lines = [(a + 1, y, b - 1, y) for y in heights for a, b in itertools.pairwise(columns)]
    table = "| r0 a | r0 b | r0 c |\n| --- | --- | --- |\n| r1 a | r1 b | r1 c |\n| r2 a | r2 b | r2 c r2 more |\n"
    assert draw(texts, lines).strip() == table.strip()


def test_a_name_that_ends_at_the_next_cell_is_apart_from_its_text() -> None:
    texts = [(50.0, 700.0, "package"), (100.0, 700.0, "size"), (50.0, 680.0, "a-long-name"), (103.0, 680.0, "V:285"),
             (50.0, 660.0, "b"), (103.0, 660.0, "7")]  # fmt: skip
    lines = [(45.0, y, 200.0, y) for y in (712.0, 692.0, 672.0, 652.0)]
    lines += [(x, 712.0, x, 652.0) for x in (45.0, 98.0, 200.0)]
    assert "| a-long-name | V:285 |" in draw(texts, lines)


def test_a_name_that_crosses_the_line_of_its_cell_stays_whole() -> None:
    texts = [(50.0, 700.0, "package"), (110.0, 700.0, "size"), (50.0, 680.0, "a-very-long-name-of-it"),
             (50.0, 660.0, "b"), (110.0, 660.0, "7")]  # fmt: skip
    lines = [(45.0, y, 200.0, y) for y in (712.0, 692.0, 672.0, 652.0)]
    lines += [(x, 712.0, x, 652.0) for x in (45.0, 98.0, 200.0)]
    assert "| a-very-long-name-of-it |  |" in draw(texts, lines)


def test_words_in_a_drawing_of_many_lines_are_no_table() -> None:
    lines = [(45.0, y, 525.0, y) for y in range(300, 700, 20)] + [(x, 300.0, x, 680.0) for x in range(45, 526, 40)]
    texts = [(50.0 + 40 * (n % 12), 685.0 - 20 * n, f"word{n}") for n in range(1, 19)]
    text = draw(texts, [(float(a), float(b), float(c), float(d)) for a, b, c, d in lines])
    assert "|" not in text
    assert all(f"word{n}" in text for n in range(1, 19))


def test_signs_of_markdown_in_a_cell_are_escaped_once() -> None:
    source = "#table(columns: 2, [lib\\<qual\\>], [&amp;], [x | y], [c])"
    assert read_typst(source).text == "| lib&lt;qual> | \\&amp; |\n| --- | --- |\n| x \\| y | c |\n"


def make_long_table(rows: int) -> str:
    cells = ", ".join(f"[name {n}], [value {n}]" for n in range(rows))
    return (
        "#set page(width: 300pt, height: 200pt, margin: 30pt)\n"
        f"#table(columns: 2, table.header([Name], [Value]), {cells})\nAfter the table."
    )


def test_a_table_over_several_pages_is_one_table_with_one_header() -> None:
    document = read_typst(make_long_table(20))
    rows = "".join(f"| name {n} | value {n} |\n" for n in range(20))
    assert document.text == f"| Name | Value |\n| --- | --- |\n{rows}\nAfter the table.\n"
    assert len(document.pages) > 2
    assert all(document.text.startswith("| ", offset) for offset, _ in document.pages[:-1])


def test_the_last_row_of_a_table_may_stand_alone_on_a_page() -> None:
    for count in range(4, 12):
        rows = "".join(f"| name {n} | value {n} |\n" for n in range(count))
        assert rows in read_typst(make_long_table(count)).text


def test_tables_that_only_stand_after_each_other_are_two_tables() -> None:
    source = "#table(columns: 2, [a], [b], [c], [d])\nBetween them.\n#table(columns: 2, [a], [b], [e], [f])"
    assert read_typst(source).text.count("| a | b |") == 2


LINES: dict[str, Callable[[int], tuple[float, float, float, float]]] = {
    "of one width": lambda n: (20, 5 + n / 5, 500, 5 + n / 5),
    "of many widths": lambda n: (20 + n % 97, 5 + n / 5, 500 - n % 89, 5 + n / 5),
    "joined at many places": lambda n: (20 + n % 60 * 8, 5 + n // 60 * 10, 28 + n % 60 * 8, 5 + n // 60 * 10),
    "in a grid": lambda n: (n % 600, 5, n % 600, 780) if n % 2 else (0, n / 5, 600, n / 5),
}


@pytest.mark.parametrize("name", list(LINES))
def test_a_page_full_of_lines_and_words_ends_soon(name: str) -> None:
    lines = [LINES[name](n) for n in range(3_900)]
    texts = [(float(20 + n % 40 * 14), float(5 + n // 40 * 3), "ab") for n in range(10_000)]
    started = time.process_time()
    text = draw(texts, lines)
    assert text.count("ab") == 10_000
    assert time.process_time() - started < allowed(10)


BERTHS = ("North", "South")


def list_berths(top: float, step: float = 150.0) -> list[tuple[float, float, str]]:
    """Return two headings at the left, each above a table of two columns in the middle of the page."""
    texts = []
    for number, name in enumerate(BERTHS):
        height = top - step * number
        texts.append((50.0, height, f"{name} basin"))
        for row, cells in enumerate((("Berth", "Length"), (f"{name[0]}1", "9 m"), (f"{name[0]}2", "12 m"))):
            texts += [(left, height - 40 - 20 * row, cell) for left, cell in zip((250.0, 320.0), cells, strict=True)]
    return texts


def list_sides(top: float, *, is_closed: bool) -> list[tuple[float, float, float, float]]:
    """Return the lines of the two tables, drawn by cell. `is_closed`: with the lines between columns and at the top."""
    lines = []
    for place, row in itertools.product((top, top - 150.0), range(4)):
        y = place - 25 - 20 * row
        if is_closed or row:
            lines += [(245.0, y, 315.0, y), (315.0, y, 385.0, y)]
        if is_closed and row:
            lines += [(x, y, x, y + 20) for x in (245.0, 315.0, 385.0)]
    return lines


SEPARATE = (
    "North basin\n\n| Berth | Length |\n| --- | --- |\n| N1 | 9 m |\n| N2 | 12 m |\n\n"
    "South basin\n\n| Berth | Length |\n| --- | --- |\n| S1 | 9 m |\n| S2 | 12 m |\n"
)


@pytest.mark.parametrize("is_closed", [True, False], ids=["closed cells", "lines below rows"])
def test_tables_drawn_by_cell_stand_apart_below_their_headings(is_closed: bool) -> None:
    assert draw(list_berths(700.0), list_sides(700.0, is_closed=is_closed)) == SEPARATE


def test_tables_with_lines_of_one_width_stand_apart_below_their_headings() -> None:
    lines = [(245.0, y, 385.0, y) for top in (700.0, 550.0) for y in (top - 25, top - 45, top - 85)]
    assert draw(list_berths(700.0), lines) == SEPARATE


def test_tables_with_a_line_below_the_header_only_stand_apart() -> None:
    texts = [*list_berths(700.0), *((x, y, t.replace("S", "E")) for x, y, t in list_berths(400.0)[8:])]
    lines = [(245.0, top - 45.0, 385.0, top - 45.0) for top in (700.0, 550.0, 250.0)]
    assert SEPARATE in draw([t for t in texts if t[1] > 300], lines)


def test_a_title_between_the_lines_of_a_table_is_no_row_of_it() -> None:
    texts = [
        (50.0, 700.0, "Fees"),
        (50.0, 680.0, "Berth"),
        (200.0, 680.0, "Fee"),
        (50.0, 660.0, "N1"),
        (200.0, 660.0, "3"),
    ]
    lines = [(45.0, y, 300.0, y) for y in (712.0, 695.0, 675.0, 655.0)]
    assert draw(texts, lines) == "Fees\n\n| Berth | Fee |\n| --- | --- |\n| N1 | 3 |\n"


def test_a_table_over_both_columns_stands_between_the_text_above_and_below_it() -> None:
    prose = "Terms of the harbour stand here"
    tops = (*range(700, 640, -12), *range(500, 440, -12))
    texts = [(left, float(y), f"{prose} {side}{y}") for side, left in (("L", 50.0), ("R", 320.0)) for y in tops]
    texts += [(x, y, t) for y in (600.0, 580.0) for x, t in ((60.0, f"a{y:.0f}"), (330.0, f"b{y:.0f}"))]
    lines = [(50.0, y, 560.0, y) for y in (615.0, 595.0, 575.0)] + [(x, 615.0, x, 575.0) for x in (50.0, 320.0, 560.0)]
    text = draw(texts, lines)
    assert text.index("R652") < text.index("| a600 | b600 |") < text.index("L500")


def test_lines_of_tables_above_each_other_stay_apart_though_they_stand_almost_at_one_place() -> None:
    texts, lines = [], []
    for top, shift in ((700.0, 0.0), (500.0, -1.2), (300.0, 1.1)):
        for number, row in enumerate((("Boat", "Seats"), ("Ida", "40"), ("Una", "41"))):
            height = top - 20 * number
            texts += [(60.0, height, row[0]), (160.0, height, row[1])]
            for left, right in ((50.0, 150.4 + shift), (150.4 + shift, 250.0)):
                lines += [(x, height - 6, x, height + 14) for x in (left, right)]
                lines += [(left, height - 6, right, height - 6), (left, height + 14, right, height + 14)]
    assert draw(texts, lines).count("| Boat | Seats |\n| --- | --- |\n| Ida | 40 |\n") == 3


@pytest.mark.parametrize(
    ("header", "is_header"), [(("Berth", "Length", "Fee"), True), (("Of", "all quays", "x"), False)]
)
def test_a_header_whose_words_stand_close_to_each_other_belongs_to_the_columns_below_them(
    header: tuple[str, ...], is_header: bool
) -> None:
    places = (50.0, 82.0, 120.0)
    rows = [("N1", "9 m", "35"), ("N2", "12 m", "70"), ("N3", "15 m", "105")]
    texts = list(zip(places if is_header else (58.0, 75.0, 118.0), [700.0] * 3, header, strict=True))
    texts += [
        (left, 686.0 - 14 * number, cell)
        for number, row in enumerate(rows) for left, cell in zip(places, row, strict=True)
    ]  # fmt: skip
    text = draw(texts, [])
    assert text.startswith(
        "| Berth | Length | Fee |\n| --- | --- | --- |\n| N1 | 9 m | 35 |" if is_header else "Of all"
    )
