"""Search over 100,000 stored artifacts: `python -m benchmarks.search.stored FOLDER [DATA] [--count N]`.

Builds the store in FOLDER, outside the repository, if it does not exist (some minutes, 1.3 GB), from the recorded pages
and, with DATA (a folder as in answers.py), from its documents in many languages. Prints milliseconds (wall clock /
processor) of whole searches for ten results by kind of question and by language; how often a known artifact is found,
and milliseconds of put and get.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, cast

from benchmarks.search.stored_texts import GeneratedArtifact, generate_artifacts, insert_generated, load_books
from keyhole.config.config import Config
from keyhole.passages.stems import index_terms, query_words
from keyhole.passages.words import UNSPACED
from keyhole.records import Answer
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Limits
from keyhole.store.sqlite.store import SqliteStore
from keyhole.websearch.panel import Panel

NOW = 1_780_000_000.0
TTL = 30 * 86_400.0
SAMPLE = 2_000
"""One artifact in this many is searched for."""
WARM = 8
"""Searches of each kind that are not counted, to warm the caches of SQLite and the stemmers."""
KINDS = ("rare words", "common words", "a sentence", "many words", "with a site", "with an age", "no hit")

Query = tuple[str, GeneratedArtifact, str, dict[str, Any]]
"""Kind, the artifact to find, the question, and the filters."""


def main() -> int:
    """Build the store if necessary, measure, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--count", type=int, default=100_000)
    options = parser.parse_args()
    library = load_books(options.data)
    if not (options.folder / "artifacts.db").exists():
        options.folder.mkdir(parents=True, exist_ok=True)
        print(f"built in {time_call(lambda: build(options.folder, library, options.count))[0][0] / 1000:.0f} s")
    store = SqliteStore(options.folder, lambda: NOW, Limits(TTL, 10**12))
    print(f"opened in {time_call(lambda: store.list(1))[0][0]:.0f} ms")
    known = list(generate_artifacts(library, range(0, options.count, SAMPLE), NOW))
    queries = list(make_queries(known))
    measure_searches(store, queries)
    measure_narrowing(store, queries)
    measure_put_and_get(store, known)
    return 0


def build(folder: Path, library: Any, count: int) -> None:
    """Build the store's database in one transaction, which is faster than put() because that syncs each time."""
    with closing(SqliteStore(folder, lambda: NOW, Limits(TTL, 10**12))) as store:
        store.list(1)
    insert_generated(folder, generate_artifacts(library, range(count), NOW), NOW - 3_600)


def make_queries(known: Iterable[GeneratedArtifact]) -> Iterator[Query]:
    """Yield a query of each kind for every artifact with enough sentences."""
    random = Random(7)
    for made in known:
        sentences = [sentence for sentence in made.sentences if 40 < len(sentence) < 250]
        if len(sentences) < 4:
            continue
        a, b, c = random.sample(sentences, 3)
        title = made.artifact.title.split()
        yield "rare words", made, f"{title[-1]} {first_words(a, 3)}", {}
        common = random.choices(("with", "from", "about", "also", "which", "time"), k=3)
        yield "common words", made, " ".join(common), {}
        yield "a sentence", made, a, {}
        yield "many words", made, f"{first_words(a, 12)} {first_words(b, 12)} {first_words(c, 12)}", {}
        host = made.artifact.url.split("/")[2].removeprefix("docs.")
        yield "with a site", made, first_words(b, 8), {"sites": [host]}
        yield "with an age", made, first_words(b, 8), {"freshness": "week"}
        yield "no hit", made, f"zqx{made.artifact.id} qzv{made.artifact.id[::-1]}", {}


def first_words(sentence: str, count: int) -> str:
    """Return the first `count` words of a sentence; in scripts without spaces, three characters per word."""
    return sentence[: 3 * count] if UNSPACED.search(sentence) else " ".join(sentence.split()[:count])


def measure_searches(store: SqliteStore, queries: list[Query]) -> None:
    """Print the times of whole searches, by kind and by language."""
    unused = cast("Any", None)
    product = Retrieval(Pages(Config(), unused, unused, store, b"s" * 32, lambda: NOW), lambda: Panel([]))
    times: dict[str, list[Times]] = defaultdict(list)
    shown: dict[str, list[bool]] = defaultdict(list)
    for number, (kind, made, question, filters) in enumerate(queries):

        def call(question: str = question, filters: dict[str, Any] = filters) -> Answer:
            return asyncio.run(product.search(question, scope="stored", max_results=10, **filters))

        spent, answer = time_call(call)
        if number >= WARM * len(KINDS):
            times[kind].append(spent)
            times["all"].append(spent)
            times[made.artifact.language].append(spent)
            shown[kind].append(made.artifact.id in answer.text)
    print("\n| whole search | calls | p50 ms | p95 | p99 | artifact shown |\n|---|---:|---:|---:|---:|---:|")
    for name in [*KINDS, *sorted(set(times) - {*KINDS, "all"}), "all"]:
        recall = f"{sum(shown[name]) / len(shown[name]):.1%}" if name in shown else ""
        print(f"| {name} | {len(times[name])} | {percentiles(times[name])} | {recall} |")


def measure_narrowing(store: SqliteStore, queries: list[Query]) -> None:
    """Print how often the narrowing alone finds the artifact of a query."""
    print_recall("narrowing", queries, lambda question: [a.id for a in store.search(query_words(question), 20)])


def print_recall(name: str, queries: list[Query], find: Callable[[str], list[str]]) -> None:
    """Print the share of artifacts among the first 1, 10 and 20 results, and the times, by kind."""
    rows: dict[str, list[tuple[Times, int]]] = defaultdict(list)
    for kind, made, question, _ in queries:
        if kind in ("rare words", "a sentence", "many words"):
            spent, ids = time_call(partial(find, question))
            rows[kind].append((spent, ids.index(made.artifact.id) if made.artifact.id in ids else 99))
    print(f"\n| {name} | questions | hit@1 | hit@10 | hit@20 | p50 ms | p95 | p99 |\n|---{'|---:' * 7}|")
    for kind, results in rows.items():
        hits = " | ".join(f"{sum(place < top for _, place in results) / len(results):.1%}" for top in (1, 10, 20))
        print(f"| {kind} | {len(results)} | {hits} | {percentiles([spent for spent, _ in results])} |")


def measure_put_and_get(store: SqliteStore, known: list[GeneratedArtifact]) -> None:
    """Print the times of putting and getting a page of 100 KB in the full store."""
    long_text = "\n".join(made.artifact.text for made in known[:20])
    puts, gets = [], []
    for number in range(60):
        text = f"{number} {long_text}"[:100_000]
        artifact = replace(known[0].artifact, id=f"put{number}", url=f"https://put.example/{number}", text=text)
        words = " ".join(index_terms(artifact.title, text))
        puts.append(time_call(partial(store.put, artifact, words))[0])
        gets.append(time_call(partial(store.get, artifact.id))[0])
    for number in range(60):
        store.remove(f"put{number}")
    print("\n| 100 KB | p50 ms | p95 | p99 |\n|---|---:|---:|---:|")
    print(f"| put | {percentiles(puts)} |\n| get | {percentiles(gets)} |")


Times = tuple[float, float]
"""Milliseconds of wall clock and of processor time, which differ on a busy machine."""


def time_call(call: Callable[[], Any]) -> tuple[Times, Any]:
    """Return the times of a call, and its result."""
    start, worked = time.perf_counter(), time.process_time()
    value = call()
    return ((time.perf_counter() - start) * 1000, (time.process_time() - worked) * 1000), value


def percentiles(values: Sequence[Times]) -> str:
    """Return the median, 95th and 99th percentile as table cells, in wall clock and processor time."""
    cells = []
    for share in (0.5, 0.95, 0.99):
        clock, work = (
            sorted(column)[min(len(values) - 1, int(share * len(values)))] for column in zip(*values, strict=True)
        )
        cells.append(f"{clock:.1f} / {work:.1f}")
    return " | ".join(cells)


if __name__ == "__main__":
    raise SystemExit(main())
