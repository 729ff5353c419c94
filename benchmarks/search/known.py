"""Search for known pages among real ones: `python -m benchmarks.search.known DATA PAGES… [--folder FOLDER]`.

`--postgresql` starts a temporary PostgreSQL server and asks its store the same questions; the times are then those of
the clock, because the work is that of another process. `--tantivy` asks an index of that engine, which must be
installed (`pip install tantivy`), with the same terms. `--generated` adds artifacts of `benchmarks.search.stored`.
`--model` repeats the whole search with a local model, named as in benchmarks/ranking/packaged_models.py.

DATA is a folder as in answers.py: its documents are stored, and two questions about each are asked. PAGES are files
with a JSON object on each line, with `url` and `html`; their pages are stored, too. Prints in which share of the
questions the document is the first, among the first five, and among the first twenty results of the store and of the
whole search; the processor time of a search and of a write; and the sizes of the text and the file.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import lzma
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast
from uuid import UUID

from benchmarks.ranking.packaged_models import SECONDS, make_scorer
from benchmarks.search.stored_texts import generate_artifacts, insert_generated, load_books
from keyhole import extract
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extensions.models.vector_scorer import EMBEDDED_TEXTS
from keyhole.extensions.postgresql.database import NO_TENANT, PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.passages.stems import index_terms, query_words
from keyhole.records import Artifact
from keyhole.rerank.rerank_passages import PassageReranker
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Limits, Store
from keyhole.store.sqlite.store import SqliteStore
from keyhole.store.term_lookup import TITLE_WEIGHT, list_forms, split_words
from keyhole.websearch.panel import Panel
from tests.support.postgresql import find_binaries, run_cluster

NOW = 1_780_000_000.0
TTL = 30 * 86_400.0
QUESTIONS_PER_DOCUMENT = 2
RESULTS = 20
TOPS = (1, 5, 20)


class Question(NamedTuple):
    """A question, and the id of the document that answers it."""

    text: str
    id: str


def main() -> int:
    """Store the pages, ask the questions, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("pages", type=Path, nargs="*")
    parser.add_argument("--folder", type=Path, help="where the store is kept for the next run")
    parser.add_argument("--postgresql", action="store_true", help="search in PostgreSQL too")
    parser.add_argument("--generated", type=int, default=0, metavar="COUNT", help="store generated artifacts too")
    parser.add_argument("--tantivy", action="store_true", help="search with tantivy too")
    parser.add_argument("--model", help="search with a local model too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = options.folder or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        store = SqliteStore(kept, lambda: NOW, Limits(TTL, 10**12))
        if not store.stats().artifacts:
            fill(store, options.data, options.pages)
            insert_generated(kept, generate_artifacts(load_books(None), range(options.generated), NOW), NOW - 3_600)
        stats = store.stats()
        share = stats.stored_bytes / stats.text_bytes
        print(f"{stats.artifacts:,} pages, {stats.text_bytes / 1e6:.1f} MB of text, stored in {share:.2f} of its size")
        print("| | hit@1 | hit@5 | hit@20 | p50 ms | p95 ms |\n|---|---:|---:|---:|---:|---:|")
        questions = list(read_questions(options.data))
        print(measure("store", questions, store_search(store), time.process_time))
        print(measure("whole search", questions, whole_search(store), time.process_time))
        if options.model:
            reranker = PassageReranker([make_scorer(options.model, store, EMBEDDED_TEXTS)])
            print(measure("with a model", questions, whole_search(store, reranker), time.process_time))
        if options.tantivy:
            print(measure("tantivy", questions, tantivy_search(store), time.process_time))
        if options.postgresql:
            measure_postgresql(store, questions)
        store.close()
    return 0


def measure_postgresql(filled: SqliteStore, questions: Sequence[Question]) -> None:
    """Copy a store into PostgreSQL, and print the rows of its searches and the size of its tables."""
    programs = find_binaries()
    if programs is None:
        raise SystemExit("no PostgreSQL on this machine")
    with run_cluster(programs) as server:
        database = PostgresDatabase(server.database(), 2, prepare)
        store = PostgresStore(database, UUID(int=1), lambda: NOW, Limits(TTL, 10**12))
        for row in filled.list(10**6):
            artifact = filled.get(row.id)
            store.put(artifact, " ".join(index_terms(artifact.title, artifact.main)))
        print(measure("PostgreSQL", questions, store_search(store), time.perf_counter))
        print(measure("whole search", questions, whole_search(store), time.perf_counter))
        stats = store.stats()
        with database.transaction(NO_TENANT) as connection:
            found = connection.execute("SELECT pg_database_size(current_database()) AS bytes").fetchone() or {}
        print(f"the database takes {found['bytes'] / stats.text_bytes:.2f} of the size of the text")
        database.close()


def fill(store: SqliteStore, data: Path, pages: Sequence[Path]) -> None:
    """Store the documents and the pages, and print the processor time of a write."""
    spent, count = 0.0, 0
    for artifact in (*read_documents(data), *(page for path in pages for page in read_pages(path))):
        words = " ".join(index_terms(artifact.title, artifact.main))
        started = time.process_time()
        store.put(artifact, words)
        spent, count = spent + time.process_time() - started, count + 1
    print(f"a write takes {spent / count * 1_000:.1f} ms of a processor")


def read_documents(data: Path) -> Iterator[Artifact]:
    """Yield the documents of the data as artifacts."""
    for row in rows_of(data, "docs"):
        yield make_artifact(f"https://documents.example/{row['doc_id']}", "", row["text"], None)


def read_pages(path: Path) -> Iterator[Artifact]:
    """Yield the pages of a file that have text, as a fetch stores them."""
    with lzma.open(path, "rt") if path.suffix == ".xz" else gzip.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            try:
                page = extract(row["html"].encode(), url=row["url"], content_type="text/html; charset=utf-8")
            except KeyholeError:
                continue
            yield make_artifact(row["url"], page.title, page.text, page.main_end)


def make_artifact(url: str, title: str, text: str, main_end: int | None) -> Artifact:
    """Return a text as a fetched page."""
    return Artifact(
        id=url, url=url, requested_url=url, title=title, text=text, media_type="text/html", language="",
        fetched_at=NOW - 3_600, main_end=main_end,
    )  # fmt: skip


def read_questions(data: Path) -> Iterator[Question]:
    """Yield two questions about each document, the same ones in each run."""
    random, found = Random(1), defaultdict[str, list[str]](list)
    for row in rows_of(data, "qa"):
        found[row["doc_id"]].append(row["question"])
    for document, questions in found.items():
        for text in random.sample(questions, min(QUESTIONS_PER_DOCUMENT, len(questions))):
            yield Question(text, f"https://documents.example/{document}")


def rows_of(data: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of both splits of the data."""
    for split in ("dev", "test"):
        with gzip.open(data / f"{split}.{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def store_search(store: Store) -> Callable[[str], list[str]]:
    """Return the function that searches the store alone, and returns the ids of its artifacts in order."""
    return lambda text: [artifact.id for artifact in store.search(query_words(text), RESULTS)]


def tantivy_search(filled: SqliteStore) -> Callable[[str], list[str]]:
    """Return the function that searches an index of tantivy, where a word of a title counts as in the store."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    for name in ("title", "body"):
        builder.add_text_field(name, tokenizer_name="whitespace")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer()
    for row in filled.list(10**6):
        artifact = filled.get(row.id)
        title, body = split_words(" ".join(index_terms(artifact.title, artifact.main)))
        writer.add_document(tantivy.Document(id=[artifact.id], title=[" ".join(title)], body=[" ".join(body)]))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(text: str) -> list[str]:
        forms = dict.fromkeys(form for forms in list_forms(query_words(text)) for form in forms)
        terms = [tantivy.Query.term_query(schema, name, form) for form in forms for name in ("title", "body")]
        weights = [TITLE_WEIGHT, 1.0] * len(forms)
        boosted = [tantivy.Query.boost_query(each, weight) for each, weight in zip(terms, weights, strict=True)]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, each) for each in boosted])
        return [searcher.doc(address)["id"][0] for _, address in searcher.search(query, RESULTS).hits]

    return search


def whole_search(store: Store, reranker: PassageReranker | None = None) -> Callable[[str], list[str]]:
    """Return the function that searches the store as the tool does, and returns the ids of its sources in order."""
    unused = cast("Any", None)
    product = Retrieval(
        Pages(Config(timeout=SECONDS), unused, unused, store, b"s" * 32, lambda: NOW),
        lambda: Panel([]),
        reranker=reranker,
    )

    def search(text: str) -> list[str]:
        answer = asyncio.run(product.search(text, scope="stored", max_results=10))
        return cast("list[str]", answer.facts["artifact_ids"])

    return search


def measure(
    name: str, questions: Sequence[Question], find: Callable[[str], list[str]], clock: Callable[[], float]
) -> str:
    """Return the row of a way to search. `clock`: returns the seconds of a processor, or of a clock."""
    places, times = [], []
    for question in questions:
        started = clock()
        try:
            ids = find(question.text)
        except KeyholeError:
            ids = []
        times.append((clock() - started) * 1_000)
        places.append(ids.index(question.id) if question.id in ids else RESULTS)
    shares = " | ".join(f"{sum(place < top for place in places) / len(places):.3f}" for top in TOPS)
    times.sort()
    return f"| {name} | {shares} | {times[len(times) // 2]:.0f} | {times[int(len(times) * 0.95)]:.0f} |"


if __name__ == "__main__":
    raise SystemExit(main())
