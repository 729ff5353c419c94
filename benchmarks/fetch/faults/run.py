"""Run cases through the tool `web_fetch` with the real client, store and extraction."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Final

from benchmarks.fetch.faults.cases import Case
from benchmarks.fetch.faults.judge import Outcome
from benchmarks.fetch.faults.network import Network, simulated_network
from benchmarks.fetch.faults.server import serve
from keyhole.config.config import Config
from keyhole.extract.workers.tasks import Extractor
from keyhole.fetch.client import HttpFetcher
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel

CONCURRENT: Final = 32
"""Cases at once: half of the connections that a client opens."""
TIMEOUT: Final = 3.0
"""Seconds of each call. Two thirds of them are for fetching, which is what a stalled server costs."""
PAUSE: Final = 0.05
"""Seconds between the fetches of a case, in which a server ends an idle connection."""


async def run_cases(
    cases: Iterable[Case], extractor: Extractor, certificate: ssl.SSLContext, seconds: float
) -> list[Outcome]:
    """Run all cases; return the outcomes of all calls. `seconds`: the time limit of each call."""
    slots = asyncio.Semaphore(CONCURRENT)
    async with AsyncExitStack() as stack:
        network = stack.enter_context(simulated_network())
        products = {}
        for robots in (True, False):
            config = Config(timeout=seconds, robots="on" if robots else "off")
            fetcher = await stack.enter_async_context(HttpFetcher(config, "Keyhole-Faults/1"))
            store, secret = MemoryStore(time.time), b"0" * 32
            products[robots] = Retrieval(Pages(config, fetcher, extractor, store, secret, time.time), lambda: Panel(()))

        async def run(number: int, case: Case) -> list[Outcome]:
            async with slots:
                return await _run_case(case, number, products[case.robots], network, certificate)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(number, case)) for number, case in enumerate(cases)]
    return [outcome for task in tasks for outcome in task.result()]


async def _run_case(
    case: Case, number: int, product: Retrieval, network: Network, certificate: ssl.SSLContext
) -> list[Outcome]:
    outcomes = []
    async with serve(case, certificate) as port:
        host = network.add(number, port, case.lookups)
        scheme = "http" if case.tls_cut is None else "https"
        for path in case.paths:
            before, started = len(network.forbidden), time.monotonic()
            try:
                answer = await product.web_fetch(f"{scheme}://{host}{path}")
                text, is_error = answer.text, answer.is_error
            except Exception as error:  # noqa: BLE001 - counted as a violation
                text, is_error = f"an exception: {error!r}", True
            seconds, forbidden = time.monotonic() - started, tuple(network.forbidden[before:])
            outcomes.append(Outcome(case, path, text, is_error, seconds, product.config.timeout, forbidden))
            await asyncio.sleep(PAUSE if len(case.paths) > 1 else 0)
    return outcomes
