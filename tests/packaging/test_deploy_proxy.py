"""Run deploy/nginx.conf in nginx in front of fake replicas."""

from __future__ import annotations

import asyncio
import http.client
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.server.load_test.servers import free_port, on_loopback, proxy
from tests.support.documentation import ROOT

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
SCRATCH = "/tmp/"  # noqa: S108 - the folder that the container may write to
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

Answer = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@contextmanager
def upstream(answer: Answer) -> Iterator[tuple[int, list[bytes]]]:
    """Run a fake replica; yield its port and the list of the request heads that it received."""
    loop, heads = asyncio.new_event_loop(), list[bytes]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                heads.append(head)
                await answer(head, reader, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = loop.run_until_complete(asyncio.start_server(handle, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1], heads
    finally:
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _stop(server: asyncio.Server) -> None:
    server.close()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def answer_ok(_head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def abort(_head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def request(port: int, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_only_public_paths_are_forwarded_with_the_host_and_the_address_of_the_client(tmp_path: Path) -> None:
    with upstream(answer_ok) as (replica, heads), proxy([replica], tmp_path) as (port, _):
        headers = {"Host": "mcp.example.com", "X-Forwarded-For": "10.0.0.1", "Authorization": "Bearer x"}
        assert request(port, "POST", "/mcp", b"{}", **headers) == (200, b"ok")
        assert request(port, "GET", "/.well-known/oauth-protected-resource/mcp") == (200, b"ok")
        assert request(port, "GET", "/look/calls/a") == (200, b"ok")
        assert [request(port, "GET", path)[0] for path in ("/", "/metrics", "/healthz", "/readyz", "/mcp/x")] == [
            404
        ] * 5
    assert len(heads) == 3
    lines = heads[0].decode().lower().split("\r\n")
    assert "host: mcp.example.com" in lines
    assert "x-forwarded-for: 127.0.0.1" in lines
    assert "authorization: bearer x" in lines


def test_a_body_above_the_limit_does_not_reach_a_replica(tmp_path: Path) -> None:
    with (
        upstream(answer_ok) as (replica, heads),
        proxy([replica], tmp_path) as (port, _),
        socket.create_connection(("127.0.0.1", port), timeout=10) as client,
    ):
        client.sendall(b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")
    assert heads == []


def test_an_event_stream_is_not_buffered(tmp_path: Path) -> None:
    go_on = threading.Event()

    async def stream(_head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"9\r\ndata: 1\n\n\r\n")
        await writer.drain()
        await asyncio.to_thread(go_on.wait, 10)
        writer.write(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")

    with upstream(stream) as (replica, _), proxy([replica], tmp_path) as (port, _):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/mcp", b"{}")
        response = connection.getresponse()
        assert response.read(9) == b"data: 1\n\n"  # before the replica sends the rest
        go_on.set()
        assert response.read() == b"data: 2\n\n"
        connection.close()


def test_a_replica_that_cannot_be_reached_is_skipped(tmp_path: Path) -> None:
    with upstream(answer_ok) as (replica, _), proxy([free_port(), replica], tmp_path) as (port, _):
        assert [request(port, "POST", "/mcp", b"{}")[0] for _ in range(6)] == [200] * 6


def test_a_call_that_a_replica_aborted_is_not_repeated(tmp_path: Path) -> None:
    with (
        upstream(abort) as (first, heads),
        upstream(abort) as (second, more),
        proxy([first, second], tmp_path) as (port, _),
    ):
        assert request(port, "POST", "/mcp", b"{}")[0] == 502
    assert len(heads) + len(more) == 1


async def drain(_head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 8\r\n\r\ndraining")


def test_a_call_that_a_stopping_replica_refuses_goes_to_another_one_with_its_body(tmp_path: Path) -> None:
    with (
        upstream(drain) as (first, _),
        upstream(answer_ok) as (second, heads),
        proxy([first, second], tmp_path) as (port, _),
    ):
        assert [request(port, "POST", "/mcp", b'{"a": 1}') for _ in range(6)] == [(200, b"ok")] * 6
    assert all(b"POST /mcp " in head and b"Content-Length: 8" in head for head in heads)


def test_a_call_that_every_replica_refuses_gets_the_answer_of_one(tmp_path: Path) -> None:
    with upstream(drain) as (first, _), upstream(drain) as (second, _), proxy([first, second], tmp_path) as (port, _):
        assert request(port, "POST", "/mcp", b"{}") == (503, b"draining")


def test_the_commented_lines_limit_the_requests_of_each_token_across_replicas(tmp_path: Path) -> None:
    def limit(text: str) -> str:
        return re.sub("# (limit_req)", r"\1", text).replace("rate=20r/s", "rate=1r/m").replace("burst=200", "burst=3")

    with (
        upstream(answer_ok) as (first, heads),
        upstream(answer_ok) as (second, more),
        proxy([first, second], tmp_path, limit) as (port, _),
    ):
        statuses = [request(port, "POST", "/mcp", b"{}", Authorization="Bearer a")[0] for _ in range(6)]
        assert statuses == [200] * 4 + [429] * 2
        assert request(port, "POST", "/mcp", b"{}", Authorization="Bearer b")[0] == 200
    assert len(heads) + len(more) == 5


def test_nginx_accepts_the_configuration_with_tls(tmp_path: Path) -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if "resolve" not in line]  # nginx 1.27.3 and newer
    lines.insert(lines.index("  upstream keyhole {\n") + 1, "    server 127.0.0.1:8765 max_fails=3 fail_timeout=5s;\n")
    certificate(tmp_path)
    text = "".join(lines).replace(SCRATCH, f"{tmp_path}/").replace("/run/secrets", str(tmp_path))
    config = tmp_path / "nginx.conf"
    config.write_text(text)
    command = [str(NGINX), "-t", "-e", str(tmp_path / "log"), "-c", str(config)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_the_load_test_changes_only_addresses_and_tls() -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    changed = on_loopback(text, 1, [2, 3], Path("/x")).splitlines()
    before = [line for line in text.splitlines() if SCRATCH not in line]
    gone = [line.strip().split()[0] for line in before if line not in changed]
    assert sorted(gone) == sorted([
        "resolver", "server", "server", "listen", "ssl_certificate", "ssl_certificate_key", "ssl_protocols",
        "ssl_session_cache",
    ])  # fmt: skip


def certificate(folder: Path) -> None:
    """Write a key and a self-signed certificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mcp.example.com")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    signed = made.sign(key, hashes.SHA256())
    (folder / "tls.crt").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "tls.key").write_bytes(key.private_bytes(*plain))
