"""Measure the share of a page's visible words in its artifact: `python -m benchmarks.extraction.visible_words PAGES`.

PAGES is a file of JSON lines, gzipped or not, each with `id`, `type`, `url` and `html`. Chromium without scripts and
network decides which words are visible (`apt-get install chromium`). The whole text of the artifact is searched,
without the addresses of links. Words count as often as they occur, in any order. A page that Keyhole does not read
has none of its words.

Prints the share of all words, and the mean of the shares of pages, by type of page; the pages with most missing words;
and the errors. What Chromium shows is cached.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from benchmarks.extraction.extraction import read_pages, sample_evenly
from benchmarks.extraction.visible_words.browser_text import read_visible_texts
from benchmarks.extraction.visible_words.words import list_missing, split_markdown_words, split_words
from keyhole.errors import KeyholeError
from keyhole.extract import extract
from tests.support.chromium import MISSING, find_chromium

WORST: Final = 20
"""Pages that are listed."""
_MAX_LISTED: Final = 40
"""Missing words of a page that are listed."""


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one page."""

    name: str
    type: str
    words: int
    missing: tuple[str, ...]
    error: str

    @property
    def share(self) -> float:
        """The share of the visible words that the artifact has; 1 for a page without words."""
        return 1 - len(self.missing) / self.words if self.words else 1.0


def measure(page: dict[str, Any], visible_text: str) -> Result:
    """Return the outcome of a page."""
    visible = split_words(visible_text)
    try:
        document = extract(
            page["html"].encode("utf-8", "replace"), url=page["url"], content_type="text/html; charset=utf-8"
        )
        found, error = split_markdown_words(document.text), ""
    except KeyholeError as failure:
        found, error = [], str(failure.code)
    missing = tuple(list_missing(visible, found))
    return Result(f"{page['id']} {page['url']}", page["type"], len(visible), missing, error)


def format_table(results: Sequence[Result]) -> Iterator[str]:
    """Yield the rows of the table: one for each type of page, one for pages that were read, and one for all."""
    yield "| pages | count | visible words | missing | share of words | mean share of pages |"
    yield "|---|---:|---:|---:|---:|---:|"
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda result: result.type):
        groups[result.type].append(result)
    groups["without errors"] = [result for result in results if not result.error]
    groups["all"] = list(results)
    for name, group in groups.items():
        words, missing = (sum(counts) for counts in zip(*((r.words, len(r.missing)) for r in group), strict=True))
        share = mean(result.share for result in group)
        yield f"| {name} | {len(group)} | {words:,} | {missing:,} | {1 - missing / max(1, words):.3%} | {share:.3%} |"


def format_worst(results: Sequence[Result], count: int) -> Iterator[str]:
    """Yield a line for each of the pages with most missing words, with the first of them."""
    for result in sorted(results, key=lambda result: -len(result.missing))[:count]:
        if result.missing:
            words = " ".join(result.missing[:_MAX_LISTED])
            yield f"{len(result.missing)} of {result.words} ({result.share:.2%}) {result.name} {result.error}: {words}"


def main() -> int:
    """Print the tables; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, help="JSON lines, .jsonl or .jsonl.gz")
    parser.add_argument("--limit", type=int, help="read only this many pages, spread over the file")
    parser.add_argument("--worst", type=int, default=WORST, help=f"list this many pages; default {WORST}")
    arguments = parser.parse_args()
    if find_chromium() is None:
        print(f"skipped: {MISSING}", file=sys.stderr)
        return 0
    pages = sample_evenly(list(read_pages(arguments.pages)), arguments.limit)
    texts = read_visible_texts((page["url"], page["html"]) for page in pages)
    results = [measure(page, text) for page, text in zip(pages, texts, strict=True)]
    print("\n".join(format_table(results)))
    errors = Counter(result.error for result in results if result.error)
    print(f"\nErrors: {', '.join(f'{count} {code}' for code, count in errors.most_common()) or 'none'}.\n")
    print("\n".join(format_worst(results, arguments.worst)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
