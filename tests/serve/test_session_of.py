"""Sessions: over stdio, all calls of a connection share a session; over HTTP, all calls after a handshake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from mcp import Client

from keyhole.cli.demo_site import recorded_pages
from keyhole.config.config import Config
from keyhole.extensions.hosted.telemetry import CallLogger
from keyhole.retrieval import instrumentation
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.tools import build_server
from tests.support.fakes import page
from tests.support.loopback import PATIENCE, Call, Site, response, serve
from tests.support.product import retrieval
from tests.support.server_process import Post, application_server, open_session, tool_call
from tests.support.waiting import wait_for

URL = "https://pg.example/vacuum"
QUERY = "vacuum threshold for autovacuum"
BUDGETS = (2_000, 6_000)
"""A call with the second budget shows what follows the passages that one with the first budget showed."""
BEFORE = "left out, as shown in call 1;"


def text_of(result: Any) -> str:
    return str(getattr(result.content[0], "text", ""))


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_calls_of_one_connection_share_a_session(era: str) -> None:
    recorded = recorded_pages()["routine-vacuuming"]
    product = retrieval({URL: page(URL, recorded.body, content_type=recorded.content_type)})

    async def get(_tenant: str) -> Retrieval:
        return product

    async def run() -> list[str]:
        async with Client(build_server(get), mode=era) as client:
            given = [{"url": URL, "query": QUERY, "max_chars": budget} for budget in BUDGETS]
            return [text_of(await client.call_tool("web_fetch", each)) for each in given]

    first, second = anyio.run(run)
    assert BEFORE not in first
    assert BEFORE in second


def vacuum(_site: object) -> Any:
    recorded = recorded_pages()["routine-vacuuming"]

    def talk(call: Call) -> None:
        call.send(response(recorded.body, Content_Type=recorded.content_type))

    return talk


class EndCounter(CallLogger):
    """Observer that counts the requests and calls that ended."""

    def __init__(self) -> None:
        self.requests = 0
        self.calls = 0

    @contextmanager
    def call(self, call: instrumentation.ObservedCall) -> Iterator[None]:
        yield
        self.calls += 1

    def count_response(self, status: int) -> None:
        self.requests += 1


def test_an_answer_on_a_lost_connection_is_not_recorded_in_the_session(tmp_path: Path) -> None:
    released, ends = Event(), EndCounter()

    def slow_vacuum(site: Site) -> Any:
        send = vacuum(site)

        def talk(call: Call) -> None:
            released.wait(PATIENCE)
            send(call)

        return talk

    with serve(slow_vacuum) as site, instrumentation.observed_by(ends):
        config = Config(home=tmp_path, allow_private=frozenset({site.endpoint}), engines=("searxng",), robots="off")
        with application_server(config) as server:
            session = open_session(server.port)
            before = ends.requests
            lost = Post(
                server.port,
                tool_call("web_fetch", url=site.url("/"), query=QUERY, max_chars=BUDGETS[0]),
                mcp_session_id=session,
            )
            assert site.request_received.wait(PATIENCE)
            lost.leave()
            wait_for(lambda: ends.requests > before)
            released.set()
            wait_for(lambda: ends.calls == 1)
            assert BEFORE not in over_http(server.port, site.url("/"), BUDGETS[1], session)


def over_http(port: int, url: str, budget: int, session: str) -> str:
    call = tool_call("web_fetch", url=url, query=QUERY, max_chars=budget)
    status, _, body = Post(port, call, mcp_session_id=session).answer()
    assert status == 200
    data = next(line for line in body.splitlines() if line.startswith("data: {"))
    return str(json.loads(data.removeprefix("data: "))["result"]["content"][0]["text"])


def test_each_handshake_over_http_starts_a_session(tmp_path: Path) -> None:
    with serve(vacuum) as site:
        config = Config(home=tmp_path, allow_private=frozenset({site.endpoint}), engines=("searxng",))
        with application_server(config) as server:
            one, other = open_session(server.port), open_session(server.port)
            texts = [over_http(server.port, site.url("/"), budget, one) for budget in BUDGETS]
            assert BEFORE not in texts[0]
            assert BEFORE in texts[1]
            assert BEFORE not in over_http(server.port, site.url("/"), BUDGETS[1], other)


@pytest.mark.parametrize(("era", "stateless"), [("2026-07-28", False), ("legacy", True)])
def test_without_a_session_over_http_passages_are_repeated(tmp_path: Path, era: str, stateless: bool) -> None:
    with serve(vacuum) as site:
        config = Config(
            home=tmp_path, allow_private=frozenset({site.endpoint}), engines=("searxng",), stateless=stateless
        )
        with application_server(config) as server:

            async def run() -> list[str]:
                async with Client(server.url, mode=era) as client:
                    given = [{"url": site.url("/"), "query": QUERY, "max_chars": budget} for budget in BUDGETS]
                    return [text_of(await client.call_tool("web_fetch", each)) for each in given]

            assert all(BEFORE not in text and "passage" in text for text in anyio.run(run))
