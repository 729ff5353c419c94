"""A small run of the benchmark that stops PostgreSQL during writes."""

from __future__ import annotations

from pathlib import Path

from benchmarks.store import postgres_immediate
from tests.support.postgresql import run_cluster


def test_no_acknowledged_write_is_lost_when_postgresql_stops_immediately(postgresql_programs: Path) -> None:
    with run_cluster(postgresql_programs) as server:
        found = postgres_immediate.run_crashes(server, rounds=2, writers=2)
    assert len(found.acknowledged) >= 2 * postgres_immediate.PUTS_PER_ROUND
    assert (found.lost, found.other_exceptions, found.damaged, found.miscounted) == ([], [], 0, 0)
    assert set(found.error_codes) <= {"store_unavailable"}
