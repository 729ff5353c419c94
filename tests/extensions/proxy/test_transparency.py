"""A conversation with every kind of message through the proxy equals the direct one but for the rewrites.

In both eras of the protocol, and over stdio and HTTP on both sides.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.proxy.client import CLAUDE, SERVER, Conversing, proxy, running
from tests.extensions.proxy.http_client import HttpClient
from tests.extensions.proxy.test_http_app import http_proxy

Converse = Callable[[Conversing], None]


def call_tools(client: Conversing, **meta: Any) -> None:
    """Make the requests that both eras have."""
    extra = {"_meta": meta} if meta else {}
    client.request("list", "tools/list", **extra)
    for id, tool in (("s", "small"), ("m", "media"), ("f", "fail")):
        client.request(id, "tools/call", name=tool, arguments={"a": 1}, **extra)
    client.request("p", "tools/call", name="progress", _meta={**meta, "progressToken": "t"})
    client.request("r", "resources/read", uri="log:3", **extra)
    client.request("new", "a/new/method", deep={"x": [1, 2.50, None]}, **extra)
    client.request("big", "tools/call", name="big", arguments={"lines": 5_000}, **extra)
    client.request("structured", "tools/call", name="structured", **extra)
    client.request("rbig", "resources/read", uri="log:5000", **extra)


def converse_with_handshake(client: Conversing) -> None:
    client.greet()
    call_tools(client)
    client.request("level", "logging/setLevel", level="info")
    for number, method in enumerate(("roots/list", "sampling/createMessage", "elicitation/create", "ping", "a/new")):
        client.send(id=number + 10, method="tools/call", params={"name": "ask", "arguments": {"method": method}})
        asked = client.receive_method(method)
        client.send(id=asked["id"], result={"answer": method, "new": {"x": 1.0}})
        client.answer_to(number + 10)
    client.send(method="notifications/roots/list_changed")
    client.receive_method("notifications/resources/updated")
    client.send(id="n", method="tools/call", params={"name": "never", "_meta": {"progressToken": "n"}})
    client.receive_method("notifications/progress")  # over HTTP the notification could overtake the request otherwise
    client.send(method="notifications/cancelled", params={"requestId": "n", "reason": "enough"})
    client.answer_to("n")


def converse_without_handshake(client: Conversing) -> None:
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientInfo": CLAUDE, f"{prefix}clientCapabilities": {}}
    client.request("discover", "server/discover", _meta=meta)
    call_tools(client, **meta)
    client.request("listen", "subscriptions/listen", notifications={"toolsListChanged": True}, _meta=meta)


@contextmanager
def scripted_url() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.extensions.proxy.scripted_http_server"], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.communicate()


@contextmanager
def proxied(home: Path, front: str, back: str) -> Iterator[Conversing]:
    """Yield a client of a proxy with these transports to the client and to the server."""
    with ExitStack() as stack:
        words = ["--url", stack.enter_context(scripted_url())] if back == "http" else ["--", *SERVER]
        if front == "http":
            client = HttpClient(stack.enter_context(http_proxy(home, *words)))
            stack.callback(client.close)
            yield client
        else:
            yield stack.enter_context(proxy(home, *words, server=()))


@pytest.fixture(scope="module", params=[converse_with_handshake, converse_without_handshake], ids=["older", "newer"])
def recorded(request: pytest.FixtureRequest) -> tuple[Converse, list[bytes]]:
    """Return a conversation, and what a client without the proxy receives."""
    with running(SERVER) as client:
        request.param(client)
    return request.param, client.received


@pytest.mark.parametrize("front", ["stdio", "http"])
@pytest.mark.parametrize("back", ["stdio", "http"])
def test_every_message_passes_but_for_the_rewrites(
    recorded: tuple[Converse, list[bytes]], front: str, back: str, tmp_path: Path
) -> None:
    converse, direct = recorded
    with proxied(tmp_path, front, back) as client:
        converse(client)
        while len(client.received) < len(direct):  # streams of their own carry some notifications, which may come last
            client.receive()
    replaces_ids = front == "http" and converse is converse_without_handshake
    form = _rewritten if replaces_ids else bytes
    old, new = split(direct, form), split(client.received, form)
    assert new.same == old.same
    assert list(new.changed) == list(old.changed)
    check_rewrites(old.changed, new.changed)


def _rewritten(raw: bytes) -> bytes:
    """Return a message in the form in which messages whose ids are replaced are written."""
    return json.dumps(json.loads(raw)).encode()


class Split:
    """The messages of a conversation that must be the same, and those that are rewritten."""

    def __init__(self) -> None:
        self.same: list[bytes] = []
        self.changed: dict[object, Any] = {}


def split(received: list[bytes], form: Callable[[bytes], bytes]) -> Split:
    found = Split()
    for raw in sorted(received):
        message = json.loads(raw)
        if message.get("id") in (0, "discover", "list", "big", "structured", "rbig"):
            found.changed[message["id"]] = message["result"]
        else:
            found.same.append(form(raw))
    found.same.sort()
    found.changed = dict(sorted(found.changed.items(), key=str))
    return found


def check_rewrites(old: dict[object, Any], new: dict[object, Any]) -> None:
    greeting = 0 if 0 in old else "discover"
    kept = {name: value for name, value in new[greeting].items() if name not in ("instructions", "capabilities")}
    assert kept == {name: value for name, value in old[greeting].items() if name != "capabilities"}
    assert "Keyhole bounds" in new[greeting]["instructions"]
    tools = new["list"]["tools"]
    assert [tool["name"] for tool in tools] == ["small", "big", "structured", "read_artifact"]
    assert not any("outputSchema" in tool for tool in tools)
    assert "structuredContent" not in new["structured"]
    assert new["rbig"]["contents"][0]["uri"] == "log:5000"
    assert all(len(json.dumps(new[id])) < 16_500 < len(json.dumps(old[id])) for id in ("big", "structured", "rbig"))
