"""deploy/nginx.conf as a real nginx carries it out, before two replicas that are none."""

from __future__ import annotations

import asyncio
import http.client
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
SCRATCH = "/tmp/"  # noqa: S108 - where the container may write
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

Answer = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@contextmanager
def upstream(answer: Answer) -> Iterator[tuple[int, list[bytes]]]:
    """Something that listens where a replica would; its port, and the heads of the requests that it got."""
    loop, heads = asyncio.new_event_loop(), list[bytes]()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                heads.append(head)
                await answer(head, reader, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = loop.run_until_complete(asyncio.start_server(one, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1], heads
    finally:
        asyncio.run_coroutine_threadsafe(_ended(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended(server: asyncio.Server) -> None:
    server.close()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def says_ok(_head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def hangs_up(_head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def asked(port: int, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_only_what_clients_need_is_passed_on_with_the_host_they_said_and_their_own_address(tmp_path: Path) -> None:
    with upstream(says_ok) as (replica, heads), proxy([replica], tmp_path) as (port, _):
        headers = {"Host": "mcp.example.com", "X-Forwarded-For": "10.0.0.1", "Authorization": "Bearer x"}
        assert asked(port, "POST", "/mcp", b"{}", **headers) == (200, b"ok")
        assert asked(port, "GET", "/.well-known/oauth-protected-resource/mcp") == (200, b"ok")
        assert [asked(port, "GET", path)[0] for path in ("/", "/metrics", "/healthz", "/readyz", "/mcp/x")] == [404] * 5
    assert len(heads) == 2
    lines = heads[0].decode().lower().split("\r\n")
    assert "host: mcp.example.com" in lines
    assert "x-forwarded-for: 127.0.0.1" in lines
    assert "authorization: bearer x" in lines


def test_a_body_far_beyond_the_limit_does_not_reach_a_replica(tmp_path: Path) -> None:
    with (
        upstream(says_ok) as (replica, heads),
        proxy([replica], tmp_path) as (port, _),
        socket.create_connection(("127.0.0.1", port), timeout=10) as client,
    ):
        client.sendall(b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")
    assert heads == []


def test_an_event_stream_is_passed_on_as_it_comes(tmp_path: Path) -> None:
    go_on = threading.Event()

    async def streams(_head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"9\r\ndata: 1\n\n\r\n")
        await writer.drain()
        await asyncio.to_thread(go_on.wait, 10)
        writer.write(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")

    with upstream(streams) as (replica, _), proxy([replica], tmp_path) as (port, _):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/mcp", b"{}")
        response = connection.getresponse()
        assert response.read(9) == b"data: 1\n\n"  # while the replica has not said the rest
        go_on.set()
        assert response.read() == b"data: 2\n\n"
        connection.close()


def test_a_replica_that_is_away_is_passed_over(tmp_path: Path) -> None:
    with upstream(says_ok) as (replica, _), proxy([free_port(), replica], tmp_path) as (port, _):
        assert [asked(port, "POST", "/mcp", b"{}")[0] for _ in range(6)] == [200] * 6


def test_a_call_that_a_replica_took_and_broke_off_is_not_made_again(tmp_path: Path) -> None:
    with (
        upstream(hangs_up) as (first, heads),
        upstream(hangs_up) as (second, more),
        proxy([first, second], tmp_path) as (port, _),
    ):
        assert asked(port, "POST", "/mcp", b"{}")[0] == 502
    assert len(heads) + len(more) == 1


def test_what_is_deployed_is_valid_with_its_tls_too(tmp_path: Path) -> None:
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


def test_the_load_test_changes_addresses_and_no_rule() -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    changed = on_loopback(text, 1, [2, 3], Path("/x")).splitlines()
    before = [line for line in text.splitlines() if SCRATCH not in line]
    gone = [line.strip().split()[0] for line in before if line not in changed]
    assert sorted(gone) == sorted([
        "resolver", "server", "server", "listen", "ssl_certificate", "ssl_certificate_key", "ssl_protocols",
        "ssl_session_cache",
    ])  # fmt: skip


def certificate(folder: Path) -> None:
    """A key and a certificate that nobody believes."""
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
