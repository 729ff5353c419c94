"""DOCX, PPTX, XLSX and EPUB: structure, values, limits, and installations without the extra."""

from __future__ import annotations

import io
import re
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

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


@pytest.mark.parametrize("name", ["pandoc.docx", "slides.pptx", "formats.xlsx", "report.rtf"])
def test_without_the_extra_the_error_names_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("mammoth", "pptx", "openpyxl", "striprtf"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(KeyholeError) as caught:
        recorded(name)
    assert caught.value.code is Code.UNSUPPORTED_MEDIA
    assert "need Keyhole's extra [office]" in caught.value.message
    assert caught.value.facts["extra"] == "office"  # the command line adds the command


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


MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def word(inner: str, relationships: str = "", **parts: str) -> Document:
    """Read a Word document with these parts. The names of parts are completed by `word/` and `.xml`."""
    names = f'xmlns:w="{WORD}" xmlns:m="{MATH}" xmlns:c="{CHART}" xmlns:r="{RELATIONSHIPS}"'
    files = {f"word__{name}": content.replace(">", f" {names}>", 1).encode() for name, content in parts.items()}
    files["word__document"] = f"<w:document {names}><w:body>{inner}</w:body></w:document>".encode()
    packed = modified_file("pandoc.docx", **files)
    with zipfile.ZipFile(io.BytesIO(packed)) as old:
        rels = old.read("word/_rels/document.xml.rels").decode()
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as new:
            for name in old.namelist():
                changed = rels.replace("</Relationships>", f"{relationships}</Relationships>").encode()
                new.writestr(name, changed if name == "word/_rels/document.xml.rels" else old.read(name))
    return read(copy.getvalue())


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def related(number: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{number}" Type="{RELATIONSHIPS}/{kind}" Target="{target}"/>'


def math(inner: str) -> str:
    """Return the Markdown of a formula in a line. `inner`: its parts without prefixes."""
    prefixed = re.sub(r"<(/?)", r"<\1m:", inner)
    prefixed = re.sub(r"(\w+)='", r"m:\1='", prefixed)
    return word(f"<w:p><m:oMath>{prefixed}</m:oMath></w:p>").main.strip()


def sign(text: str) -> str:
    return f"<r><t>{text}</t></r>"


@pytest.mark.parametrize(
    ("inner", "tex"),
    [
        (sign("E=mc²"), "$E=mc²$"),
        (f"<sSup><e>{sign('x')}</e><sup>{sign('10')}</sup></sSup>", "$x^{10}$"),
        (f"<sSub><e>{sign('ab')}</e><sub>{sign('i')}</sub></sSub>", "${ab}_i$"),
        (f"<sSubSup><e>{sign('a')}</e><sub>{sign('ij')}</sub><sup>{sign('2')}</sup></sSubSup>", "$a_{ij}^2$"),
        (f"<f><num>{sign('a')}</num><den>{sign('b')}</den></f>", r"$\frac{a}{b}$"),
        (f"<f><fPr><type val='lin'/></fPr><num>{sign('a')}</num><den>{sign('bc')}</den></f>", "$a/{bc}$"),
        (f"<rad><deg>{sign('3')}</deg><e>{sign('x')}</e></rad>", r"$\sqrt[3]{x}$"),
        (f"<nary><naryPr><chr val='∑'/></naryPr><sub>{sign('i')}</sub><sup>{sign('n')}</sup><e>{sign('i')}</e></nary>",
         r"$\sum_i^n i$"),
        (f"<d><dPr><begChr val='['/><endChr val=''/></dPr><e>{sign('x')}</e></d>", r"$\left[x\right.$"),
        (f"<func><fName>{sign('sin')}</fName><e>{sign('θ')}</e></func>", r"$\sin θ$"),
        (f"<limLow><e>{sign('lim')}</e><lim>{sign('n→∞')}</lim></limLow>", r"$\lim_{n→∞}$"),
        (f"<acc><accPr><chr val='⃗'/></accPr><e>{sign('v')}</e></acc>", r"$\vec{v}$"),
        (f"<bar><barPr><pos val='top'/></barPr><e>{sign('y')}</e></bar>", r"$\overline{y}$"),
        (f"<m><mr><e>{sign('a')}</e><e>{sign('b')}</e></mr><mr><e>{sign('c')}</e><e>{sign('d')}</e></mr></m>",
         r"$\begin{matrix} a & b \\ c & d \end{matrix}$"),
        ("<r><rPr><nor/></rPr><t>if 5 %</t></r>", r"$\text{if 5 \%}$"),
        (f"<phant><phantPr><show val='0'/></phantPr><e>{sign('secret')}</e></phant>{sign('x')}", "$x$"),
        (f"<box><e>{sign('x')}</e></box>", "$x$"),
    ],
)  # fmt: skip
def test_a_formula_of_word_is_tex(inner: str, tex: str) -> None:
    assert math(inner) == tex


def test_a_document_of_formulas_only_has_text() -> None:
    formula = "<m:oMathPara><m:oMath><m:r><m:t>E=1</m:t></m:r></m:oMath></m:oMathPara>"
    assert word(f"<w:p>{formula}</w:p>{formula}").text == "$$E=1$$\n\n$$E=1$$\n"
    assert word(f"<w:p>{run('so ')}<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>{run(' is')}</w:p>").text == "so $x$ is\n"


def test_a_formula_nested_too_deeply_is_cut_and_not_an_error() -> None:
    deep = "<m:e><m:box>" * 500 + "</m:box></m:e>" * 500
    assert word(f"<w:p><m:oMath>{deep}</m:oMath>{run('words')}</w:p>").text == "words\n"


def test_headers_and_footers_stand_in_the_rest_with_each_line_once() -> None:
    sections = (
        '<w:p><w:pPr><w:sectPr><w:headerReference w:type="default" r:id="a"/></w:sectPr></w:pPr></w:p>'
        '<w:sectPr><w:headerReference w:type="default" r:id="a"/><w:footerReference w:type="default" r:id="b"/>'
        '<w:headerReference w:type="first" r:id="c"/></w:sectPr>'
    )
    relationships = "".join(related(*each) for each in (("a", "header", "header1.xml"), ("b", "footer", "footer1.xml"),
                                                        ("c", "header", "header2.xml")))  # fmt: skip
    parts = {
        "header1": f"<w:hdr><w:p>{run('Harbour')}<w:r><w:tab/></w:r>{run('office')}</w:p>"
        f"<w:p>{run('x', '<w:vanish/>')}</w:p></w:hdr>",
        "footer1": f"<w:ftr><w:p>{run('Page 7')}</w:p><w:p>{run('Page 7')}</w:p></w:ftr>",
        "header2": f"<w:hdr><w:p>{run('First')}</w:p></w:hdr>",
    }  # fmt: skip
    document = word(f"<w:p>{run('Words.')}</w:p>{sections}", relationships, **parts)
    assert document.main == "Words.\n"
    assert document.text == "Words.\n\n# [rest: header]\n\nHarbour office\n\n# [rest: footer]\n\nPage 7\n"
    titled = sections.replace("</w:sectPr>", "<w:titlePg/></w:sectPr>")
    assert "\n\nFirst\n" in word(f"<w:p>{run('Words.')}</w:p>{titled}", relationships, **parts).text


def test_comments_stand_where_they_were_made() -> None:
    comments = (
        '<w:comments><w:comment w:id="0" w:author="Ann"><w:p><w:r><w:t>Is it right?</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Or [not](x)</w:t></w:r></w:p></w:comment></w:comments>"
    )
    text = word(f'<w:p>{run("412")}<w:r><w:commentReference w:id="0"/></w:r>{run(" crowns")}</w:p>', comments=comments)
    assert text.main == "412 [Comment by Ann: Is it right? Or [not]&#40;x)] crowns\n"


def test_hidden_text_of_a_document_is_not_shown() -> None:
    style = '<w:styles><w:style w:type="character" w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>'
    inner = "".join([
        "<w:p>", run("a", "<w:vanish/>"), run("b", '<w:rStyle w:val="Gone"/>'), run("c", '<w:vanish w:val="0"/>'),
        "</w:p>",
        '<w:p><w:pPr><w:pStyle w:val="Gone"/></w:pPr>', run("d"), "</w:p>",
    ])  # fmt: skip
    assert word(inner, styles=style).text == "c\n"


def chart(*series: tuple[str, dict[str, str], dict[str, str]], number_format: str = "General", title: str = "") -> str:
    def points(tag: str, values: dict[str, str]) -> str:
        cached = "".join(f'<c:pt idx="{place}"><c:v>{value}</c:v></c:pt>' for place, value in values.items())
        return f"<c:{tag}><c:numCache><c:formatCode>{number_format}</c:formatCode>{cached}</c:numCache></c:{tag}>"

    rows = "".join(
        f"<c:ser><c:tx><c:v>{name}</c:v></c:tx>{points('cat', names)}{points('val', values)}</c:ser>"
        for name, names, values in series
    )
    return f"<c:chartSpace><c:chart><c:title><c:v>{title}</c:v></c:title>{rows}</c:chart></c:chartSpace>"


def test_a_chart_is_a_table_of_its_values() -> None:
    months = {"0": "May", "1": "June|July"}
    part = chart(("Boats", months, {"0": "51", "1": "62"}), ("Crew", months, {"1": "7.5"}), title="In &lt;port&gt;")
    drawing = '<w:p><w:r><w:drawing><c:chart r:id="x"/></w:drawing></w:r></w:p>'
    text = word(drawing, related("x", "chart", "charts/chart1.xml"), charts__chart1=part).text
    assert text == (
        "Chart: In &lt;port>\n\n|  | Boats | Crew |\n| --- | --- | --- |\n| May | 51 | |\n| June\\|July | 62 | 7.5 |\n"
    ).replace("|  |", "| |")


def test_the_values_of_a_chart_have_the_signs_of_their_format() -> None:
    drawing = '<w:p><w:r><w:drawing><c:chart r:id="x"/></w:drawing></w:r></w:p>'

    def show(number_format: str, value: str) -> str:
        part = chart(("S", {"0": "A"}, {"0": value}), number_format=number_format)
        return word(drawing, related("x", "chart", "charts/chart1.xml"), charts__chart1=part).text

    assert "| A | 12.5% |" in show("0%", "0.125")
    assert "| A | 2026-01-01 |" in show("yyyy\\-mm\\-dd", "46023")


def test_charts_and_hidden_slides_of_a_presentation_are_shown() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["May", "June"]
    data.add_series("Boats", (51, 62))
    slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 100, 100, data)
    slide._element.set("show", "0")
    packed = io.BytesIO()
    presentation.save(packed)
    assert read(packed.getvalue()).text.endswith(
        "## Slide 1 (hidden)\n\nChart\n\n|  | Boats |\n| --- | --- |\n| May | 51 |\n| June | 62 |\n"
    )


def rtf(inner: str) -> Document:
    return read(f"{{\\rtf1\\ansi\\ansicpg1251 {inner}}}".encode("ascii"))


def test_the_paragraphs_and_tables_of_rtf_are_read() -> None:
    document = recorded("report.rtf")
    assert (
        "| Format | Files | Share |\n| --- | --- | --- |\n| PDF | 310 | 26% |\n| Feeds | 94 | 8% |\n" in document.text
    )
    assert "Scanned pages hold no text. Straße, naïve, 東京.\n" in document.text
    assert (
        rtf("\\trowd {A\\par}\\cell {B\\par}\\cell\\row 1\\cell 2\\cell\\row").text
        == "| A | B |\n| --- | --- |\n| 1 | 2 |\n"
    )


def test_rtf_is_read_in_its_charset_with_its_title_and_without_pictures() -> None:
    picture = "{\\pict\\pngblip " + "89504e47\n" * 100_000 + "}"
    started = time.process_time()
    document = rtf(f"{{\\info{{\\title Tides}}}}\\'cf\\'f0 [a](b)\\par {picture}end")
    assert (document.title, document.text) == ("Tides", "Пр [a]&#40;b)\n\nend\n")
    assert time.process_time() - started < allowed(2)


def test_hidden_text_of_rtf_is_not_shown() -> None:
    assert rtf("a {\\v secret}b\\v secret\\v0 c\\v1 secret\\plain d \\vertal e").text == "a bcd e\n"


def test_damaged_rtf_is_a_named_error() -> None:
    with pytest.raises(KeyholeError) as caught:
        rtf("\\u-99999999999 b")
    assert caught.value.code is Code.EXTRACTION_FAILED
