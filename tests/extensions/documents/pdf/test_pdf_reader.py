"""PDF: reading order, hyphenation, outline, dates, and hostile files."""

from __future__ import annotations

import time
import zlib
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.pdf import reader
from keyhole.extensions.documents.pdf.reader import to_iso_8601
from keyhole.extensions.documents.pdf.write_markdown import collect_hyphenated, join_lines
from keyhole.extract import extract
from keyhole.records import Document
from tests.support.machine import allowed

FOLDER = Path(__file__).resolve().parents[4] / "fixtures" / "formats"


def read(body: bytes) -> Document:
    return extract(body, url="https://example.org/a.pdf", content_type="application/pdf")


def make_pdf(content: bytes, *, pages: int = 1, entries: bytes = b"") -> bytes:
    """Return a PDF whose pages all draw the same content. `entries`: more entries of the dictionary of each page."""
    packed = zlib.compress(content, 9)
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>%s>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *[page % entries] * pages,
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
    marks = ["Alpha begins", "Beta follows", "Gamma stands", "Delta is", "Epsilon opens", "Zeta stands"]
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
    assert read((FOLDER / "outline.pdf").read_bytes()).language == "en"


def test_the_pages_begin_at_offsets_with_their_labels() -> None:
    document = read((FOLDER / "two-columns.pdf").read_bytes())
    assert [label for _, label in document.pages] == ["1", "2"]
    assert document.pages[0][0] == 0
    assert document.text[document.pages[1][0] :].startswith("# 4 Second page\n\nEpsilon opens")


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("encrypted.pdf", Code.ENCRYPTED_DOCUMENT, "encrypted with a password"),
        ("scanned.pdf", Code.EMPTY_DOCUMENT, "a scan without a text layer: 2 pages of scanned images"),
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


HOSTILE = {
    "a stream that unpacks to much": b" " * 20_000_000,
    "a string without end": b"BT /F 12 Tf (" + b"a" * 20_000_000 + b") Tj ET",
    "many saved states": b"q " * 2_000_000,
    "deep arrays": b"BT /F 12 Tf " + b"[" * 2_000_000,
    "no commands": bytes(range(256)) * 4_000,
    "many operations": b"BT /F 12 Tf " + b"(a)Tj " * 250_000 + b"ET",
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_page_ends_soon(name: str) -> None:
    started = time.process_time()
    try:
        document = read(make_pdf(HOSTILE[name]))
    except KeyholeError as error:
        assert error.code in {Code.EXTRACTION_FAILED, Code.EMPTY_DOCUMENT}
    else:
        assert document.notice == "glued_text"
    assert time.process_time() - started < allowed(10)


def test_pages_that_are_not_read_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_COST", 20)
    text = read(make_pdf(b"BT /F 12 Tf (words) Tj ET", pages=9)).text
    assert text.endswith("words\n\n(6 more pages are not read.)\n")


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (("effi-", "cient, flow"), "efficient, flow"),
        (("effi\ufffe", "cient, flow"), "efficient, flow"),
        (("a well-", "known fact"), "a well-known fact"),
        (("Jean-", "Paul"), "Jean- Paul"),
        (("pages 3-", "5"), "pages 3- 5"),
        (("新しい", "行"), "新しい行"),
        (("the end", "of it"), "the end of it"),
    ],
)
def test_a_hyphenated_word_is_joined_unless_its_hyphen_occurs_elsewhere(lines: tuple[str, str], joined: str) -> None:
    hyphenated = collect_hyphenated(["a well-known fact"])
    assert join_lines([(0, lines[0]), (1, lines[1])], hyphenated)[0] == joined


def test_the_offset_of_a_page_within_a_paragraph_is_that_of_its_first_text() -> None:
    assert join_lines([(0, "One effi-"), (1, "cient two")], frozenset()) == ("One efficient two", [(0, 0), (1, 8)])


@pytest.mark.parametrize(
    ("drawn", "written"),
    [
        ("# 1 of 2", "\\# 1 of 2"),
        ("#hash", "#hash"),
        ("![a]\\(https://a.example\\)", "!&#91;a]&#40;https://a.example)"),
        ("<img src=x>", "&lt;img src=x>"),
    ],
)
def test_a_line_is_no_markup(drawn: str, written: str) -> None:
    assert read(make_pdf(b"BT /F 12 Tf 50 700 Td (" + drawn.encode() + b") Tj ET")).text == written + "\n"


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
    assert to_iso_8601(date) == iso
