"""Messages find the HTTP response that they belong to, and the newest events are kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from keyhole.extensions.proxy import http_session
from keyhole.extensions.proxy.http_session import (
    MAX_BYTES,
    MAX_EVENTS,
    Event,
    EventStore,
    HttpSession,
    Response,
    parse_id,
)
from keyhole.extensions.proxy.json_rpc import build

CALL = build({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"_meta": {"progressToken": "t"}}})


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def post(session: HttpSession, *messages: Any) -> Response:
    stream = await session.post(messages)
    assert stream is not None
    return stream


def read(stream: Response) -> list[Any]:
    """Return the messages that wait in a response, and None at its end."""
    found = [*stream.missed, *(stream.queue.get_nowait() for _ in range(stream.queue.qsize()))]
    stream.missed.clear()
    return [None if event is None else json.loads(event.raw) for event in found]


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
        general = session.open_general()
        await session.send(b'{"method":"notifications/progress","params":{"progressToken":"t"}}')
        await session.send(b'{"method":"notifications/message","params":{}}')
        assert [len(read(stream)) for stream in (first, second, general)] == [1, 0, 1]

    run(work())


def test_messages_without_a_stream_wait_for_the_general_one() -> None:
    async def work() -> None:
        session = HttpSession()
        await session.send(b'{"method":"notifications/message","params":{}}')
        assert len(read(session.open_general())) == 1

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


async def cut(session: HttpSession, *ids: str) -> list[Response]:
    """Post a call of each id, and lose each response."""
    responses = [await post(session, CALL.with_data(id=id)) for id in ids]
    for response in responses:
        await session.close(response)
    return responses


def resume(session: HttpSession, stream: int, number: int) -> list[Any]:
    response = session.resume(f"{stream}-{number}")
    assert response
    return read(response)


def test_messages_of_a_response_that_was_cut_wait_for_its_client() -> None:
    async def work() -> None:
        session = HttpSession()
        (response,) = await cut(session, "x")
        assert session.is_idle
        await session.send(b'{"method":"notifications/progress","params":{"progressToken":"t"}}')
        await session.send(b'{"id":"x","result":{}}')
        for _ in range(2):
            progress, answer, end = resume(session, response.stream, 0)
            assert (progress["method"], answer["id"], end) == ("notifications/progress", "x", None)
        assert resume(session, response.stream, 2) == [None]

    run(work())


def test_the_general_stream_goes_on_after_the_last_event_or_with_what_nobody_has_read() -> None:
    async def work() -> None:
        session = HttpSession()
        general = session.open_general()
        await session.send(b'{"method":"one"}')
        await session.close(general)
        await session.send(b'{"method":"two"}')
        assert [each["method"] for each in resume(session, 0, 0)] == ["one", "two"]
        assert read(session.open_general()) == []
        assert [each["method"] for each in resume(session, 0, 1)] == ["two"]

    run(work())


def test_a_call_that_was_cancelled_after_a_cut_waits_no_longer() -> None:
    async def work() -> None:
        session = HttpSession()
        (response,) = await cut(session, "x")
        cancelled = build({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}})
        assert await session.post([cancelled]) is None
        assert resume(session, response.stream, 0) == [None]

    run(work())


def test_the_oldest_of_too_many_streams_without_a_client_is_forgotten(monkeypatch: Any) -> None:
    monkeypatch.setattr(http_session, "MAX_CUT", 2)

    async def work() -> None:
        session = HttpSession()
        first, second, _ = await cut(session, "a", "b", "c")
        assert resume(session, first.stream, 0) == [None]
        assert resume(session, second.stream, 0) == []

    run(work())


def test_no_response_of_the_newer_protocol_can_be_continued() -> None:
    async def work() -> None:
        session = HttpSession(shared=True)
        response = await post(session, CALL)
        assert session.resume(f"{response.stream}-0") is None

    run(work())


# Events.


def filled(*events: Event) -> EventStore:
    store = EventStore()
    for event in events:
        store.add(event)
    return store


def test_the_events_of_a_stream_that_follow_one_are_returned() -> None:
    events = [Event(1, 1, b"a"), Event(2, 1, b"b"), Event(1, 2, b"c"), Event(1, 3, b"d")]
    assert filled(*events).after(1, 1) == [events[2], events[3]]
    assert filled(*events).after(1, 0) == [events[0], events[2], events[3]]
    assert filled(*events).after(1, 3) == filled(*events).after(3, 0) == []


def test_the_oldest_events_are_dropped_first() -> None:
    store = filled(*(Event(1, number, b"") for number in range(1, MAX_EVENTS + 3)))
    assert [event.number for event in store.after(1, 0)] == list(range(3, MAX_EVENTS + 3))
    store = filled(*(Event(1, number, b"x" * (MAX_BYTES // 4)) for number in range(1, 8)))
    assert [event.number for event in store.after(1, 0)] == [4, 5, 6, 7]


def test_the_newest_event_is_kept_whatever_its_length() -> None:
    store = filled(Event(1, 1, b"x"), Event(1, 2, b"x" * (MAX_BYTES + 1)))
    assert [event.number for event in store.after(1, 0)] == [2]
    store.add(Event(1, 3, b"x"))
    assert [event.number for event in store.after(1, 0)] == [3]


@pytest.mark.parametrize("text", ["", "1", "1-", "-1", "1-1-1", "1 - 1", "1-1\n", "+1-1", "٣-١", "1-" + "1" * 5_000])
def test_a_text_that_is_no_id_is_refused(text: str) -> None:
    assert parse_id(text) is None


def test_an_id_names_its_stream_and_its_place() -> None:
    assert parse_id(Event(12, 345, b"").id.decode()) == (12, 345)
