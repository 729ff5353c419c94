"""Progress, cancellation and errors of tools, resources and prompts, in both protocol eras on both transports.

The tests use real server processes, the SDK's client and raw frames.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ResourceTemplateReference

from benchmarks.server.wire import ERAS as REVISIONS
from benchmarks.server.wire import Wire, run_server
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.server_process import ACCEPT, open_session, server_process

ERAS = {"legacy": REVISIONS[0], "auto": REVISIONS[1]}
TRANSPORTS = ("stdio", "http")
EVERYWHERE = pytest.mark.parametrize(("transport", "era"), [(each, era) for each in TRANSPORTS for era in ERAS])
META = "io.modelcontextprotocol"
MODERN = {
    f"{META}/protocolVersion": REVISIONS[1],
    f"{META}/clientInfo": {"name": "raw", "version": "1"},
    f"{META}/clientCapabilities": {},
}


def pages(site: Site) -> Responder:
    """Serve an engine with three results at /search, no answer at /never, and a page at all other paths."""

    def talk(call: Call) -> None:
        if call.path.startswith("/never"):
            site.hold(call)
        elif call.path.startswith("/search"):
            rows = [{"url": site.url(f"/{name}"), "title": f"Of {name}", "content": "Pumps."} for name in "abc"]
            call.send(response(json.dumps({"results": rows}).encode(), Content_Type="application/json"))
        else:
            body = f"<title>Of {call.path}</title><h1>Pumps</h1><p>Pumps and valves stand at {call.path}."
            call.send(response(body.encode(), Content_Type="text/html"))

    return talk


def settings(site: Site) -> dict[str, str]:
    return {
        "KEYHOLE_ALLOW_PRIVATE": site.endpoint,
        "KEYHOLE_ENGINES": "searxng",
        "KEYHOLE_SEARXNG_URL": site.url("/"),
    }


def use_sdk_client(transport: str, era: str, home: Path, site: Site, use: Callable[[Client], Awaitable[None]]) -> None:
    @asynccontextmanager
    async def client(target: Any) -> AsyncIterator[Client]:
        async with Client(target, mode=era) as connected:
            yield connected

    async def run(target: Any) -> None:
        async with client(target) as connected:
            await use(connected)

    if transport == "http":
        with server_process(home, **settings(site)) as server:
            anyio.run(run, server.url)
    else:
        environment = {"KEYHOLE_HOME": str(home), "PATH": os.environ["PATH"], **settings(site)}
        anyio.run(run, StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment))


Ask = Callable[..., list[dict[str, Any]]]
"""Sends a request; returns all messages up to its answer, including it."""


@dataclass(frozen=True, slots=True)
class RawServers:
    """Servers that take raw frames, one of each transport and era, which start when a test asks for them."""

    site: Site
    start: Callable[[str, str], Ask]


@pytest.fixture(scope="module")
def raw_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServers]:
    with ExitStack() as stack:
        site = stack.enter_context(serve(pages))

        @cache
        def start(transport: str, era: str) -> Ask:
            return stack.enter_context(raw_server(transport, era, tmp_path_factory.mktemp("raw"), site))

        yield RawServers(site, start)


@contextmanager
def raw_server(transport: str, era: str, home: Path, site: Site) -> Iterator[Ask]:
    """Start a server that takes raw frames."""
    if transport == "stdio":
        with run_server(str(home), ERAS[era], **settings(site)) as wire:
            yield partial(over_stdio, wire)
    else:
        with server_process(home, **settings(site)) as server:
            session = {"Mcp-Session-Id": open_session(server.port)} if era == "legacy" else {}
            yield partial(over_http, server.port, era, session)


def over_stdio(wire: Wire, method: str, params: dict[str, Any], id: int = 1, token: str = "") -> list[dict[str, Any]]:
    wire.raw(with_token(json.loads(wire.frame(id, method, params)), token))
    messages = [wire.next(PATIENCE)]
    while messages[-1].get("id") != id:
        messages.append(wire.next(PATIENCE))
    return messages


def with_token(message: dict[str, Any], token: str) -> bytes:
    if token:
        message["params"].setdefault("_meta", {})["progressToken"] = token
    return json.dumps(message).encode()


def over_http(
    port: int, era: str, session: dict[str, str], method: str, params: dict[str, Any], id: int = 1, token: str = ""
) -> list[dict[str, Any]]:
    headers = {**ACCEPT, **session, "MCP-Protocol-Version": ERAS[era]}
    if era == "auto":
        params = {**params, "_meta": dict(MODERN)}
        named = params.get("uri" if method.startswith("resources/") else "name")
        headers |= {"Mcp-Method": method, **({"Mcp-Name": str(named)} if named else {})}
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return messages_of(post(port, with_token(message, token), headers)[1])


def post(port: int, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", "/mcp", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def messages_of(body: str) -> list[dict[str, Any]]:
    """Return the messages of an event stream, or the one message of a JSON body."""
    if body.startswith("{"):
        return [json.loads(body)]
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


@EVERYWHERE
def test_a_fetched_page_is_listed_found_and_read_again(transport: str, era: str, tmp_path: Path) -> None:
    async def use(client: Client) -> None:
        assert (await client.list_resources()).resources == []
        fetched = await client.call_tool("web_fetch", {"url": site.url("/pumps")})
        id = (fetched.meta or {})["keyhole"]["artifact_id"]
        (entry,) = (await client.list_resources()).resources
        assert (entry.uri, entry.title) == (f"artifact://{id}", "“Of /pumps”")
        ref = ResourceTemplateReference(uri="artifact://{id}")
        found = await client.complete(ref, {"name": "id", "value": "of pumps"})
        assert found.completion.values == [id]
        (content,) = (await client.read_resource(entry.uri)).contents
        assert "stand at /pumps." in str(getattr(content, "text", ""))
        prompt = await client.get_prompt("research", {"question": "Who?"})
        assert len(prompt.messages) == 1
        assert len(site.calls) == 1

    with serve(pages) as site:
        use_sdk_client(transport, era, tmp_path, site, use)


@EVERYWHERE
def test_progress_rises_and_ends_with_its_call(transport: str, era: str, raw_servers: RawServers) -> None:
    ask = raw_servers.start(transport, era)
    *notifications, answer = ask("tools/call", {"name": "search", "arguments": {"query": "pumps"}}, token="t")
    assert "error" not in answer, answer
    assert answer["result"]["isError"] is False, answer
    assert {message["method"] for message in notifications} == {"notifications/progress"}
    steps = [message["params"] for message in notifications]
    assert {step["progressToken"] for step in steps} == {"t"}
    done = [step["progress"] for step in steps]
    assert len(done) >= 3
    assert done == sorted(set(done))
    assert all(step["progress"] <= step["total"] and step["message"] for step in steps)
    # No progress comes after the answer, or without a progress token.
    later = ask("tools/call", {"name": "search", "arguments": {"query": "pumps", "scope": "stored"}}, id=2)
    assert [message.get("id") for message in later] == [2]


@EVERYWHERE
def test_resources_and_prompts_send_no_other_messages(transport: str, era: str, raw_servers: RawServers) -> None:
    ask = raw_servers.start(transport, era)
    (fetched,) = ask("tools/call", {"name": "web_fetch", "arguments": {"url": raw_servers.site.url("/a")}})
    uri = f"artifact://{fetched['result']['_meta']['keyhole']['artifact_id']}"
    requests: list[tuple[str, dict[str, Any], str]] = [
        ("resources/list", {}, "resources"),
        ("resources/templates/list", {}, "resourceTemplates"),
        ("resources/read", {"uri": uri}, "contents"),
        ("prompts/list", {}, "prompts"),
        ("prompts/get", {"name": "research", "arguments": {"question": "Who?"}}, "messages"),
    ]
    for number, (method, params, held) in enumerate(requests, 10):
        (answer,) = ask(method, params, id=number, token="t")
        assert answer["result"][held], method


@EVERYWHERE
def test_an_abandoned_call_stops_its_fetch_and_the_next_one_works(transport: str, era: str, tmp_path: Path) -> None:
    async def use(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "web_fetch", {"url": site.url("/never")})
            assert await anyio.to_thread.run_sync(site.request_received.wait, PATIENCE)
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(site.client_left.wait, PATIENCE)
        result = await client.call_tool("web_fetch", {"url": site.url("/next")})
        assert "stand at /next." in str(getattr(result.content[0], "text", ""))
        assert len((await client.list_resources()).resources) == 1

    with serve(pages) as site:
        use_sdk_client(transport, era, tmp_path, site, use)


@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_is_never_answered(era: str, tmp_path: Path) -> None:
    with serve(pages) as site, run_server(str(tmp_path), ERAS[era], **settings(site)) as wire:
        wire.raw(wire.frame(7, "tools/call", {"name": "web_fetch", "arguments": {"url": site.url("/never")}}))
        assert site.request_received.wait(PATIENCE)
        gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        wire.raw(json.dumps(gone).encode())
        assert site.client_left.wait(PATIENCE)
        (answer,) = over_stdio(wire, "tools/call", {"name": "web_fetch", "arguments": {"url": site.url("/x")}}, id=8)
        assert answer["result"]["isError"] is False
        assert not [line for line in wire.lines if json.loads(line).get("id") == 7]


WHAT = {"name": "question", "value": ""}
REFUSED: list[tuple[str, dict[str, Any], int]] = [
    ("nothing/such", {}, -32601),
    ("resources/subscribe", {"uri": "artifact://a"}, -32601),
    ("logging/setLevel", {"level": "info"}, -32601),
    ("tools/call", {}, -32602),
    ("tools/call", {"name": "no_tool"}, -32602),
    ("tools/call", {"name": "web_fetch", "arguments": [1]}, -32602),
    ("resources/read", {}, -32602),
    ("resources/read", {"uri": "artifact://" + "a" * 16}, -32602),
    ("resources/read", {"uri": "file:///etc/passwd"}, -32602),
    ("resources/list", {"cursor": "none"}, -32602),
    ("resources/list", {"cursor": 5}, -32602),
    ("prompts/get", {"name": "none"}, -32602),
    ("prompts/get", {"name": "research"}, -32602),
    ("prompts/get", {"name": "research", "arguments": {"question": 5}}, -32602),
    ("prompts/get", {"name": "research", "arguments": {"question": "a" * 500_000}}, -32602),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "none"}, "argument": WHAT}, -32602),
    ("completion/complete", {"argument": WHAT}, -32602),
]  # fmt: skip


@EVERYWHERE
def test_faults_of_a_request_have_the_standard_error_codes(transport: str, era: str, raw_servers: RawServers) -> None:
    ask = raw_servers.start(transport, era)
    codes = [ask(method, params, id=n)[-1]["error"]["code"] for n, (method, params, _) in enumerate(REFUSED, 1)]
    (alive,) = ask("tools/list", {}, id=99)
    assert codes == [code for *_, code in REFUSED]
    assert len(alive["result"]["tools"]) == 3


@pytest.mark.parametrize("era", ERAS)
def test_no_store_is_opened_before_stored_pages_are_requested(era: str, tmp_path: Path) -> None:
    with run_server(str(tmp_path), ERAS[era]) as wire:
        for method in ("prompts/list", "resources/templates/list"):
            assert "result" in wire.ask(method, {})
        wire.ask("prompts/get", {"name": "research", "arguments": {"question": "Who?"}})
        assert list(tmp_path.iterdir()) == []
        assert wire.ask("resources/list", {})["result"]["resources"] == []
        assert list(tmp_path.iterdir())


MALFORMED = [
    (b"{nope", None, -32700),
    (b"[]", None, -32600),
    (b'"x"', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": 7}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": [1]}', "a", -32600),
    (b'{"id": 6, "method": "tools/list"}', 6, -32600),
]


@pytest.mark.parametrize("era", ERAS)
def test_an_invalid_line_is_answered(era: str, tmp_path: Path) -> None:
    with run_server(str(tmp_path), ERAS[era]) as wire:
        for line, id, code in MALFORMED:
            wire.raw(line)
            answer = wire.next(PATIENCE)
            assert ("id" in answer, answer["id"], answer["error"]["code"]) == (True, id, code)
        for silent in (b"", b"  ", b'{"jsonrpc": "2.0", "id": 9, "result": 1}', b'{"jsonrpc": "2.0", "method": 5}'):
            wire.raw(silent)
        assert [message.get("id") for message in over_stdio(wire, "tools/list", {}, id=10)] == [10]


@pytest.mark.parametrize("era", ERAS)
def test_an_invalid_or_large_body_is_refused(era: str, tmp_path: Path) -> None:
    with serve(pages) as site, server_process(tmp_path, **settings(site)) as server:
        headers = {**ACCEPT, "MCP-Protocol-Version": ERAS[era]}
        if era == "legacy":
            headers["Mcp-Session-Id"] = open_session(server.port)
        status, body = post(server.port, b"{nope", headers)
        assert (status, json.loads(body)["error"]["code"]) == (400, -32700)
        large = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": "x" * 5_000_000}})
        assert post(server.port, large.encode(), headers)[0] == 413
