"""Count the words that were read of pages, and print the results of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchmarks.browser.pages.catalogue import Page
from benchmarks.browser.pages.texts import HIDDEN_PREFIX
from benchmarks.extraction.visible_words.words import list_missing, split_markdown_words, split_words
from keyhole.errors import KeyholeError
from keyhole.extract import extract

GOAL: Final = 0.95
"""The share of a page's words from which on the page counts as read."""


@dataclass(frozen=True, slots=True)
class Row:
    """The result of a system for a page. Times are seconds over a bare fetch; memory is in bytes."""

    system: str
    page: str
    words: int
    missing: int
    hidden: int
    error: str
    warm: float
    cold: float
    memory: int

    @property
    def share(self) -> float:
        """The share of the page's words that was read."""
        return 1 - self.missing / self.words


def read_words(html: str, page: Page) -> tuple[int, int, int]:
    """Return what `count_words` returns for the text of HTML."""
    try:
        document = extract(html.encode(), url="http://page.example/", content_type="text/html; charset=utf-8")
    except KeyholeError:
        return count_words("", page)
    return count_words(document.text, page)


def count_words(markdown: str, page: Page) -> tuple[int, int, int]:
    """Return how many visible words are missing in a text, how many hidden ones it has, and all visible."""
    found = split_markdown_words(markdown)
    visible = split_words(page.visible)
    hidden = sum(word.startswith(HIDDEN_PREFIX) for word in found)
    return len(list_missing(visible, found)), hidden, len(visible)


def format_table(rows: Sequence[Row], private: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Yield a table with a row for each system."""
    yield (
        "| system | pages read | words | hidden words | cold p50 | warm p50 | warm max | memory p50 | max "
        "| private connections | datagrams |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for system in dict.fromkeys(row.system for row in rows):
        of_system = [row for row in rows if row.system == system]
        read = sum(row.share >= GOAL for row in of_system)
        words = 1 - sum(row.missing for row in of_system) / sum(row.words for row in of_system)
        memory = [row.memory / 1e6 for row in of_system]
        counts = private[system]
        yield (
            f"| {system} | {read} of {len(of_system)} | {words:.1%} | {sum(row.hidden for row in of_system)} "
            f"| {median(row.cold for row in of_system):.2f} s | {median(row.warm for row in of_system):.2f} s "
            f"| {max(row.warm for row in of_system):.2f} s | {median(memory):.0f} MB | {max(memory):.0f} MB "
            f"| {counts['connections']} | {counts['datagrams']} |"
        )


def format_details(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each page that a system did not read, or of which it read hidden words."""
    for row in rows:
        if row.share < GOAL or row.hidden or row.error:
            yield f"{row.system}, {row.page}: {row.share:.0%} of words, {row.hidden} hidden. {row.error}".rstrip()
