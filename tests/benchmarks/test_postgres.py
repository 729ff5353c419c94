"""The benchmark that ends PostgreSQL under writes, in small: nothing acknowledged is lost."""

from __future__ import annotations

from pathlib import Path

from benchmarks.store import postgres_immediate
from tests.support.postgresql import run_cluster


def test_nothing_that_was_acknowledged_is_lost_when_the_server_ends_at_once(postgresql_programs: Path) -> None:
    with run_cluster(postgresql_programs) as server:
        found = postgres_immediate.run_crashes(server, rounds=2, writers=2)
    assert len(found.acknowledged) >= 2 * postgres_immediate.PUTS_PER_ROUND
    assert (found.lost, found.raw, found.damaged, found.miscounted) == ([], [], 0, 0)
    assert set(found.named) <= {"store_unavailable"}
