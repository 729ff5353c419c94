"""Structure from positions: files made by Typst, and drawn by hand, become headings, lists, code, notes and tables."""

from __future__ import annotations

from functools import cache

import pytest
import typst

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.pdf.page_parts import PdfStyle, PdfWord, split_line
from keyhole.extensions.documents.pdf.pdf_blocks import join_row
from keyhole.extensions.documents.pdf.write_markdown import clean_piece
from keyhole.extract import extract
from keyhole.passages import select
from keyhole.records import Document
from keyhole.retrieval.artifact import make_artifact
from keyhole.text.page_structure import PAGES, parse_page_starts
from tests.extensions.documents.pdf.test_pdf_reader import make_pdf
from tests.support.fakes import page

SOURCE = """
#set super(typographic: false)
#set page(width: 300pt, height: 320pt, margin: 40pt, numbering: "1", header: [The manual of pumps])
#set par(justify: true)
= Pumps
A pump moves water#footnote[Or any other liquid.] from a well, and it needs neither oil nor attention for as long as the
well has water in it.

== Parts
- the barrel
- the piston, which is the only part of a pump that moves up and down all day
+ Pour water in.
+ Lift the handle.

```
def lift(handle):
    return handle + 1
```

#table(columns: 3, [Part], [Count], [Price], [barrel], [1], [9.50], [piston rod], [2], [3.25])

== Care
#lorem(90)
"""


@cache
def read_typst(source: str) -> Document:
    return read(bytes(typst.compile(source.encode())))


def read(body: bytes) -> Document:
    return extract(body, url="https://example.org/a.pdf", content_type="application/pdf")


def draw(*lines: tuple[int, int, int, str]) -> bytes:
    """Return a file of one page with lines, each with left, height, size and text."""
    content = "".join(f"BT /F {size} Tf {left} {height} Td ({text}) Tj ET\n" for left, height, size, text in lines)
    return make_pdf(content.encode())


def test_headings_have_the_levels_of_the_outline() -> None:
    text = read_typst(SOURCE).main
    assert text.startswith("# Pumps\n\nA pump moves")
    assert "\n## Parts\n" in text
    assert "\n## Care\n" in text


def test_lines_of_a_paragraph_are_joined_and_its_footnote_follows_it() -> None:
    text = read_typst(SOURCE).main
    assert "A pump moves water[^1] from a well, and it needs neither oil nor attention" in text
    assert "for as long as the well has water in it.\n\n[^1]: Or any other liquid.\n" in text


def test_lists_have_signs_and_numbers() -> None:
    text = read_typst(SOURCE).main
    assert "- the barrel\n- the piston, which is the only part of a pump that moves up and down all day\n" in text
    assert "1. Pour water in.\n2. Lift the handle.\n" in text


def test_code_keeps_its_indentation() -> None:
    assert "```\ndef lift(handle):\n    return handle + 1\n```" in read_typst(SOURCE).main


def test_a_ruled_table_is_a_table() -> None:
    table = "| Part | Count | Price |\n| --- | --- | --- |\n| barrel | 1 | 9.50 |\n| piston rod | 2 | 3.25 |\n"
    assert table in read_typst(SOURCE).main


def test_a_ruled_table_stands_between_the_texts_around_it() -> None:
    source = "#set page(height: 300pt)\nBefore it.\n#table(columns: 2, [a], [b], [c], [d])\nAfter it.\n\nAt the end."
    table = "| a | b |\n| --- | --- |\n| c | d |\n"
    assert read_typst(source).text == f"Before it.\n\n{table}\nAfter it.\n\nAt the end.\n"


def test_running_heads_and_page_numbers_are_in_the_rest() -> None:
    document = read_typst(SOURCE)
    assert "The manual of pumps" not in document.main
    assert "# [rest: header]\n\nThe manual of pumps\n" in document.text
    assert "# [rest: footer]\n\n1, 2" in document.text


def test_a_paragraph_goes_on_across_pages() -> None:
    document = read_typst(SOURCE)
    care = document.main[document.main.index("## Care") :]
    assert care.rstrip().count("\n\n") == 1
    inside = [offset for offset, _ in document.pages if offset > document.main.index("## Care")]
    assert inside


def test_columns_are_read_one_after_the_other_though_the_file_draws_rows() -> None:
    source = "#set page(width: 400pt, height: 300pt, columns: 2, margin: 30pt)\n#set par(justify: true)\n#lorem(150)"
    words = read_typst(source).text.split()
    assert words == read_typst("#set page(width: 900pt, height: 900pt)\n#lorem(150)").text.split()
    rows = [
        (left, 700 - 14 * number, 10, f"{side} {number} goes on in this column of text")
        for number in range(8) for left, side in ((50, "Left"), (300, "Right"))
    ]  # fmt: skip
    text = read(draw(*rows)).text
    assert text.index("Left 7") < text.index("Right 0")


def test_an_aligned_table_without_lines_is_a_table() -> None:
    rows = [("Name", "Size", "Kind"), ("alpha", "12", "file"), ("beta", "7", "folder"), ("gamma", "1904", "file")]
    cells = [
        (left, 700 - 14 * number, 10, cell)
        for number, row in enumerate(rows) for left, cell in zip((50, 200, 300), row, strict=True)
    ]  # fmt: skip
    assert "| Name | Size | Kind |\n| --- | --- | --- |\n| alpha | 12 | file |\n" in read(draw(*cells)).text


def test_a_passage_says_its_page() -> None:
    document = read_typst(SOURCE)
    artifact = make_artifact(page("https://example.org/a.pdf", b""), document, "id")
    pages = parse_page_starts(artifact.note(PAGES))
    assert pages == document.pages
    for query, heading, label in (("handle lift", "## Parts", "1"), ("lorem ipsum dolor", "## Care", "2")):
        shown = select(document.text, query, 250, main_end=document.main_end, pages=pages).text
        assert f"[page {label}]\n{heading}\n" in shown


def test_text_with_wrong_characters_is_named() -> None:
    assert read_typst("#set text(size: 9pt)\n" + "ͷ։ൃʹ ศաʹ ͷൃ։ " * 30).notice == "garbled_text"


def test_words_without_spaces_are_named() -> None:
    line = "Thefollowingpackagescomewiththestandardinstallation"
    assert read(draw(*[(50, 700 - 14 * number, 10, line) for number in range(20)])).notice == "glued_text"


def test_text_that_can_be_read_has_no_notice() -> None:
    assert read_typst(SOURCE).notice == ""


def test_a_scan_is_named_as_a_scan() -> None:
    image = b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"
    with pytest.raises(KeyholeError, match="is a scan without a text layer: 1 page of scanned images") as caught:
        read(make_pdf(image))
    assert caught.value.code is Code.EMPTY_DOCUMENT


def show(content: str) -> str:
    """Return the text of a page with one line that is shown by operators."""
    return read(make_pdf(f"BT /F 10 Tf 50 700 Td {content} ET".encode())).text.strip()


def test_words_with_a_gap_and_no_space_between_them_are_two_words() -> None:
    spaced = "(from an) Tj 3 Tc (yo) Tj 0 Tc [300 (ther file)] TJ"  # groff moves the pen by the spacing of characters
    assert show(spaced) == "from any other file"


def test_the_letters_of_a_spaced_title_are_one_word() -> None:
    assert show("3 Tc (TITLE) Tj") == "TITLE"


def test_a_line_of_code_with_an_indented_text_below_it_is_a_term_with_its_definition() -> None:
    entries = "".join(
        f"`{term}`\n#pad(left: 20pt, top: -6pt)[{text}]\n"
        for term, text in (("alpha", "The first letter of all."), ("beta", "The second letter."))
    )
    text = read_typst(f"#set page(width: 300pt, height: 320pt)\nLetters are these.\n\n{entries}\nThat is all.").text
    definitions = "alpha\n: The first letter of all.\nbeta\n: The second letter.\n"
    assert text == f"Letters are these.\n\n{definitions}\nThat is all.\n"


def test_one_line_of_code_above_an_indented_text_stays_as_it_is() -> None:
    source = (
        "#set page(width: 300pt, height: 320pt)\n`alpha`\n#pad(left: 20pt, top: -6pt)[The first letter.]\nThat is all."
    )
    assert "\n: " not in read_typst(source).text


def test_a_document_of_one_page_has_its_running_head_and_page_number_in_the_rest() -> None:
    lines = [(50, 600 - 14 * n, 10, f"Line {n} of the text goes on and on across the page") for n in range(10)]
    document = read(draw((50, 760, 9, "256 The theory of pumps"), *lines, (300, 200, 10, "256")))
    assert "256" not in document.main
    assert document.text.endswith("# [rest: header]\n\n256 The theory of pumps\n\n# [rest: footer]\n\n256\n")


def test_text_along_the_edge_of_a_page_is_in_the_rest() -> None:
    side = "BT /F 16 Tf 0 1 -1 0 30 300 Tm (arXiv:2401.00001v1 [cs.CL] 1 Jan 2024) Tj ET\n"
    text = "".join(f"BT /F 10 Tf 90 {700 - 14 * n} Td (Line {n} of the text goes on) Tj ET\n" for n in range(20))
    document = read(make_pdf((side + text).encode()))
    assert "arXiv" not in document.main
    assert "arXiv:2401.00001v1 [cs.CL] 1 Jan 2024" in document.text


def test_a_line_at_the_top_of_a_few_pages_far_apart_is_no_running_head() -> None:
    page = "#set page(width: 300pt, height: 200pt, margin: 20pt)\n"
    source = page + "".join(
        f"{'The same words' if n % 10 == 0 else f'Page {n}'} begin it.\n#pagebreak()\n" for n in range(40)
    )
    assert read_typst(source).main.count("The same words begin it.") == 4


def write_pages(pages: list[tuple[str, str]], top: str, bottom: str) -> Document:
    """Return a document with a running head, a footer, and on each page a first and a last paragraph around a text."""
    setup = f"#set page(width: 300pt, height: 300pt, margin: 40pt, header: [{top}], footer: [{bottom}])\n"
    return read_typst(setup + "#pagebreak()\n".join(f"{a}\n\n#lorem(40)\n\n#v(1fr)\n{b}\n" for a, b in pages))


@pytest.mark.parametrize("count", [2, 4, 7])
def test_values_at_the_edges_of_pages_are_text(count: int) -> None:
    pages = [
        (f"Sample no: {4000 + 13 * n} \\\nDepth: {3 * n}.1 m \\\nRead on {n} May 2026", f"Total {90 + n * n}")
        for n in range(1, count + 1)
    ]
    document = write_pages(pages, "Harbour office 2025", "Page #context counter(page).display()")
    for first, last in pages:
        for value in (*first.split(" \\\n"), last):
            assert value in document.main
    assert "Harbour" not in document.main
    assert "Page 2" not in document.main


@pytest.mark.parametrize(
    "numbered",
    ["Yearbook N", "N", "- N -", "Page N of 9", "Printed 2026-11-29, page N", "N #h(1fr) Yearbook", "Seite: N"],
)
def test_a_line_with_a_number_that_follows_the_page_is_a_running_head(numbered: str) -> None:
    head = numbered.replace("N", "#context counter(page).display()")
    start = "#counter(page).update(211)\n"
    document = write_pages([(f"{start if n == 0 else ''}Stock {n * n + 70} kg", "End") for n in range(7)], head, "")
    assert "211" not in document.main
    assert "214" in document.text
    assert all(f"Stock {n * n + 70} kg" in document.main for n in range(7))


def test_the_names_of_records_are_text_though_they_are_counted_like_pages() -> None:
    pages = [(f"Record {n} \\\nWeight {n * n} kg \\\nTicket \\#{n}", "End") for n in range(1, 8)]
    assert "Record 3\n\nWeight 9 kg\n\nTicket #3" in write_pages(pages, "", "").main


def place_from_right(*texts: str, gap: float = 3.0) -> list[PdfWord]:
    """Return words in the order of reading, each on the left of the word before it."""
    words, right = [], 500.0
    for text in texts:
        left = right - 5 * len(text)
        words.append(PdfWord(text, left, 100.0, right, 112.0, PdfStyle(10.0, bold=False, fixed=False)))
        right = left - gap
    return words


def test_words_from_right_to_left_keep_their_order() -> None:
    words = place_from_right("שלום", "עולם,", "350", "כתר", "۳۵۰", "السلام", "عليكم")
    assert [line.text for line in split_line(words, 0)] == ["שלום עולם, 350 כתר ۳۵۰ السلام عليكم"]


def test_a_wide_gap_divides_a_line_from_right_to_left_and_a_row_begins_at_its_right() -> None:
    wide = split_line(place_from_right("שלום", "עולם", gap=40.0), 0)
    assert len(wide) == 2
    assert join_row(wide).text == "שלום עולם"


def test_letters_in_drawn_forms_are_written_as_letters() -> None:
    assert clean_piece("ﺍﻟﺴﻼﻡ") == "السلام"
