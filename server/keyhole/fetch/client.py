"""Asks the network, within limits. The only file that imports httpx.

The redirect loop is here and nowhere else: it alone alternates between deciding (urls.py) and doing.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType, TracebackType
from typing import Final

import certifi
import httpcore
import httpx

from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.decoding import ACCEPT_ENCODING, Decoder
from keyhole.fetch.meter import MeteredBackend
from keyhole.fetch.urls import DEFAULT_PORTS, Target, parse_target, redirect_target
from keyhole.fetch.validators import NOT_MODIFIED, Validators
from keyhole.records import Page

ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PARTIAL_CONTENT = 206
_SECONDS = re.compile(r"[0-9]{1,6}")
MAX_CONNECTIONS = 64
"""Open connections of one server: a search fetches 10 at once, several clients may share a host, and a few sites
that never end must not keep the others waiting."""
READING_SHARE: Final = 2 / 3
"""Of a call's deadline, for connecting, redirects and reading; the rest is for extraction and ranking. What has come
of a page by then is shown and said to be partial."""
MIN_PARTIAL: Final = 64
"""Bytes. Of a body that broke off, less than a sentence: the failure says more."""
FRAMING: Final = 2
"""Bytes on the wire for each byte of the cap on a body: chunks have sizes around them, but not for every byte."""
MAX_HEADER: Final = 1_000
"""Characters kept of a header's value. Real ones have 100; longer ones are there to be parsed slowly."""
MAX_LINK: Final = 8_000
"""Characters of the Link header that are kept; those of preloads may be long."""


class HttpFetcher:
    """Fetches over HTTP/1.1, with no cookies, no proxy from the environment and no automatic redirects."""

    def __init__(self, config: Config, user_agent: str, clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._clock = clock
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": ACCEPT_ENCODING, "Connection": "close"}
        self._engines: frozenset[str] = frozenset()
        if config.searxng_url:
            self._engines = frozenset({parse_target(config.searxng_url).endpoint})
        context = ssl.create_default_context(cafile=certifi.where())
        self._public = _PinnedTransport(config, config.allow_private, context)
        self._operator = _PinnedTransport(config, config.allow_private | self._engines, context)

    async def fetch(self, url: str, known: Validators | None = None) -> Page:
        """Follow redirects by hand, each hop checked anew; raise what the final status means."""
        target, until = parse_target(url), self._until()
        for _hop in range(self._config.max_redirects + 1):
            conditions = known.headers(target.url) if known else {}
            async with self._response(self._public, target, ACCEPT, until, conditions) as response:
                location = _location(response.headers)
                if response.status_code in REDIRECTS and location:
                    target = redirect_target(target, location)
                    continue
                if conditions and response.status_code == NOT_MODIFIED:
                    return self._page(url, target, response, b"", cut=False)
                raise_for_status(response.status_code, response.headers)
                body, cut = await self._body(response, until)
                return self._page(url, target, response, body, cut)
        raise KeyholeError(Code.TOO_MANY_REDIRECTS, f"more than {self._config.max_redirects} redirects")

    async def get_json(self, url: str) -> bytes:
        """One request without redirects, to an endpoint that the operator's settings name."""
        target, until = parse_target(url), self._until()
        async with self._response(self._operator, target, "application/json", until) as response:
            raise_for_status(response.status_code, response.headers)
            body, _cut = await self._body(response, until)
            return body

    async def aclose(self) -> None:
        """Close all connections."""
        await self._public.aclose()
        await self._operator.aclose()

    async def __aenter__(self) -> HttpFetcher:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _until(self) -> float:
        return asyncio.get_running_loop().time() + self._config.timeout * READING_SHARE

    @asynccontextmanager
    async def _response(
        self,
        transport: _PinnedTransport,
        target: Target,
        accept: str,
        until: float,
        conditions: Mapping[str, str] = MappingProxyType({}),
    ) -> AsyncIterator[httpx.Response]:
        # The transport is asked directly: httpx's client keeps cookies, reads the environment and takes a redirect's
        # location apart even where it does not follow it, which fails for what is no URL.
        request = httpx.Request("GET", target.url, headers={**self._headers, "Accept": accept, **conditions})
        # httpx would normalise the path once more; what was checked is what is sent.
        request.extensions = {**request.extensions, "target": target.path.encode("ascii")}
        try:
            async with asyncio.timeout_at(until):
                response = await transport.handle_async_request(request)
        except (httpcore.TimeoutException, TimeoutError) as error:
            raise KeyholeError(Code.TIMEOUT, f"{target.host} did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            raise KeyholeError(Code.PROTOCOL_ERROR, f"{target.host} broke off or did not speak HTTP") from error
        except (httpx.InvalidURL, httpx.RemoteProtocolError) as error:
            # httpx reads the location of a redirect even when it is not to follow it; these are its words for that.
            raise KeyholeError(Code.INVALID_URL, "the redirect's location is malformed") from error
        try:
            response.extensions["network_stream"].allow(FRAMING * self._config.max_bytes)
            yield response
        finally:
            await response.aclose()

    async def _body(self, response: httpx.Response, until: float) -> tuple[bytes, bool]:
        """The decoded body and whether it was cut: at the byte cap, by damage, a broken connection or the deadline."""
        decoder = Decoder(response.headers.get("content-encoding", ""), self._config.max_decoded_bytes)
        received, out = 0, bytearray()
        try:
            async with asyncio.timeout_at(until):
                async for piece in response.aiter_raw():
                    room = self._config.max_bytes - received
                    received += len(piece)
                    out += decoder.feed(piece[:room])
                    if received > self._config.max_bytes:
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

    def _page(self, url: str, target: Target, response: httpx.Response, body: bytes, cut: bool) -> Page:
        headers = response.headers
        return Page(
            requested_url=url,
            url=target.url,
            status=response.status_code,
            content_type=_last(headers, "content-type")[:MAX_HEADER],
            body=body,
            fetched_at=self._clock(),
            cut=cut,
            etag=_whole(headers.get("etag", "")),
            last_modified=_whole(headers.get("last-modified", "")),
            link=headers.get("link", "")[:MAX_LINK],
        )


def raise_for_status(status: int, headers: Mapping[str, str]) -> None:
    """Name a status that is not a success: rate_limited, login_required or http_status."""
    if 200 <= status < 300:
        return
    if status in {429, 503} and _SECONDS.fullmatch(wait := headers.get("retry-after", "")):
        raise KeyholeError(
            Code.RATE_LIMITED,
            f"HTTP {status}; Retry-After {int(wait)} s",
            status=status,
            retry_after=int(wait),
        )
    if status == 429:
        raise KeyholeError(Code.RATE_LIMITED, "HTTP 429", status=status)
    if status in {401, 407}:
        raise KeyholeError(Code.LOGIN_REQUIRED, f"HTTP {status}", status=status)
    raise KeyholeError(Code.HTTP_STATUS, f"HTTP {status}", status=status)


def _location(headers: httpx.Headers) -> str:
    """Where a redirect leads, or nothing. Two places are an attempt to have two readers go two ways."""
    places = set(headers.get_list("location"))
    if len(places) > 1:
        raise KeyholeError(Code.PROTOCOL_ERROR, "the response names several locations")
    return places.pop() if places else ""


def _last(headers: httpx.Headers, name: str) -> str:
    """The last of several headers of a name, as the Fetch standard takes a Content-Type."""
    return next(reversed(headers.get_list(name)), "")


def _whole(value: str) -> str:
    """A value that is sent back as it came: one that is too long is none."""
    return value if len(value) <= MAX_HEADER else ""


class _PinnedTransport(httpx.AsyncBaseTransport):
    """httpx over an httpcore pool whose connections go to checked addresses only.

    After encode/httpx's own transport; written again because that one takes no network backend.
    """

    def __init__(self, config: Config, allowed: frozenset[str], context: ssl.SSLContext) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=0,
            network_backend=MeteredBackend(
                CheckedBackend(lambda endpoint: endpoint in allowed, config.ports, config.proxy)
            ),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        path = request.extensions["target"]
        port = url.port or DEFAULT_PORTS[url.scheme]
        answer = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=port, target=path),
                headers=request.headers.raw,
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
