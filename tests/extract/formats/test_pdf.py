"""PDF: reading order, hyphenation, outline, dates, and hostile files."""

from __future__ import annotations

import time
import zlib
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.extract.formats import pdf
from keyhole.extract.formats.pdf import MAX_STREAM_BYTES, _clean_page, _join_hyphenated, _to_iso_8601
from keyhole.records import Document

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "formats"


def read(body: bytes) -> Document:
    return extract(body, url="https://example.org/a.pdf", content_type="application/pdf")


def make_pdf(content: bytes, *, pages: int = 1) -> bytes:
    """Return a PDF whose pages all draw the same content."""
    packed = zlib.compress(content, 9)
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *[page] * pages,
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return body + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        size, table, size, len(body),
    )  # fmt: skip


def test_two_columns_are_read_one_after_the_other() -> None:
    text = read((FOLDER / "two-columns.pdf").read_bytes()).text
    marks = ["Alpha begins", "Beta follows", "Gamma stands", "Delta is", "## Page 2", "Epsilon opens", "Zeta stands"]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


def test_ligatures_accents_and_hyphenated_words_are_joined() -> None:
    text = read((FOLDER / "two-columns.pdf").read_bytes()).text
    for word in ("efficient", "difficult", "internationalization", "paraphrased", "naïve", "Ångström", "Straße"):
        assert word in text


def test_the_metadata_of_the_file_is_read() -> None:
    document = read((FOLDER / "two-columns.pdf").read_bytes())
    assert document.title == "Bounded reading of pages"
    assert document.metadata.author == "The Keyhole authors"
    assert document.metadata.published.startswith("2026-")
    assert document.text.startswith("# Bounded reading of pages\n\nOutline:\n\n- Introduction (page 1)\n")
    assert read((FOLDER / "outline.pdf").read_bytes()).language == "en"


def test_pages_are_headings_of_the_document() -> None:
    document = read((FOLDER / "outline.pdf").read_bytes())
    paths = [block.heading_path for block in document.blocks if block.kind == "heading"]
    assert paths == [("Handbook of ranges",), ("Handbook of ranges", "Page 1"), ("Handbook of ranges", "Page 2")]


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("encrypted.pdf", Code.ENCRYPTED_DOCUMENT, "encrypted with a password"),
        ("scanned.pdf", Code.EMPTY_DOCUMENT, "no text layer: 2 pages of scanned images"),
        ("cut.pdf", Code.EXTRACTION_FAILED, "damaged"),
    ],
)
def test_a_file_without_text_fails_with_its_cause(name: str, code: Code, words: str) -> None:
    with pytest.raises(KeyholeError, match=words) as caught:
        read((FOLDER / name).read_bytes())
    assert caught.value.code is code


def test_lines_before_the_header_do_not_matter() -> None:
    body = make_pdf(b"BT /F 12 Tf (words) Tj ET")
    assert "words" in extract(b"\r\n \n" + body, url="", content_type="text/html").text


def test_a_page_without_text_is_reported_in_its_place() -> None:
    body = make_pdf(b"BT /F 12 Tf (words) Tj ET", pages=2).replace(b"/Contents 3 0 R", b"/Contents 9 0 R", 1)
    assert "## Page 1\n\n(No text on this page.)\n\n## Page 2\n\nwords\n" in read(body).text


HOSTILE = {
    "a stream that unpacks to much": b" " * (2 * MAX_STREAM_BYTES),
    "a string without end": b"BT /F 12 Tf (" + b"a" * (2 * MAX_STREAM_BYTES) + b") Tj ET",
    "many operations": b"BT /F 12 Tf " + b"(a)Tj " * 1_000_000 + b"ET",
    "many saved states": b"q " * 2_000_000,
    "deep arrays": b"BT /F 12 Tf " + b"[" * 2_000_000,
    "no commands": bytes(range(256)) * 4_000,
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_page_fails_soon(name: str) -> None:
    started = time.process_time()
    with pytest.raises(KeyholeError) as caught:
        read(make_pdf(HOSTILE[name]))
    assert caught.value.code in {Code.EXTRACTION_FAILED, Code.EMPTY_DOCUMENT}
    assert time.process_time() - started < 10


def test_hostile_pages_are_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_TOTAL_OPERATIONS", 3 * pdf.MAX_OPERATIONS)
    started = time.process_time()
    body = make_pdf(b"BT /F 12 Tf " + b"(a)Tj " * 200_000 + b"ET", pages=1_000)
    with pytest.raises(KeyholeError, match="1,000 pages can be read"):
        read(body)
    assert time.process_time() - started < 10


def test_pages_that_are_not_read_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_TOTAL_OPERATIONS", 10)
    text = read(make_pdf(b"BT /F 12 Tf (words) Tj ET", pages=9)).text
    assert text.endswith("## Page 3\n\nwords\n\n(6 more pages are not read.)\n")


@pytest.mark.parametrize(
    ("page", "joined"),
    [
        ("effi-\ncient, flow", "efficient,\nflow"),
        ("a well-\nknown fact", "a well-known\nfact"),
        ("Jean-\nPaul", "Jean-\nPaul"),
        ("pages 3-\n5", "pages 3-\n5"),
        ("the end-\n", "the end-\n"),
    ],
)
def test_a_hyphenated_word_is_joined_unless_its_hyphen_occurs_elsewhere(page: str, joined: str) -> None:
    assert _join_hyphenated(page, frozenset({"well-known"})).rstrip("\n") == joined.rstrip("\n")


def test_a_line_that_starts_like_a_heading_is_escaped() -> None:
    assert _clean_page("# 1 of 2\n#hash  \n\nend") == "\\# 1 of 2\n#hash\nend"


def test_markdown_in_a_line_is_escaped() -> None:
    assert _clean_page("![a](https://a.example)\n<img src=x>") == "!&#91;a]&#40;https://a.example)\n&lt;img src=x>"


@pytest.mark.parametrize(
    ("date", "iso"),
    [
        ("D:20260301120000Z", "2026-03-01T12:00:00Z"),
        ("D:20260301120000+01'30'", "2026-03-01T12:00:00+01:30"),
        ("D:20260301", "2026-03-01"),
        ("D:2026", "2026"),
        ("yesterday", ""),
    ],
)
def test_a_date_keeps_its_precision(date: str, iso: str) -> None:
    assert _to_iso_8601(date) == iso
