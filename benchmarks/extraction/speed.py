"""Measure the processor time of reading pages: `python -m benchmarks.extraction.speed PAGES… [--before CHECKOUT]`.

PAGES are files, compressed by gzip or xz or not, with one JSON object per line: url and html. Reads the pages of
different sites whose size is nearest to 100 KB, and a page of 4 MB that joins the bodies of others. Prints the least
time of each. With `--before`, the server of another checkout reads the same pages in a second process, and the two take
turns, so that both have the same machine.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean
from urllib.parse import urlsplit

from benchmarks.extraction.extraction import Page, read_pages

ROOT = Path(__file__).parents[2]
SIZE = 100_000
COUNT = 14
JOINED_SIZE = 4_000_000
JOINED = range(60_000, 160_000)
"""Lengths of the pages that are joined."""
STYLED = 3
"""Number of joined pages that keep the style sheets of their heads. Those of all would hide each other's text."""
BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)
STYLE = re.compile(r"<style[^>]*>.*?</style>", re.DOTALL | re.IGNORECASE)
WORKER = """
import gc, sys, time
from keyhole.extract import extract
for line in sys.stdin:
    path, url = line.split()
    body = open(path, "rb").read()
    gc.collect()
    started = time.process_time()
    extract(body, url=url, content_type="text/html; charset=utf-8")
    print(1_000 * (time.process_time() - started), flush=True)
"""


def main() -> int:
    """Measure the pages and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--before", type=Path, help="another checkout to compare with")
    parser.add_argument("--runs", type=int, default=20, help="readings of each page; default 20")
    arguments = parser.parse_args()
    pages = [page for path in arguments.pages for page in read_pages(path)]
    workers = [start_worker(root) for root in (arguments.before, ROOT) if root]
    print("Milliseconds of processor time, the least of all readings.\n")
    print("| page | before | now |\n|---|---:|---:|" if arguments.before else "| page | now |\n|---|---:|")
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for number, page in enumerate(choose_pages(pages)):
            times = measure(workers, write_page(page, Path(folder, f"{number}.html")), arguments.runs)
            rows.append(times)
            print_row(urlsplit(page["url"]).hostname or "", times)
        print_row(f"mean of {len(rows)}", [mean(column) for column in zip(*rows, strict=True)])
        joined = write_page(join_pages(pages), Path(folder, "joined.html"))
        print_row("4 MB", measure(workers, joined, max(2, arguments.runs // 4)))
    for worker in workers:
        worker.communicate()
    return 0


def choose_pages(pages: list[Page]) -> list[Page]:
    """Return the pages of different sites whose size is nearest to `SIZE`."""
    nearest = sorted(pages, key=lambda page: abs(len(page["html"].encode()) - SIZE))
    by_site = {urlsplit(page["url"]).hostname: page for page in reversed(nearest)}
    return [page for page in nearest if by_site[urlsplit(page["url"]).hostname] is page][:COUNT]


def join_pages(pages: list[Page]) -> Page:
    """Return a page of `JOINED_SIZE` bytes with the bodies of other pages."""
    parts: list[str] = []
    size = 0
    for page in pages:
        body = BODY.search(page["html"]) if len(page["html"]) in JOINED else None
        if body is not None and size < JOINED_SIZE:
            styles = STYLE.findall(page["html"][: body.start()]) if len(parts) < STYLED else []
            parts.append("".join(styles) + body[1])
            size += len(parts[-1].encode())
    html = f"<!doctype html><html><head><title>Joined</title></head><body>{''.join(parts)}</body></html>"
    return {"url": "https://joined.example/", "html": html}


def write_page(page: Page, path: Path) -> str:
    """Write a page to a file, and return the line that asks a worker to read it."""
    path.write_text(page["html"], encoding="utf-8")
    return f"{path} {page['url']}\n"


def start_worker(root: Path) -> subprocess.Popen[str]:
    """Start a process that reads pages with the server of a checkout."""
    environment = {"PYTHONPATH": str(root / "server")}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", WORKER], stdin=pipe, stdout=pipe, text=True, env=environment)


def measure(workers: list[subprocess.Popen[str]], request: str, runs: int) -> list[float]:
    """Return the least time of each worker for a page. The workers take turns."""
    times = [[ask(worker, request) for worker in workers] for _ in range(runs)]
    return [min(column) for column in zip(*times, strict=True)]


def ask(worker: subprocess.Popen[str], request: str) -> float:
    """Let a worker read a page, and return the milliseconds."""
    if worker.stdin is None or worker.stdout is None:
        raise ValueError("the worker has no pipes")
    worker.stdin.write(request)
    worker.stdin.flush()
    return float(worker.stdout.readline())


def print_row(name: str, times: list[float]) -> None:
    """Print a row of the table."""
    print(f"| {name} | {' | '.join(f'{time:.1f}' for time in times)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
