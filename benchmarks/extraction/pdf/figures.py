"""Compare a text with its source: words, order, headings, cells of tables, returning lines. No I/O."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

from bs4 import BeautifulSoup, Tag

from benchmarks.extraction.manuals.page_parts import find_cells, find_rows, is_data_table

_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W_\u2e80-\u9fff\uf900-\ufaff]+")
_CHAPTERS = "chapter|appendix|chapitre|annexe|capitolo|capítulo|kapitel|appendice|anhang"
_NUMBER = re.compile(
    rf"^(?:(?:{_CHAPTERS})\s+)?(?:[\dA-Z]{{1,3}}(?:\.\d+)*\.?\s+|第?\s*\d+\s*[章장]\s*)", re.IGNORECASE
)
_ADDRESS = re.compile(r"\]\([^()\s]++\)")
_REFERENCE = re.compile(r"\\(?=[:`&#])|&#(\d+);|&lt;")
_ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
SHINGLE = 4
"""Words of a phrase whose place is compared."""
ADMONITIONS = ("note", "tip", "warning", "caution", "important")
LONG_CELL = 4
"""Characters of a cell that does not stand anywhere in a text by chance."""
RULED_SHARE = 0.5
"""The share of a table's cells between drawn lines, and their share of the text there. A table over two pages may end
with one row between two lines, and short cells are not looked for."""


def list_words(text: str) -> list[str]:
    """Return the words of a text in order; each Chinese or Japanese character is a word."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def to_plain(markdown: str) -> str:
    """Return Markdown without the references that stand for signs, and without the addresses of links."""
    text = _ADDRESS.sub("]", markdown)
    return _REFERENCE.sub(lambda match: chr(int(match[1])) if match[1] else "<" if match[0] == "&lt;" else "", text)


def count_found(reference: Counter[str], words: Iterable[str]) -> int:
    """Return how many of the reference's words are among the words."""
    return (reference & Counter(words)).total()


def measure_order(reference: list[str], words: list[str]) -> tuple[int, int]:
    """Return how many phrases that occur once in both texts stand in the order of the reference, and their number."""
    first, second = _find_unique(reference), _find_unique(words)
    places = [second[phrase] for phrase in first if phrase in second]
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails), len(places)


def _find_unique(words: list[str]) -> dict[tuple[str, ...], int]:
    phrases = list(zip(*(words[n:] for n in range(SHINGLE)), strict=False))
    counts = Counter(phrases)
    return {phrase: at for at, phrase in enumerate(phrases) if counts[phrase] == 1}


def to_key(text: str) -> str:
    """Return a heading or cell without spaces, signs and number."""
    return "".join(list_words(_NUMBER.sub("", text.strip())))


def count_headings(soup: BeautifulSoup, markdown: str) -> tuple[int, int]:
    """Return how many headings of the source are headings of the text, and their number."""
    wanted = {key for each in soup.find_all(["h1", "h2", "h3", "h4"]) if (key := to_key(each.get_text()))}
    found = {to_key(to_plain(title)) for title in _HEADING.findall(markdown)}
    return len(wanted & found), len(wanted)


def count_cells(soup: BeautifulSoup, markdown: str, ruled: Iterable[str]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many cells of the source's tables are cells of the text's tables, and their number.

    The first two count the tables whose cells stand between drawn lines in the PDF file; `ruled`: the texts there.
    """
    places = [place for text in ruled if (place := _to_cell(text))]
    cells: Counter[str] = Counter()
    for row in _ROW.findall(markdown):
        cells.update(_to_cell(to_plain(cell)) for cell in re.split(r"(?<!\\)\|", row))
    wanted: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    seen = set[str]()
    for table in soup.find_all("table"):
        if is_data_table(table) and not table.find("pre") and not _is_admonition(table):
            keys = [key for row in find_rows(table) for cell in find_cells(row) if (key := _to_cell(cell.get_text()))]
            if (text := "|".join(keys)) not in seen:  # some packages have the manual in one page and in several
                seen.add(text)
                wanted[not _is_ruled(keys, places)].update(keys)
    with_lines, without = (((each & cells).total(), each.total()) for each in wanted)
    return with_lines, without


def _is_admonition(table: Tag) -> bool:
    """Return whether a table only places a note beside its picture, as DocBook's stylesheets write it."""
    return bool(table.find("img", alt=re.compile(r"^\[.+\]$")) or table.find_parent(class_=ADMONITIONS))


def _is_ruled(keys: list[str], places: Iterable[str]) -> bool:
    """Return whether the cells of a table stand in places between drawn lines that hold little else."""
    long = [key for key in keys if len(key) >= LONG_CELL] or keys
    found = set[str]()
    for place in places:
        here = {key for key in long if key in place}
        if sum(map(len, here)) > RULED_SHARE * len(place):
            found |= here
    return sum(key in found for key in long) > RULED_SHARE * len(long)


def _to_cell(text: str) -> str:
    return "".join(list_words(text.replace("<br>", " ")))


def count_running(main: str, pages: list[str]) -> int:
    """Return the number of lines of the main part that are running heads or footers.

    `pages`: the text of each page by another reader. Its first and last line is one if it has a letter and returns, but
    for numbers, on a quarter of the pages. A line with only a number may as well be a cell or a line of code.
    """
    edges: Counter[str] = Counter()
    for page in pages:
        lines = [line for line in page.splitlines() if line.strip()]
        edges.update({_to_pattern(line) for line in (*lines[:1], *lines[-1:])})
    running = {pattern for pattern, count in edges.items() if pattern.strip("#") and count >= max(4, len(pages) / 4)}
    return sum(_to_pattern(line) in running for line in main.splitlines() if not line.startswith("#"))


def _to_pattern(line: str) -> str:
    """Return a line without spaces and signs, with `#` for each number."""
    return "".join(re.sub(r"\d+|^[ivxlc]+$", "#", word) for word in list_words(to_plain(line)))
