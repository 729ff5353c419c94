"""The store in PostgreSQL, measured: `python -m benchmarks.store.postgres [DATA] [--count N] [--writers 4] [--settings …]`.

Starts a throw-away PostgreSQL server on loopback (its own folder under /tmp, gone in the end), keeps N artifacts of one
tenant in it (see stored_texts.py; DATA as for stored.py) beside those of another, and prints milliseconds of searches,
put, get, part, list, stats and collect, bytes of each table per artifact, and put by several processes at once.
100,000 artifacts take some twenty minutes and 2.5 GB.
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

from benchmarks.search.stored import known_items, percentiles, questions, searches, timed
from benchmarks.search.stored_texts import Made, artifacts, books
from keyhole.passages.stems import index_terms
from keyhole.records import Artifact
from keyhole.store.postgres.database import Database
from keyhole.store.postgres.schema import prepare
from keyhole.store.postgres.store import PostgresStore
from keyhole.store.postgres.sweep import Limits
from tests.support.postgresql import Cluster, binaries, cluster

NOW: Final = 1_780_000_000.0
LIMITS: Final = Limits(30 * 86_400.0, 10**12)
TENANT: Final = UUID(int=1)
OTHERS: Final = 4
"""Of so many artifacts one is another tenant's."""
ASKED_FOR: Final = 60
"""Artifacts that questions are made from."""
SETTINGS: Final = ("shared_buffers=1GB", "max_wal_size=4GB", "maintenance_work_mem=512MB")
TABLES: Final = ("artifacts", "words", "contents", "chunks", "totals")


def main() -> int:
    """Start, fill, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--settings", nargs="*", default=SETTINGS, help="of the server, name=value")
    parser.add_argument("--writer", nargs=3, metavar=("URL", "NAME", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        return write(options.writer[0], options.writer[1], int(options.writer[2]))
    programs = binaries()
    if programs is None:
        print("no PostgreSQL on this machine", file=sys.stderr)
        return 2
    library = books(options.data)
    with cluster(programs, options.settings) as server:
        url = server.database()
        with opened(url, TENANT) as store:
            spent, _ = timed(lambda: fill(server, url, artifacts(library, range(options.count), NOW)))
            print(f"{options.count} artifacts kept in {spent[0] / 1000:.0f} s")
            sizes(server, url, options.count)
            every = range(0, options.count, max(1, options.count // ASKED_FOR))
            known = artifacts(library, [number for number in every if number % OTHERS != 1], NOW)
            asked = list(questions(known))
            searches(cast("Any", store), asked)
            known_items(cast("Any", store), asked)
            calls(store, list(islice(artifacts(library, range(20), NOW), 20)))
        at_once(url, options.writers)
    return 0


@contextmanager
def opened(url: str, tenant: UUID) -> Iterator[PostgresStore]:
    """A tenant's store on a database."""
    database = Database(url, 4, prepare)
    try:
        yield PostgresStore(database, tenant, lambda: NOW, LIMITS)
    finally:
        database.close()


def fill(server: Cluster, url: str, made: Iterable[Made]) -> None:
    """Keep the artifacts by `put`, as in life but for what makes no difference afterwards: commits do not wait for the
    disk, and the index of words is made in the end."""
    with server.administrator() as administrator:
        administrator.execute("ALTER SYSTEM SET fsync = off")
        administrator.execute("SELECT pg_reload_conf()")
    with opened(url, TENANT) as store, opened(url, uuid5(TENANT, "another")) as another:
        store.stats()
        with server.administrator(name_of(url)) as administrator:
            found = administrator.execute("SELECT pg_get_indexdef('keyhole.words_by_stem'::regclass)").fetchone()
            assert found is not None
            administrator.execute("DROP INDEX keyhole.words_by_stem")
            for number, each in enumerate(made):
                (another if number % OTHERS == 1 else store).put(each.artifact, each.words)
            administrator.execute(found[0])
            administrator.execute("VACUUM (ANALYZE)")
            administrator.execute("ALTER SYSTEM RESET fsync")
            administrator.execute("SELECT pg_reload_conf()")
            administrator.execute("CHECKPOINT")


def name_of(url: str) -> str:
    """The database of a URL."""
    return url.rpartition("/")[2]


def sizes(server: Cluster, url: str, count: int) -> None:
    """Bytes per artifact, by table, and what the store says that it takes."""
    print("\n| bytes per artifact | rows | with indexes |\n|---|---:|---:|")
    with server.administrator(name_of(url)) as administrator:
        for table in TABLES:
            sql = "SELECT pg_table_size(t), pg_total_relation_size(t) FROM (SELECT %s::regclass AS t) x"
            row = administrator.execute(sql, [f"keyhole.{table}"]).fetchone()
            assert row is not None
            print(f"| {table} | {row[0] / count:,.0f} | {row[1] / count:,.0f} |")
        row = administrator.execute("SELECT sum(text_bytes), sum(stored_bytes) FROM keyhole.totals").fetchone()
        assert row is not None
        print(f"| text in UTF-8 | {row[0] / count:,.0f} | |\n| as the store counts it | {row[1] / count:,.0f} | |")


def calls(store: PostgresStore, known: list[Made]) -> None:
    """Times of single calls in the full store."""
    long = "\n".join(made.artifact.text for made in known)
    random = Random(5)
    puts, gets, again = [], [], []
    for number in range(100):
        text = f"{number} {long[number:]}"[:100_000]
        artifact = replace(known[0].artifact, id=f"put{number}", url=f"https://put.example/{number}", text=text)
        words = " ".join(index_terms(artifact.title, text))
        puts.append(timed(partial(store.put, artifact, words))[0])
        gets.append(timed(partial(store.get, artifact.id))[0])
        again.append(timed(partial(store.put, artifact, words))[0])
    huge = (long * (10_000_000 // len(long) + 1))[:10_000_000]
    store.put(replace(known[0].artifact, id="huge", text=huge), "huge")
    starts = [random.randrange(len(huge) - 8_000) for _ in range(300)]
    rows: dict[str, list[tuple[float, float]]] = {
        "put of 100 KB": puts,
        "put of the same again": again,
        "get of 100 KB": gets,
        "part of 8,000 of 10 MB": [timed(partial(store.part, "huge", start, start + 8_000))[0] for start in starts],
        "recent": repeated(lambda: store.recent("https://put.example/3", 0)),
        "renew": repeated(lambda: store.renew("put3", NOW)),
        "remember 200 URLs": repeated(lambda: store.remember([random.randbytes(16) for _ in range(200)])),
        "list(50)": repeated(lambda: store.list(50)),
        "stats": repeated(store.stats),
        "collect, nothing to drop": repeated(store.collect),
    }
    print("\n| call | p50 ms | p95 | p99 |\n|---|---:|---:|---:|")
    for name, times in rows.items():
        print(f"| {name} | {percentiles(times)} |")


def repeated(call: Callable[[], object], times: int = 60) -> list[tuple[float, float]]:
    """Times of the same call."""
    return [timed(call)[0] for _ in range(times)]


def at_once(url: str, writers: int, count: int = 500) -> None:
    """Several processes that put 10 KB pages of one tenant at once: nothing lost, how long each waits."""
    command = [sys.executable, __file__, "--writer", url]
    processes = [
        subprocess.Popen([*command, f"writer{number}", str(count)], stdout=subprocess.PIPE, text=True)
        for number in range(writers)
    ]
    start = time.perf_counter()
    times = [float(line) for process in processes for line in process.communicate(timeout=600)[0].split()]
    seconds = time.perf_counter() - start
    with opened(url, uuid5(TENANT, "writers")) as store:
        kept = store.stats().artifacts
    print(
        f"\n{writers} processes × {count}: {len(times)} acknowledged, {kept} kept, {len(times) / seconds:.0f} a second"
    )
    print(f"\n| put of 10 KB at once | p50 ms | p95 | p99 |\n|---|---:|---:|---:|\n| | {percentiles(pairs(times))} |")


def pairs(times: Iterable[float]) -> list[tuple[float, float]]:
    """As `percentiles` takes them: of another process's work nothing is known."""
    return [(each, 0.0) for each in times]


def write(url: str, name: str, count: int) -> int:
    """One of the processes: prints the milliseconds of each put."""
    random = Random(name)
    vocabulary = [f"word{number}" for number in range(5_000)]
    with opened(url, uuid5(TENANT, "writers")) as store:
        for number in range(count):
            words = random.choices(vocabulary, k=1_400)
            address = f"https://{name}.example/{number}"
            artifact = Artifact(f"{name}n{number}", address, address, name, " ".join(words), "text/plain", "", NOW)
            print(timed(partial(store.put, artifact, " ".join(words)))[0][0], flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
