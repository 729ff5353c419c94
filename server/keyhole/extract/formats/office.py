"""DOCX, PPTX and XLSX by the libraries of the extra `office`, from bounded archives. Runs no macro, follows no link."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from datetime import datetime, time
from typing import Any, Final
from xml.parsers.expat import ExpatError

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import PARSER_FAULTS, Body
from keyhole.extract.decode import tidy
from keyhole.extract.formats.archive import Archive
from keyhole.extract.markup import html_fragment, one_line, table
from keyhole.records import Document, Metadata
from keyhole.text.escape import escaped

MAX_DOCX: Final = 10_000_000
"""Bytes of XML of a Word document: a book of 500 pages has some 5 MB, and mammoth reads 0.4 MB a second."""
MAX_CELLS: Final = 1_000_000
"""Cells of a workbook that are read, empty ones among them: one at the far edge of each row costs 16,384."""
MAX_SHAPES: Final = 20_000
"""Shapes of a presentation; slides have some ten each."""
MAX_NESTING: Final = 20
"""Groups of shapes within groups."""

_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
"""
"""What mammoth does not map of itself: names that Word, LibreOffice and pandoc give to titles, quotes and code."""

_PARTS = re.compile(r".*\.(?:xml|rels)", re.IGNORECASE)
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_UNREAD = re.compile(r"(?:.*/)?(?:embeddings|activeX|ctrlProps|vbaProject|externalLinks|customXml|printerSettings)\b")


def read_docx(body: Body) -> Document:
    """Headings, lists, tables, links and notes of a Word document."""
    archive, mammoth = Archive(body), _library("mammoth", body)
    packed = archive.repacked(_is_read)
    if (size := packed.getbuffer().nbytes) > MAX_DOCX:
        raise KeyholeError(Code.TOO_LARGE, f"the document holds {size:,} bytes of XML, over {MAX_DOCX:,}", bytes=size)
    try:
        pictures = mammoth.images.img_element(lambda _image: {"src": ""})
        converted = mammoth.convert_to_html(packed, style_map=_STYLES, convert_image=pictures)
        text = html_fragment(converted.value, body.url)
    except (*PARSER_FAULTS, ExpatError) as error:
        raise archive.damaged("its text cannot be read") from error
    metadata = _properties(archive)
    return Document(
        title=metadata.title, text=f"{tidy(text)}\n", media_type="", language=metadata.language, metadata=metadata
    )


def read_pptx(body: Body) -> Document:
    """Each slide under its number: title, texts, tables, what pictures show, and the speaker's notes."""
    archive, pptx = Archive(body), _library("pptx", body)
    packed = archive.repacked(_is_read)
    try:
        slides = [_slide(number, slide) for number, slide in enumerate(pptx.Presentation(packed).slides, 1)]
    except (*PARSER_FAULTS, pptx.exc.PythonPptxError) as error:
        raise archive.damaged("its slides cannot be read") from error
    metadata = _properties(archive)
    head = f"# {escaped(metadata.title)}\n\n" if metadata.title else ""
    return Document(
        title=metadata.title, text=head + tidy("\n".join(slides)), media_type="", language=metadata.language,
        metadata=metadata,
    )  # fmt: skip


def read_xlsx(body: Body) -> Document:
    """Each sheet under its name as a table; formulas by the values that were last computed."""
    archive, openpyxl = Archive(body), _library("openpyxl", body)
    packed = archive.repacked(_is_read)
    parts: list[str] = []
    try:
        with warnings.catch_warnings(action="ignore"):  # of parts that are passed over
            workbook = openpyxl.load_workbook(packed, read_only=True, data_only=True, keep_links=False)
            room = MAX_CELLS
            for sheet in workbook.worksheets:
                rows, room = _rows(sheet, room)
                parts.append(_sheet(sheet, rows))
                if not room:
                    break
    except (*PARSER_FAULTS, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise archive.damaged("its sheets cannot be read") from error
    if not room:
        parts.append(f"(The workbook goes on: only its first {MAX_CELLS:,} cells are read.)\n")
    metadata = _properties(archive)
    return Document(title=metadata.title, text=tidy("\n".join(parts)), media_type="", metadata=metadata)


def read_ole(body: Body) -> Document:
    """Nothing: says which of the two kinds of document in this container it is."""
    if _ENCRYPTED_PACKAGE in body.data:
        raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the document is encrypted with a password, {body.size}")
    raise KeyholeError(
        Code.UNSUPPORTED_MEDIA,
        f"the content is an Office document of before 2007 (application/x-ole-storage), {body.size}",
        bytes=len(body.data),
    )


def _library(name: str, body: Body) -> Any:
    """A library of the extra, or the command that installs it."""
    try:
        if name == "mammoth":
            import mammoth

            return mammoth
        if name == "pptx":
            import pptx
            import pptx.exc

            return pptx
        import openpyxl
        import openpyxl.utils.exceptions
    except ImportError as error:
        raise KeyholeError(
            Code.UNSUPPORTED_MEDIA,
            f"Office documents need Keyhole's extra [office], which is not installed ({body.size})",
            bytes=len(body.data),
        ) from error
    return openpyxl


def _is_read(name: str) -> bool:
    """XML parts that hold text or say where it stands: no pictures, macros, embedded files or linked workbooks."""
    return _PARTS.fullmatch(name) is not None and _UNREAD.match(name) is None


def _slide(number: int, slide: Any) -> str:
    title = slide.shapes.title
    named = escaped(one_line(title.text_frame.text)) if title is not None else ""
    parts = [f"## Slide {number}{': ' if named else ''}{named}\n"]
    budget = iter(range(MAX_SHAPES))
    parts += _shapes(slide.shapes, 0 if title is None else title.shape_id, budget, 0)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        parts.append(f"Notes: {escaped(notes.text.strip())}\n")
    return "\n".join(parts)


def _shapes(shapes: Any, title_id: int, budget: Iterator[int], depth: int) -> Iterator[str]:
    for shape in shapes:
        if next(budget, None) is None or depth > MAX_NESTING:
            return
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, title_id, budget, depth + 1)
        elif getattr(shape, "has_table", False):
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            yield "".join(f"{line}\n" for line in table(rows))
        elif getattr(shape, "has_text_frame", False):
            if shape.shape_id != title_id and (text := _paragraphs(shape)):
                yield text
        elif alt := one_line(shape._element.xpath("string(.//p:cNvPr/@descr)")):
            yield f"[IMAGE: {escaped(alt)}]\n"


def _paragraphs(shape: Any) -> str:
    """Paragraphs of a body as list items by their level, of any other box as lines."""
    body = bool(shape.is_placeholder) and shape.placeholder_format.idx > 0
    lines = [
        f"{'  ' * paragraph.level + '- ' if body else ''}{escaped(one_line(paragraph.text, 5_000))}"
        for paragraph in shape.text_frame.paragraphs
        if paragraph.text.strip()
    ]
    return "".join(f"{line}\n" for line in lines)


def _sheet(sheet: Any, rows: list[list[str]]) -> str:
    lines = "".join(f"{line}\n" for line in table(rows)) or "(an empty sheet)\n"
    hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
    return f"## {escaped(one_line(sheet.title))}{hidden}\n\n{lines}"


def _rows(sheet: Any, room: int) -> tuple[list[list[str]], int]:
    """The rows of a sheet that hold something, and how many cells may still be read."""
    sheet.reset_dimensions()  # what a file claims to span is not what it holds
    rows: list[list[str]] = []
    for row in sheet.iter_rows(values_only=True):
        room = max(0, room - max(1, len(row)))
        if not room:
            break
        cells = [_value(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(cells)
    return rows, room


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    return str(value)


def _properties(archive: Archive) -> Metadata:
    """Title, author, dates and language as the file states them (ECMA-376, part 2, 8.3)."""
    if "docProps/core.xml" not in archive.names:
        return Metadata()
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=True)
    try:
        root = etree.parse(io.BytesIO(archive.read("docProps/core.xml")), parser).getroot()
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        return Metadata()

    def said(name: str, limit: int) -> str:
        return one_line(tidy(str(root.findtext(f"{{*}}{name}") or "")), limit)

    return Metadata(
        title=said("title", 300), author=said("creator", 200), published=said("created", 40),
        modified=said("modified", 40), language=said("language", 20), description=said("description", 500),
    )  # fmt: skip
