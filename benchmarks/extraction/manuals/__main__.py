"""Measure what extraction loses of manuals: `python -m benchmarks.extraction.manuals [FOLDER…] [--list]`.

Reads a sample of the pages of manuals from Debian packages, or all HTML pages of folders. Looks for each table cell,
code block, heading and list item of a page in the text that `keyhole.extract` returns: in its main part, where parts
that the generator adds to find one's way need not be, and in the whole text. `--list` prints each missing part. Exits
with 1 if more is missing than the limits allow.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.extraction.manuals.catalog import MANUALS, Manual, list_pages
from benchmarks.extraction.manuals.matching import KINDS, find_missing, list_parts
from benchmarks.extraction.manuals.packages import find_manual
from benchmarks.extraction.manuals.page_parts import Part, read_page
from keyhole.errors import KeyholeError
from keyhole.extract import extract

LIMITS: Final = {"cells": (0.005, 0.0), "code blocks": (0.005, 0.0)}
"""The largest share of parts of a kind that may be missing from the main part, and from the whole text."""
_MAX_LISTED: Final = 160
"""Characters of a missing part that `--list` prints."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one page or of several."""

    pages: int
    main: Counter[str]
    """Parts that are content, by kind."""
    whole: Counter[str]
    """All parts, by kind."""
    missing_main: Counter[str]
    missing_whole: Counter[str]
    lines: tuple[str, ...] = ()
    """A line for each missing part."""


def measure(html: bytes, url: str, manual: Manual) -> Figures:
    """Return the figures of one page. All parts of a page that is not read are missing."""
    page = read_page(html, manual.navigation, manual.code)
    try:
        document = extract(html, url=url, content_type="text/html")
        main, whole, lines = document.main, document.text, []
    except KeyholeError as error:
        main, whole, lines = "", "", [f"{url}: {error.code}"]
    in_main = {kind: [part for part in list_parts(page, kind) if not part.navigation] for kind in KINDS}
    missing_main = {
        kind: [part for part in parts if not part.navigation] for kind, parts in find_missing(page, main).items()
    }
    missing_whole = find_missing(page, whole)
    for name, missing in (("main", missing_main), ("all", missing_whole)):
        for kind, parts in missing.items():
            lines += [f"{url}: {name}: {kind}: {' '.join(part.text.split())[:_MAX_LISTED]}" for part in parts]
    return Figures(
        1,
        _count(in_main),
        _count({kind: list_parts(page, kind) for kind in KINDS}),
        _count(missing_main),
        _count(missing_whole),
        tuple(lines),
    )


def _count(parts: dict[str, list[Part]]) -> Counter[str]:
    return Counter({kind: len(of_kind) for kind, of_kind in parts.items()})


def total(figures: Iterable[Figures]) -> Figures:
    """Return the sum of figures."""
    result = Figures(0, Counter(), Counter(), Counter(), Counter())
    for each in figures:
        result = Figures(
            result.pages + each.pages,
            result.main + each.main,
            result.whole + each.whole,
            result.missing_main + each.missing_main,
            result.missing_whole + each.missing_whole,
            (*result.lines, *each.lines),
        )
    return result


def measure_page(task: tuple[Manual, Path]) -> Figures:
    """Return the figures of one page of a manual."""
    manual, path = task
    url = f"https://manuals.example/{manual.name.split()[0]}/{path.relative_to(manual.folder).as_posix()}"
    return measure(path.read_bytes(), url, manual)


def format_row(name: str, figures: Figures) -> str:
    """Return the row of a manual: for each kind, the parts missing from the main part and from the whole text."""
    cells = [name, str(figures.pages)]
    for kind in KINDS:
        cells.append(_format_share(figures.missing_main[kind], figures.main[kind]))
        cells.append(_format_share(figures.missing_whole[kind], figures.whole[kind]))
    return f"| {' | '.join(cells)} |"


def _format_share(missing: int, count: int) -> str:
    return f"{missing:,} of {count:,}" + (f" ({missing / count:.2%})" if missing else "")


def list_excesses(figures: Figures) -> Iterator[str]:
    """Yield a line for each limit that is exceeded."""
    for kind, (main, whole) in LIMITS.items():
        for name, limit, missing, count in (
            ("the main part", main, figures.missing_main[kind], figures.main[kind]),
            ("the text", whole, figures.missing_whole[kind], figures.whole[kind]),
        ):
            if missing > limit * count:
                yield f"{kind} missing from {name}: {missing:,} of {count:,}, allowed {limit:.1%}"


def main() -> int:
    """Print the table; return 1 if more is missing than the limits allow."""
    folders = [Path(argument).resolve() for argument in sys.argv[1:] if not argument.startswith("--")]
    manuals = [Manual(path.name, "", str(path)) for path in folders] or map(find_manual, MANUALS)
    print("| manual | pages |", " | ".join(f"{kind} missing from main | from all" for kind in KINDS), "|")
    print("|---|---:|" + "---:|" * 2 * len(KINDS), flush=True)
    every = []
    with ProcessPoolExecutor() as pool:
        for manual in manuals:
            tasks = [(manual, path) for path in list_pages(manual)]
            if not tasks:
                print(f"skipped: {manual.name} has no pages", file=sys.stderr)
                continue
            every.append(total(pool.map(measure_page, tasks)))
            print(format_row(manual.name, every[-1]), flush=True)
    figures = total(every)
    print(format_row("all", figures))
    if "--list" in sys.argv:
        print(*figures.lines, sep="\n", file=sys.stderr)
    excesses = list(list_excesses(figures))
    print(*excesses, sep="\n", file=sys.stderr)
    return int(bool(excesses))


if __name__ == "__main__":
    sys.exit(main())
