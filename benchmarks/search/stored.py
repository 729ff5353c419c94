"""Search over 100,000 stored artifacts: `python -m benchmarks.search.stored FOLDER [DATA] [--count N] [--full N]`.

Makes the store in FOLDER, outside the repository, where it is not there yet (some minutes, 1.3 GB), of the recorded
pages and, where DATA (see answers.py) is given, its documents in many languages. Prints milliseconds (by the clock / of
work) of whole searches for ten results by kind of question and by language, how often a known artifact is found, by the
narrowing and, for `--full` questions, by SQLite's BM25 over all words, and milliseconds of put and get.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, cast

from sqlite_utils import Database

from benchmarks.search.stored_texts import Made, artifacts, books
from keyhole.config.config import Config
from keyhole.passages.stems import index_terms, query_words
from keyhole.passages.words import UNSPACED
from keyhole.records import Answer
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.rows import entry_of, insert
from keyhole.store.sqlite.store import SqliteStore
from keyhole.store.term_lookup import searchable
from keyhole.websearch.panel import Panel

NOW = 1_780_000_000.0
TTL = 30 * 86_400.0
SAMPLE = 2_000
"""Every so many artifacts one is asked for."""
WARM = 8
"""Searches of each kind that are not counted: SQLite has read its pages and the stemmers have their words."""
KINDS = ("rare words", "common words", "a sentence", "many words", "with a site", "with an age", "no hit")


def main() -> int:
    """Build where need be, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--full", type=int, default=0)
    options = parser.parse_args()
    library = books(options.data)
    if not (options.folder / "artifacts.db").exists():
        options.folder.mkdir(parents=True, exist_ok=True)
        print(f"built in {timed(lambda: build(options.folder, library, options.count))[0][0] / 1000:.0f} s")
    store = SqliteStore(options.folder, lambda: NOW, TTL, 10**12)
    print(f"opened in {timed(lambda: store.list(1))[0][0]:.0f} ms")
    known = list(artifacts(library, range(0, options.count, SAMPLE), NOW))
    asked = list(questions(known))
    searches(store, asked)
    known_items(store, asked)
    if options.full:
        full_bm25(options.folder, asked[:: max(1, len(asked) // options.full)])
    put_and_get(store, known)
    return 0


def build(folder: Path, library: Any, count: int) -> None:
    """The store's file, written in one transaction: put() waits for the disk at each."""
    with closing(SqliteStore(folder, lambda: NOW, TTL, 10**12)) as store:
        store.list(1)
    with closing(sqlite3.connect(folder / "artifacts.db", isolation_level=None)) as connection:
        db = Database(connection, execute_plugins=False)
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -400000")
        db.execute("BEGIN")
        for key, made in enumerate(artifacts(library, range(count), NOW), 1):
            stems = " ".join(searchable(made.words.split()))
            insert(db, entry_of(made.artifact, len(stems.encode())), key, key, NOW - 3_600)
            db.execute("INSERT INTO words (rowid, stems) VALUES (?, ?)", [key, stems])
        db.execute("COMMIT")


def questions(known: Iterable[Made]) -> Iterator[tuple[str, Made, str, dict[str, Any]]]:
    """`(kind, artifact asked for, question, filters)`, each kind for every artifact that has sentences for it."""
    random = Random(7)
    for made in known:
        sentences = [sentence for sentence in made.sentences if 40 < len(sentence) < 250]
        if len(sentences) < 4:
            continue
        a, b, c = random.sample(sentences, 3)
        title = made.artifact.title.split()
        yield "rare words", made, f"{title[-1]} {words_of(a, 3)}", {}
        yield (
            "common words",
            made,
            " ".join(random.choices(("with", "from", "about", "also", "which", "time"), k=3)),
            {},
        )
        yield "a sentence", made, a, {}
        yield "many words", made, f"{words_of(a, 12)} {words_of(b, 12)} {words_of(c, 12)}", {}
        host = made.artifact.url.split("/")[2].removeprefix("docs.")
        yield "with a site", made, words_of(b, 8), {"sites": [host]}
        yield "with an age", made, words_of(b, 8), {"freshness": "week"}
        yield "no hit", made, f"zqx{made.artifact.id} qzv{made.artifact.id[::-1]}", {}


def words_of(sentence: str, count: int) -> str:
    """The first words of a sentence; of one without spaces, three characters for each."""
    return sentence[: 3 * count] if UNSPACED.search(sentence) else " ".join(sentence.split()[:count])


def searches(store: SqliteStore, asked: list[tuple[str, Made, str, dict[str, Any]]]) -> None:
    """Times of whole searches, by kind and by language."""
    nothing = cast("Any", None)
    product = Retrieval(Config(), nothing, store, Panel([]), b"s" * 32, lambda: NOW, nothing)
    times: dict[str, list[Times]] = defaultdict(list)
    shown: dict[str, list[bool]] = defaultdict(list)
    for number, (kind, made, question, filters) in enumerate(asked):

        def call(question: str = question, filters: dict[str, Any] = filters) -> Answer:
            return asyncio.run(product.search(question, scope="stored", max_results=10, **filters))

        spent, answer = timed(call)
        if number >= WARM * len(KINDS):
            times[kind].append(spent)
            times["all"].append(spent)
            times[made.artifact.language].append(spent)
            shown[kind].append(made.artifact.id in answer.text)
    print("\n| whole search | calls | p50 ms | p95 | p99 | asked for and shown |\n|---|---:|---:|---:|---:|---:|")
    for name in [*KINDS, *sorted(set(times) - {*KINDS, "all"}), "all"]:
        found = f"{sum(shown[name]) / len(shown[name]):.1%}" if name in shown else ""
        print(f"| {name} | {len(times[name])} | {percentiles(times[name])} | {found} |")


def known_items(store: SqliteStore, asked: list[tuple[str, Made, str, dict[str, Any]]]) -> None:
    """How often the narrowing alone has the artifact that a question was made from."""
    report("narrowing", asked, lambda question: [a.id for a in store.search(query_words(question), 20)])


def full_bm25(folder: Path, asked: list[tuple[str, Made, str, dict[str, Any]]]) -> None:
    """The same of SQLite's own bm25() over all words, and of the narrowing for the same questions."""
    with (
        closing(sqlite3.connect(folder / "artifacts.db")) as db,
        closing(SqliteStore(folder, lambda: NOW, TTL, 10**12)) as store,
    ):

        def best(question: str) -> list[str]:
            terms = [form for forms in query_words(question) for form in forms]
            match = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
            sql = (
                "SELECT id FROM words JOIN entries ON key = words.rowid WHERE words MATCH ? "
                "ORDER BY bm25(words), id LIMIT 20"
            )
            return [id for (id,) in db.execute(sql, [match])]

        report("SQLite's bm25()", asked, best)
        report("narrowing, the same", asked, lambda question: [a.id for a in store.search(query_words(question), 20)])


def report(name: str, asked: list[tuple[str, Made, str, dict[str, Any]]], find: Callable[[str], list[str]]) -> None:
    """Hits at 1, 10 and 20 and the times, by kind."""
    rows: dict[str, list[tuple[Times, int]]] = defaultdict(list)
    for kind, made, question, _ in asked:
        if kind in ("rare words", "a sentence", "many words"):
            spent, ids = timed(partial(find, question))
            rows[kind].append((spent, ids.index(made.artifact.id) if made.artifact.id in ids else 99))
    print(f"\n| {name} | questions | hit@1 | hit@10 | hit@20 | p50 ms | p95 | p99 |\n|---{'|---:' * 7}|")
    for kind, found in rows.items():
        hits = " | ".join(f"{sum(place < top for _, place in found) / len(found):.1%}" for top in (1, 10, 20))
        print(f"| {kind} | {len(found)} | {hits} | {percentiles([spent for spent, _ in found])} |")


def put_and_get(store: SqliteStore, known: list[Made]) -> None:
    """Times of putting and getting a page of 100 KB in the full store, and taking it out again."""
    long = "\n".join(made.artifact.text for made in known[:20])
    puts, gets = [], []
    for number in range(60):
        text = f"{number} {long}"[:100_000]
        artifact = replace(known[0].artifact, id=f"put{number}", url=f"https://put.example/{number}", text=text)
        words = " ".join(index_terms(artifact.title, text))
        puts.append(timed(partial(store.put, artifact, words))[0])
        gets.append(timed(partial(store.get, artifact.id))[0])
    for number in range(60):
        store.remove(f"put{number}")
    print("\n| 100 KB | p50 ms | p95 | p99 |\n|---|---:|---:|---:|")
    print(f"| put | {percentiles(puts)} |\n| get | {percentiles(gets)} |")


Times = tuple[float, float]
"""Milliseconds by the clock, and of work of this process: on a machine that does other things they differ."""


def timed(call: Callable[[], Any]) -> tuple[Times, Any]:
    """How long a call took, and what it gave."""
    start, worked = time.perf_counter(), time.process_time()
    value = call()
    return ((time.perf_counter() - start) * 1000, (time.process_time() - worked) * 1000), value


def percentiles(values: Sequence[Times]) -> str:
    """The median, 95th and 99th percentile as cells, by the clock and of work."""
    cells = []
    for share in (0.5, 0.95, 0.99):
        clock, work = (
            sorted(column)[min(len(values) - 1, int(share * len(values)))] for column in zip(*values, strict=True)
        )
        cells.append(f"{clock:.1f} / {work:.1f}")
    return " | ".join(cells)


if __name__ == "__main__":
    raise SystemExit(main())
