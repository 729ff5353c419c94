"""Messages of a conversation find the HTTP response that they belong to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

from keyhole.serve.proxy import http_session
from keyhole.serve.proxy.http_session import HttpSession, Stream
from keyhole.serve.proxy.messages import build

CALL = build({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"_meta": {"progressToken": "t"}}})


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def post(session: HttpSession, *messages: Any) -> Stream:
    stream = await session.post(messages)
    assert stream is not None
    return stream


def read(stream: Stream) -> list[Any]:
    found = [stream.queue.get_nowait() for _ in range(stream.queue.qsize())]
    return [None if raw is None else json.loads(raw) for raw in found]


def test_a_response_ends_the_stream_of_its_request() -> None:
    async def work() -> None:
        session = HttpSession()
        stream = await post(session, CALL)
        line = await session.receive()
        assert line is not None
        assert line.raw == CALL.raw
        await session.send(b'{"id":"x","result":{}}')
        assert read(stream) == [{"id": "x", "result": {}}, None]
        assert session.is_idle

    run(work())


def test_progress_goes_to_its_call_and_other_messages_to_the_general_stream() -> None:
    async def work() -> None:
        session = HttpSession()
        first, second = await post(session, CALL), await post(session, CALL.with_data(id="y", params={}))
        general = await session.open_general()
        await session.send(b'{"method":"notifications/progress","params":{"progressToken":"t"}}')
        await session.send(b'{"method":"notifications/message","params":{}}')
        assert [len(read(stream)) for stream in (first, second, general)] == [1, 0, 1]

    run(work())


def test_messages_without_a_stream_wait_for_the_general_one() -> None:
    async def work() -> None:
        session = HttpSession()
        await session.send(b'{"method":"notifications/message","params":{}}')
        assert len(read(await session.open_general())) == 1

    run(work())


def test_clients_of_a_shared_session_may_use_the_same_ids() -> None:
    async def work() -> None:
        session = HttpSession(shared=True)
        first, second = await post(session, CALL), await post(session, CALL)
        lines = [await session.receive(), await session.receive()]
        ids = [json.loads(line.raw)["id"] for line in lines if line]
        assert len(set(ids)) == 2
        await session.send(json.dumps({"id": ids[1], "result": {"n": 2}}).encode())
        assert read(first) == []
        assert read(second) == [{"id": "x", "result": {"n": 2}}, None]

    run(work())


def test_a_client_of_a_shared_session_that_goes_cancels_its_requests() -> None:
    async def work() -> None:
        session = HttpSession(shared=True)
        stream = await post(session, CALL)
        call = await session.receive()
        await session.close(stream)
        cancel = await session.receive()
        assert call and cancel
        assert json.loads(cancel.raw)["params"]["requestId"] == json.loads(call.raw)["id"]

    run(work())


def test_a_client_that_does_not_read_holds_up_no_other_client(monkeypatch: Any) -> None:
    monkeypatch.setattr(http_session, "MAX_QUEUED", 2)

    async def work() -> None:
        session = HttpSession(shared=True)
        slow = await post(session, CALL)
        for _ in range(5):
            await session.send(b'{"method":"notifications/progress","params":{"progressToken":"t"}}')
        assert read(slow)[-1] is None

    run(work())


def test_a_subscription_keeps_the_id_that_its_client_knows() -> None:
    async def work() -> None:
        session = HttpSession(shared=True)
        stream = await post(session, CALL)
        line = await session.receive()
        assert line is not None
        meta = {"io.modelcontextprotocol/subscriptionId": json.loads(line.raw)["id"]}
        await session.send(json.dumps({"method": "notifications/x", "params": {"_meta": meta}}).encode())
        (message,) = read(stream)
        assert message["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "x"}

    run(work())
