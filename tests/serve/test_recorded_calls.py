"""Tests of what a server records of the calls of real clients, in both protocol eras."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest
from mcp import Client
from mcp.types import Implementation

from keyhole.retrieval.recording import Recording
from keyhole.retrieval.session import Visits
from keyhole.serve.tools import build_server
from keyhole.store.calls.base import CallRecord
from keyhole.store.calls.queue import CallQueue
from keyhole.store.ids import random_id
from tests.serve.test_tools import ERAS, URL, ready
from tests.support.fakes import Clock, MemoryCallLog, page
from tests.support.product import retrieval


def record_clients(count: int, era: str) -> list[CallRecord]:
    """Let clients fetch a page and read it as a resource, one after the other; return the records, oldest first."""
    clock = Clock()
    log, queue = MemoryCallLog(clock, 86_400.0), CallQueue()
    product = retrieval({URL: page(URL, "<main><p>Pumps and valves.</main>")}, clock=clock)
    product = replace(product, recording=Recording(log, queue, Visits(random_id)))

    async def run() -> None:
        for number in range(count):
            who = Implementation(name=f"client{number}", version="2")
            async with Client(build_server(ready(product)), mode=era, client_info=who) as client:
                await client.call_tool("web_fetch", {"url": URL})
                listed = await client.list_resources()
                clock.advance(1)
                await client.read_resource(listed.resources[0].uri)
                clock.advance(1)

    anyio.run(run)
    queue.wait(9)
    records = [log.get(each.id) for each in reversed(log.calls(99))]
    return [record for record in records if record]


@pytest.mark.parametrize("era", ERAS)
def test_the_calls_of_a_client_are_recorded_in_one_session_with_its_name(era: str) -> None:
    records = record_clients(2, era)
    facts = [(each.summary.client, each.summary.origin, each.summary.tool) for each in records]
    assert facts == [
        ("client0 2", "tool", "web_fetch"),
        ("client0 2", "resource", "read_artifact"),
        ("client1 2", "tool", "web_fetch"),
        ("client1 2", "resource", "read_artifact"),
    ]
    sessions = [each.summary.session for each in records]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    assert all(len(session) == 16 for session in sessions)


@pytest.mark.parametrize("era", ERAS)
def test_what_is_recorded_is_what_the_client_received(era: str) -> None:
    fetched, read = record_clients(1, era)
    assert "Pumps and valves." in fetched.result
    assert fetched.result.endswith("[end]")
    assert fetched.summary.shown_chars == read.summary.shown_chars > 0
    assert read.summary.follows == fetched.summary.id
