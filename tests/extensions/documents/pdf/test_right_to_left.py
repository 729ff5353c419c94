"""Lines with Arabic or Hebrew words come in the order in which they are read, from where their characters stand."""

from __future__ import annotations

import pytest

from keyhole.extensions.documents.pdf.page_parts import PdfRule
from keyhole.extensions.documents.pdf.right_to_left import Glyph, read_rtl_line
from tests.extensions.documents.pdf.test_structure import read_typst


def draw(shown: str, *, width: float = 5.0) -> list[Glyph]:
    """Return the characters of a line as it is seen, from left to right."""
    lefts = [width * number for number in range(len(shown))]
    part = [shown[:number].count(" ") for number in range(len(shown))]
    return [
        Glyph(character, left, 100.0, left + width, 112.0, part[number], number)
        for number, (character, left) in enumerate(zip(shown, lefts, strict=True))
    ]


def read_line(glyphs: list[Glyph], *, is_page_rtl: bool = False) -> str:
    return " ".join(word.text for word in read_rtl_line(glyphs, 10.0, [], is_page_rtl=is_page_rtl))


@pytest.mark.parametrize(
    ("meant", "shown"),
    [
        ("שלום עולם", "םלוע םולש"),
        ("גרסה 3.11 של Python בשנת 2024.", ".2024 תנשב Python לש 3.11 הסרג"),
        ("המחיר (כולל מס) 12.5% ליחידה", "הדיחיל 12.5% (סמ ללוכ) ריחמה"),
        ("קראו QGIS (גרסה 3.28) היום", "םויה (3.28 הסרג) QGIS וארק"),
        ("קראו (see page 7) היום", "םויה (see page 7) וארק"),
        ("הריצו git push origin main בשרת", "תרשב git push origin main וצירה"),
        ("החל ב-12/03/2023 [מקור 7]", "[7 רוקמ] 12/03/2023-ב לחה"),
        ("نسبة 12.5% في docker run -d اليوم", "مويلا docker run -d يف %12.5 ةبسن"),
        ("قیمت ۱۲۵۰ تومان «با مالیات»", "«تایلام اب» ناموت ۱۲۵۰ تمیق"),
        ("من ١٥ إلى MX-500", "MX-500 ىلإ ١٥ نم"),
        ("הפונקציה print(x) ואז call() היום", "םויה ()call זאו print(x) היצקנופה"),
    ],
)
def test_a_line_is_read_as_it_is_meant(meant: str, shown: str) -> None:
    assert read_line(draw(shown)) == meant
    mirrored = str.maketrans("()[]«»", ")(][»«")
    assert read_line(draw(shown.translate(mirrored))) == meant


def test_words_of_a_quotation_are_turned_in_a_line_from_left_to_right() -> None:
    assert read_line(draw("The word םלוע םולש means hello")) == "The word שלום עולם means hello"


def test_a_line_of_few_letters_from_right_to_left_is_read_like_its_page() -> None:
    shown = "הרזעל https://example.org/help לא ובתכ"
    assert read_line(draw(shown), is_page_rtl=True) == "כתבו אל https://example.org/help לעזרה"


def test_letters_are_ordered_by_their_places_whichever_way_the_file_gives_them() -> None:
    glyphs = draw("םלוע םולש")
    assert read_line(glyphs[::-1]) == read_line(glyphs) == "שלום עולם"


def test_a_ligature_that_is_given_in_reverse_is_turned() -> None:
    glyphs = [glyph._replace(left=20.0, right=25.0) for glyph in draw("اﻻ".replace("ﻻ", "ل"))]
    assert read_line(glyphs) == "لا"


def test_accents_follow_the_letter_whose_width_they_stand_in() -> None:
    letters = draw("בש")
    accents = [letters[1]._replace(text="\u05b8", left=6.0, right=9.0, bottom=113.0, number=2)]
    assert read_line([*accents, *letters]) == "ש\u05b8ב"


def test_accents_that_share_the_box_of_their_letter_follow_it() -> None:
    letter, accent = draw("\u064bد")
    assert read_line([letter, accent]) == read_line([accent, letter]) == "د\u064b"


def test_wide_gaps_and_borders_of_cells_part_a_line() -> None:
    cells = draw("םלוע םולש")
    border = PdfRule(22.0, 90.0, 22.0, 120.0)
    assert [word.text for word in read_rtl_line(cells, 10.0, [border], is_page_rtl=False)] == ["שלום", "עולם"]
    latin = draw("Web שלום Net")
    apart = [
        glyph._replace(left=glyph.left + 20.0 * glyph.part, right=glyph.right + 20.0 * glyph.part) for glyph in latin
    ]
    assert next(word.text for word in read_rtl_line(apart, 10.0, [], is_page_rtl=True)) == "Net"


SOURCE = """
#set page(width: 400pt, height: 500pt)
#set text(size: 12pt, dir: rtl, lang: "he")
= דוח שנתי
גרסה 3.11 של Python הותקנה (בהצלחה).

#table(columns: 3, [מוצר], [כמות], [הערות], [לחם לבן], [25], [קיים במחסן], [חלב טרי], [40], [דגם MX-500])

- קיים במחסן
- דגם MX-500 חדש
"""


def test_a_page_from_right_to_left_has_its_first_column_at_the_right() -> None:
    text = read_typst(SOURCE).main
    assert "# דוח שנתי\n\nגרסה 3.11 של Python הותקנה (בהצלחה).\n" in text
    assert "| מוצר | כמות | הערות |\n| --- | --- | --- |\n| לחם לבן | 25 | קיים במחסן |" in text
    assert "- קיים במחסן\n- דגם MX-500 חדש" in text
