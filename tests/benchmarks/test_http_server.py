"""The benchmark of the HTTP server, made small."""

from __future__ import annotations

from benchmarks.server.http_server import measure, unobserved_stage


def test_a_server_at_rest_is_measured() -> None:
    figures = measure(idle=20, sessions=5, calls=10)
    assert 0 < figures.alone[0] <= figures.alone[1] < 1_000
    assert figures.among_idle[1] < 1_000
    assert figures.drained < 10
    assert unobserved_stage() > 0
