"""A short run of the benchmark of the limits under a flood."""

from __future__ import annotations

import asyncio

from benchmarks.server.limits import flood
from keyhole.fetch.host_limits import MAX_PER_HOST


def test_a_server_under_a_flood_answers_polite_tenants_and_obeys_the_limit_of_a_host() -> None:
    polite, greedy, most = asyncio.run(flood(2.0, 8, 0.0))
    assert polite.answered
    assert greedy.answered
    assert not polite.refused
    assert not polite.failed
    assert 0 < most <= MAX_PER_HOST
