"""The proxy over streamable HTTP, in front of servers over stdio and HTTP, with the SDK's client in both eras."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from mcp.client.client import Client

from tests.extensions.proxy.client import SERVER
from tests.extensions.proxy.test_http_upstream import SDK_SERVER, http_server

ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@contextmanager
def http_proxy(
    home: Path, *words: str, log: list[bytes] | None = None, variables: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run the proxy over HTTP and yield its URL. `log` gets what it writes to stderr, of every level."""
    command = [sys.executable, "-m", "keyhole", "proxy", "--http", "--port", "0", *words]
    env = {**os.environ, "KEYHOLE_HOME": str(home), "KEYHOLE_CALLS_AT_ONCE": "20", **(variables or {})}
    env |= {"KEYHOLE_LOG_LEVEL": "DEBUG"} if log is not None else {}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=env)
    assert process.stderr
    lines: list[bytes] = [] if log is None else log
    try:
        line = process.stderr.readline().decode()
        reader = threading.Thread(target=lambda stderr: lines.extend(stderr), args=[process.stderr])
        reader.start()
        assert "serving MCP at http" in line, line
        yield line.split()[-1]
        process.terminate()
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stderr.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with http_proxy(tmp_path_factory.mktemp("home"), "--", *SDK_SERVER) as url:
        yield url


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_server_over_stdio_is_served_over_http_in_both_eras(url: str, mode: Literal["legacy"] | str) -> None:
    async def run() -> None:
        async with Client(url, mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools][-1] == "read_artifact"
            seen: list[float] = []

            async def note(progress: float, total: float | None = None, message: str | None = None) -> None:
                seen.append(progress)

            result = await client.call_tool("steps", {"count": 3}, progress_callback=note)
            assert seen == [0, 1, 2]
            assert result.structured_content == {"result": "3 steps"}
            big = await client.call_tool("words", {"count": 9_000, "about": "apples"})
            text: str = big.content[0].text  # type: ignore[union-attr]
            id = text.split('Next: read_artifact(id="')[1][:16]
            more = await client.call_tool("read_artifact", {"id": id, "query": "008999 apples"})
            assert "008999 apples" in more.content[0].text  # type: ignore[union-attr]
            sums = await asyncio.gather(*(client.call_tool("add", {"a": number, "b": 1}) for number in range(20)))
            assert [each.structured_content for each in sums] == [{"result": number + 1} for number in range(20)]

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_server_over_http_is_served_over_http_in_both_eras(tmp_path: Path, mode: Literal["legacy"] | str) -> None:
    async def run(url: str) -> None:
        async with Client(url, mode=mode) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
            await client.list_tools()
            visit = await client.call_tool("visit", {"place": "Reykjavík"})  # an argument that is a header too
            assert visit.structured_content == {"result": "1 days in Reykjavík"}

    with http_server() as upstream, http_proxy(tmp_path, "--url", upstream) as url:
        asyncio.run(run(url))


def send(method: str, url: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=20)
    try:
        connection.request(method, address.path, body, {**ACCEPT, **headers})
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read()
    finally:
        connection.close()


def event(body: bytes) -> Any:
    return json.loads(body.split(b"data: ")[-1])


def test_a_session_has_a_server_of_its_own_until_it_is_deleted(tmp_path: Path) -> None:
    initialize = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}'
    with http_proxy(tmp_path, "--", *SERVER) as url:
        status, headers, body = send("POST", url, initialize)
        assert status == 200
        assert event(body)["result"]["new"] == [1.0, 1e3]
        session = {"Mcp-Session-Id": headers["mcp-session-id"]}
        assert send("POST", url, b'{"jsonrpc":"2.0","method":"notifications/initialized"}', **session)[0] == 202
        call = b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"small"}}'
        assert event(send("POST", url, call, **session)[2])["result"]["content"][0]["text"] == "small {}"
        assert send("POST", url, call)[0] == 400
        assert send("POST", url, b"no json", **session)[0] == 400
        assert send("POST", url, call, **{"Mcp-Session-Id": "f" * 32})[0] == 404
        assert send("POST", url, call, Host="evil.example")[0] == 421
        assert send("DELETE", url, b"", **session)[0] == 200
        assert send("POST", url, call, **session)[0] == 404


def test_an_error_of_the_newer_protocol_is_json_with_its_http_status(url: str) -> None:
    names = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in names.items()}
    body = {"jsonrpc": "2.0", "id": "x", "method": "no/such", "params": {"_meta": meta}}
    agreeing = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "no/such"}
    status, headers, text = send("POST", url, json.dumps(body).encode(), **agreeing)
    assert (status, headers["content-type"]) == (404, "application/json")
    assert (json.loads(text)["id"], json.loads(text)["error"]["code"]) == ("x", -32601)
    status, _, text = send("POST", url, json.dumps(body).encode(), **{**agreeing, "Mcp-Method": "tools/list"})
    assert status == 400
    assert "mcp-method" in json.loads(text)["error"]["message"]
