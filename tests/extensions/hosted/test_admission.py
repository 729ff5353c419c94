"""Admission and refusal of requests by a real server over real connections."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from mcp import Client, MCPError

from keyhole.config.config import Config
from keyhole.extensions.hosted.admission import (
    MAX_SESSIONS_PER_TENANT,
    MIN_REQUESTS_PER_MINUTE,
    REQUESTS_PER_TENANT,
    STREAMS_PER_TENANT,
    WAITING_PER_SLOT,
    AdmissionMiddleware,
)
from keyhole.serve.http.host import SESSION_IDLE_SECONDS
from tests.support.admission import NEVER, PAGE, AdmissionServer, Reply, as_tenant, call, modern, read, rpc, run_server
from tests.support.fakes import Clock
from tests.support.server_process import INITIALIZE
from tests.support.waiting import wait_for_async


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def session(server: AdmissionServer, tenant: str = "a") -> dict[str, str]:
    """Open a session and return its headers."""
    reply = await server.ask(rpc("initialize", INITIALIZE), as_tenant(tenant))
    assert reply.status == 200
    headers = as_tenant(tenant, {"Mcp-Session-Id": reply.headers["mcp-session-id"]})
    assert (await server.ask(rpc("notifications/initialized", id=None), headers)).status == 202
    return headers


def refused(reply: Reply, status: int, reason: str, id: object = 1) -> int:
    """Check a refusal's status, header and body; return the seconds to wait."""
    error = reply.json["error"]
    assert (reply.status, reply.json["id"], error["data"]["error"]) == (status, id, reason)
    assert error["message"].startswith(f"{reason}: ")
    assert reply.headers["content-type"] == "application/json"
    seconds = int(reply.headers["retry-after"])
    assert error["data"]["retry_after"] == seconds
    assert f"in {seconds} s." in error["message"]
    return seconds


# Rates.


def test_calls_beyond_the_rate_are_refused_until_a_token_is_refilled() -> None:
    async def main() -> None:
        clock = Clock(1_000.0)
        async with run_server(now=clock, calls_per_minute=3) as server:
            for n in range(3):
                assert (await server.ask(*modern(id=n))).json["result"]["isError"] is False
            assert refused(await server.ask(*modern(id="x")), 429, "calls_per_minute", "x") == 20
            clock.advance(19.5)
            assert refused(await server.ask(*modern()), 429, "calls_per_minute") == 1
            clock.advance(0.5)
            assert (await server.ask(*modern())).status == 200
            assert refused(await server.ask(*modern()), 429, "calls_per_minute") == 20
            assert server.refused == ["calls_per_minute"] * 3
            assert len(server.fetcher.calls) <= 4

    run(main())


def test_the_calls_of_tenants_are_counted_separately() -> None:
    async def main() -> None:
        async with run_server(calls_per_minute=1) as server:
            body, headers = modern()
            for name in ("a", "b", "A"):
                assert (await server.ask(body, as_tenant(name, headers))).status == 200
                assert (await server.ask(body, as_tenant(name, headers))).status == 429
            assert (await server.ask(body, headers)).status == 200  # without a token, all callers are one tenant

    run(main())


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_refusal_reaches_the_user_with_its_reason_and_wait(era: Any) -> None:
    async def main() -> None:
        async with run_server(calls_per_minute=1) as server, Client(server.url, mode=era) as client:
            assert not (await client.call_tool("web_fetch", {"url": PAGE})).is_error
            with pytest.raises(MCPError) as caught:
                await client.call_tool("web_fetch", {"url": PAGE})
            assert caught.value.error.message == (
                "calls_per_minute: the user has started as many calls this minute as allowed. Call again in 60 s."
            )
            assert len((await client.list_tools()).tools) == 3

    run(main())


def test_requests_that_are_no_calls_have_a_limit_of_their_own() -> None:
    async def main() -> None:
        clock = Clock()
        async with run_server(now=clock, calls_per_minute=1) as server:
            headers = await session(server)
            for _ in range(8):
                assert (await server.ask(rpc("tools/list"), headers)).status == 200
            for _ in range(MIN_REQUESTS_PER_MINUTE - 10):
                assert not server.admission._request_rate.take("a", clock())
            reply = await server.ask(rpc("tools/list"), headers)
            assert refused(reply, 429, "requests_per_minute", None) == 1
            assert (await server.ask(rpc("tools/list"), as_tenant("b"), "DELETE")).status != 429

    run(main())


# Calls at once.


def test_a_tenant_at_its_limit_of_concurrent_calls_is_refused_and_others_are_served() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=2, max_calls=4) as server:
            body, headers = modern(NEVER)
            held = [await server.open(body, as_tenant("a", headers)) for _ in range(2)]
            await server.wait_for_active(2)
            body, headers = modern()
            assert refused(await server.ask(body, as_tenant("a", headers)), 429, "calls_at_once") == 1
            assert (await server.ask(body, as_tenant("b", headers))).status == 200
            for _, writer in held:
                writer.close()
            await server.wait_for_active(0)
            assert (await server.ask(body, as_tenant("a", headers))).status == 200

    run(main())


def test_a_full_server_refuses_every_tenant_with_503() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=2, max_calls=3, calls_per_minute=2) as server:
            body, headers = modern(NEVER)
            held = [await server.open(body, as_tenant(name, headers)) for name in "aab"]
            await server.wait_for_active(3)
            for _ in range(5):  # and a refusal takes no token of their rate
                refused(await server.ask(*modern()), 503, "server_full")
            held[0][1].close()
            await server.wait_for_active(2)
            assert (await server.ask(*modern())).status == 200
            for _, writer in held[1:]:
                writer.close()
            await server.wait_for_active(0)
            assert server.admission._calls.in_use == 0

    run(main())


def test_a_call_beyond_the_limit_waits_for_its_turn() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1, wait_share=0.5) as server:
            body, headers = modern(NEVER)
            _, writer = await server.open(body, headers)
            await server.wait_for_active(1)
            waiting = [asyncio.create_task(server.ask(*modern(id=n))) for n in range(WAITING_PER_SLOT)]

            async def all_wait() -> bool:
                return server.admission._calls._slots.all_waiting() == WAITING_PER_SLOT

            await wait_for_async(all_wait)
            refused(await server.ask(*modern()), 429, "calls_at_once")  # one too many
            writer.close()
            assert [(await reply).status for reply in waiting] == [200] * WAITING_PER_SLOT
            await server.wait_for_active(0)

    run(main())


def test_a_call_waits_for_at_most_a_share_of_its_deadline_which_it_then_lacks() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1, timeout=0.6, wait_share=0.5) as server:
            headers = await session(server)
            start = time.monotonic()
            replies = await asyncio.gather(*(server.ask(call(NEVER, id=n), headers) for n in (1, 2)))
            assert time.monotonic() - start < 0.9, "waiting and working together take one deadline"
            assert sorted(reply.status for reply in replies) == [200, 429]
            replies = await asyncio.gather(*(server.ask(call(id=n), headers) for n in (1, 2)))
            assert [reply.status for reply in replies] == [200, 200]

    run(main())


# A slot is released however its call ends.


def test_in_a_session_a_lost_connection_keeps_its_slot_until_the_work_ends() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1, timeout=0.7) as server:
            headers = await session(server)
            _, writer = await server.open(call(NEVER), headers)
            await server.wait_for_fetches(1)
            writer.close()
            refused(await server.ask(call(), headers), 429, "calls_at_once")
            await server.wait_for_active(0)
            assert server.fetcher.cancelled == [NEVER]  # by the call's deadline
            assert (await server.ask(call(), headers)).status == 200

    run(main())


def test_a_cancelled_call_releases_its_slot() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1) as server:
            headers = await session(server)
            _, writer = await server.open(call(NEVER, 7), headers)
            await server.wait_for_fetches(1)
            cancel = rpc("notifications/cancelled", {"requestId": 7}, None)
            assert (await server.ask(cancel, headers)).status == 202
            await server.wait_for_active(0)
            writer.close()

    run(main())


def test_ending_a_session_releases_the_slots_of_its_calls() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1) as server:
            headers = await session(server)
            _, writer = await server.open(call(NEVER), headers)
            await server.wait_for_fetches(1)
            assert (await server.ask(b"", headers, "DELETE")).status == 200
            await server.wait_for_active(0)
            writer.close()

    run(main())


@pytest.mark.parametrize("stateless", [True, False])
def test_a_lost_connection_outside_a_session_ends_the_call_and_releases_its_slot(stateless: bool) -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1, stateless=stateless) as server:
            requests = [modern(NEVER)] + ([(call(NEVER), {})] if stateless else [])
            for number, (body, headers) in enumerate(requests, 1):
                _, writer = await server.open(body, headers)
                await server.wait_for_fetches(number)
                writer.transport.abort()
                await server.wait_for_active(0)
                assert len(server.fetcher.cancelled) == number

    run(main())


def test_many_connections_lost_at_once_leave_no_slot_in_use() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=8, timeout=0.7) as server:
            headers = await session(server)
            for _ in range(5):
                for n in range(8):
                    _, writer = await server.open(call(NEVER, n), headers)
                    writer.transport.abort()
                await server.wait_for_active(0)
            body, own = modern(NEVER)
            for _ in range(40):
                _, writer = await server.open(body, own)
                writer.transport.abort()
            await server.wait_for_active(0)
            held = [await server.open(body, own) for _ in range(8)]
            await server.wait_for_active(8)
            assert server.refused.count("server_full") == 0
            for _, writer in held:
                writer.close()
            await server.wait_for_active(0)
            assert server.admission._requests.in_use == server.admission._streams.in_use == 0

    run(main())


def test_a_failing_call_releases_its_slot() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1) as server:
            # An id that the SDK refuses, an unknown tool, invalid arguments.
            bodies = [rpc("tools/call", {}, None), rpc("tools/call", id={}), call(id=None), b"{", b"[]", b"\xff"]
            for body in (*bodies, modern(name="none")[0]):
                assert (await server.ask(body, await session(server))).status in (200, 202, 400)
                await server.wait_for_active(0)

    run(main())


def test_an_exception_in_the_application_releases_the_slot() -> None:
    async def crash(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a fault below")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": call(), "more_body": False}

    async def send(message: Any) -> None:
        raise AssertionError("an exception of the application reaches the client")

    async def main() -> None:
        admission = AdmissionMiddleware(crash, Config(calls_at_once=1))
        for _ in range(3):
            with pytest.raises(RuntimeError):
                await admission({"type": "http", "method": "POST", "headers": []}, receive, send)
            assert admission._calls.in_use == 0

    run(main())


# Streams, sessions and unread requests.


def test_open_streams_are_limited_and_use_no_call_slot() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1, calls_per_minute=1_000) as server:
            held = []
            for n in range(STREAMS_PER_TENANT):
                headers = await session(server)
                held.append(await server.open(b"", headers, "GET"))
                if not n % 25:
                    assert (await server.ask(call(), headers)).status == 200

            async def all_open() -> bool:
                return server.admission._streams.in_use == STREAMS_PER_TENANT

            await wait_for_async(all_open)
            reply = await server.ask(b"", headers, "GET")
            assert (reply.status, reply.json["error"]) == (429, "open_streams")
            listen, own = modern()
            listen = rpc("subscriptions/listen", {**json.loads(listen)["params"], "notifications": {}})
            refused(
                await server.ask(listen, as_tenant("a", {**own, "Mcp-Method": "subscriptions/listen"})),
                429,
                "open_streams",
            )
            for _, writer in held:
                writer.close()

            async def none_open() -> bool:
                return server.admission._streams.in_use == 0

            await wait_for_async(none_open)

    run(main())


def test_sessions_of_a_tenant_are_limited_until_one_ends_or_expires() -> None:
    async def main() -> None:
        clock = Clock(1_000.0)
        async with run_server(now=clock, calls_per_minute=10_000) as server:
            opened = [await session(server) for _ in range(MAX_SESSIONS_PER_TENANT)]
            assert refused(await server.ask(rpc("initialize", INITIALIZE), as_tenant("a")), 429, "open_sessions") == 60
            await session(server, "b")
            assert (await server.ask(b"", opened[0], "DELETE")).status == 200
            await session(server)
            assert (await server.ask(rpc("initialize", INITIALIZE), as_tenant("a"))).status == 429
            clock.advance(SESSION_IDLE_SECONDS - 1)
            assert (await server.ask(rpc("tools/list"), opened[5])).status == 200
            clock.advance(1)
            await session(server)
            assert len(server.admission._sessions) == 2

    run(main())


def test_slow_bodies_use_no_call_slot_and_a_limited_number_of_request_slots() -> None:
    async def main() -> None:
        async with run_server(calls_at_once=1) as server:
            body, headers = modern()
            held = [
                await server.open(b"{", as_tenant("slow", headers), length=1_000) for _ in range(REQUESTS_PER_TENANT)
            ]

            async def all_open() -> bool:
                return server.admission._requests.in_use == REQUESTS_PER_TENANT

            await wait_for_async(all_open)
            refused(await server.ask(body, as_tenant("slow", headers)), 503, "open_requests", None)
            assert (await server.ask(body, as_tenant("a", headers))).status == 200
            for _, writer in held:
                writer.close()

            async def none_open() -> bool:
                return server.admission._requests.in_use == 0

            await wait_for_async(none_open)
            assert server.refused == ["open_requests"]

    run(main())


def test_a_slow_body_times_out() -> None:
    async def main() -> None:
        async with run_server(body_seconds=0.05) as server:
            reader, writer = await server.open(b"{", {"Connection": "close"}, length=1_000)
            reply = await read(reader)
            assert (reply.status, reply.json["error"]) == (408, "request_timeout")
            assert server.refused == ["request_timeout"]
            writer.close()

    run(main())


def test_a_refused_body_uses_no_slot_while_its_client_goes_on_sending() -> None:
    async def main() -> None:
        async with run_server() as server:
            reader, writer = await server.open(b"{", length=Config().max_request_bytes + 1)
            head = await reader.readuntil(b"\r\n\r\n")  # the connection stays open for the rest of the body
            assert head.startswith(b"HTTP/1.1 413")
            assert server.admission._requests.in_use == 0
            writer.close()

    run(main())


def test_a_body_sent_in_pieces_arrives_complete() -> None:
    async def main() -> None:
        async with run_server() as server:
            body, headers = modern()
            body = body + b" " * 300_000
            reader, writer = await server.open(body[:100], {**headers, "Connection": "close"}, length=len(body))
            for start in range(100, len(body), 50_000):
                writer.write(body[start : start + 50_000])
                await writer.drain()
            assert b'"isError":false' in await reader.read()
            writer.close()

    run(main())


def test_a_refusal_is_counted_once_with_and_without_json_rpc() -> None:
    async def main() -> None:
        async with run_server(calls_per_minute=1) as server:
            body, headers = modern()
            assert (await server.ask(body, headers)).status == 200
            assert (await server.ask(body, headers)).status == 429
            assert (await server.ask(b"no json", headers)).status == 400
            assert (await server.ask(b"{no json", headers)).status == 429
            assert server.refused == ["calls_per_minute", "invalid_request", "calls_per_minute"]

    run(main())


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("half", [rb"\ud800", rb"a\udfffb"])
def test_a_call_with_a_lone_surrogate_is_answered_in_both_eras(half: bytes, stateless: bool) -> None:
    async def main() -> None:
        async with run_server(stateless=stateless) as server:
            body, headers = modern()
            earlier = {} if stateless else await session(server)
            for request, known in ((body, headers), (call(), earlier)):
                reply = await server.ask(request.replace(b'"url":', b'"query": "pumps ' + half + b'", "url":'), known)
                assert reply.status == 200
                assert "Pumps and valves" in reply.json["result"]["content"][0]["text"]

    run(main())
