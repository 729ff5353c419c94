"""Read PDF files as Markdown. There is no OCR, so scanned pages have no text."""

from __future__ import annotations

import re
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body
from keyhole.extract.formats.pdf.aligned_tables import find_aligned_tables
from keyhole.extract.formats.pdf.blocks import PageItems, PdfBlock, build_blocks
from keyhole.extract.formats.pdf.definitions import mark_definitions
from keyhole.extract.formats.pdf.furniture import take_furniture
from keyhole.extract.formats.pdf.headings import HeadingFinder
from keyhole.extract.formats.pdf.legibility import name_defect
from keyhole.extract.formats.pdf.open_tables import find_open_tables
from keyhole.extract.formats.pdf.page_parts import Line, PdfPage, Table
from keyhole.extract.formats.pdf.pdfium import PdfFile
from keyhole.extract.formats.pdf.reading_order import order_lines, split_line
from keyhole.extract.formats.pdf.ruled_tables import find_ruled_tables, merge_rules
from keyhole.extract.formats.pdf.write_markdown import write_main, write_rest
from keyhole.extract.markup import to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.page_starts import clean_label

MAX_PAGES: Final = 3_000
"""Largest number of pages read; further pages are counted. Standards and manuals have up to 2,000."""
MAX_COST: Final = 5_000_000
"""Largest cost of the pages read, in characters and drawn objects (`PdfPage.cost`): 1,500 dense pages, which take some
10 s. Each page of a hostile file can draw its text thousands of times."""
SCANNED_SHARE: Final = 0.5
"""A page without text is scanned if one image covers this share of it."""
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?(?:(Z)|([+-]\d{2})'?(\d{2})?)?")


def read_pdf(body: Body) -> Document:
    """Read a file's text with its structure. Raises KeyholeError for encrypted, scanned and damaged files."""
    file = PdfFile(body)
    try:
        pages = _read_pages(file)
        if not any(page.lines for page in pages):
            raise _no_text_error(body, file.page_count, pages)
        return _build_document(file, pages)
    finally:
        file.close()


def _read_pages(file: PdfFile) -> list[PdfPage]:
    pages: list[PdfPage] = []
    cost = 0
    for number in range(min(file.page_count, MAX_PAGES)):
        if cost > MAX_COST:
            break
        pages.append(file.read_page(number))
        cost += pages[-1].cost
    return pages


def _no_text_error(body: Body, count: int, pages: list[PdfPage]) -> KeyholeError:
    """Return the error for a file without text: unreadable, scanned, or of drawings."""
    name = f"{count:,} page{'' if count == 1 else 's'}"
    if any(page.unread for page in pages) or not pages:
        return KeyholeError(
            Code.EXTRACTION_FAILED, f"none of the PDF's {name} can be read, {body.size_text}", bytes=len(body.data)
        )
    scanned = sum(page.image_share >= SCANNED_SHARE for page in pages)
    what = "is a scan without a text layer" if scanned * 2 >= len(pages) else "has no text layer"
    of = "scanned images" if scanned * 2 >= len(pages) else "drawings"
    return KeyholeError(
        Code.EMPTY_DOCUMENT, f"the PDF {what}: {name} of {of}, {body.size_text}", bytes=len(body.data), pages=count
    )


def _build_document(file: PdfFile, pages: list[PdfPage]) -> Document:
    metadata = _read_metadata(file)
    headings = HeadingFinder((word for page in pages for line in page.lines for word in line), file.read_outline())
    edges = take_furniture(pages, headings)
    blocks = build_blocks(_lay_out_all(pages), headings)
    mark_definitions(blocks)
    _set_levels(blocks, headings)
    blocks = _add_remarks(blocks, pages, file)
    main = write_main(blocks)
    text, rest = "".join(main.parts), write_rest(edges)
    if not text.strip():
        text, rest = rest, ""
    title = metadata.title or next((block.pieces[0][1] for block in blocks if block.kind == "heading"), "")
    return Document(
        title=to_one_line(clean(title), 300), text=f"{text}\n{rest}" if rest else text, media_type="",
        language=metadata.language, metadata=metadata, notice=name_defect(text),
        main_end=len(text) + 1 if rest else None,
        pages=tuple((offset, clean_label(file.read_label(page), page + 1)) for offset, page in main.pages),
    )  # fmt: skip


def _lay_out_all(pages: list[PdfPage]) -> list[PageItems]:
    """Return the rows and tables of each page."""
    laid_out: list[PageItems] = []
    columns: tuple[float, ...] = ()
    for number, page in enumerate(pages):
        laid_out.append(_lay_out(page, number, columns))
        tables = [item for part in laid_out[-1] for item in part if isinstance(item, Table)]
        columns = tables[-1].columns if tables else ()
    return laid_out


def _lay_out(page: PdfPage, number: int, last_columns: tuple[float, ...]) -> PageItems:
    """Return the rows and tables of a page by part, in reading order."""
    words = [word for line in page.lines for word in line]
    merged = merge_rules(page.rules)
    tables, used = find_ruled_tables(page.rules, merged, words, number, last_columns)
    remaining = [[word for word in line if id(word) not in used] for line in page.lines]
    open_tables, in_open = find_open_tables(merged, remaining, number)
    tables += open_tables
    lines: list[Line] = []
    for line in remaining:
        kept = [word for word in line if id(word) not in in_open]
        lines += split_line(kept, number) if kept else []
    parts: PageItems = [find_aligned_tables(rows) for rows in order_lines(lines)] if lines else []
    for table in tables:
        _insert_table(parts, table)
    return parts


def _insert_table(parts: PageItems, table: Table) -> None:
    """Put a table after the lowest text above it in the columns that stand around it."""
    above = (float("-inf"), 0, 0)
    for number, part in enumerate(parts):
        for index, item in enumerate(part):
            if isinstance(item, Table):
                left, right, top = item.left, item.right, item.top
            else:
                left, right, top = *item[0].column, item[0].top
            if left < table.right and right > table.left and above[0] < top <= table.top:
                above = top, number, index + 1
    if parts:
        parts[above[1]].insert(above[2], table)
    else:
        parts.append([table])


def _set_levels(blocks: list[PdfBlock], headings: HeadingFinder) -> None:
    found = [block for block in blocks if block.kind == "heading"]
    texts = [(block.pieces[0][0], " ".join(text for _, text in block.pieces), block.lines[0].style) for block in found]
    for block, level in zip(found, headings.set_levels(texts), strict=True):
        block.level = level


def _add_remarks(blocks: list[PdfBlock], pages: list[PdfPage], file: PdfFile) -> list[PdfBlock]:
    """Return the blocks with a remark for each page that is scanned or cannot be read, and for pages not read."""
    remarks = [
        PdfBlock("remark", [(number, f"(Page {number + 1} {what}.)")])
        for number, page in enumerate(pages)
        if (what := _describe_missing(page))
    ]
    if left_out := file.page_count - len(pages):
        remarks.append(PdfBlock("remark", [(len(pages), f"({left_out:,} more pages are not read.)")]))
    return sorted([*blocks, *remarks], key=lambda block: block.pieces[0][0]) if remarks else blocks


def _describe_missing(page: PdfPage) -> str:
    if page.unread:
        return "cannot be read"
    return "is a scanned image without text" if not page.lines and page.image_share >= SCANNED_SHARE else ""


def _read_metadata(file: PdfFile) -> Metadata:
    def read(name: str) -> str:
        return to_one_line(clean(file.read_metadata(name)), 500)

    return Metadata(
        title=read("Title")[:300], author=read("Author")[:200], published=to_iso_8601(read("CreationDate")),
        modified=to_iso_8601(read("ModDate")), language=to_one_line(clean(file.read_language()), 20),
        description=read("Subject"),
    )  # fmt: skip


def to_iso_8601(date: str) -> str:
    """Convert a PDF date (ISO 32000-1, 7.9.4) to ISO 8601 with the same precision. Returns "" if it is invalid."""
    match = _DATE.match(date)
    if not match:
        return ""
    year, month, day, hour, minute, second, utc, zone, zone_minutes = match.groups()
    iso = "-".join(part for part in (year, month, day) if part)
    if not (day and hour):
        return iso
    offset = "Z" if utc else f"{zone}:{zone_minutes or '00'}" if zone else ""
    return f"{iso}T{hour}:{minute}:{second or '00'}{offset}"
