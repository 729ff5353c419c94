"""Count the calls and the characters that a reader needs until a page has answered its question.

    python -m benchmarks.tasks [DATA…] [--split dev] [--failures]

Each task is a question about one real page: manuals, articles, forums, tables, PDF, JSON, CSV, source code and
indexes, in several languages; for one in ten, the page has no answer. Three systems read the same pages at the same
budgets: Keyhole over stdio, by following its `Next:` lines; PyPI's mcp-server-fetch over stdio, by following its
`start_index`; and trafilatura's Markdown of the whole page in windows. `reading.py` states the policy of the reader.

Most pages are files of Debian packages, which are downloaded and unpacked, but not installed. DATA are files of
published pages (`extraction/extraction.py` describes them); without them, their tasks are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.tasks import readers
from benchmarks.tasks.pages import Page, find_pages, serve_pages
from benchmarks.tasks.report import (
    Runs,
    failure_lines,
    kinds_table,
    ratios_table,
    results_table,
    sizes_table,
    spending_table,
)
from benchmarks.tasks.tasks import SPLITS, Task, load_tasks

BUDGETS = (2_000, 4_000, 9_000)
FIGURES = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- begin:tasks -->", "<!-- end:tasks -->"
"""The comments around the tables in `FIGURES`, which `--write` replaces."""


def main() -> int:
    """Run the systems and print the tables."""
    arguments = _arguments()
    tasks = [task for task in load_tasks() if arguments.split in ("all", task.split)]
    tasks = [task for task in tasks if not arguments.only or task.id.startswith(tuple(arguments.only))]
    pages = find_pages(tasks, arguments.data)
    found = [task for task in tasks if task.id in pages]
    started = time.perf_counter()
    runs = asyncio.run(run_all(found, pages, arguments.budgets, arguments.server, keyhole_only=arguments.keyhole))
    summary = (
        f"{len(found)} of {len(tasks)} tasks on {len({task.page for task in found})} pages in "
        f"{len({task.language for task in found})} languages, {sum(task.is_absent for task in found)} of them with an "
        "absent answer."
    )
    text = f"{summary}\n\n{_tables(runs, arguments.keyhole)}"
    print(f"{text}\n\nSplit {arguments.split}; {time.perf_counter() - started:.0f} s.")
    if arguments.failures:
        print("\n" + "\n".join(failure_lines(runs, readers.KEYHOLE)))
    if arguments.write:
        before, rest = FIGURES.read_text(encoding="utf-8").split(BEGIN)
        FIGURES.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0


def _tables(runs: Runs, keyhole_only: bool) -> str:
    peer = readers.FETCH.label
    parts = [
        results_table(runs),
        *([] if keyhole_only else [f"{peer} needs so many times more:", ratios_table(runs, readers.KEYHOLE, peer)]),
        "Calls and characters of a task, until its answer or until the reader stopped:",
        spending_table(runs),
        "Sizes of Keyhole's first results in characters, and the share of the page's text in their bytes:",
        sizes_table(runs, readers.KEYHOLE),
        "Tasks that Keyhole's first call answers, by kind of page, by what is asked, and by language:",
        kinds_table(runs, readers.KEYHOLE, lambda reading: reading.task.kind),
        kinds_table(runs, readers.KEYHOLE, lambda reading: reading.task.asks),
        kinds_table(runs, readers.KEYHOLE, lambda reading: reading.task.language),
    ]
    return "\n\n".join(parts)


async def run_all(
    tasks: Sequence[Task],
    pages: Mapping[str, Page],
    budgets: Sequence[int],
    source: Path = readers.SERVER,
    *,
    keyhole_only: bool = False,
) -> Runs:
    """Return the readings of all systems at all budgets. One system runs at a time, so that none delays another."""
    with serve_pages(pages) as site, tempfile.TemporaryDirectory() as home:
        await readers.store_pages(tasks, pages, site, home, source)
        ours = {
            (readers.KEYHOLE, budget): await readers.read_all_with_keyhole(tasks, pages, site, home, budget, source)
            for budget in budgets
        }
        if keyhole_only:
            return ours
        fetched = await readers.fetch_pages(tasks, pages, site)
        texts = await asyncio.to_thread(readers.trafilatura_texts, pages)
    return {
        **ours,
        **{
            (readers.FETCH.label, budget): [readers.read_with_fetch(task, fetched[task.id], budget) for task in tasks]
            for budget in budgets
        },
        **{
            (readers.TRAFILATURA.label, budget): [
                readers.read_with_trafilatura(task, texts[task.id], budget) for task in tasks
            ]
            for budget in budgets
        },
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, help="files of published pages, .jsonl.gz or .jsonl.xz")
    parser.add_argument("--split", choices=("all", *SPLITS), default="all", help="half of the tasks; default all")
    parser.add_argument("--failures", action="store_true", help="list the tasks that the first call does not answer")
    parser.add_argument("--keyhole", action="store_true", help="run only Keyhole")
    parser.add_argument("--server", type=Path, default=readers.SERVER, help="source of the Keyhole that is measured")
    parser.add_argument("--write", action="store_true", help="write the tables to benchmarks/README.md")
    parser.add_argument("--only", nargs="*", metavar="ID", help="run only tasks whose ids begin so")
    parser.add_argument("--budgets", nargs="*", type=int, default=BUDGETS, help="values of max_chars")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
