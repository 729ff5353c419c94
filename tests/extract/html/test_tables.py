"""Data tables stay tables, whatever their cells contain, and lose no cell."""

from __future__ import annotations

import pytest

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return to_markdown(parse_html(html), LinkResolver(URL))


HEADER = "<table><tr><th>a<th>b</tr><tr><td>1<td>"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<p>x<p>y", "x<br>y"),
        ("<ul><li>x<li>y</ul>", "- x<br>- y"),
        ("<pre>if x:\n    y</pre>", "`if x:`<br>`    y`"),
        ("<pre>a `b`\n|</pre>", r"`` a `b` ``<br>`\|`"),
        ("<blockquote>x</blockquote>y", "x<br>y"),
        ("<h3>x</h3><h3>y</h3>z", "**x**<br>**y**<br>z"),
        ("x<hr>y", "x<br>y"),
        ("<details><summary>x</summary>y</details>", "**x**<br>y"),
    ],
)
def test_a_block_in_a_cell_stays_in_its_cell(cell: str, text: str) -> None:
    assert markdown(f"{HEADER}{cell}</table>") == f"| a | b |\n| --- | --- |\n| 1 | {text} |\n"


def test_a_table_without_a_header_is_data_if_its_rows_are_alike() -> None:
    rows = "<tr><td><h4>x</h4><td>y<td>z" * 3
    assert markdown(f"<table>{rows}</table>").splitlines()[2:] == ["| **x** | y | z |"] * 3


def test_a_table_whose_headings_have_rows_of_their_own_is_data() -> None:
    html = "<table><tr><td colspan=2><h2>Methods</h2><tr><td>int<td>size()<tr><td>int<td>rows()</table>"
    assert markdown(html).splitlines()[2:] == ["| **Methods** |", "| int | size() |", "| int | rows() |"]


def test_one_long_cell_does_not_make_a_table_layout() -> None:
    rows = "".join(f"<tr><td>{number}<td>{'word ' * 200}" for number in range(9))
    text = markdown(f"<table><tr><th>a<th>b{rows}<tr><td>9<td>{'word ' * 700}</table>")
    assert text.count("\n| ") == 11


def test_a_table_around_tables_is_layout() -> None:
    inner = "<table><tr><th>a<th>b<tr><td>1<td>2</table>"
    assert markdown(f"<table><tr><th>Title<tr><td>{inner}</table>") == "Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_only_numbers_beside_code_are_line_numbers() -> None:
    html = "<table><tr><th>year<th>name<tr><td class=ln>1999<td>x</table>"
    assert markdown(html).splitlines()[2] == "| 1999 | x |"
    html = "<table><tr><th>line<th>code<tr><td class=ln>1<td><code>x</code></table>"
    assert markdown(html).splitlines()[2] == "| | `x` |"


def test_a_listing_with_other_cells_is_a_table() -> None:
    html = (
        "<table><caption>File</caption><tr><td class=blob-num>1<td class=blob-code>x<td>remark"
        "<tr><td class=blob-num>2<td class=blob-code>y<td></table>"
    )
    assert markdown(html) == "File\n\n| | |\n| --- | --- |\n| x | remark |\n| y | |\n"


def test_cells_beyond_the_header_are_kept() -> None:
    html = "<table><tr><th>a<tr><td>1<td>2<td>3</table>"
    assert markdown(html) == "| a | | |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n"


def test_a_cell_that_spans_rows_is_in_each_of_them() -> None:
    html = "<table><tr><th>a<th>b<th>c<tr><td rowspan=2><b>x</b><td>1<td rowspan=3>y<tr><td>2<tr><td>z<td>3</table>"
    assert markdown(html).splitlines()[2:] == ["| **x** | 1 | y |", "| **x** | 2 | y |", "| z | 3 | y |"]


def test_a_row_of_empty_cells_does_not_repeat_the_cells_above() -> None:
    html = "<table><tr><th>a<th>b<tr><td rowspan=3>x<td>1<tr><td><tr><td>2</table>"
    assert markdown(html).splitlines()[2:] == ["| x | 1 |", "| x | 2 |"]


def test_a_long_cell_is_not_repeated() -> None:
    html = f"<table><tr><th>a<th>b<tr><td rowspan=2>{'word ' * 80}<td>1<tr><td>2</table>"
    assert markdown(html).splitlines()[3] == "| | 2 |"


def test_repeated_cells_are_bounded_together() -> None:
    cells = f"<td rowspan=1000>{'x' * 250}" * 50
    assert len(markdown(f"<table><tr>{cells}<td>1{'<tr><td>1' * 999}</table>")) < 300_000


@pytest.mark.parametrize("span", ["0", "9"])
def test_a_cell_spans_rows_of_its_own_group_only(span: str) -> None:
    groups = f"<tbody><tr><td rowspan={span}>x<td>1<tr><td>2</tbody><tbody><tr><td>y<td>3</tbody>"
    text = markdown(f"<table><thead><tr><th>a<th>b</thead>{groups}</table>")
    assert text.splitlines()[2:] == ["| x | 1 |", "| x | 2 |", "| y | 3 |"]


def test_a_table_in_a_cell_of_data_is_lines_of_the_cell() -> None:
    inner = "<table><tr><td>water<td>11<tr><td>power<td>12</table>"
    text = markdown(f"<table><tr><th>Berth<th>Fees<tr><td>1<td>{inner}<tr><td>2<td>{inner}</table>")
    assert text.splitlines()[2:] == ["| 1 | water 11<br>power 12 |", "| 2 | water 11<br>power 12 |"]


@pytest.mark.parametrize("inner", ["word " * 100, "<table><tr><td>a<td>b</table>"])
def test_a_table_around_long_or_deep_tables_is_layout(inner: str) -> None:
    text = markdown(f"<table><tr><th>x<th>y<tr><td>1<td><table><tr><td>p<td>{inner}</table></table>")
    assert text.startswith("x\n\ny\n")
