"""Count the fragments of results that lack what makes them understood.

    python -m benchmarks.tasks.show_fragments [DATA…] [--split dev] [--list]

The first results of all tasks at 2,000, 4,000 and 9,000 characters, as an MCP client gets them over stdio, are compared
with the texts in the store (`fragments.py`). Prints for each budget and each kind how many fragments have the fault, of
how many that could have it.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.tasks import readers
from benchmarks.tasks.__main__ import BUDGETS
from benchmarks.tasks.fragments import KINDS, Findings, SourceLines, find_faults
from benchmarks.tasks.pages import Page, find_pages, serve_pages
from benchmarks.tasks.reading import keyhole_result
from benchmarks.tasks.tasks import SPLITS, Task, load_tasks
from keyhole.config.config import Config
from keyhole.store.base import LOCAL
from keyhole.store.open import open_stores

_ID = re.compile(r'^Next: read_artifact\(id="(\w+)"|\bid="(\w+)"$', re.MULTILINE)


def main() -> int:
    """Read all tasks, and print the table."""
    arguments = _arguments()
    tasks = [task for task in load_tasks() if arguments.split in ("all", task.split)]
    pages = find_pages(tasks, arguments.data)
    found = [task for task in tasks if task.id in pages]
    rows = asyncio.run(read_results(found, pages))
    print(f"Fragments with a fault, of those that can have it; {len(found)} tasks, split {arguments.split}.\n")
    print(f"| max_chars | {' | '.join(KINDS)} |\n|---:|{'---:|' * len(KINDS)}")
    for budget in BUDGETS:
        findings = [row for number, _, row in rows if number == budget]
        examined = sum((Counter(row.examined) for row in findings), Counter[str]())
        faults = Counter(fault.kind for row in findings for fault in row.faults)
        print(f"| {budget:,} | {' | '.join(f'{faults[kind]} of {examined[kind]}' for kind in KINDS)} |")
    for budget, task, row in rows if arguments.list else ():
        for fault in row.faults:
            print(f"{budget:6,} {fault.kind:10} {task.id} {fault.start}:{fault.end}")
    return 0


async def read_results(tasks: Sequence[Task], pages: Mapping[str, Page]) -> list[tuple[int, Task, Findings]]:
    """Return the findings in the first result of each task at each budget."""
    rows: list[tuple[int, Task, Findings]] = []
    with serve_pages(pages) as site, tempfile.TemporaryDirectory() as home:
        await readers.store_pages(tasks, pages, site, home, readers.SERVER)
        texts = {
            budget: await readers.first_results(tasks, pages, site, home, budget, readers.SERVER) for budget in BUDGETS
        }
        with closing(open_stores(Config(home=Path(home)))) as stores:
            store, _ = stores.for_tenant(LOCAL)
            for number, task in enumerate(tasks):
                ids = [id for budget in BUDGETS for id in _ID.findall(texts[budget][number])]
                if not ids:
                    continue  # an error, or a whole text that nothing is left out of
                source = SourceLines(store.get(ids[0][0] or ids[0][1]).text, task.kind)
                for budget in BUDGETS:
                    shown = keyhole_result(texts[budget][number]).page_text
                    rows.append((budget, task, find_faults(source, shown)))
    return rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, help="files of published pages, .jsonl.gz or .jsonl.xz")
    parser.add_argument("--split", choices=("all", *SPLITS), default="all", help="half of the tasks; default all")
    parser.add_argument("--list", action="store_true", help="list the faults")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
