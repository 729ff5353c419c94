"""Limits over several server processes with one PostgreSQL, as the benchmark measures them, for three seconds."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

from keyhole.fetch.manners import PER_HOST
from limits import shared


def test_two_server_processes_press_a_site_and_serve_a_tenant_no_more_than_one_would() -> None:
    most, shares = asyncio.run(shared(3.0, 2))
    assert 1 <= most <= PER_HOST
    assert all(0 < share <= 1.05 for share in shares)
