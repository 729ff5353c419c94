"""XLSX: number formats, links, comments, merged cells, and hidden rows, columns and sheets."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment

from keyhole.extract import extract
from tests.extensions.documents.test_office import xlsx


def show(fill: Callable[[Any], None], *rows: tuple[object, ...]) -> str:
    """Return the text of a workbook whose first sheet has these rows, after `fill` changed it."""
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    fill(workbook.active)
    packed = io.BytesIO()
    workbook.save(packed)
    return extract(packed.getvalue(), url="https://example.org/a", content_type="").text


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (0.125, "0.0%", "12.5%"),
        (0.125, "0%", "12.5%"),
        (0.0725, "0.00%", "7.25%"),
        (0.5, "0.00%", "50.00%"),
        (-0.07, "0.0%;[Red]-0.0%", "-7.0%"),
        (1 / 3, "0.0 %", "33.3333 %"),
        (1200, "$#,##0", "$1200"),
        (99.5, '#,##0.00 "€"', "99.5 €"),
        (99.5, "[$€-407] #,##0.00", "€ 99.5"),
        (7.5, '_-* #,##0.00 €_-;-* #,##0.00 €_-;_-* "-"?? €_-', "7.5 €"),
        (2.5, '0.0 "kg"', "2.5 kg"),
        (21.5, "0.0\\°\\C", "21.5°C"),
        (12_500_000, '0.0,,"M"', "12.5M"),
        (1_500, '[>=1000]0.0,"K";0', "1500"),
        (12345.678, "0.00E+00", "12345.678"),
        (1234.5, "#,##0.00", "1234.5"),
        (7, "@", "7"),
        (7, ";;;", ""),
    ],
)
def test_a_number_keeps_the_percent_and_other_signs_of_its_format(value: float, number_format: str, text: str) -> None:
    def fill(sheet: Any) -> None:
        sheet["B1"].number_format = number_format

    assert f"| a | {text} | b |\n" in show(fill, ("a", value, "b"))


def test_links_and_comments_stand_in_their_cells() -> None:
    def fill(sheet: Any) -> None:
        sheet["A1"].hyperlink = "https://harbour.example/a (1)"
        sheet["B1"].hyperlink = "javascript:alert(1)"
        sheet["C1"] = '=HYPERLINK("https://harbour.example/f","F")'
        sheet["A2"].comment = Comment("to be\nchecked | [x](y)", "Bo")
        sheet["C2"].comment = Comment("on an empty cell", "Bo")
        sheet["A9"].comment = Comment("below", "Bo")

    text = show(fill, ("Oslo", "x"), ("Bergen",))
    assert "| [Oslo](<https://harbour.example/a (1)>) | x |" in text
    assert "| Bergen [Comment by Bo: to be checked \\| [x]&#40;y)] |  | [Comment by Bo: on an empty cell] |" in text
    assert text.endswith("| [Comment by Bo: below] |\n")


def test_the_text_of_a_link_made_by_a_formula_is_linked() -> None:
    cell = '<c r="B1" t="str"><f>HYPERLINK("https://harbour.example/f","F")</f><v>F</v></c>'
    text = extract(xlsx(f'<row r="1">{cell}</row>'), url="", content_type="").text
    assert "[F](https://harbour.example/f)" in text


def test_merged_cells_give_their_value_to_each_of_their_rows() -> None:
    def fill(sheet: Any) -> None:
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("B4:C5")
        sheet.merge_cells("A1:C1")

    text = show(
        fill, ("Catch", None, None), ("North", "Oslo", 1), (None, "Bergen", 2), ("x", "both", None), ("y", "", "")
    )
    assert "| Catch |  |  |\n| --- | --- | --- |\n| North | Oslo | 1 |\n| North | Bergen | 2 |\n" in text
    assert "| x | both |\n| y | both |\n" in text


def test_merged_cells_beyond_the_last_value_add_no_rows() -> None:
    assert show(lambda sheet: sheet.merge_cells("A1:A1000000"), ("North", 1), (None, 2)).count("North") == 2


def test_hidden_rows_columns_and_sheets_are_marked() -> None:
    def fill(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True
        sheet.parent.create_sheet("Notes").sheet_state = "veryHidden"

    text = show(fill, ("Region", "City"), ("North", "Oslo"), ("South", "Rome"))
    assert "| Region | (hidden) City |\n| --- | --- |\n| North | Oslo |\n| (hidden) South | Rome |\n" in text
    assert "## Notes (hidden)\n" in text


@pytest.mark.parametrize("mark", ['<mergeCell ref="x"/>', "<mergeCell/>", '<hyperlink ref="A:A"/>'])
def test_damaged_marks_cost_no_values(mark: str) -> None:
    text = extract(xlsx(f'<row r="1"><c r="A1"><v>7</v></c></row>{mark}'), url="", content_type="").text
    assert "| 7 |" in text
