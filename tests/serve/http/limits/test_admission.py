"""Who is let in and who is refused, by a real server over real connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest
from mcp import Client, MCPError

from keyhole.config.config import Config
from keyhole.serve.http.limits.admission import FEWEST_REQUESTS, REQUESTS_AT_ONCE, STREAMS_AT_ONCE, Admission
from keyhole.serve.http.sessions import EACH, IDLE
from tests.support.admission import NEVER, PAGE, Reply, Served, as_tenant, call, modern, read, rpc, served
from tests.support.fakes import Clock
from tests.support.served import INITIALIZE
from tests.support.waiting import until


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def session(server: Served, tenant: str = "a") -> dict[str, str]:
    """The headers of a session that was opened."""
    reply = await server.ask(rpc("initialize", INITIALIZE), as_tenant(tenant))
    assert reply.status == 200
    headers = as_tenant(tenant, {"Mcp-Session-Id": reply.headers["mcp-session-id"]})
    assert (await server.ask(rpc("notifications/initialized", id=None), headers)).status == 202
    return headers


def refused(reply: Reply, status: int, reason: str, id: object = 1) -> int:
    """Check a refusal in every place where it stands; the seconds to wait."""
    error = reply.json["error"]
    assert (reply.status, reply.json["id"], error["data"]["error"]) == (status, id, reason)
    assert error["message"].startswith(f"{reason}: ")
    assert reply.headers["content-type"] == "application/json"
    seconds = int(reply.headers["retry-after"])
    assert error["data"]["retry_after"] == seconds
    assert f"in {seconds} s." in error["message"]
    return seconds


# How often.


def test_more_calls_in_a_minute_than_permitted_are_refused_until_one_is_free_again() -> None:
    async def main() -> None:
        clock = Clock(1_000.0)
        async with served(now=clock, calls_per_minute=3) as server:
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


def test_one_tenants_calls_are_not_anothers() -> None:
    async def main() -> None:
        async with served(calls_per_minute=1) as server:
            body, headers = modern()
            for name in ("a", "b", "A"):
                assert (await server.ask(body, as_tenant(name, headers))).status == 200
                assert (await server.ask(body, as_tenant(name, headers))).status == 429
            assert (await server.ask(body, headers)).status == 200  # nobody's: without a token all are one

    run(main())


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_clients_user_reads_why_and_when_to_call_again(era: Any) -> None:
    async def main() -> None:
        async with served(calls_per_minute=1) as server, Client(server.url, mode=era) as client:
            assert not (await client.call_tool("web_fetch", {"url": PAGE})).is_error
            with pytest.raises(MCPError) as caught:
                await client.call_tool("web_fetch", {"url": PAGE})
            assert caught.value.error.message == (
                "calls_per_minute: as many calls as one user may begin in a minute were begun. Call again in 60 s."
            )
            assert len((await client.list_tools()).tools) == 3

    run(main())


def test_what_is_no_call_has_a_bound_of_its_own() -> None:
    async def main() -> None:
        clock = Clock()
        async with served(now=clock, calls_per_minute=1) as server:
            headers = await session(server)
            for _ in range(8):
                assert (await server.ask(rpc("tools/list"), headers)).status == 200
            for _ in range(FEWEST_REQUESTS - 10):
                assert not server.admission._request_rate.take("a", clock())
            reply = await server.ask(rpc("tools/list"), headers)
            assert refused(reply, 429, "requests_per_minute", None) == 1
            assert (await server.ask(rpc("tools/list"), as_tenant("b"), "DELETE")).status != 429

    run(main())


# How many at once.


def test_more_calls_at_once_than_a_tenant_may_have_are_refused_and_others_are_served() -> None:
    async def main() -> None:
        async with served(calls_at_once=2, max_calls=4) as server:
            body, headers = modern(NEVER)
            held = [await server.open(body, as_tenant("a", headers)) for _ in range(2)]
            await server.settled(2)
            body, headers = modern()
            assert refused(await server.ask(body, as_tenant("a", headers)), 429, "calls_at_once") == 1
            assert (await server.ask(body, as_tenant("b", headers))).status == 200
            for _, writer in held:
                writer.close()
            await server.settled(0)
            assert (await server.ask(body, as_tenant("a", headers))).status == 200

    run(main())


def test_a_server_that_has_all_it_can_take_refuses_whoever_comes_with_503() -> None:
    async def main() -> None:
        async with served(calls_at_once=2, max_calls=3, calls_per_minute=2) as server:
            body, headers = modern(NEVER)
            held = [await server.open(body, as_tenant(name, headers)) for name in "aab"]
            await server.settled(3)
            for _ in range(5):  # and it costs them nothing of their rate
                refused(await server.ask(*modern()), 503, "server_full")
            held[0][1].close()
            await server.settled(2)
            assert (await server.ask(*modern())).status == 200
            for _, writer in held[1:]:
                writer.close()
            await server.settled(0)
            assert server.admission._calls.tenants() == 0

    run(main())


# A place is free again however its call ends.


def test_in_a_session_a_lost_connection_holds_its_place_until_the_work_ends() -> None:
    async def main() -> None:
        async with served(calls_at_once=1, timeout=0.7) as server:
            headers = await session(server)
            _, writer = await server.open(call(NEVER), headers)
            await server.asked(1)
            writer.close()
            refused(await server.ask(call(), headers), 429, "calls_at_once")
            await server.settled(0)
            assert server.fetcher.cancelled == [NEVER]  # by the call's own deadline
            assert (await server.ask(call(), headers)).status == 200

    run(main())


def test_a_call_that_its_client_cancels_frees_its_place() -> None:
    async def main() -> None:
        async with served(calls_at_once=1) as server:
            headers = await session(server)
            _, writer = await server.open(call(NEVER, 7), headers)
            await server.asked(1)
            cancel = rpc("notifications/cancelled", {"requestId": 7}, None)
            assert (await server.ask(cancel, headers)).status == 202
            await server.settled(0)
            writer.close()

    run(main())


def test_a_session_that_is_ended_frees_the_places_of_its_calls() -> None:
    async def main() -> None:
        async with served(calls_at_once=1) as server:
            headers = await session(server)
            _, writer = await server.open(call(NEVER), headers)
            await server.asked(1)
            assert (await server.ask(b"", headers, "DELETE")).status == 200
            await server.settled(0)
            writer.close()

    run(main())


@pytest.mark.parametrize("stateless", [True, False])
def test_a_lost_connection_outside_a_session_ends_the_call_and_frees_its_place(stateless: bool) -> None:
    async def main() -> None:
        async with served(calls_at_once=1, stateless=stateless) as server:
            requests = [modern(NEVER)] + ([(call(NEVER), {})] if stateless else [])
            for number, (body, headers) in enumerate(requests, 1):
                _, writer = await server.open(body, headers)
                await server.asked(number)
                writer.transport.abort()
                await server.settled(0)
                assert len(server.fetcher.cancelled) == number

    run(main())


def test_many_connections_that_are_lost_at_once_leave_no_place_taken() -> None:
    async def main() -> None:
        async with served(calls_at_once=8, timeout=0.7) as server:
            headers = await session(server)
            for _ in range(5):
                for n in range(8):
                    _, writer = await server.open(call(NEVER, n), headers)
                    writer.transport.abort()
                await server.settled(0)
            body, own = modern(NEVER)
            for _ in range(40):
                _, writer = await server.open(body, own)
                writer.transport.abort()
            await server.settled(0)
            held = [await server.open(body, own) for _ in range(8)]
            await server.settled(8)
            assert server.refused.count("server_full") == 0
            for _, writer in held:
                writer.close()
            await server.settled(0)
            assert server.admission._requests.taken == server.admission._streams.taken == 0

    run(main())


def test_a_call_that_fails_below_frees_its_place() -> None:
    async def main() -> None:
        async with served(calls_at_once=1) as server:
            # An id that the SDK refuses, a tool that there is not, arguments that are none.
            bodies = [rpc("tools/call", {}, None), rpc("tools/call", id={}), call(id=None), b"{", b"[]", b"\xff"]
            for body in (*bodies, modern(name="none")[0]):
                assert (await server.ask(body, await session(server))).status in (200, 202, 400)
                await server.settled(0)

    run(main())


def test_a_server_that_crashes_below_frees_the_place() -> None:
    async def crash(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a fault below")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": call(), "more_body": False}

    async def send(message: Any) -> None:
        raise AssertionError("nothing is said for what is below")

    async def main() -> None:
        admission = Admission(crash, Config(calls_at_once=1))
        for _ in range(3):
            with pytest.raises(RuntimeError):
                await admission({"type": "http", "method": "POST", "headers": []}, receive, send)
            assert admission.calls_under_way() == 0

    run(main())


# Streams, sessions and requests that are not read yet.


def test_streams_that_are_held_open_are_bounded_and_take_no_calls_place() -> None:
    async def main() -> None:
        async with served(calls_at_once=1, calls_per_minute=1_000) as server:
            held = []
            for n in range(STREAMS_AT_ONCE):
                headers = await session(server)
                held.append(await server.open(b"", headers, "GET"))
                if not n % 25:
                    assert (await server.ask(call(), headers)).status == 200

            async def all_open() -> bool:
                return server.admission._streams.taken == STREAMS_AT_ONCE

            await until(all_open)
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
                return server.admission._streams.taken == 0

            await until(none_open)

    run(main())


def test_sessions_are_bounded_for_each_tenant_until_one_is_ended_or_long_unused() -> None:
    async def main() -> None:
        clock = Clock(1_000.0)
        async with served(now=clock, calls_per_minute=10_000) as server:
            opened = [await session(server) for _ in range(EACH)]
            assert refused(await server.ask(rpc("initialize", INITIALIZE), as_tenant("a")), 429, "open_sessions") == 60
            await session(server, "b")
            assert (await server.ask(b"", opened[0], "DELETE")).status == 200
            await session(server)
            assert (await server.ask(rpc("initialize", INITIALIZE), as_tenant("a"))).status == 429
            clock.advance(IDLE - 1)
            assert (await server.ask(rpc("tools/list"), opened[5])).status == 200
            clock.advance(1)
            await session(server)
            assert len(server.admission._sessions) == 2

    run(main())


def test_a_body_that_does_not_come_takes_no_calls_place_and_a_bounded_number_of_others() -> None:
    async def main() -> None:
        async with served(calls_at_once=1) as server:
            body, headers = modern()
            held = [await server.open(b"{", as_tenant("slow", headers), length=1_000) for _ in range(REQUESTS_AT_ONCE)]

            async def all_open() -> bool:
                return server.admission._requests.taken == REQUESTS_AT_ONCE

            await until(all_open)
            refused(await server.ask(body, as_tenant("slow", headers)), 503, "open_requests", None)
            assert (await server.ask(body, as_tenant("a", headers))).status == 200
            for _, writer in held:
                writer.close()

            async def none_open() -> bool:
                return server.admission._requests.taken == 0

            await until(none_open)
            assert server.refused == ["open_requests"]

    run(main())


def test_a_body_that_comes_too_slowly_is_not_waited_for() -> None:
    async def main() -> None:
        async with served(reading=0.05) as server:
            reader, writer = await server.open(b"{", {"Connection": "close"}, length=1_000)
            reply = await read(reader)
            assert (reply.status, reply.json["error"]) == (408, "request_timeout")
            assert server.refused == ["request_timeout"]
            writer.close()

    run(main())


def test_a_body_that_is_refused_takes_no_place_while_its_client_goes_on_sending() -> None:
    async def main() -> None:
        async with served() as server:
            reader, writer = await server.open(b"{", length=Config().max_request_bytes + 1)
            head = await reader.readuntil(b"\r\n\r\n")  # the connection stays, for the rest of the body
            assert head.startswith(b"HTTP/1.1 413")
            assert server.admission._requests.taken == 0
            writer.close()

    run(main())


def test_a_body_that_comes_in_pieces_arrives_whole() -> None:
    async def main() -> None:
        async with served() as server:
            body, headers = modern()
            body = body + b" " * 300_000
            reader, writer = await server.open(body[:100], {**headers, "Connection": "close"}, length=len(body))
            for start in range(100, len(body), 50_000):
                writer.write(body[start : start + 50_000])
                await writer.drain()
            assert b'"isError":false' in await reader.read()
            writer.close()

    run(main())


def test_a_refusal_is_counted_once_whether_or_not_an_answer_in_json_rpc_is_awaited() -> None:
    async def main() -> None:
        async with served(calls_per_minute=1) as server:
            body, headers = modern()
            assert (await server.ask(body, headers)).status == 200
            assert (await server.ask(body, headers)).status == 429
            assert (await server.ask(b"no json", headers)).status == 400
            assert (await server.ask(b"{no json", headers)).status == 429
            assert server.refused == ["calls_per_minute", "invalid_request", "calls_per_minute"]

    run(main())


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("half", [rb"\ud800", rb"a\udfffb"])
def test_a_call_with_half_of_a_surrogate_pair_is_answered_in_both_eras(half: bytes, stateless: bool) -> None:
    async def main() -> None:
        async with served(stateless=stateless) as server:
            body, headers = modern()
            earlier = {} if stateless else await session(server)
            for request, known in ((body, headers), (call(), earlier)):
                reply = await server.ask(request.replace(b'"url":', b'"query": "pumps ' + half + b'", "url":'), known)
                assert reply.status == 200
                assert "Pumps and valves" in reply.json["result"]["content"][0]["text"]

    run(main())
