"""A stopping server finishes active calls, refuses new ones, and leaves no process behind."""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event

import pytest

from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.server_process import Post, ServerProcess, open_session, server_process, tool_call
from tests.support.waiting import wait_for

IMPATIENT = """
import socket, sys
from keyhole.cli.main import main
from keyhole.extensions.hosted import uvicorn_server

def serve(app, listener, *more, serve=uvicorn_server.serve):
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return serve(app, listener, *more)

uvicorn_server.TimeoutProtocol.head_seconds = uvicorn_server.STALL_SECONDS = 0.3
uvicorn_server.serve = serve
sys.exit(main(["serve", "--http", "--port", "0"]))
"""
"""The server with short timeouts and small socket buffers."""
PAGE = response(b"<p>Pumps and valves.", Content_Type="text/html")
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@contextmanager
def slow_site() -> Iterator[tuple[Site, Event]]:
    """Yield a site and an event: /slow is answered once the event is set, all other paths at once."""
    let = Event()

    def talks(site: Site) -> Responder:
        def talk(call: Call) -> None:
            if call.path == "/slow":
                let.wait(PATIENCE)
            call.send(PAGE)

        return talk

    with serve(talks) as site:
        try:
            yield site, let
        finally:
            let.set()


def session_call(served: ServerProcess, site: Site) -> Post:
    return Post(served.port, tool_call("web_fetch", url=site.url("/slow")), mcp_session_id=open_session(served.port))


def modern_call(served: ServerProcess, site: Site) -> Post:
    message = tool_call("web_fetch", url=site.url("/slow"))
    message["params"]["_meta"] = MODERN
    headers = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": "web_fetch"}
    return Post(served.port, message, **headers)


def workers(served: ServerProcess) -> list[int]:
    pid = served.process.pid
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lives(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed by Linux")
@pytest.mark.parametrize("begin", [session_call, modern_call])
def test_an_active_call_is_answered_while_new_ones_are_refused(
    tmp_path: Path, begin: Callable[[ServerProcess, Site], Post]
) -> None:
    with slow_site() as (site, let), server_process(tmp_path, KEYHOLE_ALLOW_PRIVATE=site.endpoint) as served:
        call = begin(served, site)
        assert site.request_received.wait(PATIENCE)
        children = workers(served)
        with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as idle:
            idle.request("GET", "/healthz")
            idle.getresponse().read()
            served.process.send_signal(signal.SIGTERM)
            wait_for(lambda: served.get("/readyz") == (503, '{"status": "draining"}'))
            idle.request("POST", "/mcp", b"{}")  # on a connection opened before
            assert idle.getresponse().status == 503
        status, headers, body = Post(served.port, tool_call("web_fetch", url=site.url("/other"))).answer()
        assert (status, headers["retry-after"], headers["connection"]) == (503, "1", "close")
        assert '"draining"' in body
        let.set()
        status, _, body = call.answer()
        assert (status, "Pumps and valves." in body) == (200, True)
        assert served.wait() == 0
    assert children
    wait_for(lambda: not [pid for pid in children if lives(pid)])


def test_an_idle_stream_ends_in_order_and_does_not_delay_the_end(tmp_path: Path) -> None:
    with server_process(tmp_path) as served:
        session = open_session(served.port)
        with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as stream:
            stream.request("GET", "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": session})
            answer = stream.getresponse()
            assert answer.status == 200
            served.process.send_signal(signal.SIGTERM)
            start = time.monotonic()
            assert b"event: message" not in answer.read()  # it raises if the chunks do not end correctly
            assert served.wait() == 0
        assert time.monotonic() - start < 5
        assert not [line for line in served.lines if "ERROR" in line or "Exception" in line]


def test_calls_beyond_the_drain_time_are_aborted_and_the_server_exits_cleanly(tmp_path: Path) -> None:
    settings = {"KEYHOLE_DRAIN_SECONDS": "0.2"}
    with slow_site() as (site, _), server_process(tmp_path, KEYHOLE_ALLOW_PRIVATE=site.endpoint, **settings) as served:
        call = session_call(served, site)
        assert site.request_received.wait(PATIENCE)
        served.process.send_signal(signal.SIGTERM)
        assert served.wait() == 0
        call.leave()
        assert any("1 requests unanswered after 0.2 s" in line for line in served.lines)


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed by Linux")
def test_a_second_signal_ends_the_server_at_once_and_its_workers_with_it(tmp_path: Path) -> None:
    with slow_site() as (site, _), server_process(tmp_path, KEYHOLE_ALLOW_PRIVATE=site.endpoint) as served:
        call = session_call(served, site)
        assert site.request_received.wait(PATIENCE)
        children = workers(served)
        served.process.send_signal(signal.SIGTERM)
        wait_for(lambda: served.get("/readyz")[0] == 503)
        served.process.send_signal(signal.SIGTERM)
        assert served.wait() == -signal.SIGTERM
        call.leave()
    assert children
    wait_for(lambda: not [pid for pid in children if lives(pid)])


def test_a_client_may_end_its_session_while_the_server_stops(tmp_path: Path) -> None:
    with slow_site() as (site, let), server_process(tmp_path, KEYHOLE_ALLOW_PRIVATE=site.endpoint) as served:
        call = session_call(served, site)
        session = open_session(served.port)
        assert site.request_received.wait(PATIENCE)
        served.process.send_signal(signal.SIGTERM)
        wait_for(lambda: served.get("/readyz")[0] == 503)
        with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as client:
            client.request("DELETE", "/mcp", headers={"Mcp-Session-Id": session})
            assert client.getresponse().status == 200
        let.set()
        assert call.answer()[0] == 200
        assert served.wait() == 0


def test_clients_that_send_too_little_are_disconnected(tmp_path: Path) -> None:
    parts = (b"", b"GET /healthz HT", b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
    with (
        server_process(tmp_path, "-c", IMPATIENT) as served,
        closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as kept,
    ):
        for part in parts:
            kept.request("GET", "/healthz")  # it pauses longer than the others: it is idle, not late
            assert kept.getresponse().read() == b'{"status": "ok"}'
            with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as slow:
                slow.sendall(part)
                while slow.recv(4_096):
                    pass


def test_clients_that_do_not_read_their_answer_are_disconnected(tmp_path: Path) -> None:
    def connections() -> int:
        return int(float(served.get("/metrics")[1].split("\nprocess_open_fds ")[1].split()[0]))

    with server_process(tmp_path, "-c", IMPATIENT) as served, socket.socket() as greedy:
        before = connections()
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        greedy.settimeout(PATIENCE)
        greedy.connect(("127.0.0.1", served.port))
        greedy.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        wait_for(lambda: connections() > before)
        wait_for(lambda: connections() == before)
