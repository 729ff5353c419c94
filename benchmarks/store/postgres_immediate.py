"""Crash PostgreSQL under writes: `python -m benchmarks.store.postgres_immediate [--rounds 50] [--writers 3]`.

Several processes put artifacts without a pause while the server is repeatedly stopped with `pg_ctl stop -m immediate`,
as in a crash, and started again. At the end every acknowledged artifact is read and compared. Prints the numbers of
acknowledged and lost artifacts, of KeyholeErrors and other exceptions, and the seconds until writes resumed. 50 rounds
take five minutes.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from threading import Condition, Thread
from typing import Final
from uuid import UUID

from keyhole.errors import KeyholeError
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.extensions.postgresql.store import PostgresStore
from keyhole.records import Artifact
from keyhole.store.base import Limits
from tests.support.postgresql import Cluster, find_binaries, run_cluster

NOW: Final = 1_780_000_000.0
TENANT: Final = UUID(int=1)
PUTS_PER_ROUND: Final = 20
"""Minimum number of artifacts acknowledged between two crashes."""
PATIENCE: Final = 60.0
"""Seconds to wait for acknowledgements and for the end of a writer."""
PAUSE: Final = 0.02
"""Seconds that a writer waits after a failure, as clients do."""


@dataclass(slots=True)
class CrashResult:
    """The output of the writers, and the state of the store at the end."""

    acknowledged: list[str] = field(default_factory=list)
    error_codes: Counter[str] = field(default_factory=Counter)
    """KeyholeErrors of failed puts, by code."""
    other_exceptions: list[str] = field(default_factory=list)
    """Lines of writers about other exceptions."""
    resumed_after: list[float] = field(default_factory=list)
    """Seconds from each start of the server to the next acknowledgement."""
    lost: list[str] = field(default_factory=list)
    damaged: int = 0
    miscounted: int = 0
    """The store's running total of artifacts minus their real number."""


def main() -> int:
    """Run the benchmark; return 1 if anything was lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--writer", nargs=2, metavar=("URL", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        return run_writer(*options.writer)
    programs = find_binaries()
    if programs is None:
        print("no PostgreSQL on this machine", file=sys.stderr)
        return 2
    with run_cluster(programs, ()) as server:
        result = run_crashes(server, options.rounds, options.writers)
    resumed_after = sorted(result.resumed_after)
    print(
        f"{options.rounds} crashes of the server under {options.writers} writers: "
        f"{len(result.acknowledged)} acknowledged, {len(result.lost)} lost, {result.damaged} damaged, "
        f"totals off by {result.miscounted}; "
        f"KeyholeErrors {dict(result.error_codes)}, other exceptions {len(result.other_exceptions)}; "
        f"writes resumed after {resumed_after[len(resumed_after) // 2]:.1f} s, at most {resumed_after[-1]:.1f} s"
    )
    for line in result.other_exceptions[:5]:
        print(line)
    return 1 if result.lost or result.other_exceptions or result.damaged or result.miscounted else 0


def run_crashes(server: Cluster, rounds: int, writers: int) -> CrashResult:
    """Crash the server `rounds` times under writes, then compare all acknowledged artifacts."""
    url, result, changed, random = server.database(), CrashResult(), Condition(), Random(3)
    with open_store(url) as store:
        store.stats()
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.store.postgres_immediate", "--writer", url, f"writer{number}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for number in range(writers)
    ]  # fmt: skip
    listeners = [Thread(target=collect_lines, args=(process, result, changed), daemon=True) for process in processes]
    for listener in listeners:
        listener.start()
    try:
        for _ in range(rounds):
            wait_acknowledged(result, changed, PUTS_PER_ROUND)
            time.sleep(random.random() * 0.1)
            server.stop("immediate")
            server.start()
            start = time.monotonic()
            wait_acknowledged(result, changed, 1)
            result.resumed_after.append(time.monotonic() - start)
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()  # ends the writer
        for process, listener in zip(processes, listeners, strict=True):
            process.wait(PATIENCE)
            listener.join(PATIENCE)
    verify_acknowledged(url, result)
    return result


def collect_lines(process: subprocess.Popen[str], result: CrashResult, changed: Condition) -> None:
    """Collect the lines that a writer prints."""
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            kind, _, rest = line.strip().partition(" ")
            with changed:
                if kind == "kept":
                    result.acknowledged.append(rest)
                elif kind == "error":
                    result.error_codes[rest] += 1
                else:
                    result.other_exceptions.append(line.strip())
                changed.notify_all()


def wait_acknowledged(result: CrashResult, changed: Condition, more: int) -> None:
    """Wait until `more` further artifacts are acknowledged."""
    with changed:
        enough = len(result.acknowledged) + more
        if not changed.wait_for(lambda: len(result.acknowledged) >= enough, PATIENCE):
            raise TimeoutError(f"writes do not resume: {result.error_codes}, {result.other_exceptions[:3]}")


def verify_acknowledged(url: str, result: CrashResult) -> None:
    """Read every acknowledged artifact and compare it."""
    with open_store(url) as store:
        for id in result.acknowledged:
            try:
                same = store.get(id) == make_artifact(id)
            except KeyholeError:
                same = False
            if not same:
                result.lost.append(id)
        verified = store.verify()
        result.damaged = len(verified.damaged)
        result.miscounted = store.stats().artifacts - verified.checked


def run_writer(url: str, name: str) -> int:
    """Put artifacts until stdin ends, and print each result. Runs in a subprocess."""
    logging.disable()  # otherwise every writer logs each outage
    ended = Thread(target=sys.stdin.read, daemon=True)
    ended.start()
    number = 0
    with open_store(url) as store:
        while ended.is_alive():
            id = f"{name}n{number}"
            try:
                store.put(make_artifact(id), f"{id} fish water")
            except KeyholeError as error:
                print(f"error {error.code}", flush=True)
                time.sleep(PAUSE)
            else:
                print(f"kept {id}", flush=True)
                number += 1
    return 0


def make_artifact(id: str) -> Artifact:
    """Return the artifact of an id. Its text depends on the id alone."""
    url = f"https://example.org/{id}"
    words = Random(id)
    text = " ".join(f"{id}:{words.randrange(10**6)}" for _ in range(400))
    return Artifact(id, url, url, id, text, "text/plain", "en", NOW)


@contextmanager
def open_store(url: str) -> Iterator[PostgresStore]:
    """Open the store that all writers share."""
    database = PostgresDatabase(url, 2, prepare)
    try:
        yield PostgresStore(database, TENANT, lambda: NOW, Limits(30 * 86_400.0, 10**12))
    finally:
        database.close()


if __name__ == "__main__":
    raise SystemExit(main())
