"""Measure what paths save in place of full URLs: `python -m benchmarks.budget.link_addresses [PAGES…]`.

Reads pages of manuals from Debian packages, as if a site served them, and PAGES as in extraction/extraction.py. Each
text is compared with itself with full URLs: all of it, its main part, and the passages that a result shows for its
title. Link-heavy are the pages whose main part with full URLs is to a third or more addresses of links. Then
the questions of ranking/own_questions are asked about both forms of their documents. Exits with 1 if a path does not
give its URL again. Takes about three minutes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from benchmarks.extraction.extraction import read_pages
from benchmarks.extraction.manuals.catalog import MANUALS, list_pages, take_evenly
from benchmarks.extraction.manuals.packages import find_manual
from benchmarks.ranking.answers import BUDGETS, Example
from benchmarks.ranking.own_questions.__main__ import measure
from benchmarks.ranking.own_questions.documents import list_documents, make_example, read_document
from keyhole.errors import KeyholeError
from keyhole.extract import extract
from keyhole.passages import select
from keyhole.text.markdown import expand_links, find_origin, shorten_link

PAGES: Final = 40
"""Pages of each manual."""
BUDGET: Final = 9_000
"""Characters: about the default budget of a result."""
HEAVY: Final = 1 / 3
"""Share of a main part that the addresses of a link-heavy page take."""
ORIGIN: Final = "https://manual.example"
_TARGET: Final = re.compile(r"(?<=\]\()[^()\s]+(?=\))")

Sizes = tuple[int, int]
"""Characters with full URLs and with paths."""


@dataclass(frozen=True, slots=True)
class Row:
    """The sizes of one page, and the share of its main part that the full URLs of links take."""

    source: str
    share: float
    text: Sizes
    main: Sizes
    result: Sizes
    is_exact: bool


def measure_page(task: tuple[str, str, bytes]) -> Row | None:
    """Return the sizes of a page of a source, None if it has no text."""
    source, url, body = task
    try:
        document = extract(body, url=url, content_type="text/html; charset=utf-8")
    except KeyholeError:
        return None
    text, main = (expand_links(part, find_origin(url)) for part in (document.text, document.main))
    addresses = sum(map(len, _TARGET.findall(main)))
    result = select(document.main, document.title or None, BUDGET).text
    return Row(
        source,
        addresses / max(1, len(main)),
        (len(text), len(document.text)),
        (len(main), len(document.main)),
        (len(expand_links(result, find_origin(url))), len(result)),
        _is_exact(document.text, text, url),
    )


def _is_exact(short: str, full: str, url: str) -> bool:
    """Return whether each path of a text, resolved against its address, is the URL of the other text."""
    pairs = zip(_TARGET.findall(short), _TARGET.findall(full), strict=True)
    return all(
        path == target or (urljoin(url, path), shorten_link(target, url)) == (target, path) for path, target in pairs
    )


def list_tasks(files: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the source, the address and the body of each page."""
    for manual in map(find_manual, MANUALS):
        for path in take_evenly(list_pages(manual), PAGES):
            name = manual.name.split()[0]
            yield name, f"{ORIGIN}/{name}/{path.relative_to(manual.folder).as_posix()}", path.read_bytes()
    for file in files:
        for page in read_pages(Path(file)):
            yield str(page["type"]), str(page["url"]), str(page["html"]).encode()


def format_row(name: str, rows: list[Row]) -> str:
    """Return the row of a set of pages: their number, and for each text the characters before and the share saved."""
    cells = [name, f"{len(rows)}"]
    for sizes in ([row.text for row in rows], [row.main for row in rows], [row.result for row in rows]):
        before, after = (sum(column) for column in zip(*sizes, strict=True))
        cells += [f"{before:,}", f"{after:,}", f"{1 - after / before:.1%}"]
    return f"| {' | '.join(cells)} |"


def ask_questions() -> list[tuple[list[bool], list[bool]]]:
    """Return for each question and budget whether the passages have the answer: with full URLs, and with paths."""
    found = []
    for row in list_documents():
        short = read_document(row["package"], row["pages"])
        full = expand_links(short, ORIGIN)
        for question in row["questions"] if short else ():
            examples: list[Example] = [make_example(row, text, *question) for text in (full, short)]
            found.append((measure(examples[0]), measure(examples[1])))
    return found


def main() -> int:
    """Measure and print the tables."""
    with ProcessPoolExecutor() as pool:
        rows = [row for row in pool.map(measure_page, list_tasks(sys.argv[1:]), chunksize=8) if row]
    forms = " | ".join(f"{name}, full | paths | saved" for name in ("all text", "main part", "result"))
    print(f"| pages | number | {forms} |")
    print(f"|---|{'---:|' * 10}")
    for source in dict.fromkeys(row.source for row in rows):
        print(format_row(source, [row for row in rows if row.source == source]))
    print(format_row("**all**", rows))
    print(format_row("**link-heavy**", [row for row in rows if row.share >= HEAVY]))
    answers = ask_questions()
    print(
        f"\n| {len(answers)} questions | "
        + " | ".join(f"{budget:,}" for budget in BUDGETS)
        + f" |\n|---|{'---:|' * len(BUDGETS)}"
    )
    for name, form in (("full URLs", 0), ("paths", 1)):
        print(
            f"| {name} | "
            + " | ".join(str(sum(column)) for column in zip(*(both[form] for both in answers), strict=True))
            + " |"
        )
    inexact = sum(not row.is_exact for row in rows)
    print(f"\nPages with a path that does not give its URL again: {inexact}.")
    return 1 if inexact else 0


if __name__ == "__main__":
    sys.exit(main())
