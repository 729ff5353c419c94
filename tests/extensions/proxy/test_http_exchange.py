"""Messages over HTTP keep their bytes, and a response without an answer is an error that says why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy import http_exchange
from keyhole.extensions.proxy.http_exchange import HttpExchange, request_headers
from keyhole.extensions.proxy.messages import Message, build, parse

URL = "http://127.0.0.1:9/mcp"
JSON = {"content-type": "application/json; charset=utf-8"}
EVENTS = {"content-type": "text/event-stream"}
CALL = build({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}})
INITIALIZE = build({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}})
ANSWER = b'{"jsonrpc":"2.0", "id":1, "result":{"n":1.50}, "unknown":[1e3]}'

Answer = Callable[[httpx2.Request], httpx2.Response]


def exchange(
    *answers: Answer | httpx2.Response, messages: tuple[Message, ...] = (CALL,)
) -> tuple[list[Any], list[Any]]:
    """Send messages to a server that gives these answers; return its requests and what was received."""
    requests: list[httpx2.Request] = []
    received: list[bytes] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        answer = answers[min(len(requests), len(answers)) - 1]
        return answer if isinstance(answer, httpx2.Response) else answer(request)

    async def deliver(raw: bytes) -> bool:
        received.append(raw)
        return any(message.kind == "response" for message in parse(raw))

    async def run() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(handle)) as client:
            session = HttpExchange(client, URL)
            for message in messages:
                await session.post(message, deliver)

    asyncio.run(run())
    return requests, received


def fault(*answers: Answer | httpx2.Response) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        exchange(*answers)
    return caught.value


def test_messages_pass_byte_for_byte_with_their_unknown_fields() -> None:
    line = b'{"id":1,  "method":"tools/call","jsonrpc":"2.0","unknown":{"x":1.0},"params":{}}'
    (request,), received = exchange(httpx2.Response(200, headers=JSON, content=ANSWER), messages=parse(line))
    assert request.content == line
    assert received == [ANSWER]


def test_all_events_of_a_response_are_handed_on_until_its_answer() -> None:
    note = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'
    body = b": comment\n\ndata: " + note + b"\n\nevent: other\ndata: x\n\nevent: message\ndata: " + ANSWER + b"\n\n"
    _, received = exchange(httpx2.Response(200, headers=EVENTS, content=body))
    assert received == [note, ANSWER]


def test_json_of_several_lines_becomes_one_line() -> None:
    _, received = exchange(httpx2.Response(200, headers=JSON, content=ANSWER.replace(b", ", b",\r\n")))
    assert received == [ANSWER.replace(b", ", b",  ")]


def test_a_session_and_its_version_are_named_in_later_requests() -> None:
    greeting = httpx2.Response(200, headers={**JSON, "mcp-session-id": "s1"}, content=b'{"id":0,"result":{}}')
    requests, _ = exchange(greeting, httpx2.Response(200, headers=JSON, content=ANSWER), messages=(INITIALIZE, CALL))
    assert [request.headers.get("mcp-session-id") for request in requests] == [None, "s1"]


def test_an_answer_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_exchange, "MAX_MESSAGE", 40)
    for headers, body in ((JSON, ANSWER), (EVENTS, b"data: " + ANSWER + b"\n\n")):
        error = fault(httpx2.Response(200, headers=headers, content=body))
        assert (error.code, error.message) == (Code.SERVER_FAULT, "the answer of the server has more than 40 bytes")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (httpx2.Response(202), "no content"),
        (httpx2.Response(200, headers={"content-type": "text/html"}, content=b"x"), "content of the type text/html"),
        (httpx2.Response(503), "HTTP status 503"),
        (httpx2.Response(401), "HTTP status 401: it needs an authorization"),
        (httpx2.Response(307, headers={"location": "http://elsewhere.example/"}), "HTTP status 307"),
    ],
)
def test_a_response_without_an_answer_says_why(answer: httpx2.Response, text: str) -> None:
    assert text in fault(answer).message


def test_the_json_rpc_error_of_a_refusal_reaches_the_caller() -> None:
    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}'
    _, received = exchange(httpx2.Response(400, headers=JSON, content=body))
    assert parse(received[0])[0].data == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}


def test_a_session_that_the_server_has_forgotten_ends_the_connection() -> None:
    greeting = httpx2.Response(200, headers={**JSON, "mcp-session-id": "s1"}, content=b'{"id":0,"result":{}}')
    with pytest.raises(ConnectionError, match="has ended the session"):
        exchange(greeting, httpx2.Response(404), messages=(INITIALIZE, CALL))


def test_a_server_that_cannot_be_reached_ends_the_connection() -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    with pytest.raises(ConnectionError, match="cannot be reached: ConnectError: refused"):
        exchange(fail)


class _BrokenOff(httpx2.AsyncByteStream):
    """A body that ends with a failure of the connection."""

    def __init__(self, start: bytes) -> None:
        self._start = start

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._start
        raise httpx2.ReadError("reset")


def test_a_stream_that_breaks_off_goes_on_after_its_last_event() -> None:
    broken = httpx2.Response(200, headers=EVENTS, stream=_BrokenOff(b"id: 7\nretry: 0\ndata: {}\n\n"))
    rest = httpx2.Response(200, headers=EVENTS, content=b"data: " + ANSWER + b"\n\n")
    requests, received = exchange(broken, rest)
    assert [(request.method, request.headers.get("last-event-id")) for request in requests] == [
        ("POST", None),
        ("GET", "7"),
    ]
    assert received == [b"{}", ANSWER]


def test_a_stream_that_cannot_be_opened_again_is_given_up() -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    broken = httpx2.Response(200, headers=EVENTS, stream=_BrokenOff(b"id: 7\nretry: 0\ndata: {}\n\n"))
    requests, _ = exchange(broken, fail)
    assert len(requests) == 1 + http_exchange.MAX_FAILURES


def test_the_empty_answer_to_a_notification_is_no_fault_whatever_its_type() -> None:
    note = build({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert exchange(httpx2.Response(202, headers=JSON), messages=(note,))[1] == []


def test_the_newer_protocol_names_method_and_tool_in_headers() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    message = CALL.with_data(params={"name": "a", "_meta": meta})
    assert request_headers(message, "") == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "a",
    }
    assert request_headers(CALL, "2025-06-18") == {"mcp-protocol-version": "2025-06-18"}
    assert request_headers(INITIALIZE, "2025-06-18") == {}
    assert request_headers(INITIALIZE.with_data(params={"_meta": meta}), "")["mcp-method"] == "initialize"


OLD = {"Authorization": "Bearer old"}


@pytest.mark.parametrize(
    ("session", "headers", "status", "accepted"),
    [("s1", OLD, 200, True), ("s1", OLD, 401, False), ("", OLD, 200, False), ("", {}, 200, True), ("", {}, 401, False)],
)
def test_other_credentials_are_used_once_the_server_accepts_them_in_its_session(
    session: str, headers: dict[str, str], status: int, accepted: bool
) -> None:
    requests: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(status if request.headers.get("authorization") == "Bearer new" else 202)

    async def run() -> None:
        transport = httpx2.MockTransport(handle)
        async with httpx2.AsyncClient(transport=transport, headers=headers) as client:
            opened = HttpExchange(client, URL)
            opened.session = session
            assert await opened.authorize("Bearer new") is accepted
            await opened.listen(lambda _: asyncio.sleep(0, result=True))

    asyncio.run(run())
    assert requests[-1].headers.get("authorization") == ("Bearer new" if accepted else headers.get("Authorization"))
    assert len(requests) == (2 if session or not headers else 1)
