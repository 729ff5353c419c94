"""The benchmark of fair shares: its figures and its misses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.server.fair_shares import Phase, new_pages, report
from benchmarks.server.load_test.client import Reply


def phase(*seconds: float) -> Phase:
    made = Phase()
    for each in seconds:
        made.record(Reply(200, each))
    return made


def test_every_page_has_a_new_address() -> None:
    pages = new_pages("small", ("127.0.0.71", "127.0.0.72"), 3, 80)
    found = [next(pages) for _ in range(12)]
    assert len(set(found)) == 12
    assert found[0] == "http://127.0.0.71:80/small/0?v=000000000000"


def test_a_p95_over_twice_that_alone_is_a_miss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(phase(0.1, 0.1), phase(0.1, 0.19), None) == 0
    assert "p95 1.9" in capsys.readouterr().out
    assert report(phase(0.1, 0.1), phase(0.1, 0.21), tmp_path / "figures.json") == 1
    figures: dict[str, Any] = json.loads((tmp_path / "figures.json").read_text())
    assert figures["beside"]["p95"] == 0.21
    assert len(figures["misses"]) == 1


def test_a_failed_call_is_a_miss(capsys: pytest.CaptureFixture[str]) -> None:
    failed = phase(0.1)
    failed.record(Reply(429, 0.1, code="calls_at_once"))
    assert report(phase(0.1), failed, None) == 1
    assert "calls_at_once" in capsys.readouterr().out
