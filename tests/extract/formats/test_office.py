"""DOCX, PPTX, XLSX and EPUB: structure, values, limits, and installations without the extra."""

from __future__ import annotations

import io
import sys
import time
import zipfile
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.records import Document
from tests.support.machine import allowed

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "formats"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def read(body: bytes) -> Document:
    return extract(body, url="https://example.org/a", content_type="application/octet-stream")


def recorded(name: str) -> Document:
    return read((FOLDER / name).read_bytes())


def modified_file(name: str, **parts: bytes) -> bytes:
    """Return a recorded file with some parts replaced or added. `__` in a name stands for a slash."""
    replaced = {part.replace("__", "/") + ".xml": content for part, content in parts.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(FOLDER / name) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for part in dict.fromkeys([*old.namelist(), *replaced]):
            new.writestr(part, replaced[part] if part in replaced else old.read(part))
    return packed.getvalue()


def docx(inner: str) -> bytes:
    return modified_file(
        "pandoc.docx", word__document=f'<w:document xmlns:w="{WORD}"><w:body>{inner}</w:body></w:document>'.encode()
    )


def xlsx(inner: str) -> bytes:
    sheet = f'<worksheet xmlns="{SHEET}"><sheetData>{inner}</sheetData></worksheet>'
    return modified_file("formats.xlsx", xl__worksheets__sheet1=sheet.encode())


@pytest.mark.parametrize("name", ["pandoc.docx", "libreoffice.docx"])
def test_a_document_keeps_its_headings_lists_tables_links_notes_and_code(name: str) -> None:
    document = recorded(name)
    for part in (
        "# Quarterly report\n", "# Figures\n", "**1,204 documents**", "[method](/method)",
        "- PDF documents\n  - with an outline\n", "1. Fetch the page.\n2. Read it.\n", "| PDF | 310 | 26% |\n",
        "## Limits\n", "naïve, 東京", "def read(body):\n    return body\n", "Letters in pictures are not recognized.",
    ):  # fmt: skip
        assert part in document.text
    assert (document.title, document.metadata.author) == ("Quarterly report", "The Keyhole authors")


def test_slides_have_numbers_titles_tables_alternative_texts_and_notes() -> None:
    text = recorded("slides.pptx").text
    assert text.startswith("# Quarterly report\n\n## Slide 1: Quarterly report\n")
    assert "| Feeds | 94 | 8% |\n" in text
    assert text.endswith(
        "## Slide 5: Notes and pictures\n\n- First point\n  - Under it\n\n[IMAGE: a blue square on red]\n\n"
        "Notes: Say this aloud.\n"
    )


def test_sheets_are_tables_with_the_computed_values_of_formulas() -> None:
    assert recorded("formats.xlsx").text == (
        "## Files\n\n| Format | Files | Seconds | Read on |\n| --- | --- | --- | --- |\n"
        "| PDF | 12 | 3.4 | 2026-03-01 |\n| HTML | 120 | 1.2 | 2026-03-01 12:30:00 |\n| a\\|b<br>c | TRUE |\n"
        "| Sum | 132 |\n\n## Empty\n\n(an empty sheet)\n\n"
        "## Notes\n\n| Straße |  |  |\n| --- | --- | --- |\n|  |  | far |\n"
    )


def test_markdown_in_a_cell_is_escaped() -> None:
    words = '<row><c t="inlineStr"><is><t>![a](https://a.example)</t></is></c></row>'
    assert "!&#91;a]&#40;https://a.example)" in read(xlsx(words)).text


def test_the_chapters_of_a_book_follow_the_order_of_its_spine() -> None:
    document = recorded("book.epub")
    marks = ["# Quarterly report", "By The Keyhole authors", "# Figures", "## Limits"]
    places = [document.text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert (document.language, document.metadata.published) == ("en-GB", "2026-03-01")


def test_only_a_book_with_encrypted_chapters_is_rejected_as_encrypted() -> None:
    def locked(part: str) -> bytes:
        reference = f"<encryption xmlns:e='x'><e:CipherReference URI='{part}'/></encryption>"
        return modified_file("book.epub", **{"META-INF__encryption": reference.encode()})

    with zipfile.ZipFile(FOLDER / "book.epub") as book:
        chapter = next(name for name in book.namelist() if name.endswith("ch001.xhtml"))
    with pytest.raises(KeyholeError, match="encrypted"):
        read(locked(chapter))
    assert "Figures" in read(locked("EPUB/fonts/a.ttf")).text


def test_a_spine_cannot_refer_to_files_outside_the_book() -> None:
    package = (
        b"<package><manifest><item id='a' href='../../../etc/passwd' media-type='text/html'/></manifest>"
        b"<spine><itemref idref='a'/></spine></package>"
    )
    container = b"<container><rootfile full-path='x.xml'/></container>"
    with pytest.raises(KeyholeError, match="spine") as caught:
        read(modified_file("book.epub", x=package, **{"META-INF__container": container}))
    assert caught.value.code is Code.EXTRACTION_FAILED


@pytest.mark.parametrize("name", ["pandoc.docx", "slides.pptx", "formats.xlsx"])
def test_without_the_extra_the_error_names_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("mammoth", "pptx", "openpyxl"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(KeyholeError) as caught:
        recorded(name)
    assert caught.value.code is Code.UNSUPPORTED_MEDIA
    assert "need Keyhole's extra [office]" in caught.value.message


def test_a_book_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("mammoth", "pptx", "openpyxl"):
        monkeypatch.setitem(sys.modules, library, None)
    assert recorded("book.epub").text


def test_encrypted_and_legacy_documents_have_different_error_codes() -> None:
    with pytest.raises(KeyholeError, match="encrypted with a password"):
        recorded("password.docx")
    with pytest.raises(KeyholeError, match="before 2007"):
        recorded("old.doc")


CELL = '<c r="XFD{0}"><v>1</v></c>'
HOSTILE = {
    "a part of nothing": modified_file("pandoc.docx", word__document=b" " * 150_000_000),
    "deep tables": docx("<w:tbl><w:tr><w:tc>" * 3_000 + "</w:tc></w:tr></w:tbl>" * 3_000),
    "cut tables": docx("<w:tbl><w:tr><w:tc>" * 50_000),
    "a document of 15 MB": docx("<w:p><w:r><w:t>words</w:t></w:r></w:p>" * 400_000),
    "entities": modified_file("pandoc.docx", word__document=b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'),
    "a column that is none": xlsx('<row r="1"><c r="ZZZZZZ1"><v>1</v></c></row>'),
    "a number without end": xlsx(f'<row r="1"><c r="A1"><v>{"9" * 100_000}</v></c></row>'),
}
FAR = {
    "far columns": xlsx("".join(f'<row r="{n}">{CELL.format(n)}</row>' for n in range(1, 2_000))),
    "a far row": xlsx(f'<row r="1048576">{CELL.format(1048576)}</row>'),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_document_fails_soon(name: str) -> None:
    started = time.process_time()
    with pytest.raises(KeyholeError) as caught:
        read(HOSTILE[name])
    assert caught.value.code in {Code.DECOMPRESSION_BOMB, Code.EXTRACTION_FAILED, Code.TOO_LARGE}
    assert time.process_time() - started < allowed(5)


@pytest.mark.parametrize("name", list(FAR))
def test_distant_cells_are_read_up_to_a_reported_limit(name: str) -> None:
    started = time.process_time()
    assert "The workbook is longer: only its first 1,000,000 cells are read." in read(FAR[name]).text
    assert time.process_time() - started < allowed(5)
