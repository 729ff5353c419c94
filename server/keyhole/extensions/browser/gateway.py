"""Run a proxy on loopback through which a browser reaches the network, and which takes only that browser's requests.

Names are resolved and addresses are checked as for all other fetches, and the checked address is connected to. The
browser itself connects to this proxy only. The proxy does not look into tunnels: the browser checks the certificates of
sites.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
import httpcore

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.addresses import check_domain
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.dns import Nat64Prefixes
from keyhole.fetch.urls import Target, parse_target

# The connections of a page: under the rules of all other fetches and a stricter one. A script may send POST requests
# to any endpoint, so a page of the public web reaches no private endpoint, not even one that the operator allowed to
# be fetched: only a page of such an endpoint does.

ConnectPage = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]
"""Checks a host and a port and connects to them. Raises KeyholeError."""


class PageConnections:
    """Makes the connections of pages. It keeps nothing of a page."""

    def __init__(self, config: Config) -> None:
        """Create it from the settings: domain lists, ports, private endpoints and proxy."""
        self._config = config
        nat64 = Nat64Prefixes()
        self._public = self._backend(frozenset(), nat64)
        self._private = self._backend(config.allow_private, nat64)

    def of_page(self, page: Target) -> ConnectPage:
        """Return the function that connects for one page and everything that it loads."""
        backend = self._private if page.endpoint in self._config.allow_private else self._public

        async def connect(host: str, port: int) -> httpcore.AsyncNetworkStream:
            check_domain(host, self._config.allow_domains, self._config.deny_domains)
            return await backend.connect_tcp(host, port)

        return connect

    def _backend(self, allowed: frozenset[str], nat64: Nat64Prefixes) -> CheckedBackend:
        config = self._config
        return CheckedBackend(
            lambda endpoint: endpoint in allowed,
            config.ports,
            config.proxy,
            config.allow_private,
            config.deny_domains,
            nat64,
        )


# The requests to a proxy (RFC 9112, section 3.2): `CONNECT host:port` opens a tunnel, which browsers use for https
# and for WebSockets, and `GET http://host/path` is forwarded. Only the destination is checked here. What a browser
# says to a site after that is not interpreted, as it could say the same through a tunnel.

USER: Final = "keyhole"
"""The user name of a browser at the gateway. The password is the secret of the browser's process."""

_LINE: Final = re.compile(r"([A-Z]{1,20}) (\S+) HTTP/1\.1")
_HTTP_URL: Final = re.compile(r"http://([^/?#]*+)(/?[^#]*)")
_CREDENTIALS: Final = "proxy-authorization"
_NOT_FORWARDED: Final = frozenset({"connection", "keep-alive", "proxy-connection", _CREDENTIALS})
"""Fields between the browser and the proxy. The secret is among them."""
_LENGTH: Final = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request to the proxy, whose destination is well-formed but not yet checked."""

    host: str
    port: int
    head: bytes
    """The head to send to the site, or b"" for a tunnel."""
    body_size: int
    """Bytes of the body, which follow the head."""
    credentials: str
    """The value of Proxy-Authorization, or ""."""

    @property
    def is_tunnel(self) -> bool:
        """True for a CONNECT request."""
        return not self.head


def basic_credentials(secret: str) -> str:
    """Return the Proxy-Authorization of a browser that has the secret (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{USER}:{secret}".encode()).decode("ascii")


def parse_request(head: bytes) -> ProxyRequest:
    """Parse the head of a request, with the empty line at its end. Raises KeyholeError: invalid_url, protocol_error."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    fields = [(name.lower(), line) for line in lines for name, _, _ in [line.partition(":")]]
    line = _LINE.fullmatch(first)
    if line is None:
        raise KeyholeError(Code.PROTOCOL_ERROR, "not a request for a proxy")
    method, address = line.groups()
    credentials = _value(fields, _CREDENTIALS)
    if method == "CONNECT":
        target = parse_target(f"https://{address}/")
        return ProxyRequest(target.host, target.port, b"", 0, credentials)
    url = _HTTP_URL.fullmatch(address)
    length = _value(fields, "content-length") or "0"
    if url is None or _value(fields, "transfer-encoding") or not _LENGTH.fullmatch(length):
        raise KeyholeError(Code.PROTOCOL_ERROR, "not a request that a browser sends to a proxy")
    authority, path = url.groups()
    target = parse_target(f"http://{authority}/")
    kept = [line for name, line in fields if name not in _NOT_FORWARDED]
    # The path is sent as the browser wrote it: the browser has resolved it, and nothing is decided by it here.
    path = path if path.startswith("/") else f"/{path}"
    forwarded = "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""])
    return ProxyRequest(target.host, target.port, forwarded.encode("latin-1"), int(length), credentials)


def _value(fields: list[tuple[str, str]], wanted: str) -> str:
    """Return the value of the first field with a name, or ""."""
    return next((line.partition(":")[2].strip() for name, line in fields if name == wanted), "")


# The proxy of one browser process.

MAX_HEAD: Final = 65_536
"""Bytes of a request's head. Browsers send a few thousand, and a page is opened without cookies."""
HEAD_TIMEOUT: Final = 10.0
"""Seconds in which a request's head must arrive over loopback, so that no other program can hold connections open."""
PIECE: Final = 65_536
"""Bytes that are relayed at once."""

_TUNNEL_OPEN: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"
_CREDENTIALS_NEEDED: Final = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="keyhole"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
_REFUSED: Final = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class GatewayLimits:
    """Limits of one page. There is no limit of time: the end of `open_gateway` closes all connections."""

    max_bytes: int = 50_000_000
    """Bytes in both directions, as on the network. Scripts, styles and data of a page are a tenth of this, and images,
    media and fonts are not loaded."""
    max_connections: int = 600
    """Connections. Requests of plain http have one each. A page makes about a hundred requests, and those over https
    share connections."""


DEFAULT_LIMITS: Final = GatewayLimits()


@dataclass(slots=True)
class GatewayTotals:
    """Counts of what a page has used."""

    connections: int = 0
    sent: int = 0
    """Bytes from the browser to sites."""
    received: int = 0
    """Bytes from sites to the browser."""
    unauthorized: int = 0
    """Requests without the secret. The first request of a browser is one of them."""
    refusals: dict[str, KeyholeError] = field(default_factory=dict)
    """The reason why a connection was not made, by `host:port`."""


class Gateway:
    """A running proxy for one browser process."""

    def __init__(self, connect: ConnectPage, limits: GatewayLimits) -> None:
        """Create a proxy that is not listening yet; see `open_gateway`."""
        self.port = 0
        self.secret = secrets.token_urlsafe(32)
        """The password that the browser must send, with the user name `USER`."""
        self.totals = GatewayTotals()
        self._connect = connect
        self._limits = limits
        self._credentials = basic_credentials(self.secret).encode()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def is_exhausted(self) -> bool:
        """True if the page has reached a limit. Its connections are closed then, and no other one is made."""
        used, limits = self.totals, self._limits
        return used.sent + used.received > limits.max_bytes or used.connections > limits.max_connections

    def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one request of a connection, in a task."""
        if self._is_closed:
            writer.close()
            return
        task = asyncio.create_task(self._answer(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Close all connections, and those that the system has accepted already."""
        self._is_closed = True
        tasks = self._close_connections()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _close_connections(self) -> list[asyncio.Task[None]]:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        return tasks

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, httpcore.NetworkError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                async with asyncio.timeout(HEAD_TIMEOUT):
                    head = await reader.readuntil(b"\r\n\r\n")
                await self._answer_head(head, reader, writer)
        finally:
            writer.close()

    async def _answer_head(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = parse_request(head)
        except KeyholeError:
            writer.write(_REFUSED)
            return
        if not hmac.compare_digest(request.credentials.encode("latin-1"), self._credentials):
            self.totals.unauthorized += 1
            writer.write(_CREDENTIALS_NEEDED)
            return
        try:
            site = await self._connect_to(request)
        except KeyholeError as error:
            self.totals.refusals.setdefault(f"{request.host}:{request.port}", error)
            writer.write(_REFUSED)
            return
        try:
            await self._relay(request, reader, writer, site)
        finally:
            with anyio.CancelScope(shield=True):
                await site.aclose()

    async def _connect_to(self, request: ProxyRequest) -> httpcore.AsyncNetworkStream:
        self.totals.connections += 1
        if self.is_exhausted:
            raise KeyholeError(Code.TOO_LARGE, "the page has reached its download limit")
        return await self._connect(request.host, request.port)

    async def _relay(
        self,
        request: ProxyRequest,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        site: httpcore.AsyncNetworkStream,
    ) -> None:
        """Relay both directions until one of them ends. A response ends with its connection, as the request asked."""
        if request.is_tunnel:
            writer.write(_TUNNEL_OPEN)
        else:
            await site.write(request.head)
        directions = {
            asyncio.ensure_future(self._send(reader, site, None if request.is_tunnel else request.body_size)),
            asyncio.ensure_future(self._receive(site, writer)),
        }
        try:
            done, _ = await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
            for direction in done:
                direction.result()
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)

    async def _send(self, reader: asyncio.StreamReader, site: httpcore.AsyncNetworkStream, size: int | None) -> None:
        """Relay the browser's bytes: all of them, or the `size` bytes of a body until it closes or sends more.

        More would be another request, which may be to another site.
        """
        while piece := await reader.read(PIECE if not size else min(size, PIECE)):
            if size == 0:
                return
            size = None if size is None else size - len(piece)
            self.totals.sent += len(piece)
            if self.is_exhausted:
                self._close_connections()
                return
            await site.write(piece)

    async def _receive(self, site: httpcore.AsyncNetworkStream, writer: asyncio.StreamWriter) -> None:
        """Relay a site's bytes until it closes."""
        while piece := await site.read(PIECE):
            self.totals.received += len(piece)
            if self.is_exhausted:
                self._close_connections()
                return
            writer.write(piece)
            await writer.drain()


@asynccontextmanager
async def open_gateway(connect: ConnectPage, limits: GatewayLimits = DEFAULT_LIMITS) -> AsyncIterator[Gateway]:
    """Run a proxy on a port of loopback that the system chooses, and close all of its connections afterwards."""
    gateway = Gateway(connect, limits)
    server = await asyncio.start_server(gateway.answer, "127.0.0.1", 0, limit=MAX_HEAD)
    gateway.port = server.sockets[0].getsockname()[1]
    try:
        yield gateway
    finally:
        server.close()
        await gateway.aclose()
