"""Read PDF files as their outline followed by the text of each page. There is no OCR, so scanned pages have no text."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import PARSER_ERRORS, Body
from keyhole.extract.markup import to_one_line
from keyhole.records import Document, Metadata
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown

MAX_STREAM_BYTES: Final = 10_000_000
"""Largest unpacked size of one stream, in bytes. A page of text has some 10 KB of drawing commands, a detailed map 5
MB."""
MAX_OPERATIONS: Final = 300_000
"""Largest number of tokens in the drawing commands of one page. Reading them takes 2 s. A dense page has 10,000."""
MAX_TOTAL_OPERATIONS: Final = 6_000_000
"""Largest number of operators read of all pages: 3,000 pages of plain text or 600 dense ones, which take some 30 s. An
unreadable page counts as `MAX_OPERATIONS`."""
MAX_FORMS: Final = 500
"""Largest number of form XObjects drawn on one page, including nested ones. A form is read again at each use."""
MAX_PAGES: Final = 3_000
"""Largest number of pages read; further pages are counted. Standards and manuals have up to 2,000."""
MAX_CHARS: Final = 20_000_000
"""Largest length of the text, in characters. A small page can repeat one drawing 500 times."""
MAX_OUTLINE_ENTRIES: Final = 300
"""Largest number of outline entries shown. Longer outlines are indexes."""
MAX_OUTLINE_LEVELS: Final = 6
"""Number of levels of the outline that are shown."""

_HYPHENATED = re.compile(r"([^\W\d_]{2,40})[-\u00ad\u2010]\n([^\W\d_]{2,40})([^\s\w]{0,5})(?: |(?=\n|\Z))")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LIGATURES = str.maketrans(
    {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
)
# The first TeX fonts draw accents as separate characters before the letter.
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "˚": "\u030a", "ˇ": "\u030c", "˘": "\u0306", "˜": "\u0303", "ˆ": "\u0302"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}])([A-Za-zı])")
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?(?:(Z)|([+-]\d{2})'?(\d{2})?)?")
_HEADING_LIKE = re.compile(r"^(?=#{1,6}[ \t])", re.MULTILINE)


def read_pdf(body: Body) -> Document:
    """Read the pages under their numbers. Raises KeyholeError for encrypted, scanned and damaged files."""
    import pypdf
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    limits = pypdf.Configuration(
        zlib_maximum_output_length=MAX_STREAM_BYTES,
        lzw_maximum_output_length=MAX_STREAM_BYTES,
        run_length_maximum_output_length=MAX_STREAM_BYTES,
        array_based_stream_maximum_output_length=MAX_STREAM_BYTES,
        stream_decoding_work_maximum_length=4 * MAX_STREAM_BYTES,
        zlib_maximum_recovery_input_length=1_000_000,
        stream_parsing_work_maximum_count=MAX_OPERATIONS,
        xform_maximum_invocations_per_extraction=MAX_FORMS,
        jbig2dec_binary=None,
    )
    errors = (*PARSER_ERRORS, PyPdfError)
    with pypdf.apply_configuration(limits):
        try:
            reader = pypdf.PdfReader(io.BytesIO(body.data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the PDF is encrypted with a password, {body.size_text}")
            count = len(reader.pages)
        except (FileNotDecryptedError, DependencyError, NotImplementedError) as error:
            raise KeyholeError(
                Code.ENCRYPTED_DOCUMENT, f"the PDF's encryption is not supported, {body.size_text}"
            ) from error
        except errors as error:
            raise _damage_error(body) from error
        pages, unread = _read_pages(reader, min(count, MAX_PAGES), errors)
        if not any(pages):
            raise _no_text_error(body, count, unread)
        return _build_document(reader, pages, count, errors)


def _damage_error(body: Body) -> KeyholeError:
    return KeyholeError(
        Code.EXTRACTION_FAILED,
        f"the PDF is damaged and its pages cannot be found, {body.size_text}",
        bytes=len(body.data),
    )


def _no_text_error(body: Body, count: int, unread: int) -> KeyholeError:
    """Return the error for a file without text, which has unreadable pages or no text layer."""
    pages = f"{count:,} page{'' if count == 1 else 's'}"
    if unread:
        return KeyholeError(
            Code.EXTRACTION_FAILED, f"none of the PDF's {pages} can be read, {body.size_text}", bytes=len(body.data)
        )
    return KeyholeError(
        Code.EMPTY_DOCUMENT, f"the PDF has no text layer: {pages} of scanned images or drawings, {body.size_text}",
        bytes=len(body.data), pages=count,
    )  # fmt: skip


def _read_pages(reader: Any, count: int, errors: tuple[type[Exception], ...]) -> tuple[list[str | None], int]:
    """Return the texts of the pages, None for an unreadable page, and the number of unreadable pages."""
    pages: list[str | None] = []
    chars = operations = 0

    def count_operation(*_operation: object) -> None:
        nonlocal operations
        operations += 1

    for number in range(count):
        if chars > MAX_CHARS or operations > MAX_TOTAL_OPERATIONS:
            break
        try:
            text: str | None = _clean_page(reader.pages[number].extract_text(visitor_operand_before=count_operation))
        except errors:
            text = None
            operations += MAX_OPERATIONS
        pages.append(text)
        chars += len(text or "")
    return pages, pages.count(None)


def _clean_page(text: str) -> str:
    """Clean a page's text: remove empty lines and trailing spaces, and replace ligatures and accents by letters."""
    readable = _ACCENTED.sub(_compose_accent, clean(text.replace("\f", "\n")).translate(_LIGATURES))
    lines = (line.rstrip() for line in readable.split("\n"))
    # A line that starts with # must not become a heading.
    return _HEADING_LIKE.sub("\\\\", escape_markdown("\n".join(line for line in lines if line)))


def _compose_accent(pair: re.Match[str]) -> str:
    """Return the accented letter, or the pair unchanged if Unicode has no such letter."""
    letter = unicodedata.normalize("NFC", pair[2].replace("ı", "i") + _ACCENTS[pair[1]])
    return letter if len(letter) == 1 else pair[0]


def _build_document(reader: Any, pages: list[str | None], count: int, errors: tuple[type[Exception], ...]) -> Document:
    metadata = _read_metadata(reader, errors)
    parts = [f"# {escape_markdown(metadata.title)}\n"] if metadata.title else []
    parts += _read_outline(reader, errors)
    words = frozenset(word for page in pages if page for word in _WORD.findall(page))
    for number, page in enumerate(pages, 1):
        text = "(This page cannot be read.)" if page is None else _join_hyphenated(page, words)
        parts.append(f"## Page {number}\n\n{text}\n" if text else f"## Page {number}\n\n(No text on this page.)\n")
    if count > len(pages):
        parts.append(f"({count - len(pages):,} more pages are not read.)\n")
    return Document(
        title=metadata.title, text="\n".join(parts), media_type="", language=metadata.language, metadata=metadata
    )


def _join_hyphenated(page: str, words: frozenset[str]) -> str:
    """Join words that are hyphenated at line ends. The hyphen stays if the file has the hyphenated word elsewhere."""

    def join(match: re.Match[str]) -> str:
        first, second, marks = match.groups()
        if not second[0].islower():
            return match[0]
        hyphen = "-" if f"{first}-{second}" in words else ""
        return f"{first}{hyphen}{second}{marks}\n"

    return _HYPHENATED.sub(join, page).rstrip("\n")


def _read_outline(reader: Any, errors: tuple[type[Exception], ...]) -> list[str]:
    """Return the outline as a list with page numbers, or [] if it is missing or damaged."""
    try:
        lines = list(islice(_iter_outline(reader, reader.outline, 0), MAX_OUTLINE_ENTRIES))
    except errors:
        return []
    return ["Outline:\n\n" + "".join(f"{line}\n" for line in lines)] if lines else []


def _iter_outline(reader: Any, outline: Any, level: int) -> Iterator[str]:
    for entry in outline:
        if isinstance(entry, list):
            if level < MAX_OUTLINE_LEVELS:
                yield from _iter_outline(reader, entry, level + 1)
        elif title := to_one_line(clean(str(entry.title)), 200):
            page = reader.get_destination_page_number(entry)
            yield f"{'  ' * level}- {escape_markdown(title)}" + (
                f" (page {page + 1})" if page is not None and page >= 0 else ""
            )


def _read_metadata(reader: Any, errors: tuple[type[Exception], ...]) -> Metadata:
    try:
        info = reader.metadata or {}
        language = reader.root_object.get("/Lang")
        fields = {key: to_one_line(clean(str(info.get(key) or "")), 500) for key in (
            "/Title", "/Author", "/Subject", "/CreationDate", "/ModDate",
        )}  # fmt: skip
    except errors:
        return Metadata()
    return Metadata(
        title=fields["/Title"][:300], author=fields["/Author"][:200], published=_to_iso_8601(fields["/CreationDate"]),
        modified=_to_iso_8601(fields["/ModDate"]), language=to_one_line(str(language or ""), 20),
        description=fields["/Subject"],
    )  # fmt: skip


def _to_iso_8601(date: str) -> str:
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
