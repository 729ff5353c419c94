"""A real server on loopback behind AdmissionMiddleware and the SDK's authentication, and a raw HTTP client."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from starlette.middleware.authentication import AuthenticationMiddleware

from keyhole.config.config import Config
from keyhole.extensions.hosted.admission import AdmissionMiddleware
from keyhole.retrieval import instrumentation
from keyhole.retrieval.instrumentation import Amount, ObservedCall, Stage
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.tools import build_server
from tests.support.fakes import HANGS, FakeFetcher, page
from tests.support.loopback import PATIENCE
from tests.support.product import retrieval
from tests.support.server_process import ACCEPT
from tests.support.waiting import wait_for_async

PAGE = "https://a.example/page"
NEVER = "https://a.example/never"
"""A URL that the fake network never answers."""
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Tokens:
    """Verifier that accepts every token and takes it as the name of the tenant."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id=token, scopes=[])


@dataclass(slots=True)
class Refusals:
    """Observer that records the reason of each refusal."""

    reasons: list[str]

    def call(self, call: ObservedCall) -> AbstractContextManager[None]:
        return nullcontext()

    def stage(self, name: Stage) -> AbstractContextManager[None]:
        return nullcontext()

    def add(self, what: Amount, amount: int) -> None:
        pass

    def count_refusal(self, reason: str) -> None:
        self.reasons.append(reason)

    def count_response(self, status: int) -> None:
        pass


@dataclass(slots=True)
class Reply:
    """A response to a raw request. `body` contains the received bytes, without chunk headers."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The value of a JSON body, or of the last event of a stream."""
        if self.headers["content-type"].startswith("text/event-stream"):
            return json.loads(self.body.rpartition(b"data: ")[2])
        return json.loads(self.body)


@dataclass(slots=True)
class AdmissionServer:
    """A running server and the refusals it sent."""

    port: int
    admission: AdmissionMiddleware
    product: Retrieval
    refused: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def fetcher(self) -> FakeFetcher:
        assert isinstance(self.product.pages.fetcher, FakeFetcher)
        return self.product.pages.fetcher

    async def open(
        self, body: bytes, headers: Mapping[str, str] | None = None, method: str = "POST", length: int | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request and leave its connection open."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        fields = {
            "Host": f"127.0.0.1:{self.port}",
            **ACCEPT,
            "Content-Length": str(len(body) if length is None else length),
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"{method} /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        await writer.drain()
        return reader, writer

    async def ask(self, body: bytes, headers: Mapping[str, str] | None = None, method: str = "POST") -> Reply:
        """Send a request and return its response."""
        reader, writer = await self.open(body, {"Connection": "close", **(headers or {})}, method)
        try:
            async with asyncio.timeout(PATIENCE):
                return await read(reader)
        finally:
            writer.close()

    async def wait_for_active(self, calls: int) -> None:
        """Wait until this number of calls is active."""

        async def is_reached() -> bool:
            return self.admission._calls.in_use == calls

        await wait_for_async(is_reached)

    async def wait_for_fetches(self, calls: int) -> None:
        """Wait until this number of calls has reached the fetcher."""

        async def is_reached() -> bool:
            return len(self.fetcher.calls) >= calls

        await wait_for_async(is_reached)


async def read(reader: asyncio.StreamReader) -> Reply:
    """Read a response to the end of the connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    return Reply(int(head[0].split()[1]), headers, _decode_chunks(await reader.read(), headers))


def _decode_chunks(body: bytes, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return body
    pieces = []
    while body:
        size, _, body = body.partition(b"\r\n")
        pieces.append(body[: int(size, 16)])
        body = body[int(size, 16) + 2 :]
    return b"".join(pieces)


def modern(url: str = PAGE, id: object = 1, name: str = "web_fetch") -> tuple[bytes, dict[str, str]]:
    """Return the body and headers of a tool call in protocol 2026-07-28."""
    params = {"name": name, "arguments": {"url": url}, "_meta": MODERN}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
    return rpc("tools/call", params, id), headers


def rpc(method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> bytes:
    """Return the body of a request, or of a notification if the id is None."""
    message = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
    return json.dumps(message if id is None else {**message, "id": id}).encode()


def call(url: str = PAGE, id: object = 1) -> bytes:
    """Return the body of a tool call in earlier protocols."""
    return rpc("tools/call", {"name": "web_fetch", "arguments": {"url": url}}, id)


def as_tenant(name: str, headers: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return `headers` with the token of a tenant."""
    return {**(headers or {}), "Authorization": f"Bearer {name}"}


@asynccontextmanager
async def run_server(
    now: Callable[[], float] = time.monotonic,
    body_seconds: float = PATIENCE,
    wait_share: float = 0.0,
    **settings: Any,
) -> AsyncIterator[AdmissionServer]:
    """Run a server on a free port of loopback until the block ends. By default calls do not wait for their turn."""
    config = Config(**settings)
    product = retrieval({PAGE: page(PAGE, "<p>Pumps and valves."), NEVER: HANGS}, config=config)

    async def product_of(_tenant: str) -> Retrieval:
        return product

    refused: list[str] = []
    app = build_server(product_of).streamable_http_app(stateless_http=config.stateless)
    admission = AdmissionMiddleware(app, config, now, body_seconds, wait_share)
    outer = AuthenticationMiddleware(admission, backend=BearerAuthBackend(Tokens()))
    with instrumentation.observed_by(Refusals(refused)), socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        uvicorn_config = uvicorn.Config(outer, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
        server = uvicorn.Server(uvicorn_config)
        running = asyncio.create_task(server.serve(sockets=[listener]))

        async def started() -> bool:
            return server.started

        await wait_for_async(started)
        try:
            yield AdmissionServer(listener.getsockname()[1], admission, product, refused)
        finally:
            server.should_exit = True
            await running
