"""Read PDF files as Markdown. There is no OCR, so scanned pages have no text."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.documents.pdf.page_parts import (
    PdfLine,
    PdfPage,
    PdfRow,
    PdfRule,
    PdfStyle,
    PdfTable,
    PdfWord,
    make_rows,
    order_parts,
    split_line,
)
from keyhole.extensions.documents.pdf.pdf_blocks import (
    LEADING,
    HeadingFinder,
    PageItems,
    PdfBlock,
    build_blocks,
    take_furniture,
)
from keyhole.extensions.documents.pdf.pdf_tables import (
    MAX_RULES,
    ROW_GAP,
    find_aligned_tables,
    find_columns,
    find_ruled_tables,
    merge_rules,
    place_row,
)
from keyhole.extensions.documents.pdf.pdfium import PdfFile
from keyhole.extensions.documents.pdf.write_markdown import add_links, write_main, write_rest
from keyhole.extract.body import Body
from keyhole.extract.markup import to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.page_structure import clean_label

# Find tables whose drawn lines stand between rows only, as scientific papers have them: columns show by their gaps.

NEAR: Final = 6.0
"""Largest distance of the ends of two lines of one table, in points."""
MIN_WIDTH: Final = 60.0
"""Shortest line of a table, in points. Lines below words and fractions are shorter."""
MIN_RULES: Final = 3
"""Smallest number of lines: above the header, below it, and at the end."""
SLACK: Final = 20.0
"""Largest distance of the heights of two words of one line, in points."""
MAX_CELL_CHARS: Final = 600
"""Longest cell. Longer texts are columns of prose between lines that have another purpose."""
MAIN_SHARE: Final = 0.5
"""A band between two lines with more than this share of the rows of text holds several rows of the table."""

Band = list[PdfRow]
"""The rows of text between two lines."""


def find_open_tables(
    merged: Sequence[PdfRule], lines: Sequence[Sequence[PdfWord]], page: int
) -> tuple[list[PdfTable], set[int]]:
    """Return the tables of a page, and the identities of their words. `merged`: the lines from `merge_rules`."""
    tables: list[PdfTable] = []
    used: set[int] = set()
    if not MIN_RULES <= len(merged) <= MAX_RULES:
        return tables, used
    by_height = sorted((line for line in lines if line), key=_middle)
    for group in _group(merged):
        bands = _read_bands(group, by_height, page)
        for run in _find_runs(bands):
            table = _build(run)
            pieces = [line for band in run for row in band for line in row]
            if table is not None:
                top, bottom = min(line.top for line in pieces), max(line.bottom for line in pieces)
                tables.append(PdfTable(table, group[0].left, top, group[0].right, bottom, page))
                used |= {id(word) for line in pieces for word in line.words}
    return tables, used


def _group(rules: Sequence[PdfRule]) -> list[list[PdfRule]]:
    """Return the horizontal lines with the same ends, from top to bottom."""
    groups: list[list[PdfRule]] = []
    for rule in sorted((r for r in rules if r.top == r.bottom and r.right - r.left >= MIN_WIDTH), key=lambda r: r.top):
        for group in groups:
            if abs(group[0].left - rule.left) <= NEAR and abs(group[0].right - rule.right) <= NEAR:
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [group for group in groups if len(group) >= MIN_RULES]


def _read_bands(group: Sequence[PdfRule], lines: Sequence[Sequence[PdfWord]], page: int) -> list[Band | None]:
    """Return the bands between drawn lines, None where a table ends: at an empty place with room for a line.

    `lines`: from top to bottom. The header may stand above the first drawn line, and the last row below the last one.
    """
    bands: list[Band | None] = []
    for above, below in itertools.pairwise(group):
        rows = _read_band(above, below, lines, page)
        bands += _split_band(rows) if rows else [None] if below.top - above.top > SLACK else [[]]
    above, below = group[0], group[-1]
    head = _read_band(above._replace(top=above.top - 2 * SLACK), above, lines, page)
    foot = _read_band(below, below._replace(top=below.top + 2 * SLACK), lines, page)
    if _fits(head, head[-1:], bands[0]):
        bands.insert(0, head[-1:])
    if _fits(foot, foot[:1], bands[-1]):
        bands.append(foot[:1])
    return bands


def _split_band(rows: Band) -> list[Band | None]:
    """Return the rows in groups, with None between them, where more than an empty line is between two rows."""
    bands: list[Band | None] = [[]]
    end = float("inf")
    for row in rows:
        top, bottom = min(line.top for line in row), max(line.bottom for line in row)
        if top - end > ROW_GAP * (bottom - top):
            bands += [None, []]
        bands[-1] = [*(bands[-1] or []), row]
        end = max(bottom, end) if end < float("inf") else bottom
    return bands


def _fits(rows: Band, edge: Band, band: Band | None) -> bool:
    """Return whether a row beside a table is the only one there with cells, one for each column of the next band."""
    pieces = [line for row in band or [] if len(row) > 1 for line in row]
    if not pieces or not edge or [row for row in rows if len(row) > 1] != edge:
        return False
    return len(edge[0]) == len(find_columns(pieces)) == len(find_columns([*pieces, *edge[0]]))


def _read_band(above: PdfRule, below: PdfRule, lines: Sequence[Sequence[PdfWord]], page: int) -> Band:
    """Return the text between two drawn lines. `lines`: from top to bottom."""
    pieces: list[PdfLine] = []
    start = bisect_left(lines, above.top - SLACK, key=_middle)
    for line in lines[start : bisect_left(lines, below.top + SLACK, key=_middle)]:
        inside = [word for word in line if _is_between(word, above, below)]
        pieces += split_line(inside, page) if inside else []
    return make_rows(pieces)


def _middle(line: Sequence[PdfWord]) -> float:
    return (line[0].top + line[0].bottom) / 2


def _is_between(word: PdfWord, above: PdfRule, below: PdfRule) -> bool:
    middle = (word.top + word.bottom) / 2
    return above.top < middle < below.top and above.left - NEAR < word.left and word.right < above.right + NEAR


def _find_runs(bands: Sequence[Band | None]) -> Iterator[list[Band]]:
    """Yield each run of bands that are parts of a table, with text in at least two of them."""
    for is_part, run in itertools.groupby(bands, key=_is_part):
        found = [band for band in run if band] if is_part else []
        if len(found) >= 2 and any(len(row) > 1 for band in found for row in band):
            yield found


def _is_part(band: Band | None) -> bool:
    """Return whether half of the rows of a band have several cells. A title above them is no part of the table."""
    return band is not None and 2 * sum(len(row) > 1 for row in band) >= len(band)


def _crosses(row: PdfRow, columns: Sequence[tuple[float, float]]) -> bool:
    """Return whether a row is one piece of text over several columns."""
    return len(row) == 1 and sum(row[0].left < right and left < row[0].right for left, right in columns) > 1


def _build(bands: Sequence[Band]) -> tuple[tuple[str, ...], ...] | None:
    """Return the cells of a table, None if the text stands in one column or is prose."""
    columns = find_columns([line for band in bands for row in band if len(row) > 1 for line in row])
    count = sum(map(len, bands))
    if len(columns) < 2 or any(_crosses(row, columns) for band in bands for row in band):
        return None
    cells: list[list[str]] = []
    for band in bands:
        is_divided = len(band) > 2 and len(band) > MAIN_SHARE * count
        for number, row in enumerate(band):
            new = place_row(row, columns)
            is_apart = number > 0 and row[0].top - band[number - 1][0].bottom > LEADING * row[0].style.size
            if number and (not (is_divided or is_apart) or not new[0]):
                cells[-1] = [f"{old} {more}".strip() for old, more in zip(cells[-1], new, strict=True)]
            else:
                cells.append(new)
    if len(cells) < 2 or any(len(cell) > MAX_CELL_CHARS for row in cells for cell in row):
        return None
    return tuple(map(tuple, cells))


# Find terms and their definitions: a short line in bold or in one width, and an indented paragraph below it.

MAX_TERM_CHARS: Final = 80
"""Longest term. Signatures of functions have up to 80 characters."""
MIN_INDENT: Final = 0.8
"""Smallest indentation of a definition, in sizes of its font."""
MAX_INDENT: Final = 8.0
"""Largest indentation of a definition, in sizes of its font. What stands further right is a column or a quotation."""
MAX_GAP: Final = 2.0
"""Largest distance of a definition from its term, in sizes of its font."""
MIN_TERMS: Final = 2
"""Smallest number of terms of a document that begin at one place. One may be chance."""


def mark_definitions(blocks: Sequence[PdfBlock]) -> None:
    """Change the kind of blocks that are terms to `term`, and that of their texts to `definition`.

    A term below a wide gap looks like a heading. It is a term if most lines like it, at its place, are terms.
    """
    pairs = [n for n in range(len(blocks) - 1) if _is_term(blocks[n]) and _defines(blocks[n], blocks[n + 1])]
    places = Counter((_place(blocks[n]), blocks[n].kind == "heading") for n in pairs)
    for number in pairs:
        place = _place(blocks[number])
        if places[place, False] >= max(MIN_TERMS, places[place, True]):
            _mark(blocks, number)


def _mark(blocks: Sequence[PdfBlock], number: int) -> None:
    """Mark a term, its definition, and the paragraphs that follow with the same indentation."""
    term = blocks[number]
    term.kind = "term"
    for block in blocks[number + 1 :]:
        if block.kind != "paragraph" or _is_term(block) or not _is_indented(term, block):
            break
        block.kind = "definition"


def _place(block: PdfBlock) -> tuple[int, PdfStyle]:
    """Return the indentation of a block's first line, in points, and its style."""
    line = block.lines[0]
    return round(line.left - line.column[0]), line.style


def _is_term(block: PdfBlock) -> bool:
    if block.kind not in {"paragraph", "code", "heading"} or len(block.lines) != 1:
        return False
    line = block.lines[0]
    return len(line.text) <= MAX_TERM_CHARS and (line.style.bold or line.style.fixed)


def _defines(term: PdfBlock, block: PdfBlock) -> bool:
    """Return whether a paragraph is indented below a term, on its page or at the top of the next one."""
    if block.kind != "paragraph" or block.lines[0].style.fixed or not _is_indented(term, block):
        return False
    above, below = term.lines[0], block.lines[0]
    return below.page == above.page + 1 or 0 <= below.top - above.bottom < MAX_GAP * below.style.size


def _is_indented(term: PdfBlock, block: PdfBlock) -> bool:
    size = block.lines[0].style.size or 1.0
    return MIN_INDENT <= (min(line.left for line in block.lines) - term.lines[0].left) / size <= MAX_INDENT


# Detect text that a PDF file gives wrongly: characters of the wrong code, and words without spaces between them.

GARBLED_SHARE: Final = 0.05
"""A text is garbled if this share of its words has letters of unlike scripts, or characters without a meaning."""
GLUED_SHARE: Final = 0.25
"""Words are glued if this share of the letters stands in words of over 25 letters. German manuals have 0.01."""
MIN_WORDS: Final = 20
"""A shorter text is not judged."""
_WORD = re.compile(r"[^\s|#*`]+")
_NONSENSE = re.compile(r"[\ufffd\ue000-\uf8ff\x80-\x9f\U000f0000-\U0010ffff]")
_SCRIPTS = re.compile(
    r"(?P<latin>[a-zA-Z\u00c0-\u024f])|(?P<greek>[\u0370-\u03ff])|(?P<cyrillic>[\u0400-\u04ff])|(?P<armenian>[\u0530-\u058f])"
    r"|(?P<hebrew>[\u05d0-\u05ff])|(?P<arabic>[\u0620-\u06ff])|(?P<indic>[\u0900-\u0dff])|(?P<thai>[\u0e00-\u0eff])"
    r"|(?P<georgian>[\u10a0-\u10ff])|(?P<ethiopic>[\u1200-\u137f])|(?P<phonetic>[\u0250-\u02af])"
)
_LONG_WORD = re.compile(r"[a-zA-Z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]{26,}")
_LETTER = re.compile(r"[a-zA-Z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]")


def name_defect(text: str) -> str:
    """Return the notice for a text: `garbled`, `glued`, or "" for a text that can be read."""
    words = _WORD.findall(text)
    if len(words) >= MIN_WORDS and sum(map(_is_garbled, words)) > GARBLED_SHARE * len(words):
        return "garbled_text"
    letters = len(_LETTER.findall(text))
    glued = sum(len(word) for word in _LONG_WORD.findall(text))
    return "glued_text" if letters >= 10 * MIN_WORDS and glued > GLUED_SHARE * letters else ""


def _is_garbled(word: str) -> bool:
    if word.isascii():
        return False
    nonsense = len(_NONSENSE.findall(word))
    scripts = {match.lastgroup for match in _SCRIPTS.finditer(word)}
    return (nonsense > 1 and nonsense * 3 > len(word)) or (len(scripts) >= 2 and len(word) > 2)


# Read PDF files as Markdown. There is no OCR, so scanned pages have no text.

MAX_PAGES: Final = 3_000
"""Largest number of pages read; further pages are counted. Standards and manuals have up to 2,000."""
MAX_COST: Final = 5_000_000
"""Largest cost of the pages read, in characters and drawn objects (`PdfPage.cost`): 1,500 dense pages, which take some
10 s. Each page of a hostile file can draw its text thousands of times."""
HURRIED_COST: Final = 300_000
"""The same for a file that took too long: 50 to 100 dense pages, which take a second."""
SCANNED_SHARE: Final = 0.5
"""A page without text is scanned if one image covers this share of it."""
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?(?:(Z)|([+-]\d{2})'?(\d{2})?)?")


def read_pdf(body: Body) -> Document:
    """Read a file's text with its structure. Raises KeyholeError for encrypted, scanned and damaged files."""
    file = PdfFile(body)
    try:
        pages = _read_pages(file, HURRIED_COST if body.is_hurried else MAX_COST)
        if not any(page.lines or page.notes for page in pages):
            raise _no_text_error(body, file.page_count, pages)
        return _build_document(file, pages)
    finally:
        file.close()


def _read_pages(file: PdfFile, max_cost: int) -> list[PdfPage]:
    pages: list[PdfPage] = []
    cost = 0
    for number in range(min(file.page_count, MAX_PAGES)):
        if cost > max_cost:
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
    urls = {sign: address for address, sign in file.links.items()}
    main = write_main(blocks, urls)
    text, rest = "".join(main.parts), write_rest(edges, urls)
    if not text.strip():
        text, rest = rest, ""
    headline = next((block.pieces[0][1] for block in blocks if block.kind == "heading"), "")
    title = metadata.title or add_links(headline, {})
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
        tables = [item for part in laid_out[-1] for item in part if isinstance(item, PdfTable)]
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
    lines: list[PdfLine] = []
    for line in remaining:
        kept = [word for word in line if id(word) not in in_open]
        lines += split_line(kept, number) if kept else []
    return [_place_tables(find_aligned_tables(rows), of_part) for rows, of_part in order_parts(lines, tables)]


def _place_tables(part: list[PdfRow | PdfTable], tables: Sequence[PdfTable]) -> list[PdfRow | PdfTable]:
    """Return the rows of a part with each table after the lowest text above it."""
    for table in tables:
        tops = [item.top if isinstance(item, PdfTable) else item[0].top for item in part]
        part.insert(max((number for number, top in enumerate(tops, start=1) if top <= table.top), default=0), table)
    return part


def _set_levels(blocks: list[PdfBlock], headings: HeadingFinder) -> None:
    found = [block for block in blocks if block.kind == "heading"]
    texts = [(block.pieces[0][0], " ".join(text for _, text in block.pieces), block.lines[0].style) for block in found]
    for block, level in zip(found, headings.set_levels(texts), strict=True):
        block.level = level


def _add_remarks(blocks: list[PdfBlock], pages: list[PdfPage], file: PdfFile) -> list[PdfBlock]:
    """Return the blocks with the notes of readers, and a remark for each page that cannot be read or was not read."""
    remarks = [
        PdfBlock("remark", [(number, f"(Page {number + 1} {what}.)")])
        for number, page in enumerate(pages)
        if (what := _describe_missing(page))
    ]
    remarks += [PdfBlock("remark", [(number, note)]) for number, page in enumerate(pages) for note in page.notes]
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
