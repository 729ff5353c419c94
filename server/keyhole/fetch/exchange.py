"""Send one HTTP request to a checked address and read the response within limits of size and time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, TypedDict, cast

import anyio
import httpcore
import httpx

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.backend import CheckedBackend, start_tls
from keyhole.fetch.decoding import Decoder
from keyhole.fetch.host_limits import BACKOFF, HostLimits, parse_retry_after
from keyhole.fetch.pool import ConnectionPool, PooledConnection
from keyhole.fetch.urls import Target

# Response head: its status, its redirect and the headers that are stored in a Page.

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_CODES: Final = {
    401: Code.LOGIN_REQUIRED, 403: Code.FORBIDDEN, 404: Code.NOT_FOUND, 407: Code.LOGIN_REQUIRED, 410: Code.NOT_FOUND,
    429: Code.RATE_LIMITED,
}  # fmt: skip
"""The error code by status. Other statuses from 500 on are `server_error`, all others `http_status`."""

MAX_HEADER: Final = 1_000
"""Characters stored of a header's value. Real values have about 100; longer values may slow a parser down."""
MAX_LINK: Final = 8_000
"""Characters stored of the Link header, which is long if it lists preloads."""


def raise_for_status(status: int, headers: Mapping[str, str], now: float) -> None:
    """Raise KeyholeError for a status other than 2xx.

    The code is rate_limited, login_required, forbidden, not_found, server_error, or http_status for all others.

    `now`: seconds since the epoch, to which a date in Retry-After is compared.
    """
    if 200 <= status < 300:
        return
    if status in {429, 503} and (wait := parse_retry_after(headers.get("retry-after", ""), now)) is not None:
        message = f"HTTP {status}; Retry-After {wait} s"
        raise KeyholeError(Code.RATE_LIMITED, message, status=status, retry_after=wait)
    code = _CODES.get(status, Code.SERVER_ERROR if 500 <= status < 600 else Code.HTTP_STATUS)
    raise KeyholeError(code, f"HTTP {status}", status=status)


def redirect_location(response: Response) -> str:
    """Return the location of a redirect, or "" for any other response.

    Raises KeyholeError (protocol_error) for several different locations, because clients would not agree on one.
    """
    if response.status_code not in REDIRECTS:
        return ""
    locations = set(response.headers.get_list("location"))
    if len(locations) > 1:
        raise KeyholeError(Code.PROTOCOL_ERROR, "the response has several Location headers")
    return locations.pop() if locations else ""


class PageHeaders(TypedDict):
    """The headers that a Page stores, by field name."""

    content_type: str
    etag: str
    last_modified: str
    link: str
    refresh: str


def page_headers(headers: Headers) -> PageHeaders:
    """Return the headers that a Page stores, by field name."""
    return {
        # The last of several values, as the Fetch standard reads Content-Type.
        "content_type": next(reversed(headers.get_list("content-type")), "")[:MAX_HEADER],
        "etag": _drop_if_long(headers.get("etag", "")),
        "last_modified": _drop_if_long(headers.get("last-modified", "")),
        "link": headers.get("link", "")[:MAX_LINK],
        "refresh": _drop_if_long(headers.get("refresh", "")),
    }


def _drop_if_long(value: str) -> str:
    """Return the value, or "" if it is too long: validators and addresses are used unchanged, so none is truncated."""
    return value if len(value) <= MAX_HEADER else ""


# Requests: sent over a pool of connections, and read within limits.

Response = httpx.Response
Headers = httpx.Headers
"""Other modules of fetch/ use these aliases, so that only this file depends on httpx."""

PARTIAL_CONTENT: Final = 206
MIN_PARTIAL: Final = 64
"""Bytes. A truncated body below this size is less than a sentence, and is reported as a failure."""
FRAMING_FACTOR: Final = 2
"""Bytes that a connection may deliver for one response per byte of the body's cap. The surplus allows for chunk
framing."""
MAX_SKIPPED: Final = 65_536
SKIP_SECONDS: Final = 0.2
"""Bytes and seconds for reading the body of a redirect or an error, which keeps the connection. A body that is longer
or slower costs more than a new connection."""


class Exchange:
    """Sends requests over its own connection pool. `allowed`: each `host:port` that may have a private address."""

    def __init__(
        self, config: Config, allowed: frozenset[str], context: ssl.SSLContext, host_limits: HostLimits
    ) -> None:
        self._config = config
        self._host_limits = host_limits
        self._context = context
        self._backend = CheckedBackend(
            lambda endpoint: endpoint in allowed,
            config.ports,
            config.proxy,
            config.allow_private,
            config.deny_domains,
        )
        self._pool = ConnectionPool(self._dial)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def warm(self, target: Target, deadline: float) -> None:
        """Open a connection for a request that will follow, if it can be opened before `deadline`."""
        with suppress(KeyholeError, httpcore.NetworkError, httpcore.TimeoutException, OSError):
            async with asyncio.timeout_at(deadline):
                await self._pool.warm(target)

    @asynccontextmanager
    async def open(
        self, target: Target, headers: Mapping[str, str], deadline: float, content: bytes | None = None
    ) -> AsyncIterator[Response]:
        """Send a GET request, or a POST of `content`, and yield the response with its body unread.

        `deadline`: for the response's head, in seconds of the event loop's clock.
        Raises KeyholeError: connection failures, timeout, protocol_error.
        """
        # httpcore is called directly: httpx's client keeps cookies, reads the environment and parses the location of
        # redirects even if it does not follow them, which fails for an invalid URL.
        # With a Host header, httpx does not decode the host, which fails for labels that IDNA 2008 does not allow.
        headers = {"Host": target.netloc, **headers}
        request = httpx.Request("GET" if content is None else "POST", target.url, headers=headers, content=content)
        try:
            async with asyncio.timeout_at(deadline):
                connection, response = await self._send_with_retry(request, target)
        except (httpcore.TimeoutException, TimeoutError) as error:
            raise KeyholeError(Code.TIMEOUT, f"{target.host} did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            message = f"{target.host} closed the connection or did not answer with valid HTTP"
            raise KeyholeError(Code.PROTOCOL_ERROR, message) from error
        try:
            connection.capped.raise_cap(FRAMING_FACTOR * self._config.max_bytes)
            try:
                yield response
            except KeyholeError:
                await _skip_body(response)
                raise
            await _skip_body(response)
        finally:
            with anyio.CancelScope(shield=True):
                try:
                    await response.aclose()
                finally:  # asyncio's own cancellation is not shielded
                    await self._pool.give_back(connection)

    async def read_body(self, response: Response, deadline: float, max_bytes: int = 0) -> tuple[bytes, bool]:
        """Return the decoded body, and True if it is incomplete.

        A body is incomplete after the byte cap, damage, a closed connection or the deadline. `max_bytes` is the cap, by
        default that of the settings.
        """
        decoder = Decoder(response.headers.get("content-encoding", ""), self._config.max_decoded_bytes)
        received, out, max_bytes = 0, bytearray(), max_bytes or self._config.max_bytes
        try:
            async with asyncio.timeout_at(deadline):
                async for piece in response.aiter_raw():
                    allowed = max_bytes - received
                    received += len(piece)
                    out += decoder.feed(piece[:allowed])
                    if received > max_bytes:
                        return bytes(out + decoder.close()), True
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            out += decoder.close(is_cut=True)
            if len(out) < MIN_PARTIAL:
                if isinstance(error, TimeoutError | httpcore.TimeoutException):
                    raise KeyholeError(Code.TIMEOUT, "the page was sent too slowly") from error
                message = "the connection was closed before any of the page was received"
                raise KeyholeError(Code.PROTOCOL_ERROR, message) from error
            return bytes(out), True
        out += decoder.close()
        return bytes(out), response.status_code == PARTIAL_CONTENT or (bool(out) and not decoder.is_finished)

    async def read_beginning(self, response: Response, seconds: float, max_bytes: int) -> bytes:
        """Return the part of an error's body received within `seconds`, at most `max_bytes`; b"" if unreadable."""
        out = bytearray()
        try:
            decoder = Decoder(response.headers.get("content-encoding", ""), 16 * max_bytes)
            async with asyncio.timeout(seconds):
                async for piece in response.aiter_raw():
                    out += decoder.feed(piece[:max_bytes])
                    if len(out) >= max_bytes:
                        break
                out += decoder.close()
        except (KeyholeError, httpcore.NetworkError, httpcore.ProtocolError, OSError):  # TimeoutError is an OSError
            pass
        return bytes(out[:max_bytes])

    async def _send_with_retry(self, request: httpx.Request, target: Target) -> tuple[PooledConnection, Response]:
        """Send a request, and once more if no connection was made or the connection of a GET request was lost."""
        for pause in BACKOFF:
            try:
                return await self._send(request, target)
            except (KeyholeError, httpcore.NetworkError, OSError) as error:
                is_connected = not isinstance(error, KeyholeError) or error.code is not Code.CONNECT_FAILURE
                if is_connected and (isinstance(error, KeyholeError) or request.method != "GET"):
                    raise
            await self._host_limits.sleep(pause)
        return await self._send(request, target)

    async def _send(self, request: httpx.Request, target: Target) -> tuple[PooledConnection, Response]:
        """Send a GET request over a kept connection if possible, and any other request over a new connection.

        A server may close a kept connection at any time, and may or may not have processed the request that it did not
        answer. So only a GET request may be sent once more.
        """
        if request.method == "GET" and (kept := await self._pool.take_kept(target)):
            try:
                return kept, await self._send_over(kept, request, target)
            except (httpcore.NetworkError, OSError):
                if not kept.capped.is_silent:
                    raise
        connection = await self._pool.open(target)
        return connection, await self._send_over(connection, request, target)

    async def _send_over(self, connection: PooledConnection, request: httpx.Request, target: Target) -> Response:
        """Send a request over a connection and return the response. After a failure the connection is closed."""
        connection.begin()
        received = None
        try:
            received = await connection.handle_async_request(
                httpcore.Request(
                    method=request.method,
                    # The path that was checked must be the path that is sent; httpx would normalize it once more.
                    url=httpcore.URL(
                        scheme=target.scheme, host=target.host, port=target.port, target=target.path.encode("ascii")
                    ),
                    headers=request.headers.raw,
                    content=cast(httpx.AsyncByteStream, request.stream),
                )
            )
        finally:
            if received is None:
                with anyio.CancelScope(shield=True):
                    await self._pool.give_back(connection)
        return httpx.Response(received.status, headers=received.headers, stream=_Body(received))

    async def _dial(self, scheme: str, host: str, port: int) -> httpcore.AsyncNetworkStream:
        """Connect to a checked address, with TLS for https."""
        stream = await self._backend.connect_tcp(host, port)
        return await start_tls(stream, self._context, host) if scheme == "https" else stream


async def _skip_body(response: Response) -> None:
    """Read a short body that nobody has begun to read, so that its connection can be kept."""
    if response.is_stream_consumed:
        return
    size = 0
    with suppress(httpcore.NetworkError, httpcore.ProtocolError, OSError):  # TimeoutError is an OSError
        async with asyncio.timeout(SKIP_SECONDS):
            async for piece in response.aiter_raw():
                size += len(piece)
                if size > MAX_SKIPPED:
                    break


class _Body(httpx.AsyncByteStream):
    """The body of an httpcore response as an httpx stream."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()
