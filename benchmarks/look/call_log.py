"""Measure the log of calls: adding, lists, figures, bytes for each call, and what recording costs a call.

    python -m benchmarks.look.call_log [--calls 50000] [--postgresql]

Times are CPU time, so that other programs matter less. With `--postgresql` they are the time that passes, because a
temporary server does the work, and the bytes of its tables are beside those that the log counts. A call is a
`web_fetch` of a page that is stored already, within one process. Its answer does not wait for its record, which a
thread makes and writes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final
from uuid import uuid4

from keyhole.extensions.postgresql.call_tables import CALL_TABLES
from keyhole.extensions.postgresql.calls import PostgresCallLog
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.retrieval.dispatch import dispatch
from keyhole.retrieval.progress import no_progress
from keyhole.retrieval.recording import Recording
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Visits
from keyhole.store.base import Limits
from keyhole.store.calls.base import CallFilters, CallLog
from keyhole.store.calls.queue import CallQueue
from keyhole.store.calls.sqlite import SqliteCallLog
from tests.store.calls.samples import START, calls
from tests.support.fakes import Clock, page
from tests.support.postgresql import find_binaries, run_cluster
from tests.support.product import retrieval

TTL: Final = 1e9
PAGE: Final = 50
"""Calls or sessions on one page of a list."""
REPEATS: Final = 5
RECORDED: Final = 300
"""Calls made with recording, and as many without."""
URL: Final = "https://a.example/"
BODY: Final = "".join(f"<h2>Pump {n}</h2><p>{'Valves and seals of pumps leak. ' * 12}" for n in range(100))
ABSENT: Final = "absentword"
Timer = Callable[[], float]
_TABLE_BYTES: Final = """
SELECT sum(pg_total_relation_size(('keyhole.' || name)::regclass))::bigint AS bytes FROM unnest(%s::text[]) AS name
"""


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.look.call_log", description=__doc__)
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--postgresql", action="store_true", help="measure the log in a temporary PostgreSQL")
    arguments = parser.parse_args()
    size = arguments.calls
    if arguments.postgresql:
        measure_postgresql(size)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        log = SqliteCallLog(Path(folder), lambda: START, TTL)
        print(f"add a call, mean of {size:,}: {add_all(log, size):.2f} ms; {log.size_bytes() / size:,.0f} bytes each")
        for name, read in reads(log).items():
            print(f"{name}: {median_ms(read):.1f} ms")
        log.close()
    for name, milliseconds in asyncio.run(measure_calls()).items():
        print(f"{name}: {milliseconds:.2f} ms")
    return 0


def measure_postgresql(size: int) -> None:
    """Measure the log in PostgreSQL and print the table."""
    programs = find_binaries()
    if programs is None:
        raise SystemExit("no PostgreSQL found")
    with run_cluster(programs) as cluster:
        database = PostgresDatabase(cluster.database(), 2, prepare)
        tenant = uuid4()
        log = PostgresCallLog(database, tenant, lambda: START, Limits(TTL, 1))
        spent = add_all(log, size, time.perf_counter)
        with database.transaction(tenant) as connection:
            row = connection.execute(_TABLE_BYTES, [list(CALL_TABLES)]).fetchone() or {}
            connection.execute("ANALYZE keyhole.calls, keyhole.call_texts, keyhole.call_stages")
        sizes = f"{log.size_bytes() / size:,.0f} bytes counted for each, {row['bytes'] / size:,.0f} in the tables"
        print(f"add a call, mean of {size:,}: {spent:.2f} ms; {sizes}")
        for name, read in reads(log).items():
            print(f"{name}: {median_ms(read, time.perf_counter):.1f} ms")
        database.close()


def add_all(log: CallLog, size: int, timer: Timer = time.process_time) -> float:
    """Add the sample calls; return the mean milliseconds of one."""
    spent = 0.0
    for record in calls(size):
        start = timer()
        log.add(record)
        spent += timer() - start
    return 1_000 * spent / size


def reads(log: CallLog) -> dict[str, Callable[[], object]]:
    """Return what is measured of a full log, by its name in the table."""
    newest = log.calls(1)[0]
    return {
        "newest calls": lambda: log.calls(PAGE),
        "newest sessions": lambda: log.sessions(PAGE),
        "misses": lambda: log.calls(PAGE, CallFilters(misses_only=True)),
        "calls with a frequent word": lambda: log.calls(PAGE, CallFilters(words="timeout")),
        "calls with a word that none has": lambda: log.calls(PAGE, CallFilters(words=ABSENT)),
        "sessions with a word that none has": lambda: log.sessions(PAGE, CallFilters(words=ABSENT)),
        "one call": lambda: log.get(newest.id),
        "choices of the filters": log.choices,
        "figures of all calls": lambda: log.figures(0.0),
    }


def median_ms(work: Callable[[], object], timer: Timer = time.process_time) -> float:
    """Return the median milliseconds of some work."""
    times = []
    for _ in range(REPEATS):
        start = timer()
        work()
        times.append(1_000 * (timer() - start))
    return statistics.median(times)


async def measure_calls() -> dict[str, float]:
    """Return the median milliseconds of a call with and without recording, and of its record."""
    plain = retrieval({URL: page(URL, f"<main>{BODY}</main>")}, clock=Clock())
    ids = count()
    with tempfile.TemporaryDirectory() as folder:
        log, queue = SqliteCallLog(Path(folder), lambda: START, TTL), HeldQueue()
        recorded = replace(plain, recording=Recording(log, queue, Visits(lambda: f"visit{next(ids)}")))
        await dispatch(plain, "web_fetch", {"url": URL}, no_progress)
        spent: dict[str, list[float]] = {"a call without recording": [], "a call with recording": [], "its record": []}
        for number in range(RECORDED):  # each call has a query of its own, so that none finds another's words cached
            for name, product in zip(spent, (plain, recorded), strict=False):
                spent[name].append(await call_ms(product, f"{name} {number}"))
            spent["its record"].append(queue.run_ms())
        log.close()
    return {name: statistics.median(times) for name, times in spent.items()}


async def call_ms(product: Retrieval, query: str) -> float:
    """Return the milliseconds of CPU time of one call."""
    start = time.process_time()
    await dispatch(product, "web_fetch", {"url": URL, "query": f"seals leak {query}"}, no_progress)
    return 1_000 * (time.process_time() - start)


class HeldQueue(CallQueue):
    """A queue that runs nothing until it is told to, so that calls and records can be measured apart."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[Callable[[], None]] = []

    def put(self, work: Callable[[], None]) -> None:
        self._held.append(work)

    def run_ms(self) -> float:
        """Run what was put; return the milliseconds of CPU time."""
        start = time.process_time()
        for work in self._held:
            work()
        self._held.clear()
        return 1_000 * (time.process_time() - start)


if __name__ == "__main__":
    raise SystemExit(main())
