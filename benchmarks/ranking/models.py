"""Compare local models: how many more questions a first call answers with each, and what that costs.

    python -m benchmarks.ranking.models --home FOLDER [--pages FILE…] [--model NAME…] [--units N…] [--data FOLDER]
    python -m benchmarks.ranking.models --meaning --home FOLDER --pages FILE… --data FOLDER [--model NAME…]

The reading tasks (benchmarks/tasks) are asked of `read_artifact` in this process, so everything is measured but the
protocol. FOLDER keeps the pages and the vectors for the next run. NAME is as in packaged_models.py. With --data, the
development questions of that folder (answers.py) are asked too. With --meaning, the questions of meaning.py are asked
instead of the tasks: in other words than the page's, or in another language. Prints, as Markdown, the tasks answered
by the first call, by the number of units; for the largest number by what is asked and by language; and the processor
time. With --memory, only what an ONNX model takes of it, in a process that has just begun.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, cast

from benchmarks.browser.pages.processes import proportional_bytes
from benchmarks.ranking.answers import Example, group_of, has_answer, load
from benchmarks.ranking.meaning import load_meaning
from benchmarks.ranking.packaged_models import SECONDS, make_scorer, onnx_model
from benchmarks.tasks import readers
from benchmarks.tasks.pages import Page, find_pages, serve_pages
from benchmarks.tasks.reading import Result, keyhole_result
from benchmarks.tasks.tasks import SPLITS, Task, load_tasks
from benchmarks.tasks.tasks import has_answer as has_task_answer
from keyhole.config.config import Config
from keyhole.passages import index_text, select
from keyhole.records import Artifact
from keyhole.rerank.rerank_passages import PassageReranker
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Limits
from keyhole.store.sqlite.store import MemoryStore, SqliteStore
from keyhole.websearch.panel import Panel

BUDGETS = (1_000, 2_000, 4_000, 9_000)
TOLD_BUDGET = 4_000
"""Characters of the results whose paraphrases and denied answers are counted."""
QUESTION_BUDGETS = (2_000, 4_000)
UNITS = (8, 16, 24, 40)
TIMED = 25
"""Pages on which the processor time is measured, with an empty store of vectors."""
LEXICAL = "words alone"

Readings = dict[tuple[str, int], Result]
"""The first result for each task and budget."""


def main() -> int:
    """Measure, and print the tables."""
    arguments = _arguments()
    if arguments.memory:
        for name in arguments.model:
            print(f"{name}: {asyncio.run(measure_memory(name))}")
        return 0
    arguments.home.mkdir(parents=True, exist_ok=True)
    store = SqliteStore(arguments.home, time.time, Limits(10.0**9, 10**12))
    wanted, pages = _find_tasks(arguments)
    artifacts = find_artifacts(store, arguments.home, wanted, pages)
    tasks = [task for task in wanted if task.id in artifacts]
    results = {(LEXICAL, 0): asyncio.run(read_all(tasks, artifacts, store, None))}
    for name in arguments.model:
        for units in arguments.units:
            scorer = PassageReranker([make_scorer(name, store, units)])
            results[name, units] = asyncio.run(read_all(tasks, artifacts, store, scorer))
            print(_row(name, units, tasks, results[name, units]), flush=True)
    print_results(tasks, results, max(arguments.units))
    print("\n| model | units | first question, ms | second, ms |\n|---|---:|---:|---:|")
    for name, units in list(results)[1:]:
        first, second = asyncio.run(measure_time(tasks[:TIMED], artifacts, name, units))
        print(f"| {name} | {units} | {first:.0f} | {second:.0f} |", flush=True)
    if arguments.data and not arguments.meaning:
        print(f"\n{question_table(arguments.data, arguments.model, max(arguments.units), store, arguments.per)}")
    return 0


def print_results(tasks: Sequence[Task], results: Mapping[tuple[str, int], Readings], units: int) -> None:
    """Print the tasks that the first call answers, in total, and by what is asked and by language for `units`."""
    answerable = [task for task in tasks if not task.is_absent]
    print(f"\n{len(answerable)} tasks with an answer, {len(tasks) - len(answerable)} without\n")
    print("| model | units | " + " | ".join(f"{budget:,}" for budget in BUDGETS) + " | paraphrases | denied |")
    print("|---|---:|" + "---:|" * (len(BUDGETS) + 2))
    for (name, count), readings in results.items():
        print(_row(name, count, tasks, readings))
    for title, group in (("asks", lambda task: task.asks), ("language", lambda task: task.language)):
        print(f"\n{group_table(title, group, answerable, results, units)}")


def _find_tasks(arguments: argparse.Namespace) -> tuple[list[Task], Callable[[Sequence[Task]], Mapping[str, Page]]]:
    """Return the tasks of the split, and the function that finds their pages."""
    if arguments.meaning:
        tasks, pages = load_meaning(arguments.pages, arguments.data, arguments.split)
        return tasks, lambda missing: {task.id: pages[task.id] for task in missing}
    tasks = [task for task in load_tasks() if arguments.split in ("all", task.split)]
    return tasks, lambda missing: find_pages(missing, arguments.pages)


def find_artifacts(
    store: SqliteStore, home: Path, tasks: Sequence[Task], pages: Callable[[Sequence[Task]], Mapping[str, Page]]
) -> dict[str, Artifact]:
    """Return the stored page of each task by the task's id. Pages that are not stored yet are stored first."""
    found = stored_pages(store)
    if missing := [task for task in tasks if task.id not in found]:
        asyncio.run(_store_pages(missing, pages(missing), home))
    return stored_pages(store) if missing else found


def stored_pages(store: SqliteStore) -> dict[str, Artifact]:
    """Return the stored pages by the id of their task, which is the first part of the path of their URL."""
    pages = (store.get(row.id) for row in store.list(10**6))
    return {page.url.split("/")[3]: page for page in pages}


async def _store_pages(tasks: Sequence[Task], pages: Mapping[str, Page], home: Path) -> None:
    with serve_pages(pages) as site:
        await readers.store_pages([task for task in tasks if task.id in pages], pages, site, str(home), readers.SERVER)


async def read_all(
    tasks: Sequence[Task], artifacts: Mapping[str, Artifact], store: SqliteStore, reranker: PassageReranker | None
) -> Readings:
    """Return the first result of each task at each budget."""
    unused = cast("Any", None)
    config = Config(timeout=SECONDS, repeats="always")
    tools = Retrieval(Pages(config, unused, unused, store, b"s" * 32, time.time), lambda: Panel([]), reranker=reranker)
    readings: Readings = {}
    for task in tasks:
        for budget in BUDGETS:
            answer = await tools.read_artifact(artifacts[task.id].id, query=task.query, max_chars=budget)
            readings[task.id, budget] = keyhole_result(answer.text)
    return readings


def count_answered(tasks: Sequence[Task], readings: Readings, budget: int) -> int:
    """Return how many tasks the first call answers."""
    return sum(has_task_answer(task, readings[task.id, budget].page_text) for task in tasks)


def _row(name: str, units: int, tasks: Sequence[Task], readings: Readings) -> str:
    answerable, absent = [task for task in tasks if not task.is_absent], [task for task in tasks if task.is_absent]
    paraphrases = [task for task in answerable if task.asks == "paraphrase"]
    counts = [count_answered(answerable, readings, budget) for budget in BUDGETS]
    named = sum(readings[task.id, TOLD_BUDGET].denies for task in absent)
    wrongly = sum(readings[task.id, TOLD_BUDGET].denies for task in answerable)
    told = f"{named} of {len(absent)}, {wrongly} wrongly"
    cells = [*map(str, counts), f"{count_answered(paraphrases, readings, TOLD_BUDGET)} of {len(paraphrases)}", told]
    return f"| {name} | {units or ''} | {' | '.join(cells)} |"


def group_table(
    title: str,
    group: Callable[[Task], str],
    tasks: Sequence[Task],
    results: Mapping[tuple[str, int], Readings],
    units: int,
) -> str:
    """Return the tasks answered at each budget by group, words alone and each model side by side."""
    columns = [key for key in results if key[1] in (0, units)]
    lines = [
        f"| {title} | tasks | " + " | ".join(name for name, _ in columns) + " |",
        "|---|---:|" + "---:|" * len(columns),
    ]
    for name in sorted({group(task) for task in tasks}):
        own = [task for task in tasks if group(task) == name]
        cells = [" / ".join(str(count_answered(own, results[key], budget)) for budget in BUDGETS) for key in columns]
        lines.append(f"| {name} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(lines)


async def measure_time(
    tasks: Sequence[Task], artifacts: Mapping[str, Artifact], name: str, units: int
) -> tuple[float, float]:
    """Return the mean processor milliseconds of reranking for the first and the second question on a page."""
    store = MemoryStore(time.time)
    reranker = PassageReranker([make_scorer(name, store, units)])
    await reranker.rerank_windows(
        index_text("A short text about a pump."), "pump", SECONDS + asyncio.get_running_loop().time()
    )
    times: tuple[list[float], list[float]] = ([], [])
    for task in tasks:
        page = artifacts[task.id]
        for spent, query in zip(times, (task.query, f"{task.query} "), strict=True):
            until = SECONDS + asyncio.get_running_loop().time()
            start = time.process_time()
            await reranker.rerank_windows(index_text(page.text, page.main_end), query, until)
            spent.append(1_000 * (time.process_time() - start))
    return mean(times[0]), mean(times[1])


async def measure_memory(name: str) -> str:
    """Return the megabytes that an ONNX model adds to the process while it is loaded, and after it was freed."""
    model = onnx_model(name)
    before = proportional_bytes(os.getpid())
    texts = [f"The pump of part {number} has a seal. " * 12 for number in range(max(UNITS))]
    await model.compute(lambda inference, text: inference.embed(text), texts, SECONDS)
    loaded = proportional_bytes(os.getpid())
    model.free()
    freed = proportional_bytes(os.getpid())
    return f"{(loaded - before) / 1e6:.0f} MB loaded, {(freed - before) / 1e6:.0f} MB after it was freed"


def question_table(data: Path, models: Sequence[str], units: int, store: SqliteStore, per: int) -> str:
    """Return the share of development questions whose answer is selected, by group, for words alone and each model."""
    examples = _sample(load(data, "dev"), per)
    shares = {LEXICAL: asyncio.run(_ask(examples, None))}
    shares |= {name: asyncio.run(_ask(examples, PassageReranker([make_scorer(name, store, units)]))) for name in models}
    lines = [f"| {len(examples)} questions | " + " | ".join(shares) + " |", "|---|" + "---:|" * len(shares)]
    groups = sorted({group_of(example.dataset) for example in examples})
    for group in groups:
        numbers = [number for number, example in enumerate(examples) if group_of(example.dataset) == group]
        cells = [
            " / ".join(f"{100 * mean(hits[budget][number] for number in numbers):.1f}" for budget in QUESTION_BUDGETS)
            for hits in shares.values()
        ]
        lines.append(f"| {group} | {' | '.join(cells)} |")
    return "\n".join(lines)


async def _ask(examples: Sequence[Example], reranker: PassageReranker | None) -> dict[int, list[bool]]:
    hits: dict[int, list[bool]] = {budget: [] for budget in QUESTION_BUDGETS}
    for example in examples:
        preferred: tuple[int, ...] = ()
        if reranker:
            until = SECONDS + asyncio.get_running_loop().time()
            preferred, faults = await reranker.rerank_windows(index_text(example.text), example.question, until)
            assert not faults, faults
        for budget in QUESTION_BUDGETS:
            shown = select(example.text, example.question, budget, preferred=preferred).text
            hits[budget].append(has_answer(example, shown))
    return hits


def _sample(examples: Sequence[Example], per: int) -> list[Example]:
    """Return `per` questions of each dataset, spread evenly."""
    sample = []
    for name in sorted({example.dataset for example in examples}):
        own = [example for example in examples if example.dataset == name]
        sample += own[:: max(1, len(own) // per)][:per]
    return sample


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="folder of pages and vectors, kept between runs")
    parser.add_argument(
        "--pages", type=Path, nargs="*", default=[], help="files of published pages, as benchmarks.tasks"
    )
    parser.add_argument("--model", nargs="*", default=[], help="e5, e5-enpt, onnx:FOLDER, late:FOLDER, static:FOLDER")
    parser.add_argument("--units", type=int, nargs="*", default=UNITS)
    parser.add_argument("--split", choices=("all", *SPLITS), default="all")
    parser.add_argument("--meaning", action="store_true", help="ask the questions of meaning.jsonl")
    parser.add_argument("--memory", action="store_true", help="measure only the memory of the models")
    parser.add_argument("--data", type=Path, help="folder with dev.docs.jsonl.gz and dev.qa.jsonl.gz")
    parser.add_argument("--per", type=int, default=10, help="development questions of each dataset")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
