"""The figures of PDF files: which tables have drawn lines, and which lines are running heads."""

from __future__ import annotations

import typst
from bs4 import BeautifulSoup

from benchmarks.extraction.pdf.drawn_lines import read_ruled_texts
from benchmarks.extraction.pdf.figures import count_cells, count_running

HTML = (
    "<table><tr><th>Part</th><th>Price</th></tr><tr><td>barrel</td><td>9.50 each</td></tr></table>"
    "<table><tr><th>Liquid</th><th>Weight</th></tr><tr><td>water</td><td>one kilogram</td></tr></table>"
)
SOURCE = """
#table(columns: 2, [Part], [Price], [barrel], [9.50 each])
Some prose between the tables.
#table(columns: 2, stroke: none, [Liquid], [Weight], [water], [one kilogram])
"""


def test_cells_of_tables_with_and_without_drawn_lines_are_counted_apart() -> None:
    ruled = read_ruled_texts(bytes(typst.compile(SOURCE.encode())))
    assert ruled == ["Part Price barrel 9.50 each"]
    text = "| Part | Price |\n| --- | --- |\n| barrel | 9.50 each |\n\n| Liquid | Weight |\n"
    assert count_cells(BeautifulSoup(HTML, "html.parser"), text, ruled) == ((4, 4), (2, 4))


def test_text_between_two_frames_is_in_no_table() -> None:
    frame = "#rect(width: 200pt)[framed]\n"
    assert read_ruled_texts(bytes(typst.compile(f"{frame}Prose between them.\n{frame}".encode()))) == []


def test_running_heads_are_lines_at_the_edges_of_pages_that_return() -> None:
    pages = [f"The manual, page {n}\n\nText of {n} with words\n\n{n}\n" for n in range(8)]
    assert count_running("Text of 3 with words\n\nThe manual, page 7\n\n7\n", pages) == 1
