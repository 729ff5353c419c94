"""One request and one bounded response, to checked addresses only. Follows nothing and judges no status."""

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
from keyhole.fetch.byte_cap import MeteredBackend
from keyhole.fetch.decoding import Decoder
from keyhole.fetch.host_limits import BACKOFF, Manners
from keyhole.fetch.response_head import PARTIAL_CONTENT
from keyhole.fetch.urls import DEFAULT_PORTS, Target

Response = httpx.Response
Headers = httpx.Headers
"""The answer as the rest of fetch/ knows it: another HTTP library would change this file alone."""

MAX_CONNECTIONS: Final = 64
"""Open connections of one server: a search fetches 10 at once, several clients may share a host, and a few sites
that never end must not keep the others waiting."""
MIN_PARTIAL: Final = 64
"""Bytes. Of a body that broke off, less than a sentence: the failure says more."""
FRAMING: Final = 2
"""Bytes on the wire for each byte of the cap on a body: chunks have sizes around them, but not for every byte."""


class Exchange:
    """Sends requests over connections of its own; `allowed`: `host:port` that may be private."""

    def __init__(self, config: Config, allowed: frozenset[str], context: ssl.SSLContext, manners: Manners) -> None:
        self._config = config
        self._manners = manners
        self._transport = _PinnedTransport(config, allowed, context)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    @asynccontextmanager
    async def response(
        self, target: Target, headers: Mapping[str, str], until: float, content: bytes | None = None
    ) -> AsyncIterator[Response]:
        """The head of a response that comes before `until`, in seconds of the event loop's clock; with `content`, to
        a POST of it.

        Raises KeyholeError: what the connection raises, timeout, protocol_error.
        """
        # The transport is asked directly: httpx's client keeps cookies, reads the environment and takes a redirect's
        # location apart even where it does not follow it, which fails for what is no URL.
        method = "GET" if content is None else "POST"
        request = httpx.Request(method, target.url, headers=headers, content=content)
        # httpx would normalise the path once more; what was checked is what is sent.
        request.extensions = {**request.extensions, "target": target.path.encode("ascii")}
        try:
            async with asyncio.timeout_at(until):
                response = await self._sent(request)
        except (httpcore.TimeoutException, TimeoutError) as error:
            raise KeyholeError(Code.TIMEOUT, f"{target.host} did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            raise KeyholeError(Code.PROTOCOL_ERROR, f"{target.host} broke off or did not speak HTTP") from error
        try:
            response.extensions["network_stream"].allow(FRAMING * self._config.max_bytes)
            yield response
        finally:
            await response.aclose()

    async def body(self, response: Response, until: float, max_bytes: int = 0) -> tuple[bytes, bool]:
        """The decoded body and whether it was cut: at the byte cap, by damage, a broken connection or the deadline."""
        decoder = Decoder(response.headers.get("content-encoding", ""), self._config.max_decoded_bytes)
        received, out, max_bytes = 0, bytearray(), max_bytes or self._config.max_bytes
        try:
            async with asyncio.timeout_at(until):
                async for piece in response.aiter_raw():
                    room = max_bytes - received
                    received += len(piece)
                    out += decoder.feed(piece[:room])
                    if received > max_bytes:
                        return bytes(out + decoder.close()), True
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            out += decoder.close()
            if len(out) < MIN_PARTIAL:
                late = isinstance(error, TimeoutError | httpcore.TimeoutException)
                what = "the page came too slowly" if late else "the connection broke before any of the page had come"
                raise KeyholeError(Code.TIMEOUT if late else Code.PROTOCOL_ERROR, what) from error
            return bytes(out), True
        out += decoder.close()
        return bytes(out), response.status_code == PARTIAL_CONTENT or (bool(out) and not decoder.finished)

    async def beginning(self, response: Response, seconds: float, max_bytes: int) -> bytes:
        """What of an error's body comes soon, bounded; b"" for one that cannot be read."""
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

    async def _sent(self, request: httpx.Request) -> Response:
        """The head of the answer. Where no connection came about, or a GET's broke before it, it is tried once more."""
        for pause in BACKOFF:
            try:
                return await self._transport.handle_async_request(request)
            except (KeyholeError, httpcore.NetworkError, OSError) as error:
                connected = not isinstance(error, KeyholeError) or error.code is not Code.CONNECT_FAILURE
                if connected and (isinstance(error, KeyholeError) or request.method != "GET"):
                    raise
            await self._manners.sleep(pause)
        return await self._transport.handle_async_request(request)


class _PinnedTransport(httpx.AsyncBaseTransport):
    """httpx over an httpcore pool whose connections go to checked addresses only.

    After encode/httpx's own transport; written again because that one takes no network backend.
    """

    def __init__(self, config: Config, allowed: frozenset[str], context: ssl.SSLContext) -> None:
        checked = CheckedBackend(lambda endpoint: endpoint in allowed, config.ports, config.proxy)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=0,
            network_backend=MeteredBackend(checked),
        )

    async def handle_async_request(self, request: httpx.Request) -> Response:
        url = request.url
        path = request.extensions["target"]
        port = url.port or DEFAULT_PORTS[url.scheme]
        answer = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=port, target=path),
                headers=request.headers.raw,
                content=cast(httpx.AsyncByteStream, request.stream),
                extensions={"timeout": request.extensions.get("timeout", {})},
            )
        )
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()
