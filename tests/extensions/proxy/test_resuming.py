"""A client whose connection to the proxy is cut gets what it missed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp.client.client import Client

from tests.extensions.proxy.client import proxy
from tests.extensions.proxy.test_http_app import ACCEPT, http_proxy, send
from tests.support.wire import wire

SERVER = [sys.executable, str(Path(__file__).with_name("waiting_server.py"))]
BEGINNING = b"data:\n\n"
"""The event without a message with which a response begins."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    hosts = {"KEYHOLE_ALLOWED_HOSTS": "127.0.0.1:*"}
    with http_proxy(tmp_path_factory.mktemp("home"), "--", *SERVER, variables=hosts) as url:
        yield url


@pytest.fixture
def pipes(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "begun", tmp_path / "released"
    for path in paths:
        os.mkfifo(path)
    return paths


def arguments(pipes: tuple[Path, Path]) -> dict[str, str]:
    return {"begun": str(pipes[0]), "released": str(pipes[1])}


@pytest.mark.parametrize("has_progress", [True, False])
def test_the_sdks_client_gets_its_answer_after_a_cut(url: str, pipes: tuple[Path, Path], has_progress: bool) -> None:
    async def run() -> None:
        seen: list[float] = []

        async def note(progress: float, total: float | None = None, message: str | None = None) -> None:
            seen.append(progress)

        async with wire(url) as line, Client(line.url, mode="legacy") as client:
            call = client.call_tool("wait", arguments(pipes), progress_callback=note if has_progress else None)
            begun = line.count(BEGINNING)
            answer = asyncio.create_task(call)
            await asyncio.gather(line.wait_for(BEGINNING, begun + 1), asyncio.to_thread(pipes[0].read_text))
            line.cut()
            await asyncio.to_thread(pipes[1].write_text, "go on")
            result = await answer
        assert result.content[0].text == "the answer"  # type: ignore[union-attr]
        assert seen == ([0, 1, 2, 3] if has_progress else [])

    asyncio.run(run())


class Session:
    """A client over plain HTTP, each of whose requests has a connection of its own."""

    def __init__(self, url: str, version: str) -> None:
        self._address = urlsplit(url)
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        status, headers, self.greeting = send("POST", url, message(id=1, method="initialize", params=params))
        assert status == 200
        self.headers = {"Mcp-Session-Id": headers["mcp-session-id"], "MCP-Protocol-Version": version}
        assert send("POST", url, message(method="notifications/initialized"), **self.headers)[0] == 202

    @contextmanager
    def open(self, method: str, body: bytes = b"", last_id: str = "") -> Iterator[HTTPResponse]:
        """Send a request and yield its response, whose body is not read."""
        headers = {"Last-Event-ID": last_id} if last_id else {}
        with closing(HTTPConnection(self._address.netloc, timeout=20)) as connection:
            connection.request(method, self._address.path, body, {**ACCEPT, **self.headers, **headers})
            with connection.getresponse() as response:
                yield response


def message(**fields: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def read_event(response: HTTPResponse) -> dict[str, str]:
    """Return the fields of the next event, none at the end of the response."""
    lines = iter(lambda: response.readline().decode().rstrip("\n"), "")
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@contextmanager
def call(session: Session, pipes: tuple[Path, Path]) -> Iterator[tuple[HTTPResponse, str]]:
    """Start the call that waits. Yield its response, read up to its first progress, and the id of that event."""
    params = {"name": "wait", "arguments": arguments(pipes), "_meta": {"progressToken": "t"}}
    with session.open("POST", message(id=2, method="tools/call", params=params)) as response:
        while not (event := read_event(response))["data"]:
            pass
        assert json.loads(event["data"])["params"]["progress"] == 0
        pipes[0].read_text()
        yield response, event["id"]


@pytest.mark.parametrize(("version", "is_primed"), [("2025-06-18", False), ("2025-11-25", True)])
def test_events_have_ids_and_the_first_one_only_for_clients_that_know_it(
    url: str, version: str, is_primed: bool
) -> None:
    session = Session(url, version)
    with session.open("POST", message(id=2, method="ping")) as response:
        first = read_event(response)
        assert (first["data"] == "") is is_primed
        answer = read_event(response) if is_primed else first
    assert json.loads(answer["data"])["id"] == 2
    assert answer["id"]


def test_a_response_is_replayed_from_any_of_its_events_as_often_as_it_is_asked_for(
    url: str, pipes: tuple[Path, Path]
) -> None:
    session = Session(url, "2025-06-18")
    with call(session, pipes) as (_, first):
        pass
    pipes[1].write_text("go on")
    for _ in range(2):
        with session.open("GET", last_id=first) as resumed:
            events = list(iter(lambda: read_event(resumed), {}))
        messages = [json.loads(event["data"]) for event in events]
        assert [each.get("params", {}).get("progress") for each in messages] == [1, 2, 3, None]
        assert messages[-1]["result"]["content"][0]["text"] == "the answer"
    with session.open("GET", last_id=events[-2]["id"]) as resumed:
        assert json.loads(read_event(resumed)["data"])["id"] == 2


def test_a_client_that_goes_on_takes_the_place_of_its_earlier_connection(url: str, pipes: tuple[Path, Path]) -> None:
    session = Session(url, "2025-11-25")
    with call(session, pipes) as (earlier, first), session.open("GET", last_id=first) as later:
        assert earlier.read() == b""
        pipes[1].write_text("go on")
        while "result" not in (answer := json.loads(read_event(later)["data"])):
            pass
    assert answer["id"] == 2


def test_events_belong_to_the_session_that_they_were_sent_in(url: str) -> None:
    session, other = Session(url, "2025-06-18"), Session(url, "2025-06-18")
    with session.open("POST", message(id=2, method="ping")) as response:
        id = read_event(response)["id"]
    with other.open("GET", last_id=id) as response:
        assert b"result" not in response.read() if response.status == 200 else response.status == 400
    for text in ("x", "1", "9999-1", "-1-1", "1-", "٣-1", "1" * 5_000):
        with session.open("GET", last_id=text.encode().decode("latin-1")) as response:
            assert (response.status, json.loads(response.read())["error"]) == (400, "event_not_found")
    del session.headers["Mcp-Session-Id"]
    with session.open("GET", last_id=id) as response:
        assert response.status == 400


def test_the_proxy_goes_on_with_a_response_of_its_server_that_was_cut(
    url: str, pipes: tuple[Path, Path], tmp_path: Path
) -> None:
    async def run() -> None:
        async with wire(url) as line:
            with ExitStack() as stack:
                client = stack.enter_context(proxy(tmp_path, "--url", line.url, server=()))
                await asyncio.to_thread(client.greet)
                params = {"name": "wait", "arguments": arguments(pipes), "_meta": {"progressToken": "t"}}
                client.send(id=2, method="tools/call", params=params)
                await asyncio.to_thread(client.receive_method, "notifications/progress")
                await asyncio.to_thread(pipes[0].read_text)
                line.cut()
                await asyncio.to_thread(pipes[1].write_text, "go on")
                answer = await asyncio.to_thread(client.answer_to, 2)
                progress = [json.loads(each).get("params", {}).get("progress") for each in client.received[-4:]]
                await asyncio.to_thread(stack.close)
        assert answer["result"]["content"][0]["text"] == "the answer"
        assert progress == [1, 2, 3, None]

    asyncio.run(run())
