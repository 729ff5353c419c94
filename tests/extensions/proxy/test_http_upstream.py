"""A server over streamable HTTP: messages keep their bytes, and a response without an answer is an error."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy import http_upstream
from keyhole.extensions.proxy.http_upstream import HttpExchange, request_headers
from keyhole.extensions.proxy.json_rpc import Message, build, parse
from tests.extensions.proxy.client import proxy

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
    monkeypatch.setattr(http_upstream, "MAX_MESSAGE", 40)
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
    assert len(requests) == 1 + http_upstream.MAX_FAILURES


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


# The server behind the proxy.

SDK_SERVER = [sys.executable, str(Path(__file__).with_name("sdk_server.py"))]


@contextmanager
def http_server(*words: str) -> Iterator[str]:
    process = subprocess.Popen([*SDK_SERVER, "http", *words], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http_server() as url:
        yield url


def test_a_server_over_http_is_served_over_stdio(tmp_path: Path, url: str) -> None:
    with proxy(tmp_path, "--url", url, server=()) as client:
        greeting = client.greet()["result"]
        assert greeting["instructions"].startswith("Count things.\nKeyhole bounds")
        tools = client.request(1, "tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["add", "words", "steps", "visit", "read_artifact"]
        assert client.call(2, "add", a=1, b=2)["result"]["structuredContent"] == {"result": 3}
        text = client.call(3, "words", count=9_000, about="apples")["result"]["content"][0]["text"]
        assert "Next: read_artifact(" in text
        params = {"name": "steps", "arguments": {"count": 3}, "_meta": {"progressToken": "t"}}
        client.send(id=4, method="tools/call", params=params)
        received = [client.receive() for _ in range(4)]
        assert [each.get("params", {}).get("progress") for each in received] == [0, 1, 2, None]
        resource = client.request(5, "resources/read", uri="log://all")["result"]["contents"][0]
        assert resource["uri"] == "log://all"
        assert len(resource["text"]) < 16_000
        assert client.request(6, "prompts/get", name="greet", arguments={"name": "Ada"})["result"]["messages"]


def test_the_newer_protocol_without_a_handshake_passes(tmp_path: Path, url: str) -> None:
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": "2026-07-28",
        f"{prefix}clientInfo": {"name": "claude-code", "version": "2.1.330"},
        f"{prefix}clientCapabilities": {},
    }
    with proxy(tmp_path, "--url", url, server=()) as client:
        found = client.request(1, "server/discover", _meta=meta)["result"]
        assert "Keyhole bounds" in found["instructions"]
        assert client.request(2, "tools/list", _meta=meta)["result"]["tools"][-1]["name"] == "read_artifact"
        params = {"name": "words", "arguments": {"count": 9_000}, "_meta": meta}
        result = client.request(3, "tools/call", **params)["result"]
        assert result["resultType"] == "complete"
        assert "structuredContent" not in result
        assert "Next: read_artifact(" in result["content"][0]["text"]


def test_a_token_is_sent_and_its_absence_is_named(tmp_path: Path) -> None:
    with http_server("token") as url:
        with proxy(tmp_path, "--url", url, server=()) as client:
            message = client.request(1, "initialize")["error"]["message"]
            assert "HTTP status 401: it needs an authorization. Give keyhole proxy a valid token" in message
        header = ("--header", "Authorization: Bearer ${MY_TOKEN}")
        with proxy(tmp_path, "--url", url, *header, server=(), MY_TOKEN="t0ken") as client:
            assert client.greet()["result"]


def test_a_server_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    with proxy(tmp_path, "--url", "http://127.0.0.1:1/mcp", server=()) as client:
        message = client.request(1, "initialize")["error"]["message"]
        assert message.startswith("server_unavailable: the server 127.0.0.1:1 cannot be reached: ConnectError")
