"""PostgreSQL stopped under writes: `python -m benchmarks.store.postgres_immediate [--rounds 50] [--writers 3]`.

Several processes put artifacts without a pause. Again and again the server is ended with `pg_ctl stop -m immediate`, as
a crash would, and started again. In the end every artifact that was acknowledged is read back and compared. Prints how
many were acknowledged and lost, how many calls failed by name and how many otherwise, and how soon writes went on.
Bound: five minutes for 50 rounds.
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
from keyhole.records import Artifact
from keyhole.store.postgres.database import Database
from keyhole.store.postgres.schema import prepare
from keyhole.store.postgres.store import PostgresStore
from keyhole.store.postgres.sweep import Limits
from tests.support.postgresql import Cluster, binaries, cluster

NOW: Final = 1_780_000_000.0
TENANT: Final = UUID(int=1)
BETWEEN: Final = 20
"""Artifacts acknowledged between two ends of the server, at least."""
PATIENCE: Final = 60.0
PAUSE: Final = 0.02
"""Seconds that a writer waits after a failure, as no client calls again at once."""


@dataclass(slots=True)
class Found:
    """What the writers said and what was there in the end."""

    acknowledged: list[str] = field(default_factory=list)
    named: Counter[str] = field(default_factory=Counter)
    raw: list[str] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    """Seconds from a start of the server to the next acknowledgement."""
    lost: list[str] = field(default_factory=list)
    damaged: int = 0
    miscounted: int = 0
    """Artifacts by the running total less those there are."""


def main() -> int:
    """Run, print; 1 when anything was lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--writer", nargs=2, metavar=("URL", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        return write(*options.writer)
    programs = binaries()
    if programs is None:
        print("no PostgreSQL on this machine", file=sys.stderr)
        return 2
    with cluster(programs, ()) as server:
        found = run(server, options.rounds, options.writers)
    again = sorted(found.again)
    print(
        f"{options.rounds} ends of the server under {options.writers} writers: {len(found.acknowledged)} acknowledged, "
        f"{len(found.lost)} lost, {found.damaged} damaged, totals off by {found.miscounted}; "
        f"failures by name {dict(found.named)}, others {len(found.raw)}; "
        f"writes went on after {again[len(again) // 2]:.1f} s, at most {again[-1]:.1f} s"
    )
    for line in found.raw[:5]:
        print(line)
    return 1 if found.lost or found.raw or found.damaged or found.miscounted else 0


def run(server: Cluster, rounds: int, writers: int) -> Found:
    """End the server so many times under writes, and compare in the end."""
    url, found, told, random = server.database(), Found(), Condition(), Random(3)
    with opened(url) as store:
        store.stats()
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--writer", url, f"writer{number}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for number in range(writers)
    ]  # fmt: skip
    listeners = [Thread(target=listen, args=(process, found, told), daemon=True) for process in processes]
    for listener in listeners:
        listener.start()
    try:
        for _ in range(rounds):
            wait_for(found, told, BETWEEN)
            time.sleep(random.random() * 0.1)
            server.stop("immediate")
            server.start()
            start = time.monotonic()
            wait_for(found, told, 1)
            found.again.append(time.monotonic() - start)
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()  # which tells it to end
        for process, listener in zip(processes, listeners, strict=True):
            process.wait(PATIENCE)
            listener.join(PATIENCE)
    compare(url, found)
    return found


def listen(process: subprocess.Popen[str], found: Found, told: Condition) -> None:
    """What a writer says, line by line."""
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            kind, _, rest = line.strip().partition(" ")
            with told:
                if kind == "kept":
                    found.acknowledged.append(rest)
                elif kind == "named":
                    found.named[rest] += 1
                else:
                    found.raw.append(line.strip())
                told.notify_all()


def wait_for(found: Found, told: Condition, more: int) -> None:
    """Until so many more were acknowledged."""
    with told:
        enough = len(found.acknowledged) + more
        if not told.wait_for(lambda: len(found.acknowledged) >= enough, PATIENCE):
            raise TimeoutError(f"writes do not go on: {found.named}, {found.raw[:3]}")


def compare(url: str, found: Found) -> None:
    """Read back what was acknowledged."""
    with opened(url) as store:
        for id in found.acknowledged:
            try:
                same = store.get(id) == artifact(id)
            except KeyholeError:
                same = False
            if not same:
                found.lost.append(id)
        verified = store.verify()
        found.damaged = len(verified.damaged)
        found.miscounted = store.stats().artifacts - verified.checked


def write(url: str, name: str) -> int:
    """One of the writers, until its input ends: says what was kept and what failed."""
    logging.disable()  # each tells of the failure once, as a server would
    ended = Thread(target=sys.stdin.read, daemon=True)
    ended.start()
    number = 0
    with opened(url) as store:
        while ended.is_alive():
            id = f"{name}n{number}"
            try:
                store.put(artifact(id), f"{id} fish water")
            except KeyholeError as error:
                print(f"named {error.code}", flush=True)
                time.sleep(PAUSE)
            else:
                print(f"kept {id}", flush=True)
                number += 1
    return 0


def artifact(id: str) -> Artifact:
    """The artifact of an id: its text is known by it alone."""
    url = f"https://example.org/{id}"
    words = Random(id)
    text = " ".join(f"{id}:{words.randrange(10**6)}" for _ in range(400))
    return Artifact(id, url, url, id, text, "text/plain", "en", NOW)


@contextmanager
def opened(url: str) -> Iterator[PostgresStore]:
    """The store that all writers share."""
    database = Database(url, 2, prepare)
    try:
        yield PostgresStore(database, TENANT, lambda: NOW, Limits(30 * 86_400.0, 10**12))
    finally:
        database.close()


if __name__ == "__main__":
    raise SystemExit(main())
