"""Send one HTTP request to a checked address and read the response within limits of size and time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, cast

import httpcore
import httpx

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.byte_cap import ByteCapBackend
from keyhole.fetch.decoding import Decoder
from keyhole.fetch.host_limits import BACKOFF, HostLimits
from keyhole.fetch.urls import DEFAULT_PORTS, Target

Response = httpx.Response
Headers = httpx.Headers
"""Other modules of fetch/ use these aliases, so that only this file depends on httpx."""

PARTIAL_CONTENT: Final = 206
MAX_CONNECTIONS: Final = 64
"""Maximum of open connections of one server. A search fetches 10 pages at once, and several clients may share a server.
A few sites that never finish must not block the other requests."""
MIN_PARTIAL: Final = 64
"""Bytes. A truncated body below this size is less than a sentence, and is reported as a failure."""
FRAMING_FACTOR: Final = 2
"""Bytes that a connection may deliver per byte of the body's cap. The surplus allows for chunk framing."""


class Exchange:
    """Sends requests over its own connection pool. `allowed`: each `host:port` that may have a private address."""

    def __init__(
        self, config: Config, allowed: frozenset[str], context: ssl.SSLContext, host_limits: HostLimits
    ) -> None:
        self._config = config
        self._host_limits = host_limits
        self._transport = _CheckedTransport(config, allowed, context)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    @asynccontextmanager
    async def open(
        self, target: Target, headers: Mapping[str, str], deadline: float, content: bytes | None = None
    ) -> AsyncIterator[Response]:
        """Send a GET request, or a POST of `content`, and yield the response with its body unread.

        `deadline`: for the response's head, in seconds of the event loop's clock.
        Raises KeyholeError: connection failures, timeout, protocol_error.
        """
        # The transport is called directly: httpx's client keeps cookies, reads the environment and parses the location
        # of redirects even if it does not follow them, which fails for an invalid URL.
        method = "GET" if content is None else "POST"
        request = httpx.Request(method, target.url, headers=headers, content=content)
        # httpx would normalize the path once more. The path that was checked must be the path that is sent.
        request.extensions = {**request.extensions, "target": target.path.encode("ascii")}
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._send_with_retry(request)
        except (httpcore.TimeoutException, TimeoutError) as error:
            raise KeyholeError(Code.TIMEOUT, f"{target.host} did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            message = f"{target.host} closed the connection or did not answer with valid HTTP"
            raise KeyholeError(Code.PROTOCOL_ERROR, message) from error
        try:
            response.extensions["network_stream"].raise_cap(FRAMING_FACTOR * self._config.max_bytes)
            yield response
        finally:
            await response.aclose()

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

    async def _send_with_retry(self, request: httpx.Request) -> Response:
        """Send a request, and once more if no connection was made or the connection of a GET request was lost."""
        for pause in BACKOFF:
            try:
                return await self._transport.handle_async_request(request)
            except (KeyholeError, httpcore.NetworkError, OSError) as error:
                is_connected = not isinstance(error, KeyholeError) or error.code is not Code.CONNECT_FAILURE
                if is_connected and (isinstance(error, KeyholeError) or request.method != "GET"):
                    raise
            await self._host_limits.sleep(pause)
        return await self._transport.handle_async_request(request)


class _CheckedTransport(httpx.AsyncBaseTransport):
    """An httpx transport whose httpcore pool connects to checked addresses only.

    It is modelled on httpx's own transport, which does not accept a network backend.
    """

    def __init__(self, config: Config, allowed: frozenset[str], context: ssl.SSLContext) -> None:
        checked = CheckedBackend(
            lambda endpoint: endpoint in allowed,
            config.ports,
            config.proxy,
            config.allow_private,
            config.deny_domains,
        )
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=0,
            network_backend=ByteCapBackend(checked),
        )

    async def handle_async_request(self, request: httpx.Request) -> Response:
        url = request.url
        path = request.extensions["target"]
        port = url.port or DEFAULT_PORTS[url.scheme]
        response = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=port, target=path),
                headers=request.headers.raw,
                content=cast(httpx.AsyncByteStream, request.stream),
                extensions={"timeout": request.extensions.get("timeout", {})},
            )
        )
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of an httpcore response as an httpx stream."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()
