"""Read damaged documents of every format: `python -m benchmarks.extraction.mutations [--count 10000] [--seed 1]`.

Each document is read by the function that workers run, and every twentieth also by a worker process. Prints each
exception that is not a KeyholeError, each document that takes over 5 s and each killed worker with its number, and a
Markdown table by format. Exits with 1 on any such exception or killed worker. `--only NUMBER` reads one document again
and shows the traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Final, NamedTuple

from benchmarks.extraction.mutations.mutate import make_document
from benchmarks.extraction.mutations.seeds import SHARES, Seed, read_seeds
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extract.workers.child import extract_with_words
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.records import Page

SLOW_SECONDS: Final = 5.0
"""Seconds of processor time from which a document is reported."""
POOL_SHARE: Final = 20
"""One of so many documents is also read by a worker process."""
PROCESSES: Final = 2


class Outcome(NamedTuple):
    """What reading one document gave."""

    number: int
    format: str
    seconds: float
    result: str
    """`text`, the code of a KeyholeError, or the type and place of another exception after `foreign: `."""


def main(arguments: list[str] | None = None) -> int:
    """Read the documents and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="number of documents; default 10,000")
    parser.add_argument("--seed", type=int, default=1, help="number of the series; default 1")
    parser.add_argument("--seconds", type=float, default=3_600.0, help="stop after this time; default an hour")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="read only this document")
    options = parser.parse_args(arguments)
    if options.only is not None:
        return show(options.seed, options.only)
    until = time.monotonic() + options.seconds
    outcomes = list(read_all(options.seed, options.count, until))
    for number, form, seconds, result in outcomes:
        if result.startswith("foreign") or seconds > SLOW_SECONDS:
            print(f"--seed {options.seed} --only {number}: {form}, {seconds:.1f} s, {result}")
    read = asyncio.run(read_in_workers(options.seed, range(0, len(outcomes), POOL_SHARE)))
    killed = [(number, notice) for number, notice in read if notice]
    for number, notice in killed:
        print(f"--seed {options.seed} --only {number}: in a worker: {notice}")
    print(format_table(outcomes))
    print(f"\n{len(read):,} of {len(outcomes):,} documents were also read by workers; unfinished: {len(killed)}.")
    return int(bool(killed) or any(outcome.result.startswith("foreign") for outcome in outcomes))


def read_all(seed: int, count: int, until: float) -> Iterator[Outcome]:
    """Yield the outcomes of the documents 0 to `count`, read by two processes, until a time of the monotonic clock."""
    with multiprocessing.Pool(PROCESSES, maxtasksperchild=2_000) as pool:
        for outcome in pool.imap(partial(read_document, seed), range(count), chunksize=10):
            yield outcome
            if time.monotonic() > until:
                return


def read_document(seed: int, number: int) -> Outcome:
    """Read one document."""
    document = make_document(_seeds(), seed, number)
    start = time.process_time()
    try:
        extract_with_words(document.body, _make_url(document), document.content_type)
        result = "text"
    except KeyholeError as error:
        result = str(error.code)
    except Exception as error:  # noqa: BLE001 - finding them is the purpose
        frame = traceback.extract_tb(error.__traceback__)[-1]
        result = f"foreign: {type(error).__name__} in {frame.name}"
    return Outcome(number, document.format, time.process_time() - start, result)


async def read_in_workers(seed: int, numbers: Iterable[int]) -> list[tuple[int, str]]:
    """Read documents in worker processes. Returns each number with the notice of an unfinished page, or ""."""
    pool = WorkerPool(Config(), size=PROCESSES, reserved=0)
    slots = asyncio.Semaphore(PROCESSES)

    async def read(number: int) -> tuple[int, str]:
        document = make_document(_seeds(), seed, number)
        url = _make_url(document)
        async with slots:
            try:
                answer, _ = await pool.extract(Page(url, url, 200, document.content_type, document.body, 0.0))
            except KeyholeError as error:
                return number, error.message if error.message.startswith("reading ") else ""
        return number, answer.notice if answer.notice.startswith("Warning extraction_failed") else ""

    try:
        return await asyncio.gather(*map(read, numbers))
    finally:
        await pool.aclose()


def show(seed: int, number: int) -> int:
    """Print one document and its outcome, with the traceback of an exception."""
    document = make_document(_seeds(), seed, number)
    print(
        f"{document.name}, {document.content_type}, {len(document.body):,} bytes\n{document.body[:2_000]!r}", flush=True
    )
    answer, _ = extract_with_words(document.body, _make_url(document), document.content_type)
    print(answer.text[:2_000])
    return 0


@cache
def _seeds() -> dict[str, list[Seed]]:
    return read_seeds()


def _make_url(document: Seed) -> str:
    return f"https://pages.example/{document.name}"


def format_table(outcomes: list[Outcome]) -> str:
    """Return a Markdown table with a row for each format."""
    lines = ["| format | documents | with text | errors of Keyhole | other exceptions | median ms | largest s |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for form in (*SHARES, "all"):
        rows = [outcome for outcome in outcomes if form in {outcome.format, "all"}]
        if rows:
            times = sorted(row.seconds for row in rows)
            texts = sum(row.result == "text" for row in rows)
            foreign = sum(row.result.startswith("foreign") for row in rows)
            counts = f"{len(rows):,} | {texts:,} | {len(rows) - texts - foreign:,} | {foreign}"
            lines.append(f"| {form} | {counts} | {1_000 * times[len(times) // 2]:.1f} | {times[-1]:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
