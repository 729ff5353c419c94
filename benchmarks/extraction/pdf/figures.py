"""Compare a text with its source: words, order, headings, cells of tables, returning lines. No I/O."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

from bs4 import BeautifulSoup

from benchmarks.extraction.manuals.page_parts import find_cells, find_rows, is_data_table

_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W_\u2e80-\u9fff\uf900-\ufaff]+")
_CHAPTERS = "chapter|appendix|chapitre|annexe|capitolo|capítulo|kapitel|appendice|anhang"
_NUMBER = re.compile(
    rf"^(?:(?:{_CHAPTERS})\s+)?(?:[\dA-Z]{{1,3}}(?:\.\d+)*\.?\s+|第?\s*\d+\s*[章장]\s*)", re.IGNORECASE
)
_REFERENCE = re.compile(r"\\(?=[:`&#])|&#(\d+);|&lt;")
_ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
SHINGLE = 4
"""Words of a phrase whose place is compared."""


def list_words(text: str) -> list[str]:
    """Return the words of a text in order; each Chinese or Japanese character is a word."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def to_plain(markdown: str) -> str:
    """Return Markdown without the references that stand for signs."""
    return _REFERENCE.sub(lambda match: chr(int(match[1])) if match[1] else "<" if match[0] == "&lt;" else "", markdown)


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


def count_cells(soup: BeautifulSoup, markdown: str) -> tuple[int, int]:
    """Return how many cells of the source's tables are cells of the text's tables, and their number."""
    cells: Counter[str] = Counter()
    for row in _ROW.findall(markdown):
        cells.update(_to_cell(to_plain(cell)) for cell in re.split(r"(?<!\\)\|", row))
    wanted = Counter(
        key
        for table in soup.find_all("table")
        if is_data_table(table) and not table.find("pre")
        for row in find_rows(table)
        for cell in find_cells(row)
        if (key := _to_cell(cell.get_text()))
    )
    return (wanted & cells).total(), wanted.total()


def _to_cell(text: str) -> str:
    return "".join(list_words(text.replace("<br>", " ")))


def count_returning(main: str, pages: int) -> int:
    """Return the number of paragraphs that differ only in numbers and return on a third of the pages."""
    lines = Counter(re.sub(r"\d+|\b[ivxlc]+\b", "#", line) for line in main.split("\n") if 0 < len(line) < 150)
    return sum(
        count for line, count in lines.items()
        if count >= max(3, pages / 3) and not line.startswith(("```", "|", "- ")) and pages >= 6
    )  # fmt: skip
