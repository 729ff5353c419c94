"""OpenDocument: texts, sheets and slides."""

from __future__ import annotations

import io
import zipfile

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.records import Document
from tests.extensions.documents.test_office import recorded

NAMES = "".join(
    f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("style", "style"),
        ("fo", "xsl-fo-compatible"), ("presentation", "presentation"), ("svg", "svg-compatible"),
    )
) + ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'  # fmt: skip
COMMENT = "<office:annotation><dc:creator>Ann</dc:creator><text:p>sure?</text:p></office:annotation>"


def read(kind: str, inner: str, styles: str = "", page: str = "", **parts: str) -> Document:
    """Read a document. `styles`: automatic styles; `page`: a master page; `parts`: parts by name, `__` for a slash."""
    files = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content{NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{inner}</office:{kind}></office:body></office:document-content>",
        "styles.xml": f"<office:document-styles{NAMES}><style:master-page>{page}</style:master-page>"
        "</office:document-styles>",
        **{f"{name.replace('__', '/')}.xml": part for name, part in parts.items()},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, part in files.items():
            archive.writestr(name, part)
    return extract(packed.getvalue(), url="https://example.org/a", content_type="")


def test_a_text_of_libreoffice_keeps_its_structure() -> None:
    document = recorded("report.odt")
    for part in (
        "# Figures\n", "**1,204 documents**", "[method](", "- PDF documents\n  - with an outline\n",
        "1. Fetch the page.\n2. Read it.\n", "| PDF | 310 | 26% |\n", "## Limits\n", "naïve, 東京",
        "def read(body):\n    return body\n", "[^1]: Letters in pictures are not recognized.",
    ):  # fmt: skip
        assert part in document.text


def test_hidden_text_and_deletions_are_left_out_and_comments_stand_in_their_place() -> None:
    style = '<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style>'
    inner = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        f'<text:p>a{COMMENT}b<text:s text:c="2"/>c<text:span text:style-name="H">secret</text:span></text:p>'
        '<text:section text:display="none"><text:p>secret</text:p></text:section>'
    )
    assert read("text", inner, style).text == "a [Comment by Ann: sure?] b c\n"


def test_headers_and_footers_of_a_text_stand_in_the_rest() -> None:
    page = (
        "<style:header><text:p>Harbour</text:p></style:header><style:footer><text:p>7</text:p></style:footer>"
        '<style:footer style:display="false"><text:p>secret</text:p></style:footer>'
    )
    document = read("text", "<text:p>Words.</text:p>", page=page)
    assert (document.main, document.text) == ("Words.\n", "Words.\n\n# [rest: header]\n\nHarbour\n")


def test_a_formula_and_a_chart_are_read_from_their_own_parts() -> None:
    formula = "<math xmlns='http://www.w3.org/1998/Math/MathML'><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"
    row = f"<table:table-row>{cell('May')}{cell('51')}</table:table-row>"
    chart = f"<office:document-content{NAMES}><table:table>{row * 2}</table:table></office:document-content>"
    inner = '<text:p><draw:frame><draw:object xlink:href="./{0}/"/></draw:frame></text:p>'
    assert "a/b" in read("text", inner.format("Object 1"), **{"Object 1__content": formula}).text
    assert "| May | 51 |" in read("text", inner.format("O2"), O2__content=chart).text


def cell(text: str, attributes: str = "", more: str = "") -> str:
    return f"<table:table-cell {attributes}>{more}<text:p>{text}</text:p></table:table-cell>"


def test_sheets_are_tables_with_values_as_they_are_shown() -> None:
    link = '<text:a xlink:href="https://harbour.example/o">Oslo</text:a>'
    rows = (
        cell("Region") + cell("City") + cell("Share"),
        cell("North", 'table:number-rows-spanned="2"') + cell(link) + cell("12.5%", 'office:value="0.125"', COMMENT),
        "<table:covered-table-cell/>" + cell("a|b", 'table:number-columns-repeated="2"'),
        '<table:table-cell office:value="7"/>' + '<table:table-cell table:number-columns-repeated="16000"/>',
    )
    hidden = f'<table:table-row table:visibility="collapse">{cell("x")}</table:table-row>'
    blank = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    written = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    style = '<style:style style:name="H"><style:table-properties table:display="false"/></style:style>'
    sheets = (
        f'<table:table table:name="Data">{written}{hidden}{blank}</table:table>'
        '<table:table table:name="Notes" table:style-name="H"/>'
    )
    assert read("spreadsheet", sheets, style).text == (
        "## Data\n\n| Region | City | Share |\n| --- | --- | --- |\n"
        "| North | [Oslo](https://harbour.example/o) | 12.5% [Comment by Ann: sure?] |\n"
        "| North | a\\|b | a\\|b |\n| 7 |\n| (hidden) x |\n\n## Notes (hidden)\n\n(an empty sheet)\n"
    )


def test_slides_have_numbers_titles_lists_and_notes() -> None:
    def box(text: str, kind: str = "") -> str:
        return f'<draw:frame presentation:class="{kind}"><draw:text-box>{text}</draw:text-box></draw:frame>'

    items = "<text:list><text:list-item><text:p>First</text:p></text:list-item></text:list>"
    notes = f"<presentation:notes>{box('<text:p>Say it.</text:p>', 'notes')}</presentation:notes>"
    slide = f"<draw:page>{box('<text:p>Tides</text:p>', 'title')}{box(items)}{notes}</draw:page>"
    assert read("presentation", slide + "<draw:page/>").text == (
        "## Slide 1: Tides\n\n- First\n\nNotes:\n\nSay it.\n\n## Slide 2\n"
    )


def test_an_encrypted_or_damaged_document_is_a_named_error() -> None:
    with pytest.raises(KeyholeError) as caught:
        read("text", "<text:p>x</text:p>", **{"META-INF__manifest": "<m><encryption-data/></m>"})
    assert caught.value.code is Code.ENCRYPTED_DOCUMENT
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
    with pytest.raises(KeyholeError) as caught:
        extract(packed.getvalue(), url="", content_type="")
    assert caught.value.code is Code.EXTRACTION_FAILED


def test_deep_nesting_is_cut_and_repetitions_are_bounded() -> None:
    deep = "<text:list><text:list-item>" * 100 + "<text:p>x</text:p>" + "</text:list-item></text:list>" * 100
    assert "words" in read("text", f"{deep}<text:p>words</text:p>").text
    row = f'<table:table-row table:number-rows-repeated="99999999">{cell("x")}</table:table-row>'
    assert len(read("spreadsheet", f'<table:table table:name="A">{row * 50}</table:table>').text) < 100_000
