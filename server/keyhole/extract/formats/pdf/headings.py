"""Tell headings from other lines, and find their levels, by the size and weight of fonts and by the outline."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from keyhole.extract.formats.pdf.page_parts import Line, OutlineEntry, Style, Word

LARGER: Final = 1.13
"""A heading without an entry in the outline is larger than the main text by this factor, or is bold."""
MAX_CHARS: Final = 180
"""Longest line of a heading."""
MAX_LEVEL: Final = 6
_NOT_KEY = re.compile(r"[\W_]+")
_NUMBERED = re.compile(
    r"^(?:(?:chapter|appendix|part|section|kapitel|anhang|chapitre|annexe|capitolo|capítulo|apéndice|глава|приложение)\s++)?"
    r"(?:[\dA-Z]{1,4}(?:\.\d{1,3})*[.:)]?|[IVXLC]{1,6}[.:)]?|第\s*\d+\s*[章部]|제?\s*\d+\s*장)\s+", re.IGNORECASE,
)  # fmt: skip
_LEADERS = re.compile(r"(?:\. ?){4,}|…{2,}|(?:· ?){4,}")
_PAGE_NUMBER = re.compile(r"\d{1,4}|[ivxlcIVXLC]{1,6}")
_PLAIN_END = re.compile(r"[.,;]$")


class HeadingFinder:
    """The headings of one document."""

    def __init__(self, words: Iterable[Word], outline: Sequence[OutlineEntry]) -> None:
        self.body_size = _find_body_size(words)
        self._outline: dict[int, dict[str, int]] = defaultdict(dict)
        for entry in outline:
            if key := _to_key(entry.title):
                self._outline[entry.page].setdefault(key, entry.level)
        self._titles = {key for entries in self._outline.values() for key in entries}

    def is_heading(self, line: Line, gap: float) -> bool:
        """Return whether a line is a heading. `gap`: the distance from the line above, in usual distances."""
        if len(line.text) > MAX_CHARS or not any(char.isalnum() for char in line.text):
            return False
        if self.is_contents(line.text):
            return False
        if self.find_level(line.page, line.text) and gap > 1.1:
            return True
        first = line.words[0].style  # code in a heading may be smaller
        if max(line.style.size, first.size if first.bold else 0.0) >= LARGER * self.body_size:
            return sum(char.isalpha() for char in line.text) > 1 and not line.words[0].style.fixed
        is_bold = line.words[0].style.bold and (line.words[-1].style.bold or line.words[-1].style.fixed)
        is_separate = gap > 1.25 and not _PLAIN_END.search(line.text) and not line.words[0].style.fixed
        return is_bold and is_separate and line.style.size >= 0.95 * self.body_size and self._has_no_outline(line)

    def is_contents(self, text: str) -> bool:
        """Return whether a line is an entry of a table of contents: a title, perhaps leaders, and a page number."""
        if _LEADERS.search(text):
            return True
        title, _, number = text.rpartition(" ")
        if not title or not _PAGE_NUMBER.fullmatch(number):
            return False
        return _to_key(title) in self._titles or _to_key(_NUMBERED.sub("", title)) in self._titles

    def _has_no_outline(self, line: Line) -> bool:
        """Return whether the outline does not say which lines are headings, or the line is numbered like one."""
        return not self._outline or _NUMBERED.match(line.text) is not None

    def find_level(self, page: int, text: str) -> int:
        """Return the level that the outline gives a heading, 0 if it has no such entry on this page."""
        entries = self._outline.get(page)
        if not entries:
            return 0
        return entries.get(_to_key(text), 0) or entries.get(_to_key(_NUMBERED.sub("", text)), 0)

    def is_complete(self, page: int, text: str) -> bool:
        """Return whether the outline has this whole heading."""
        return self.find_level(page, text) > 0

    def set_levels(self, headings: Sequence[tuple[int, str, Style]]) -> list[int]:
        """Return the levels of headings, given their page, text and style."""
        from_outline = [self.find_level(page, text) for page, text, _ in headings]
        by_style: dict[Style, Counter[int]] = defaultdict(Counter)
        for level, (_, _, style) in zip(from_outline, headings, strict=True):
            if level:
                by_style[style][level] += 1
        ranks = sorted({(round(style.size), style.bold) for _, _, style in headings}, reverse=True)
        deepest = max(from_outline, default=0)
        return [
            min(MAX_LEVEL, level or _guess_level(style, by_style, ranks, deepest))
            for level, (_, _, style) in zip(from_outline, headings, strict=True)
        ]


def _guess_level(style: Style, by_style: dict[Style, Counter[int]], ranks: list[tuple[int, bool]], deepest: int) -> int:
    if style in by_style:
        return by_style[style].most_common(1)[0][0]
    smaller = [known for known in by_style if known.size <= style.size]
    if smaller:
        return max(1, min(min(by_style[known]) for known in smaller))
    return deepest + 1 if deepest else ranks.index((round(style.size), style.bold)) + 1


def _find_body_size(words: Iterable[Word]) -> float:
    sizes: Counter[float] = Counter()
    fixed: Counter[float] = Counter()
    for word in words:
        (fixed if word.style.fixed else sizes)[word.style.size] += len(word.text)
    both = sizes or fixed
    return both.most_common(1)[0][0] if both else 10.0


def _to_key(text: str) -> str:
    return _NOT_KEY.sub("", text).casefold()
