"""Read DOCX and PPTX with the libraries of the extra `office`.

Macros are not run, and external links are not followed.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
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
    archive, mammoth = Archive(body), import_library("mammoth", body)
    packed = archive.repack(is_text_part)
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
    metadata = read_properties(archive)
    return Document(
        title=metadata.title, text=f"{clean(text)}\n", media_type="", language=metadata.language, metadata=metadata
    )


def read_pptx(body: Body) -> Document:
    """Read the slides under their numbers: title, texts, tables, descriptions of pictures, speaker notes."""
    archive, pptx = Archive(body), import_library("pptx", body)
    packed = archive.repack(is_text_part)
    try:
        slides = [_format_slide(number, slide) for number, slide in enumerate(pptx.Presentation(packed).slides, 1)]
    except (*PARSER_ERRORS, pptx.exc.PythonPptxError) as error:
        raise archive.damage_error("its slides cannot be read") from error
    metadata = read_properties(archive)
    head = f"# {escape_markdown(metadata.title)}\n\n" if metadata.title else ""
    return Document(
        title=metadata.title, text=head + clean("\n".join(slides)), media_type="", language=metadata.language,
        metadata=metadata,
    )  # fmt: skip


def read_ole(body: Body) -> Document:
    """Raise KeyholeError for a document that is encrypted or in a legacy Office format."""
    if _ENCRYPTED_PACKAGE in body.data:
        raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the document is encrypted with a password, {body.size_text}")
    raise KeyholeError(
        Code.UNSUPPORTED_MEDIA,
        f"the content is an Office document from before 2007 (application/x-ole-storage), {body.size_text}",
        bytes=len(body.data),
    )


def import_library(name: str, body: Body) -> Any:
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


def is_text_part(name: str) -> bool:
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


def read_relationships(archive: zipfile.ZipFile, name: str) -> dict[str, tuple[str, str]]:
    """Return the type and the target of each relationship of a part: an address, or the name of a part."""
    folder, stem = posixpath.split(name)
    path = f"{folder}/_rels/{stem}.rels"
    root = parse_xml(archive.read(path)) if path in archive.namelist() else None
    targets = {}
    for each in root if root is not None else ():
        target = str(each.get("Target"))
        if each.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        targets[str(each.get("Id"))] = str(each.get("Type")).rpartition("/")[2], target
    return targets


def name_comment(author: str, text: str) -> str:
    by = f" by {escape_markdown(to_one_line(author, 100))}" if author.strip() else ""
    return f"[Comment{by}: {escape_markdown(to_one_line(text, 5_000))}]"


def read_properties(archive: Archive) -> Metadata:
    """Return the title, author, dates and language in the core properties (ECMA-376, part 2, 8.3)."""
    if "docProps/core.xml" not in archive.names:
        return Metadata()
    root = parse_xml(archive.read("docProps/core.xml"))
    if root is None:
        return Metadata()

    def read(name: str, limit: int) -> str:
        return to_one_line(clean(str(root.findtext(f"{{*}}{name}") or "")), limit)

    return Metadata(
        title=read("title", 300), author=read("creator", 200), published=read("created", 40),
        modified=read("modified", 40), language=read("language", 20), description=read("description", 500),
    )  # fmt: skip
