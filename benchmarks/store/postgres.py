"""Measure the PostgreSQL store: `python -m benchmarks.store.postgres [DATA] [--count N] [--writers 4] [--settings …]`.

Starts a temporary PostgreSQL server on loopback with a folder under /tmp, and stores N artifacts of two tenants (see
benchmarks/search/stored_texts.py; DATA as for `benchmarks.search.stored`). Prints milliseconds of searches, put, get,
part, list, stats and collect, bytes of each table per artifact, and the times of concurrent puts. 100,000 artifacts
take some twenty minutes and 2.5 GB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final, cast
from uuid import UUID, uuid5

from benchmarks.search.stored import make_queries, measure_narrowing, measure_searches, percentiles, time_call
from benchmarks.search.stored_texts import GeneratedArtifact, generate_artifacts, load_books
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.passages.stems import index_terms
from keyhole.records import Artifact
from keyhole.store.base import Limits
from tests.support.postgresql import Cluster, find_binaries, run_cluster

NOW: Final = 1_780_000_000.0
LIMITS: Final = Limits(30 * 86_400.0, 10**12)
TENANT: Final = UUID(int=1)
OTHER_TENANT_EVERY: Final = 4
"""One artifact in this many belongs to the other tenant."""
QUESTION_ARTIFACTS: Final = 60
"""Number of artifacts that the questions are made from."""
SETTINGS: Final = ("shared_buffers=1GB", "max_wal_size=4GB", "maintenance_work_mem=512MB")
TABLES: Final = ("artifacts", "words", "contents", "chunks", "totals")


def main() -> int:
    """Start a server, fill the store, measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--settings", nargs="*", default=SETTINGS, help="settings of the server, name=value")
    parser.add_argument("--writer", nargs=3, metavar=("URL", "NAME", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        return run_writer(options.writer[0], options.writer[1], int(options.writer[2]))
    programs = find_binaries()
    if programs is None:
        print("no PostgreSQL on this machine", file=sys.stderr)
        return 2
    library = load_books(options.data)
    with run_cluster(programs, options.settings) as server:
        url = server.database()
        with open_store(url, TENANT) as store:
            spent, _ = time_call(
                lambda: fill_store(server, url, generate_artifacts(library, range(options.count), NOW))
            )
            print(f"{options.count} artifacts stored in {spent[0] / 1000:.0f} s")
            print_sizes(server, url, options.count)
            every = range(0, options.count, max(1, options.count // QUESTION_ARTIFACTS))
            known = generate_artifacts(library, [number for number in every if number % OTHER_TENANT_EVERY != 1], NOW)
            asked = list(make_queries(known))
            measure_searches(cast("Any", store), asked)
            measure_narrowing(cast("Any", store), asked)
            measure_calls(store, list(islice(generate_artifacts(library, range(20), NOW), 20)))
        measure_writers(url, options.writers)
    return 0


@contextmanager
def open_store(url: str, tenant: UUID) -> Iterator[PostgresStore]:
    """Open a tenant's store on a database."""
    database = PostgresDatabase(url, 4, prepare)
    try:
        yield PostgresStore(database, tenant, lambda: NOW, LIMITS)
    finally:
        database.close()


def fill_store(server: Cluster, url: str, made: Iterable[GeneratedArtifact]) -> None:
    """Store the artifacts by `put`, but without syncing commits, and with the index of words created at the end."""
    with server.administrator() as administrator:
        administrator.execute("ALTER SYSTEM SET fsync = off")
        administrator.execute("SELECT pg_reload_conf()")
    with open_store(url, TENANT) as store, open_store(url, uuid5(TENANT, "another")) as another:
        store.stats()
        with server.administrator(database_name(url)) as administrator:
            index_sql = administrator.execute("SELECT pg_get_indexdef('keyhole.words_by_stem'::regclass)").fetchone()
            assert index_sql is not None
            administrator.execute("DROP INDEX keyhole.words_by_stem")
            for number, each in enumerate(made):
                (another if number % OTHER_TENANT_EVERY == 1 else store).put(each.artifact, each.words)
            administrator.execute(index_sql[0])
            administrator.execute("VACUUM (ANALYZE)")
            administrator.execute("ALTER SYSTEM RESET fsync")
            administrator.execute("SELECT pg_reload_conf()")
            administrator.execute("CHECKPOINT")


def database_name(url: str) -> str:
    """Return the name of a URL's database."""
    return url.rpartition("/")[2]


def print_sizes(server: Cluster, url: str, count: int) -> None:
    """Print the bytes per artifact in each table, and the bytes that the store itself counts."""
    print("\n| bytes per artifact | rows | with indexes |\n|---|---:|---:|")
    with server.administrator(database_name(url)) as administrator:
        for table in TABLES:
            sql = "SELECT pg_table_size(t), pg_total_relation_size(t) FROM (SELECT %s::regclass AS t) x"
            row = administrator.execute(sql, [f"keyhole.{table}"]).fetchone()
            assert row is not None
            print(f"| {table} | {row[0] / count:,.0f} | {row[1] / count:,.0f} |")
        row = administrator.execute("SELECT sum(text_bytes), sum(stored_bytes) FROM keyhole.totals").fetchone()
        assert row is not None
        print(f"| text in UTF-8 | {row[0] / count:,.0f} | |\n| as the store counts it | {row[1] / count:,.0f} | |")


def measure_calls(store: PostgresStore, known: list[GeneratedArtifact]) -> None:
    """Print the times of single calls in the full store."""
    long = "\n".join(made.artifact.text for made in known)
    random = Random(5)
    puts, gets, repeated_puts = [], [], []
    for number in range(100):
        text = f"{number} {long[number:]}"[:100_000]
        artifact = replace(known[0].artifact, id=f"put{number}", url=f"https://put.example/{number}", text=text)
        words = " ".join(index_terms(artifact.title, text))
        puts.append(time_call(partial(store.put, artifact, words))[0])
        gets.append(time_call(partial(store.get, artifact.id))[0])
        repeated_puts.append(time_call(partial(store.put, artifact, words))[0])
    huge = (long * (10_000_000 // len(long) + 1))[:10_000_000]
    store.put(replace(known[0].artifact, id="huge", text=huge), "huge")
    starts = [random.randrange(len(huge) - 8_000) for _ in range(300)]
    rows: dict[str, list[tuple[float, float]]] = {
        "put of 100 KB": puts,
        "put of the same text again": repeated_puts,
        "get of 100 KB": gets,
        "part of 8,000 of 10 MB": [time_call(partial(store.part, "huge", start, start + 8_000))[0] for start in starts],
        "recent": time_repeatedly(lambda: store.recent("https://put.example/3", 0)),
        "renew": time_repeatedly(lambda: store.renew("put3", NOW)),
        "remember 200 URLs": time_repeatedly(lambda: store.remember([random.randbytes(16) for _ in range(200)])),
        "list(50)": time_repeatedly(lambda: store.list(50)),
        "stats": time_repeatedly(store.stats),
        "collect, nothing to drop": time_repeatedly(store.collect),
    }
    print("\n| call | p50 ms | p95 | p99 |\n|---|---:|---:|---:|")
    for name, times in rows.items():
        print(f"| {name} | {percentiles(times)} |")


def time_repeatedly(call: Callable[[], object], times: int = 60) -> list[tuple[float, float]]:
    """Return the times of repeated calls."""
    return [time_call(call)[0] for _ in range(times)]


def measure_writers(url: str, writers: int, count: int = 500) -> None:
    """Put 10 KB pages of one tenant from several processes; print how many are stored and how long a put takes."""
    command = [sys.executable, "-m", "benchmarks.store.postgres", "--writer", url]
    processes = [
        subprocess.Popen([*command, f"writer{number}", str(count)], stdout=subprocess.PIPE, text=True)
        for number in range(writers)
    ]
    start = time.perf_counter()
    times = [float(line) for process in processes for line in process.communicate(timeout=600)[0].split()]
    seconds = time.perf_counter() - start
    with open_store(url, uuid5(TENANT, "writers")) as store:
        stored = store.stats().artifacts
    print(
        f"\n{writers} processes × {count}: {len(times)} acknowledged, {stored} stored, "
        f"{len(times) / seconds:.0f} a second"
    )
    cells = percentiles(add_cpu_times(times))
    print(f"\n| put of 10 KB at once | p50 ms | p95 | p99 |\n|---|---:|---:|---:|\n| | {cells} |")


def add_cpu_times(times: Iterable[float]) -> list[tuple[float, float]]:
    """Add a CPU time of zero to each time, because that of another process is unknown."""
    return [(each, 0.0) for each in times]


def run_writer(url: str, name: str, count: int) -> int:
    """Put artifacts, and print the milliseconds of each put. Runs in a subprocess."""
    random = Random(name)
    vocabulary = [f"word{number}" for number in range(5_000)]
    with open_store(url, uuid5(TENANT, "writers")) as store:
        for number in range(count):
            words = random.choices(vocabulary, k=1_400)
            address = f"https://{name}.example/{number}"
            artifact = Artifact(f"{name}n{number}", address, address, name, " ".join(words), "text/plain", "", NOW)
            print(time_call(partial(store.put, artifact, " ".join(words)))[0][0], flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
