"""A run of three seconds of the benchmark of limits shared by several servers."""

from __future__ import annotations

import asyncio

from benchmarks.server.limits import shared
from keyhole.fetch.host_limits import MAX_PER_HOST


def test_two_servers_together_obey_the_limits_of_a_site_and_of_a_tenant() -> None:
    most, shares = asyncio.run(shared(3.0, 2))
    assert 1 <= most <= MAX_PER_HOST
    assert all(0 < share <= 1.05 for share in shares)
