"""A small run of the HTTP server benchmark."""

from __future__ import annotations

from benchmarks.server.http_server import measure, unobserved_stage


def test_an_idle_server_is_measured() -> None:
    figures = measure(idle=20, sessions=5, calls=10)
    assert 0 < figures.alone[0] <= figures.alone[1] < 1_000
    assert figures.among_idle[1] < 1_000
    assert figures.drained < 10
    assert unobserved_stage() > 0
