"""PDF as text by page, with the outline on top. Reads the text that is there: draws nothing, recognizes no letters."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import PARSER_FAULTS, Body
from keyhole.extract.decode import tidy
from keyhole.extract.markup import one_line
from keyhole.records import Document, Metadata
from keyhole.text.escape import escaped

MAX_STREAM: Final = 10_000_000
"""Bytes that one stream may unpack to. A page of text has some 10 KB of drawing commands, a detailed map 5 MB."""
MAX_OPERATIONS: Final = 300_000
"""Tokens of one page's drawing commands: 2 s of reading. A dense page of text has 10,000."""
MAX_WORK: Final = 6_000_000
"""Operators of all pages together, some 30 s: 3,000 pages of plain text, 600 dense ones. A page that cannot be read
counts as the largest that can."""
MAX_FORMS: Final = 500
"""Drawings that one page may draw again, nested ones counted: each is read anew."""
MAX_PAGES: Final = 3_000
"""Pages that are read; the rest is counted. Standards and manuals have up to 2,000."""
MAX_CHARS: Final = 20_000_000
"""Characters of text in all: a page that repeats one drawing 500 times makes much of little."""
MAX_OUTLINE: Final = 300
"""Entries of the outline: more are an index, and the page headings are there too."""
MAX_LEVELS: Final = 6
"""Levels of the outline that are given."""

_HYPHENATED = re.compile(r"([^\W\d_]{2,40})[-\u00ad\u2010]\n([^\W\d_]{2,40})([^\s\w]{0,5})(?: |(?=\n|\Z))")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LIGATURES = str.maketrans(
    {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
)
# TeX's first fonts have accents as characters of their own, drawn before the letter.
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "˚": "\u030a", "ˇ": "\u030c", "˘": "\u0306", "˜": "\u0303", "ˆ": "\u0302"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}])([A-Za-zı])")
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?(?:(Z)|([+-]\d{2})'?(\d{2})?)?")
_HEADING_LIKE = re.compile(r"^(?=#{1,6}[ \t])", re.MULTILINE)


def read_pdf(body: Body) -> Document:
    """The pages under their numbers. Raises KeyholeError for encrypted, scanned and hopelessly damaged files."""
    import pypdf
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    limits = pypdf.Configuration(
        zlib_maximum_output_length=MAX_STREAM,
        lzw_maximum_output_length=MAX_STREAM,
        run_length_maximum_output_length=MAX_STREAM,
        array_based_stream_maximum_output_length=MAX_STREAM,
        stream_decoding_work_maximum_length=4 * MAX_STREAM,
        zlib_maximum_recovery_input_length=1_000_000,
        stream_parsing_work_maximum_count=MAX_OPERATIONS,
        xform_maximum_invocations_per_extraction=MAX_FORMS,
        jbig2dec_binary=None,
    )
    faults = (*PARSER_FAULTS, PyPdfError)
    with pypdf.apply_configuration(limits):
        try:
            reader = pypdf.PdfReader(io.BytesIO(body.data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the PDF is encrypted with a password, {body.size}")
            count = len(reader.pages)
        except (FileNotDecryptedError, DependencyError, NotImplementedError) as error:
            raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the PDF's encryption is not known, {body.size}") from error
        except faults as error:
            raise _damaged(body) from error
        pages, unread = _pages(reader, min(count, MAX_PAGES), faults)
        if not any(pages):
            raise _nothing(body, count, unread)
        return _document(reader, pages, count, faults)


def _damaged(body: Body) -> KeyholeError:
    return KeyholeError(
        Code.EXTRACTION_FAILED, f"the PDF is damaged and its pages cannot be found, {body.size}", bytes=len(body.data)
    )


def _nothing(body: Body, count: int, unread: int) -> KeyholeError:
    """Why no page gave any text."""
    pages = f"{count:,} page{'' if count == 1 else 's'}"
    if unread:
        return KeyholeError(
            Code.EXTRACTION_FAILED, f"none of the PDF's {pages} can be read, {body.size}", bytes=len(body.data)
        )
    return KeyholeError(
        Code.EMPTY_DOCUMENT, f"the PDF has no text layer: {pages} of scanned images or drawings, {body.size}",
        bytes=len(body.data), pages=count,
    )  # fmt: skip


def _pages(reader: Any, count: int, faults: tuple[type[Exception], ...]) -> tuple[list[str | None], int]:
    """The text of each page, None for one that cannot be read, and how many those are."""
    pages: list[str | None] = []
    chars = work = 0

    def counted(*_operation: object) -> None:
        nonlocal work
        work += 1

    for number in range(count):
        if chars > MAX_CHARS or work > MAX_WORK:
            break
        try:
            text: str | None = _tidied(reader.pages[number].extract_text(visitor_operand_before=counted))
        except faults:
            text = None
            work += MAX_OPERATIONS
        pages.append(text)
        chars += len(text or "")
    return pages, pages.count(None)


def _tidied(text: str) -> str:
    """One page's lines without trailing spaces and empty lines; ligatures as their letters."""
    readable = _ACCENTED.sub(_composed, tidy(text.replace("\f", "\n")).translate(_LIGATURES))
    lines = (line.rstrip() for line in readable.split("\n"))
    # A line of a page is no heading of ours.
    return _HEADING_LIKE.sub("\\\\", escaped("\n".join(line for line in lines if line)))


def _composed(pair: re.Match[str]) -> str:
    """The accented letter, where there is one."""
    letter = unicodedata.normalize("NFC", pair[2].replace("ı", "i") + _ACCENTS[pair[1]])
    return letter if len(letter) == 1 else pair[0]


def _document(reader: Any, pages: list[str | None], count: int, faults: tuple[type[Exception], ...]) -> Document:
    metadata = _metadata(reader, faults)
    parts = [f"# {escaped(metadata.title)}\n"] if metadata.title else []
    parts += _outline(reader, faults)
    known = frozenset(word for page in pages if page for word in _WORD.findall(page))
    for number, page in enumerate(pages, 1):
        text = "(This page cannot be read.)" if page is None else _joined(page, known)
        parts.append(f"## Page {number}\n\n{text}\n" if text else f"## Page {number}\n\n(No text on this page.)\n")
    if count > len(pages):
        parts.append(f"({count - len(pages):,} more pages are not read.)\n")
    return Document(
        title=metadata.title, text="\n".join(parts), media_type="", language=metadata.language, metadata=metadata
    )


def _joined(page: str, known: frozenset[str]) -> str:
    """Words that were divided at the end of a line made whole; a hyphen that the word has elsewhere stays."""

    def join(halves: re.Match[str]) -> str:
        first, second, marks = halves.groups()
        if not second[0].islower():
            return halves[0]
        hyphen = "-" if f"{first}-{second}" in known else ""
        return f"{first}{hyphen}{second}{marks}\n"

    return _HYPHENATED.sub(join, page).rstrip("\n")


def _outline(reader: Any, faults: tuple[type[Exception], ...]) -> list[str]:
    """The outline as a list with page numbers; without one, or with a damaged one, nothing."""
    try:
        lines = list(islice(_entries(reader, reader.outline, 0), MAX_OUTLINE))
    except faults:
        return []
    return ["Outline:\n\n" + "".join(f"{line}\n" for line in lines)] if lines else []


def _entries(reader: Any, outline: Any, level: int) -> Iterator[str]:
    for entry in outline:
        if isinstance(entry, list):
            if level < MAX_LEVELS:
                yield from _entries(reader, entry, level + 1)
        elif title := one_line(tidy(str(entry.title)), 200):
            page = reader.get_destination_page_number(entry)
            yield f"{'  ' * level}- {escaped(title)}" + (
                f" (page {page + 1})" if page is not None and page >= 0 else ""
            )


def _metadata(reader: Any, faults: tuple[type[Exception], ...]) -> Metadata:
    try:
        info = reader.metadata or {}
        language = reader.root_object.get("/Lang")
        said = {key: one_line(tidy(str(info.get(key) or "")), 500) for key in (
            "/Title", "/Author", "/Subject", "/CreationDate", "/ModDate",
        )}  # fmt: skip
    except faults:
        return Metadata()
    return Metadata(
        title=said["/Title"][:300], author=said["/Author"][:200], published=_iso(said["/CreationDate"]),
        modified=_iso(said["/ModDate"]), language=one_line(str(language or ""), 20), description=said["/Subject"],
    )  # fmt: skip


def _iso(stated: str) -> str:
    """A PDF date (ISO 32000-1, 7.9.4) in ISO 8601, as far as it was stated."""
    match = _DATE.match(stated)
    if not match:
        return ""
    year, month, day, hour, minute, second, utc, zone, zone_minutes = match.groups()
    date = "-".join(part for part in (year, month, day) if part)
    if not (day and hour):
        return date
    offset = "Z" if utc else f"{zone}:{zone_minutes or '00'}" if zone else ""
    return f"{date}T{hour}:{minute}:{second or '00'}{offset}"
