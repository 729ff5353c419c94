"""Read damaged and hostile PDF files: `python -m benchmarks.extraction.mutations.pdf [--count 2000] [--seed 1]`.

PDFium is native code, so each file is read by a worker process, as in the server, and never by this process. Prints a
line for each file that ended a worker, and a table of outcomes. After every hundredth file an intact file is read.
Exits with 1 if an answer is not a text or an error of Keyhole, if an intact file is read differently, or if a worker
is still busy 10 s after its time limit. `--only NUMBER` reads one damaged file again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections import Counter
from typing import Final, NamedTuple

from benchmarks.extraction.mutations.hostile_pdf import list_hostile
from benchmarks.extraction.mutations.mutate import make_document
from benchmarks.extraction.mutations.seeds import Seed, read_seeds
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.records import Page

AT_ONCE: Final = 2
"""Files that are read at the same time."""
INTACT_EVERY: Final = 100
SHORT_RUN: Final = 500
"""A run of fewer files leaves out the hostile file that is only ended by the time limit."""
GRACE_SECONDS: Final = 10.0
"""Seconds after the time limit in which a worker is killed and its call returns."""


class Outcome(NamedTuple):
    """The outcome of one file: its name, `text` or the error's code and message, and the seconds."""

    name: str
    result: str
    seconds: float


def main(arguments: list[str] | None = None) -> int:
    """Read the files and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2_000, help="number of damaged files; default 2,000")
    parser.add_argument("--seed", type=int, default=1, help="number of the series; default 1")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="read only this damaged file")
    options = parser.parse_args(arguments)
    logging.getLogger("keyhole").setLevel(logging.ERROR)  # each ended worker is a warning
    seeds = read_seeds()
    numbers = range(options.count) if options.only is None else [options.only]
    files = [(f"--seed {options.seed} --only {number}", number) for number in numbers]
    outcomes, faults = asyncio.run(read_files(seeds, options.seed, files, with_hostile=options.only is None))
    for outcome in outcomes:
        if outcome.result.startswith(("extraction_failed: reading", "foreign")) or not outcome.name.startswith("--"):
            print(f"{outcome.name}: {outcome.result}, {outcome.seconds:.1f} s")
    print(format_table(outcomes))
    print(*faults, sep="\n")
    return int(bool(faults))


async def read_files(
    seeds: dict[str, list[Seed]], seed: int, files: list[tuple[str, int]], *, with_hostile: bool
) -> tuple[list[Outcome], list[str]]:
    """Return the outcomes of the damaged files, then of the hostile ones, and the faults found."""
    config = Config()
    pool = WorkerPool(config, size=AT_ONCE, reserved=0)
    intact = next(each for each in seeds["PDF"] if each.name == "memo.pdf")
    slots = asyncio.Semaphore(AT_ONCE)
    faults: list[str] = []

    async def read(name: str, body: bytes) -> Outcome:
        async with slots:
            start = time.monotonic()
            try:
                async with asyncio.timeout(config.extract_timeout + GRACE_SECONDS):
                    await pool.extract(Page("", f"https://pages.example/{name}", 200, "application/pdf", body, 0.0))
                result = "text"
            except KeyholeError as error:
                result = f"{error.code}: {error.message}"
            except Exception as error:  # noqa: BLE001 - finding them is the purpose
                result = f"foreign: {type(error).__name__}"
                faults.append(f"{name}: {result}")
            return Outcome(name, result, time.monotonic() - start)

    async def check_intact(expected: str, after: str) -> None:
        page = Page("", "https://pages.example/intact", 200, "application/pdf", intact.body, 0.0)
        document, _ = await pool.extract(page)
        if document.text != expected:
            faults.append(f"after {after}: an intact file is read differently")

    hostile = list_hostile() if with_hostile else {}
    if len(files) < SHORT_RUN:
        hostile.pop("a thousand heavy pages", None)  # it takes all of the time limit
    try:
        page = Page("", "https://pages.example/intact", 200, "application/pdf", intact.body, 0.0)
        expected = (await pool.extract(page))[0].text
        outcomes: list[Outcome] = []
        for at in range(0, len(files), INTACT_EVERY):
            some = files[at : at + INTACT_EVERY]
            outcomes += await asyncio.gather(
                *(read(name, make_document(seeds, seed, number, "PDF").body) for name, number in some)
            )
            await check_intact(expected, some[-1][0])
        for name, body in hostile.items():
            outcomes.append(await read(name, body))
            await check_intact(expected, name)
    finally:
        await pool.aclose()
    return outcomes, faults


def format_table(outcomes: list[Outcome]) -> str:
    """Return a Markdown table with a row for each kind of outcome."""
    kinds = Counter(_name_kind(outcome.result) for outcome in outcomes)
    lines = ["| outcome | files |", "|---|---:|"]
    lines += [f"| {kind} | {count:,} |" for kind, count in kinds.most_common()]
    lines.append(f"| all | {len(outcomes):,} |")
    return "\n".join(lines)


def _name_kind(result: str) -> str:
    code, _, message = result.partition(": ")
    return f"{code}: {message}" if message.startswith("reading ") or code == "foreign" else code


if __name__ == "__main__":
    sys.exit(main())
