"""Limits over several server processes with one PostgreSQL, as the benchmark measures them, for three seconds."""

from __future__ import annotations

import asyncio

from benchmarks.server.limits import shared
from keyhole.fetch.host_limits import PER_HOST


def test_two_server_processes_press_a_site_and_serve_a_tenant_no_more_than_one_would() -> None:
    most, shares = asyncio.run(shared(3.0, 2))
    assert 1 <= most <= PER_HOST
    assert all(0 < share <= 1.05 for share in shares)
