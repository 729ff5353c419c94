"""Servers and name servers fail at a chosen point: every call ends in time with a page or a named error.

A small run of benchmarks/fetch/faults, through `web_fetch` with the real client, on a network of this process only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from ssl import SSLContext

import pytest

from benchmarks.fetch.faults.cases import (
    NEVER,
    Case,
    End,
    Lookup,
    Reply,
    first_response_cuts,
    kept_cases,
    name_cases,
    page_cuts,
    second_response_cuts,
    tls_cases,
)
from benchmarks.fetch.faults.certificate import trusted_certificate
from benchmarks.fetch.faults.judge import find_violations
from benchmarks.fetch.faults.network import simulated_network
from benchmarks.fetch.faults.pages import chunked, framings, page, sized
from benchmarks.fetch.faults.run import run_cases
from benchmarks.fetch.faults.server import serve
from keyhole.config.config import Config
from keyhole.fetch.client import HttpFetcher
from keyhole.records import Answer, Hit
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeEngine, InProcessExtractor
from tests.support.product import SECRET

TIMEOUT = 10.0
"""Seconds of each call. No call of a passing test takes this long, unless a server stalls."""
STALL = 2.1
"""Seconds of each call where servers stall, of which fetching takes its share."""


@pytest.fixture(scope="module")
def certificate() -> Iterator[SSLContext]:
    with trusted_certificate() as context:
        run([Case("none", {"/page": [Reply(sized(page("/page")))]})], context)  # loads the parsers
        yield context


def run(cases: Iterable[Case], certificate: SSLContext, seconds: float = TIMEOUT) -> set[str]:
    """Run cases, none of which may end wrongly; return how they ended."""
    outcomes = asyncio.run(run_cases(cases, InProcessExtractor(), certificate, seconds))
    violations = [(o.case.kind, o.case.replies.get(o.path), found) for o in outcomes if (found := find_violations(o))]
    late = [(o.case.kind, o.seconds) for o in outcomes if o.is_late]
    assert (violations, late) == ([], [])
    return {outcome.result for outcome in outcomes}


def without_stalls(cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if End.STALL not in case.kind]


def stalls(cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if End.STALL in case.kind]


def test_a_head_that_breaks_off_at_any_byte_is_a_protocol_error(certificate: SSLContext) -> None:
    response = sized(page("/page"))
    size = response.index(b"\r\n\r\n") + 4
    cases = [Case("head", {"/page": [Reply(response[:at], (End.FIN, End.RST)[at % 2])]}) for at in range(size)]
    assert run(cases, certificate) == {"protocol_error"}


def test_a_page_that_breaks_off_is_partial_or_an_error(certificate: SSLContext) -> None:
    ended = run(without_stalls(page_cuts(24)), certificate)
    assert {"partial", "protocol_error"} <= ended <= {"page", "partial", "protocol_error", "empty_document"}


def test_a_page_that_stalls_is_partial_or_a_timeout(certificate: SSLContext) -> None:
    assert run(stalls(page_cuts(24)), certificate, STALL) == {"partial", "timeout"}


def test_a_redirect_that_breaks_off_is_an_error_and_a_robots_txt_none(certificate: SSLContext) -> None:
    assert run(without_stalls(first_response_cuts(8)), certificate) == {"page", "protocol_error"}
    assert run(stalls(first_response_cuts(24)), certificate, STALL) == {"page", "timeout"}


def test_a_page_that_breaks_off_after_a_whole_robots_txt_is_partial_or_an_error(certificate: SSLContext) -> None:
    assert run(without_stalls(second_response_cuts(10)), certificate) == {"partial", "protocol_error"}


def test_a_tls_connection_that_breaks_off_is_partial_or_an_error(certificate: SSLContext) -> None:
    ended = run(without_stalls(tls_cases(6)), certificate)
    assert {"partial", "tls_failure"} <= ended <= {"page", "partial", "protocol_error", "tls_failure"}


def test_nothing_that_a_server_does_between_two_responses_reaches_the_second_page(certificate: SSLContext) -> None:
    ended = run(kept_cases(), certificate, STALL)
    assert {"page"} <= ended <= {"page", "timeout", "not_found", "server_error", "empty_document", "http_status"}


def test_wrong_late_and_changing_names_lead_to_no_private_address(certificate: SSLContext) -> None:
    ended = run(name_cases(), certificate, STALL)
    assert ended >= {"page", "blocked_address", "dns_failure", "connect_failure", "timeout"}


def test_a_whole_page_is_a_page_in_every_framing(certificate: SSLContext) -> None:
    whole = framings(page("/page")).items()
    cases = [Case(name, {"/page": [Reply(data, End.FIN)]}, must_succeed=("/page",)) for name, data in whole]
    assert run(cases, certificate) == {"page"}


def test_a_search_over_pages_that_fail_shows_the_others_in_time(certificate: SSLContext) -> None:
    whole = sized(page("/page"))
    cut = len(whole) // 2
    faults = {
        "whole": Case("whole", {"/page": [Reply(whole)]}),
        "cut": Case("cut", {"/page": [Reply(chunked(page("/second"))[:cut], End.RST)]}),
        "no head": Case("no head", {"/page": [Reply(whole[:20], End.FIN)]}),
        "silent": Case("silent", {"/page": [Reply(b"", End.STALL)]}),
        "no name": Case("no name", lookups=[Lookup(seconds=NEVER)]),
    }

    async def search() -> Answer:
        async with AsyncExitStack() as stack:
            network, hits = stack.enter_context(simulated_network()), []
            for number, (title, case) in enumerate(faults.items()):
                port = await stack.enter_async_context(serve(case))
                host = network.add(number, port, case.lookups)
                hits.append(Hit(f"http://{host}/page", title, "", "fake"))
            config = Config(timeout=STALL, robots="off")
            fetcher = await stack.enter_async_context(HttpFetcher(config, "Test/1"))
            panel, store = Panel((FakeEngine(hits),)), MemoryStore(Clock())
            product = Retrieval(Pages(config, fetcher, InProcessExtractor(), store, SECRET, Clock()), lambda: panel)
            async with asyncio.timeout(STALL + 1):
                return await product.search("orchid or larch", max_results=5)

    text = asyncio.run(search()).text
    assert text.endswith("[end]")
    assert "http://0.faults.example/page “Orchid”" in text
    assert text.count("Partial: ") == 1
    assert "http://2.faults.example/page “no head” (not read: protocol_error" in text
    assert [f"http://{number}.faults.example/page" in text for number in (3, 4)] == [True, True]
