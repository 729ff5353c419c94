"""A server over streamable HTTP behind the proxy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.extensions.proxy.client import proxy

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
