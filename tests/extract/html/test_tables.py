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
