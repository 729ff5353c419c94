"""Test a real searx over the loopback web: its hits, and each of its failures.

Skipped if Debian's package is not installed: `apt-get install --no-install-recommends searx`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.search.web import searx
from benchmarks.search.web.processes import RunningWeb, serve_web
from benchmarks.search.web.sites import CLOSED
from keyhole.cli.build import build
from keyhole.config.load import parse_config
from keyhole.records import Answer
from keyhole.store.base import LOCAL

pytestmark = pytest.mark.skipif(not searx.is_installed(), reason="searx is not installed")

QUESTION = "Does PostgreSQL 15 have virtual generated columns?"


@pytest.fixture(scope="module")
def web() -> Iterator[RunningWeb]:
    with serve_web() as running:
        yield running


def search(web: RunningWeb, home: Path, instances: str, seconds: int = 20) -> Answer:
    """Return the answer of one search with the complete product."""
    settings = {
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(home),
        "KEYHOLE_ALLOW_PRIVATE": web.endpoints,
        "KEYHOLE_ENGINES": "searxng",
        "KEYHOLE_SEARXNG_URL": instances,
        "KEYHOLE_TIMEOUT": str(seconds),
    }

    async def run() -> Answer:
        product = build(parse_config(settings))
        try:
            return await product.of(LOCAL).search(QUESTION)
        finally:
            await product.aclose()

    return asyncio.run(run())


def test_pages_found_by_a_real_instance_answer_the_question(web: RunningWeb, tmp_path: Path) -> None:
    with searx.run_instance(web.api + "/search") as instance:
        answer = search(web, tmp_path, instance)
    assert not answer.is_error
    assert "implements only stored generated columns" in answer.text


@pytest.mark.parametrize("fault", ["/fails", "/limits", "/page", "/hangs"])
def test_a_failed_engine_of_an_instance_is_an_error_rather_than_no_results(
    web: RunningWeb, tmp_path: Path, fault: str
) -> None:
    with searx.run_instance(web.api + fault) as instance:
        answer = search(web, tmp_path, instance)
    assert answer.is_error
    assert not answer.text.startswith("no_results")
    assert "1 of its engines" in answer.text


def test_a_healthy_instance_without_results_reports_no_results(web: RunningWeb, tmp_path: Path) -> None:
    with searx.run_instance(web.api + "/empty") as instance:
        answer = search(web, tmp_path, instance)
    assert answer.is_error
    assert answer.text.startswith("no_results")


@pytest.mark.parametrize("front", ["/limits", "/page", "/fails", "/hangs"])
def test_a_failing_proxy_in_front_of_an_instance_is_reported(web: RunningWeb, tmp_path: Path, front: str) -> None:
    answer = search(web, tmp_path, web.api + front, seconds=3)
    assert answer.is_error
    assert not answer.text.startswith("no_results")


def test_an_instance_that_is_down_is_reported(web: RunningWeb, tmp_path: Path) -> None:
    answer = search(web, tmp_path, f"http://{CLOSED}:{web.port}")
    assert answer.is_error
    assert "connect" in answer.text


def test_a_second_instance_replaces_one_that_is_down(web: RunningWeb, tmp_path: Path) -> None:
    with searx.run_instance(web.api + "/search") as alive:
        answer = search(web, tmp_path, f"http://{CLOSED}:{web.port},{alive}")
    assert not answer.is_error
    assert "implements only stored generated columns" in answer.text


def test_a_second_instance_replaces_one_whose_engine_fails(web: RunningWeb, tmp_path: Path) -> None:
    with searx.run_instance(web.api + "/fails") as failing, searx.run_instance(web.api + "/search") as alive:
        answer = search(web, tmp_path, f"{failing},{alive}")
    assert not answer.is_error
    assert "implements only stored generated columns" in answer.text
