"""Run the HTTP server in a process, or in a thread for tests that inspect it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from mcp.server.auth.provider import AccessToken

from keyhole.cli.build import build
from keyhole.config.config import Config
from keyhole.extensions.hosted.app import AppDependencies, build_app
from keyhole.extensions.hosted.probes import DrainState, check_stores
from keyhole.extensions.look.hosted.pages import hosted_pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tenants import Tenants
from keyhole.serve.http.host import Verifier
from keyhole.serve.tools import build_server
from tests.support.loopback import PATIENCE
from tests.support.waiting import wait_for

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass(slots=True)
class ServerProcess:
    """A server's process and its lines on stderr."""

    process: subprocess.Popen[bytes]
    port: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The URL of the MCP endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Return status and body of a GET on a new connection."""
        return get(self.port, path, **headers)

    def wait(self) -> int:
        """Wait for the process to end; return its exit code."""
        return self.process.wait(timeout=PATIENCE)


@contextmanager
def server_process(home: Path, *program: str, **environment: str) -> Iterator[ServerProcess]:
    """Run `keyhole serve --http`, or another program that prints the same first line, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, *(program or ("-m", "keyhole", "serve", "--http", "--port", "0"))],
        stderr=subprocess.PIPE,
        env={
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": str(home),
            "KEYHOLE_ENGINES": "searxng",
            "PATH": os.environ["PATH"],
            **environment,
        },
    )
    assert process.stderr
    served = ServerProcess(process)
    reader: Thread | None = None
    try:
        while not served.port:
            line = process.stderr.readline().decode()
            assert line, served.lines
            served.lines.append(line)
            served.port = int(found[1]) if (found := re.search(r"serving MCP at http://[^/]*:(\d+)/", line)) else 0
        reader = Thread(target=_read, args=(process.stderr, served.lines), daemon=True)
        reader.start()
        wait_for(lambda: served.get("/readyz")[0] == 200)
        yield served
    finally:
        process.kill()
        process.wait(timeout=PATIENCE)
        if reader:
            reader.join(PATIENCE)
        process.stderr.close()


def _read(pipe: Any, lines: list[str]) -> None:
    lines.extend(line.decode() for line in pipe)


def get(port: int, path: str, **headers: str) -> tuple[int, str]:
    """Return status and body of a GET. Underscores in header names become hyphens."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


class Post:
    """A POST request whose answer is read later."""

    def __init__(self, port: int, message: dict[str, Any], **headers: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), {**ACCEPT, **named})

    def answer(self) -> tuple[int, dict[str, str], str]:
        """Return status, headers and body."""
        try:
            response = self._connection.getresponse()
            return response.status, {n.lower(): v for n, v in response.getheaders()}, response.read().decode()
        finally:
            self._connection.close()

    def leave(self) -> None:
        """Close the connection without waiting."""
        self._connection.close()


def open_session(port: int, **headers: str) -> str:
    """Open a session with the handshake that protocols before 2026-07-28 require; return its id."""
    status, response_headers, _ = Post(
        port, {"id": 0, "method": "initialize", "params": INITIALIZE}, **headers
    ).answer()
    assert status == 200
    session = response_headers["mcp-session-id"]
    done = {"method": "notifications/initialized"}
    assert Post(port, done, mcp_session_id=session, **headers).answer()[0] == 202
    return session


def tool_call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the message of a tool call."""
    return {"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


class NameVerifier:
    """Verifier that accepts only tokens `token-NAME`, for the tenant NAME."""

    async def verify_token(self, token: str) -> AccessToken | None:
        name = token.removeprefix("token-")
        return None if name == token else AccessToken(token=token, client_id=name, scopes=[])

    async def aclose(self) -> None:
        """Do nothing: there are no resources."""


@dataclass(slots=True)
class ThreadServer:
    """A server in a thread of this process."""

    port: int
    tenants: Tenants
    loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        """The URL of the MCP endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"


@contextmanager
def application_server(config: Config, verifier: Verifier | None = None) -> Iterator[ThreadServer]:
    """Serve the application over the real product on loopback until the block ends."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(256)
        servers: list[ThreadServer] = []
        uvicorn_servers: list[uvicorn.Server] = []
        thread = Thread(target=lambda: asyncio.run(_serve(config, verifier, listener, servers, uvicorn_servers)))
        thread.start()
        try:
            wait_for(lambda: servers and uvicorn_servers[0].started)
            yield servers[0]
        finally:
            for server in uvicorn_servers:
                server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


async def _serve(
    config: Config,
    verifier: Verifier | None,
    listener: socket.socket,
    servers: list[ThreadServer],
    uvicorn_servers: list[Any],
) -> None:
    tenants = build(config)

    async def product(tenant: str) -> Retrieval:
        return tenants.of(tenant)

    async def check_store() -> str:
        return await asyncio.to_thread(check_stores, tenants.stores, False)

    async def get_tenants() -> Tenants:
        return tenants

    pages = hosted_pages(config, product, get_tenants, tuple) if config.look else None
    dependencies = AppDependencies(DrainState(), check_store, tenants.sizes, None, verifier, pages=pages)
    app = build_app(config, build_server(product), dependencies)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1))
    uvicorn_servers.append(server)
    servers.append(ThreadServer(listener.getsockname()[1], tenants, asyncio.get_running_loop()))
    with suppress(asyncio.CancelledError):
        await server.serve(sockets=[listener])
    await tenants.aclose()
