"""Read DOCX, PPTX and XLSX with the libraries of the extra `office`.

Macros are not run, and external links are not followed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import datetime, time
from typing import Any, Final
from xml.parsers.expat import ExpatError

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import PARSER_ERRORS, Body
from keyhole.extract.formats.xml import parse_xml
from keyhole.extract.formats.zip_archive import Archive
from keyhole.extract.markup import format_table, fragment_to_markdown, to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

MAX_DOCX_BYTES: Final = 10_000_000
"""Largest size of the XML in a Word document, in bytes. A book of 500 pages has some 5 MB. mammoth reads 0.4 MB per
second."""
MAX_CELLS: Final = 1_000_000
"""Largest number of cells read of a workbook. Empty cells count, so a cell at the far right of a row counts 16,384."""
MAX_SHAPES: Final = 20_000
"""Largest number of shapes read of one slide. Slides have some ten."""
MAX_NESTING: Final = 20
"""Levels of nested shape groups that are read."""

_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
"""
"""Styles that mammoth does not map by default: the titles, quotes and code of Word, LibreOffice and pandoc."""

_XML_PARTS = re.compile(r".*\.(?:xml|rels)", re.IGNORECASE)
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_SKIPPED_PARTS = re.compile(
    r"(?:.*/)?(?:embeddings|activeX|ctrlProps|vbaProject|externalLinks|customXml|printerSettings)\b"
)


def read_docx(body: Body) -> Document:
    """Read the headings, lists, tables, links and notes of a Word document."""
    archive, mammoth = Archive(body), _import_library("mammoth", body)
    packed = archive.repack(_is_text_part)
    if (size := packed.getbuffer().nbytes) > MAX_DOCX_BYTES:
        raise KeyholeError(
            Code.TOO_LARGE, f"the document contains {size:,} bytes of XML, over {MAX_DOCX_BYTES:,}", bytes=size
        )
    try:
        pictures = mammoth.images.img_element(lambda _image: {"src": ""})
        converted = mammoth.convert_to_html(packed, style_map=_STYLES, convert_image=pictures)
        text = fragment_to_markdown(converted.value, body.url, body.url)
    except (*PARSER_ERRORS, ExpatError) as error:
        raise archive.damage_error("its text cannot be read") from error
    metadata = _read_properties(archive)
    return Document(
        title=metadata.title, text=f"{clean(text)}\n", media_type="", language=metadata.language, metadata=metadata
    )


def read_pptx(body: Body) -> Document:
    """Read the slides under their numbers: title, texts, tables, descriptions of pictures, speaker notes."""
    archive, pptx = Archive(body), _import_library("pptx", body)
    packed = archive.repack(_is_text_part)
    try:
        slides = [_format_slide(number, slide) for number, slide in enumerate(pptx.Presentation(packed).slides, 1)]
    except (*PARSER_ERRORS, pptx.exc.PythonPptxError) as error:
        raise archive.damage_error("its slides cannot be read") from error
    metadata = _read_properties(archive)
    head = f"# {escape_markdown(metadata.title)}\n\n" if metadata.title else ""
    return Document(
        title=metadata.title, text=head + clean("\n".join(slides)), media_type="", language=metadata.language,
        metadata=metadata,
    )  # fmt: skip


def read_xlsx(body: Body) -> Document:
    """Read the sheets under their names as tables. Formulas are read as their last computed values."""
    archive, openpyxl = Archive(body), _import_library("openpyxl", body)
    packed = archive.repack(_is_text_part)
    parts: list[str] = []
    try:
        with warnings.catch_warnings(action="ignore"):  # openpyxl warns about parts that it skips
            workbook = openpyxl.load_workbook(packed, read_only=True, data_only=True, keep_links=False)
            cells_left = MAX_CELLS
            for sheet in workbook.worksheets:
                rows, cells_left = _read_rows(sheet, cells_left)
                parts.append(_format_sheet(sheet, rows))
                if not cells_left:
                    break
    except (*PARSER_ERRORS, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise archive.damage_error("its sheets cannot be read") from error
    if not cells_left:
        parts.append(f"(The workbook is longer: only its first {MAX_CELLS:,} cells are read.)\n")
    metadata = _read_properties(archive)
    return Document(title=metadata.title, text=clean("\n".join(parts)), media_type="", metadata=metadata)


def read_ole(body: Body) -> Document:
    """Raise KeyholeError for a document that is encrypted or in a legacy Office format."""
    if _ENCRYPTED_PACKAGE in body.data:
        raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the document is encrypted with a password, {body.size_text}")
    raise KeyholeError(
        Code.UNSUPPORTED_MEDIA,
        f"the content is an Office document from before 2007 (application/x-ole-storage), {body.size_text}",
        bytes=len(body.data),
    )


def _import_library(name: str, body: Body) -> Any:
    """Import a library of the extra `office`. Raises KeyholeError if it is not installed."""
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
            f"Office documents need Keyhole's extra [office], which is not installed ({body.size_text})",
            bytes=len(body.data),
        ) from error
    return openpyxl


def _is_text_part(name: str) -> bool:
    """Return whether a part is XML needed for the text, and not a picture, macro, embedded file or linked workbook."""
    return _XML_PARTS.fullmatch(name) is not None and _SKIPPED_PARTS.match(name) is None


def _format_slide(number: int, slide: Any) -> str:
    title = slide.shapes.title
    heading = escape_markdown(to_one_line(title.text_frame.text)) if title is not None else ""
    parts = [f"## Slide {number}{': ' if heading else ''}{heading}\n"]
    remaining = iter(range(MAX_SHAPES))
    parts += _format_shapes(slide.shapes, 0 if title is None else title.shape_id, remaining, 0)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        parts.append(f"Notes: {escape_markdown(notes.text.strip())}\n")
    return "\n".join(parts)


def _format_shapes(shapes: Any, title_id: int, remaining: Iterator[int], depth: int) -> Iterator[str]:
    for shape in shapes:
        if next(remaining, None) is None or depth > MAX_NESTING:
            return
        if hasattr(shape, "shapes"):
            yield from _format_shapes(shape.shapes, title_id, remaining, depth + 1)
        elif getattr(shape, "has_table", False):
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            yield format_table(rows)
        elif getattr(shape, "has_text_frame", False):
            if shape.shape_id != title_id and (text := _format_paragraphs(shape)):
                yield text
        elif alt := to_one_line(shape._element.xpath("string(.//p:cNvPr/@descr)")):
            yield f"[IMAGE: {escape_markdown(alt)}]\n"


def _format_paragraphs(shape: Any) -> str:
    """Format the paragraphs of a body placeholder as nested list items, and those of other shapes as lines."""
    is_body = bool(shape.is_placeholder) and shape.placeholder_format.idx > 0
    lines = [
        f"{'  ' * paragraph.level + '- ' if is_body else ''}{escape_markdown(to_one_line(paragraph.text, 5_000))}"
        for paragraph in shape.text_frame.paragraphs
        if paragraph.text.strip()
    ]
    return "".join(f"{line}\n" for line in lines)


def _format_sheet(sheet: Any, rows: list[list[str]]) -> str:
    lines = format_table(rows) or "(an empty sheet)\n"
    hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
    return f"## {escape_markdown(to_one_line(sheet.title))}{hidden}\n\n{lines}"


def _read_rows(sheet: Any, cells_left: int) -> tuple[list[list[str]], int]:
    """Return the non-empty rows of a sheet, and the number of cells that may still be read."""
    sheet.reset_dimensions()  # the declared dimensions may be wrong
    rows: list[list[str]] = []
    for row in sheet.iter_rows(values_only=True):
        cells_left = max(0, cells_left - max(1, len(row)))
        if not cells_left:
            break
        cells = [_format_value(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(cells)
    return rows, cells_left


def _format_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    return str(value)


def _read_properties(archive: Archive) -> Metadata:
    """Return the title, author, dates and language in the core properties (ECMA-376, part 2, 8.3)."""
    if "docProps/core.xml" not in archive.names:
        return Metadata()
    root = parse_xml(archive.read("docProps/core.xml"))
    if root is None:
        return Metadata()

    def field(name: str, limit: int) -> str:
        return to_one_line(clean(str(root.findtext(f"{{*}}{name}") or "")), limit)

    return Metadata(
        title=field("title", 300), author=field("creator", 200), published=field("created", 40),
        modified=field("modified", 40), language=field("language", 20), description=field("description", 500),
    )  # fmt: skip
