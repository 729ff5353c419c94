"""CSV and TSV: delimiters, quotes, ragged rows, and files without rows."""

from __future__ import annotations

import time

import pytest

from keyhole.extract import extract
from keyhole.passages import select
from keyhole.text.markdown import parse_blocks
from tests.support.machine import allowed


def read(body: str, content_type: str = "text/csv") -> str:
    return extract(body.encode(), url="", content_type=content_type).text


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("a,b\n1,2\n", "text/csv"),
        ("a;b\n1;2\n", "text/csv"),
        ("a\tb\n1\t2\n", "text/csv"),
        ("a|b\r\n1|2\r\n", "text/csv; charset=utf-8; header=present"),
        ("a\tb\n1\t2\n", "text/tab-separated-values"),
        ("a,b\n1,2\n", "text/tab-separated-values"),
        ("sep=;\na;b\n1;2\n", "text/csv"),
        ('"a";"b"\n"1";"2"', "application/vnd.ms-excel"),
    ],
)
def test_the_delimiter_is_found(body: str, content_type: str) -> None:
    assert read(body, content_type) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_delimiter_inside_quotes_does_not_count() -> None:
    assert read('name;place\n"Writer, A.";"x, y, z"\n') == "| name | place |\n| --- | --- |\n| Writer, A. | x, y, z |\n"


def test_bars_and_line_breaks_stay_inside_their_cell() -> None:
    assert read('a,b\n"1\n2","x|y"\n') == "| a | b |\n| --- | --- |\n| 1<br>2 | x\\|y |\n"


def test_ragged_rows_keep_every_cell() -> None:
    assert read("a,b\n1\n1,2,3\n\n,,\n") == "| a | b |  |\n| --- | --- | --- |\n| 1 |\n| 1 | 2 | 3 |\n"


def test_one_column_is_a_table_too() -> None:
    assert read("name\nalpha\n") == "| name |\n| --- |\n| alpha |\n"


def test_every_row_is_one_line_of_one_table() -> None:
    document = extract(b"a,b\n" * 100, url="", content_type="text/csv")
    assert [block.kind for block in parse_blocks(document.text)] == ["table"]
    assert document.text.count("\n") == 101


def test_text_without_readable_rows_is_unchanged() -> None:
    body = '"' + "word " * 40_000
    assert read(body) == body


SLOW = {
    "wide": "a," * 300_000 + "\n" + "1\n" * 1_000,
    "one wide row": "a\n" * 50_000 + "," * 50_000 + "x\n",
    "quotes": '"' * 1_000_001,
    "open quotes": 'a,"b\n' * 100_000,
    "breaks in cells": "a,b\n" + ('"' + "x\n" * 1_000 + '",2\n') * 100,
}


@pytest.mark.parametrize("name", list(SLOW))
def test_no_table_is_slow_to_read_or_grows_without_bound(name: str) -> None:
    started = time.process_time()
    assert len(read(SLOW[name])) < 8 * len(SLOW[name])
    assert time.process_time() - started < allowed(4)


def test_markdown_in_a_cell_is_escaped() -> None:
    assert "| !&#91;a]&#40;https://a.example) | &lt;img src=x> |" in read("a,b\n![a](https://a.example),<img src=x>\n")


def wide_csv(rows: int, columns: int = 88) -> str:
    lines = [",".join(["country", "code", *(f"measure {n}" for n in range(columns - 2))])]
    lines += [
        ",".join([f"Land {row}", f"L{row}", *("" if n == 5 else str(row * 1_000 + n) for n in range(columns - 2))])
        for row in range(rows)
    ]
    return "\n".join(lines)


def test_a_table_of_many_columns_is_written_as_records_with_the_name_before_each_value() -> None:
    text = read(wide_csv(3))
    assert text.startswith(
        "3 rows with 88 columns. Cells without text are left out.\n\n## Land 0\n\n- country: Land 0\n"
    )
    assert "\n- measure 40: 2040\n" in text.partition("## Land 2")[2]
    assert "measure 5:" not in text
    assert text.count("\n- measure 85: ") == 3


def test_a_passage_of_a_wide_table_has_the_name_of_each_value_and_its_row() -> None:
    lands = ("Chad", "Mali", "Togo", "Kenya", "Gabon", "Rwanda")
    kinds = [
        f"{name}_{place}" for name in ("forest", "rain", "roads", "grain") for place in ("share", "growth", "total")
    ]
    header = ["land", *(f"{kind}_{year}" for kind in kinds for year in ("mean", "least", "most"))]
    rows = [[land, *(str(place * 1_000_000 + n) for n in range(36))] for place, land in enumerate(lands)]
    shown = select(read("\n".join(map(",".join, [header, *rows]))), "forest share of Gabon", 900).text
    assert "## Gabon\n\n- land: Gabon\n- forest_share_mean: 4000000\n" in shown


def test_tables_of_few_columns_and_tables_of_short_cells_stay_tables() -> None:
    assert read(wide_csv(3, columns=12)).startswith("| country |")
    narrow = "\n".join(",".join("1" * 30) for _ in range(5))
    assert read(narrow).startswith("| 1 |")
