"""The complete HTTP application: both eras, with and without sessions, and its limits."""

from __future__ import annotations

import json
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import anyio
import pytest
from mcp import Client

from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.config.config import Config
from keyhole.extensions.hosted import app
from tests.support.loopback import PATIENCE
from tests.support.server_process import ACCEPT, INITIALIZE, Post, application_server, open_session, server_process
from tests.support.waiting import wait_for

HELLO = {"id": 0, "method": "initialize", "params": INITIALIZE}


@pytest.mark.parametrize("stateless", ["on", "off"])
def test_both_eras_are_served_with_and_without_sessions(tmp_path: Path, stateless: str) -> None:
    async def run(url: str, era: str, page: str) -> str:
        async with Client(url, mode=era) as client:
            assert len((await client.list_tools()).tools) == 3
            first = await client.call_tool("web_fetch", {"url": page})
            id = (first.meta or {})["keyhole"]["artifact_id"]
            second = await client.call_tool("read_artifact", {"id": id, "find": "Release notes"})
            return str(getattr(second.content[0], "text", ""))

    with (
        serve(recorded_pages()) as port,
        server_process(tmp_path, KEYHOLE_ALLOW_PRIVATE=f"127.0.0.1:{port}", KEYHOLE_STATELESS=stateless) as served,
    ):
        page = f"http://127.0.0.1:{port}/release-notes"
        texts = {anyio.run(run, served.url, era, page) for era in ("legacy", "auto", "2026-07-28")}
        found = Post(served.port, HELLO).answer()[1]
    assert len(texts) == 1
    assert "Release notes" in texts.pop()
    assert ("mcp-session-id" in found) == (stateless == "off")


def test_a_nearly_correct_path_is_404_without_redirect(tmp_path: Path) -> None:
    with application_server(Config(home=tmp_path, engines=("searxng",))) as server:
        for path in ("/mcp/", "/mcp%2f", "//mcp", "/mcp;x", "/./mcp"):
            with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
                connection.request("POST", path, json.dumps(HELLO), {"Content-Type": "application/json"})
                found = connection.getresponse()
                assert (found.status, found.getheader("location")) == (404, None)


def test_sessions_are_limited_until_one_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_SESSIONS", 2)
    with application_server(Config(home=tmp_path, engines=("searxng",))) as server:
        first, _ = open_session(server.port), open_session(server.port)
        assert Post(server.port, HELLO).answer()[0] == 503
        connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("DELETE", "/mcp", headers={"Mcp-Session-Id": first})
        assert connection.getresponse().status == 200
        connection.close()
        assert open_session(server.port)


def test_an_idle_session_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "SESSION_IDLE_SECONDS", 0.2)
    with application_server(Config(home=tmp_path, engines=("searxng",))) as server:
        sessions = [open_session(server.port) for _ in range(3)]
        message = {"id": 1, "method": "tools/list"}
        statuses = [200]

        def ended() -> bool:
            statuses[:] = [Post(server.port, message, mcp_session_id=session).answer()[0] for session in sessions]
            return statuses == [404, 404, 404]

        wait_for(ended, every=0.5)  # each request keeps the session alive for 0.2 s


def test_answers_are_not_delayed_by_nagles_algorithm(tmp_path: Path) -> None:
    with server_process(tmp_path) as served, closing(HTTPConnection("127.0.0.1", served.port)) as kept:
        headers = {**ACCEPT, "Mcp-Session-Id": open_session(served.port)}
        times = []
        for number in range(1, 61):
            start = time.perf_counter()
            kept.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}), headers)
            assert b"result" in kept.getresponse().read()
            times.append(time.perf_counter() - start)
    # After the first few packets, Linux delays a lone acknowledgement by 40 ms, each time.
    assert min(times[-20:]) < 0.035


def test_a_large_body_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with application_server(Config(home=tmp_path, engines=("searxng",), max_request_bytes=10_000)) as server:
        filled = {**HELLO, "params": {**INITIALIZE, "filler": "x" * 10_000}}
        assert Post(server.port, filled).answer()[0] == 413
        assert Post(server.port, HELLO).answer()[0] == 200


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
def test_another_host_or_origin_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    with application_server(Config(home=tmp_path, engines=("searxng",))) as server:
        status, _, body = Post(server.port, HELLO, **headers).answer()
    assert status in (400, 403, 421)
    assert "serverInfo" not in json.dumps(body)
