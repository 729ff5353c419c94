"""Measure PDF against the HTML of the same documents: `python -m benchmarks.extraction.pdf [--unseen | --all] [NAME…]`.

With `--peers`, the processor time of pypdf for the text alone stands beside it; `uv pip install pypdf` before.

The documents come from Debian packages, or are printed here (`catalog.py`). Each is read by a worker process, as in the
server. A word of the source counts if pdftotext, where it is installed, finds it in the PDF file too, since the two
forms of a manual differ. Prints a table; exits with 1 if a document is not read.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import resource
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.extraction.manuals.packages import unpack_package
from benchmarks.extraction.pdf.catalog import PAIRS, Pair, read_source
from benchmarks.extraction.pdf.drawn_lines import read_ruled_texts
from benchmarks.extraction.pdf.figures import (
    count_cells,
    count_found,
    count_headings,
    count_running,
    list_words,
    measure_order,
    to_plain,
)  # fmt: skip
from benchmarks.extraction.pdf.printing import print_page
from keyhole.config.config import Config
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.records import Document, Page

OUT: Final = Path.home() / ".cache" / "keyhole-pdf"
"""The folder of the texts, to look at."""


SHARES: Final = (
    ("words", "words"), ("order", "order"), ("headings", "headings"),
    ("ruled cells", "ruled"), ("other cells", "unruled"),
)  # fmt: skip
"""The titles of the columns with shares, and their fields."""


PYPDF: Final = """
import io, sys, time
from pypdf import PdfReader
data = io.BytesIO(sys.stdin.buffer.read())
start = time.process_time()
for page in PdfReader(data).pages:
    page.extract_text()
print(time.process_time() - start)
"""


class Row(NamedTuple):
    """The figures of one document: numbers found and numbers wanted."""

    pair: Pair
    pages: int
    words: tuple[int, int]
    order: tuple[int, int]
    headings: tuple[int, int]
    ruled: tuple[int, int]
    """Cells of tables with drawn lines."""
    unruled: tuple[int, int]
    """Cells of tables without drawn lines."""
    running: int
    """Running heads and footers in the main part."""
    seconds: float
    """Processor time, without that of starting a worker process."""
    peer_seconds: float = 0.0


def main() -> int:
    """Print the table."""
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    pairs = [
        pair for pair in PAIRS
        if "--all" in sys.argv or pair.unseen == ("--unseen" in sys.argv)
        if not names or any(name in pair.name for name in names)
    ]  # fmt: skip
    peers = ["pypdf s"] if "--peers" in sys.argv else []
    columns = [
        "document",
        "made with",
        "language",
        "pages",
        *(name for name, _ in SHARES),
        *peers,
        "running lines",
        "s",
    ]
    print(f"| {' | '.join(columns)} |")
    print(f"|---|---|---|{'---:|' * (len(columns) - 3)}", flush=True)
    rows: list[Row] = []
    for pair in pairs:
        row = measure(pair)
        if row is None:
            print(f"skipped: {pair.name}", file=sys.stderr)
            continue
        rows.append(row)
        print(format_row(pair.name, f"{pair.made_with} | {pair.language}", [row]), flush=True)
    if rows:
        print(format_row("all", " | ", rows))
    return int(len(rows) < len(pairs))


def format_row(name: str, about: str, rows: list[Row]) -> str:
    """Return the row of one document or of several."""
    shares = []
    for _, field in SHARES:
        found, wanted = (sum(getattr(row, field)[n] for row in rows) for n in (0, 1))
        shares.append(f"{found / wanted:.1%} of {wanted:,}" if wanted else "–")
    if "--peers" in sys.argv:
        shares.append(f"{sum(row.peer_seconds for row in rows):.2f}")
    pages, running = sum(row.pages for row in rows), sum(row.running for row in rows)
    seconds = sum(row.seconds for row in rows)
    return f"| {name} | {about} | {pages} | {' | '.join(shares)} | {running} | {seconds:.2f} |"


def measure(pair: Pair) -> Row | None:
    """Return the figures of a document, None where it cannot be had."""
    folder = unpack_package(pair.package)
    if folder is None:
        return None
    sources = [_read(path) for pattern in pair.html for path in sorted(folder.glob(pattern))]
    if not sources:
        return None
    pdf = print_page(sources[0], pair.printed) if pair.printed else _read(folder / pair.pdf)
    if pdf is None:
        return None
    document, seconds = asyncio.run(_extract(Page("", "https://pdf.example/a.pdf", 200, "application/pdf", pdf, 0.0)))
    OUT.mkdir(parents=True, exist_ok=True)
    name = pair.name.replace(": ", "-").replace(".html", f"-{pair.printed}")
    Path(OUT, f"{name}.pdf").write_bytes(pdf)
    Path(OUT, f"{name}.md").write_text(document.text, encoding="utf-8")
    soup = read_source(sources)
    by_page = [list_words(read_source([source]).get_text(" ")) for source in sources]
    words = list_words(to_plain(document.text))
    reference = Counter(word for of_page in by_page for word in of_page)
    orders = [measure_order(of_page, words) for of_page in by_page]
    if (theirs := _run_pdftotext(pdf)) is not None:
        reference &= Counter(list_words(theirs))
    pages = len(document.pages)
    return Row(
        pair,
        pages,
        (count_found(reference, words), reference.total()),
        (sum(found for found, _ in orders), sum(wanted for _, wanted in orders)),
        count_headings(soup, document.main),
        *count_cells(soup, document.main, read_ruled_texts(pdf)),
        count_running(document.main, (theirs or "").split("\f")),
        max(0.0, seconds - _measure_start()),
        _measure_pypdf(pdf) if "--peers" in sys.argv else 0.0,
    )


async def _extract(page: Page) -> tuple[Document, float]:
    """Return the document that a worker reads, and the worker's seconds of processor time."""
    pool = WorkerPool(Config(extract_timeout=120), size=1, reserved=0)
    before = _children_seconds()
    try:
        document, _ = await pool.extract(page)
    finally:
        await pool.aclose()
    return document, _children_seconds() - before


def _children_seconds() -> float:
    """Return the processor time of the child processes that ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@functools.cache
def _measure_start() -> float:
    """Return the processor time of a worker that starts and reads one word."""
    page = Page("", "https://pdf.example/a.txt", 200, "text/plain", b"word", 0.0)
    return min(asyncio.run(_extract(page))[1] for _ in range(3))


def _measure_pypdf(pdf: bytes) -> float:
    """Return the processor time of pypdf for the text of a file, in a process that counts it itself."""
    done = subprocess.run(
        [sys.executable, "-c", PYPDF], input=pdf, capture_output=True, check=True, timeout=600, text=False
    )
    return float(done.stdout)


def _run_pdftotext(pdf: bytes) -> str | None:
    program = shutil.which("pdftotext")
    if program is None:
        return None
    done = subprocess.run([program, "-", "-"], input=pdf, capture_output=True, check=True, timeout=120)
    return done.stdout.decode("utf-8", "replace")


def _read(path: Path) -> bytes:
    body = path.read_bytes()
    return gzip.decompress(body) if path.suffix == ".gz" else body


if __name__ == "__main__":
    sys.exit(main())
