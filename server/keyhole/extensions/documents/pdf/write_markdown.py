"""Write the blocks of a PDF file as Markdown, and note where each page begins."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from keyhole.extensions.documents.pdf.page_parts import FIRST_SIGN, MAX_LINKS, RAISED, PdfLine, is_rtl
from keyhole.extensions.documents.pdf.pdf_blocks import Edges, PdfBlock
from keyhole.extract.html.link_resolver import escape_label
from keyhole.extract.markup import format_table
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown
from keyhole.text.page_structure import RestKind, format_rest_line

# Clean the characters of PDF files, and join lines: hyphenated words, and scripts without spaces. Pure.

HYPHENS: Final = "-\u00ad\u2010\x02\ufffe"
"""Characters at a line's end that divide a word. PDFium gives the last two for hyphens that it recognised."""
_HYPHENATED = re.compile(rf"([^\W\d_]{{2,40}})[{HYPHENS}]$")
_BEGINNING = re.compile(r"[^\W\d_]{2,40}")
_HYPHENATED_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")
_SURE_HYPHEN = re.compile("[\u00ad\x02\ufffe]$")
_LIGATURES = str.maketrans(
    {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st", 0x02: "-",
     0xFFFE: "-", 0xA0: " "}
)  # fmt: skip
# The first TeX fonts draw accents as separate characters before the letter.
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "˚": "\u030a", "ˇ": "\u030c", "˘": "\u0306", "˜": "\u0303", "ˆ": "\u0302"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}])([A-Za-zı])")
_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
"""Letters of Arabic and Hebrew in the forms in which they are drawn."""
_WIDE = re.compile(r"[\u2e80-\u303f\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Chinese and Japanese characters, which have no spaces between them. Korean has spaces."""


def clean_piece(text: str) -> str:
    """Return text without invisible characters, with ligatures and accents as letters."""
    if text.isascii() and "\x02" not in text:
        return text if text.isprintable() else clean(text.replace(RAISED, "")) if RAISED not in text else _clean(text)
    return _clean(text)


def _clean(text: str) -> str:
    parts = _FORMS.sub(_to_letters, text.translate(_LIGATURES)).split(RAISED)
    cleaned = RAISED.join(clean(part) for part in parts)
    return unicodedata.normalize("NFC", _ACCENTED.sub(_compose_accent, cleaned))


def _to_letters(forms: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", forms[0])


def _compose_accent(pair: re.Match[str]) -> str:
    """Return the accented letter, or the pair unchanged if Unicode has no such letter."""
    letter = unicodedata.normalize("NFC", pair[2].replace("ı", "i") + _ACCENTS[pair[1]])
    return letter if len(letter) == 1 else pair[0]


def collect_hyphenated(texts: Iterable[str]) -> frozenset[str]:
    """Return the words with a hyphen that stand within lines."""
    return frozenset(word for text in texts if "-" in text for word in _HYPHENATED_WORD.findall(text))


def join_lines(pieces: Sequence[tuple[int, str]], hyphenated: frozenset[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the lines of a paragraph as one text, and the offset of the first text of each page.

    A hyphen at a line's end stays if the document has the hyphenated word elsewhere.
    """
    text = ""
    starts: list[tuple[int, int]] = []
    for page, piece in pieces:
        divided = _HYPHENATED.search(text.rstrip(_SIGNS) if text[-1:] > FIRST_SIGN else text)
        begins = _BEGINNING.match(piece)
        cleaned = clean_piece(piece)
        if divided and begins and (begins[0][0].islower() or _SURE_HYPHEN.search(text)):
            keep = f"{divided[1]}-{begins[0]}" in hyphenated
            text = text[: divided.end() - 1] + ("-" if keep else "")
        elif text and not (_WIDE.match(text[-1]) and _WIDE.match(cleaned)):
            text += " "
        if not starts or starts[-1][0] != page:
            starts.append((page, len(text)))
        text += cleaned[:-1] + piece[-1] if piece and piece[-1] in HYPHENS and cleaned else cleaned
    return text.translate(_LIGATURES), starts


# Write the addresses of links, whose words have a sign behind them.

_SIGNS: Final = "".join(chr(ord(FIRST_SIGN) + number) for number in range(1, MAX_LINKS + 1))
_SIGN = re.compile(f"([{_SIGNS[0]}-{_SIGNS[-1]}])")


def add_links(text: str, urls: Mapping[str, str]) -> str:
    """Return Markdown with the links of the words that have a sign, and no signs. `urls`: the addresses by sign."""
    if text.isascii() or max(text) < FIRST_SIGN:
        return text
    *marked, tail = _SIGN.split(text)
    links: list[tuple[str, str, str]] = []  # what is before it, its text, its sign
    for piece, sign in zip(marked[::2], marked[1::2], strict=True):
        start = max(piece.rfind(FIRST_SIGN), piece.rfind(" "), piece.rfind("\n")) + 1
        if links and links[-1][2] == sign and not piece[:start].strip(FIRST_SIGN + " "):
            links[-1] = links[-1][0], links[-1][1] + piece, sign
        else:
            links.append((piece[:start], piece[start:], sign))
    written = "".join(_write_link(before, label, urls.get(sign, "")) for before, label, sign in links)
    return (written + tail).replace(FIRST_SIGN, "")


def _write_link(before: str, label: str, url: str) -> str:
    """Return a link with the text before it, and only the address if this is what the link says."""
    if not url:
        return before + label
    if label.replace(" ", "") in {url, url.removeprefix("mailto:")}:
        return before + label.replace(" ", "")
    before = f"{before[:-1]}\\!" if before.endswith("!") else before
    return f"{before}[{escape_label(label)}]({url.replace('|', '%7C')})"


# Write code in a fixed-width font with the spaces that the places of its words show.

MAX_SPACES: Final = 120
"""Largest number of spaces between two words."""


def indent_code(pieces: Sequence[tuple[int, str]], lines: Sequence[PdfLine]) -> list[tuple[int, str]]:
    """Return the lines of a block of code with their page, indented as on the page. A piece without text is empty."""
    lefts: dict[int, float] = defaultdict(lambda: float("inf"))
    for line in lines:
        lefts[line.page] = min(lefts[line.page], line.left)
    return [
        (page, write_code_line(line, lefts[page]) if text else "")
        for (page, text), line in zip(pieces, lines, strict=True)
    ]


def write_code_line(line: PdfLine, left: float) -> str:
    """Return the text of a line. `left`: the place of its first column."""
    chars = sum(len(word.text) for word in line.words)
    width = sum(word.right - word.left for word in line.words) / chars if chars else 0
    if width <= 0:
        return line.text
    parts: list[str] = []
    at = left
    for word in line.words:
        spaces = min(MAX_SPACES, max(0, round((word.left - at) / width)))
        parts.append(" " * (spaces if not parts else max(1, spaces)) + word.text)
        at = word.right
    return "".join(parts).replace(f" {RAISED}", "").replace(RAISED, "")


# Write the blocks of a PDF file as Markdown, and note where each page begins.

_HEADING_LIKE = re.compile(r"^(?=#{1,6}(?:\s|$)|[+>-]\s|~{3}|\d{1,9}[.)]\s|(?:=+|-+)$|\|)")
_MARK = re.compile(rf" ?{RAISED}(\d{{1,3}}|[*†‡§])")
_NUMBERED = re.compile(r"\(?(\d{1,3})[.)]")
_PAGE_NUMBER = re.compile(r"[\W_]*(?:\d{1,5}|[ivxlcIVXLC]{1,7})[\W_]*")
_ADJACENT: Final = frozenset({("item", "item"), ("term", "definition"), ("definition", "term")})
"""Kinds of blocks that follow each other without an empty line."""
MAX_DEPTH: Final = 4
"""Deepest nesting of lists."""


@dataclass(slots=True)
class PdfText:
    """The text of a document as it is written: the main part, and the offset of the first text of each page."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    pages: list[tuple[int, int]] = field(default_factory=list)
    """Offsets, each with the number of the page that begins there."""

    def add(self, text: str) -> None:
        """Append text."""
        self.parts.append(text)
        self.length += len(text)

    def begin_page(self, page: int, offset: int = 0) -> None:
        """Note that a page begins `offset` characters after the end."""
        if not self.pages or page > self.pages[-1][1]:
            self.pages.append((self.length + offset, page))


def write_main(blocks: Sequence[PdfBlock], urls: Mapping[str, str]) -> PdfText:
    """Write the main part of a document. `urls`: the addresses of links by their signs."""
    result = PdfText()
    hyphenated = collect_hyphenated(text for block in blocks for _, text in block.pieces)
    notes = _Notes(blocks)
    depths = _nest_items(blocks)
    for number, block in enumerate(blocks):
        if block.kind == "note":
            continue
        above = blocks[number - 1].kind if number else None
        if above and (above, block.kind) not in _ADJACENT:
            result.add("\n")
        text, starts = _write_block(block, hyphenated, depths.get(number, 0), is_first=above == "term")
        for page, offset in starts:
            result.begin_page(page, len(add_links(text[:offset], urls)) if offset else 0)
        text, used = notes.link(add_links(text, {} if block.kind == "code" else urls), block)
        result.add(f"{text}\n")
        for note in used:
            result.add(_write_note(note, notes.labels[id(note)], hyphenated, urls))
    for note in notes.unused():
        result.add(_write_note(note, notes.labels[id(note)], hyphenated, urls))
    return result


def _write_note(note: PdfBlock, label: str, hyphenated: frozenset[str], urls: Mapping[str, str]) -> str:
    body, _ = join_lines(note.pieces, hyphenated)
    return f"\n[^{label}]: {add_links(_escape(body), urls)}\n"


def _write_block(
    block: PdfBlock, hyphenated: frozenset[str], depth: int, *, is_first: bool
) -> tuple[str, list[tuple[int, int]]]:
    """Return the Markdown of a block, and the offsets of the pages in it.

    `depth`: of a list item. `is_first`: whether a definition follows its term.
    """
    if block.kind == "code":
        lines = indent_code(block.pieces, block.lines)
        fence = "`" * max(3, 1 + max((len(run) for _, text in lines for run in re.findall("`+", text)), default=0))
        return f"{fence}\n" + "\n".join(clean_piece(text) for _, text in lines) + f"\n{fence}", [(lines[0][0], 0)]
    if block.kind == "table":
        return _write_table(block)
    text, starts = join_lines(block.pieces, hyphenated)
    if block.kind == "heading":
        return f"{'#' * block.level} {_escape(text)}", starts
    if block.kind == "item":
        number = _NUMBERED.fullmatch(block.label)
        sign = (
            f"{number[1]}." if number else f"- {block.label}" if block.label[0].isalnum() or "(" in block.label else "-"
        )
        return f"{'  ' * depth}{sign} {_escape(text)}", starts
    escaped = _HEADING_LIKE.sub(r"\\", _escape(text))
    if block.kind == "definition":
        return f"{': ' if is_first else '  '}{escaped}", [(page, offset and offset + 2) for page, offset in starts]
    return escaped, starts


def _write_table(block: PdfBlock) -> tuple[str, list[tuple[int, int]]]:
    """Return the Markdown of a table, and the offset of the first row of each of its pages. `format_table` escapes."""
    step = -1 if is_rtl(" ".join(itertools.chain(*block.rows))) else 1  # the first column is at the right
    table = format_table([[clean_piece(cell) for cell in row[::step]] for row in block.rows])
    header, marks, *lines = table.splitlines(keepends=True)
    starts, offset = [(block.pieces[0][0], 0)], len(header) + len(marks)
    for (page, _), line in zip(block.pieces[1:], lines, strict=True):
        if page > starts[-1][0]:
            starts.append((page, offset))
        offset += len(line)
    return table.rstrip("\n"), starts


def _escape(text: str) -> str:
    return escape_markdown(text)


def _nest_items(blocks: Sequence[PdfBlock]) -> dict[int, int]:
    """Return the depth of each list item by its indentation."""
    depths: dict[int, int] = {}
    lefts: list[float] = []
    for number, block in enumerate(blocks):
        if block.kind != "item":
            lefts = [] if block.kind == "heading" else lefts
            continue
        line = block.lines[0]
        left = line.column[1] - line.right if is_rtl(line.text) else line.left - line.column[0]
        while lefts and left < lefts[-1] - 4:
            lefts.pop()
        if not lefts or left > lefts[-1] + 4:
            lefts.append(left)
        is_first = number == 0 or blocks[number - 1].kind != "item"
        if is_first:
            lefts = [left]
        depths[number] = min(MAX_DEPTH, len(lefts) - 1)
    return depths


class _Notes:
    """The footnotes of a document and their labels, which are unique."""

    def __init__(self, blocks: Sequence[PdfBlock]) -> None:
        self.labels: dict[int, str] = {}
        self._by_page: dict[tuple[int, str], PdfBlock] = {}
        self._linked: set[int] = set()
        taken: set[str] = set()
        for block in blocks:
            if block.kind == "note":
                page = block.pieces[0][0]
                label = block.label if block.label not in taken else f"{block.label}-p{page + 1}"
                taken.add(label)
                self.labels[id(block)] = label
                self._by_page.setdefault((page, block.label), block)

    def link(self, text: str, block: PdfBlock) -> tuple[str, list[PdfBlock]]:
        """Return a text with the marks of its footnotes, and these footnotes."""
        if RAISED not in text:
            return text, []
        used: list[PdfBlock] = []
        pages = dict.fromkeys(page for page, _ in block.pieces)

        def replace(match: re.Match[str]) -> str:
            for page in pages:
                note = self._by_page.get((page, match[1]))
                if note is not None:
                    if id(note) not in self._linked:
                        self._linked.add(id(note))
                        used.append(note)
                    return f"[^{self.labels[id(note)]}]"
            return f"^{match[1]}" if match[1].isdigit() else match[1]

        return _MARK.sub(replace, text).replace(RAISED, ""), used

    def unused(self) -> Iterator[PdfBlock]:
        """Yield the footnotes whose mark was not found."""
        yield from (note for note in self._by_page.values() if id(note) not in self._linked)


def write_rest(edges: Sequence[Edges], urls: Mapping[str, str]) -> str:
    """Return the rest of a document: its running heads and its footers, each distinct line once, and page numbers."""
    parts: list[str] = []
    kinds: tuple[tuple[RestKind, int], ...] = (("header", 0), ("footer", 1))
    for kind, side in kinds:
        lines = dict.fromkeys(clean_piece(line).replace(RAISED, "") for edge in edges for line in edge[side])
        numbers = [line for line in lines if _PAGE_NUMBER.fullmatch(line)]
        texts = [
            _HEADING_LIKE.sub(r"\\", add_links(_escape(line), urls))
            for line in lines
            if line and not _PAGE_NUMBER.fullmatch(line)
        ]
        if numbers:
            texts.append(_HEADING_LIKE.sub(r"\\", _escape(", ".join(numbers))))
        if texts:
            parts.append(f"{format_rest_line(kind)}\n\n" + "\n\n".join(texts) + "\n")
    return "\n".join(parts)
