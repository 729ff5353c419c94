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
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType

import certifi
import httpcore
import httpx

from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.soft_marks import MAX_ERROR, challenge_header, challenge_in_error
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.decoding import ACCEPT_ENCODING, Decoder
from keyhole.fetch.urls import DEFAULT_PORTS, Target, parse_target, redirect_target
from keyhole.records import Page

ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SECONDS = re.compile(r"[0-9]{1,6}")
MAY_CHALLENGE = frozenset({400, 401, 403, 404, 405, 406, 418, 429, 503})
"""Statuses that protections give their challenges and blocks; of 2xx pages the extraction judges."""
ERROR_SECONDS = 3.0
"""For the body of an error: it decides only on the error's name."""
MAX_CONNECTIONS = 32
"""Open connections of one server: a search fetches 10 at once, and several clients may share a host."""


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
        self._public = _client(config.allow_private, context)
        self._operator = _client(config.allow_private | self._engines, context)

    async def fetch(self, url: str) -> Page:
        """Follow redirects by hand, each hop checked anew; raise what the final status means."""
        target = parse_target(url)
        for _hop in range(self._config.max_redirects + 1):
            async with self._response(self._public, target, ACCEPT) as response:
                location = response.headers.get("location", "")
                if response.status_code in REDIRECTS and location:
                    target = redirect_target(target, location)
                    continue
                await self._refuse_challenge(response)
                raise_for_status(response.status_code, response.headers)
                body, cut = await self._body(response)
                return self._page(url, target, response, body, cut)
        raise KeyholeError(Code.TOO_MANY_REDIRECTS, f"more than {self._config.max_redirects} redirects")

    async def get_json(self, url: str) -> bytes:
        """One request without redirects, to an endpoint that the operator's settings name."""
        async with self._response(self._operator, parse_target(url), "application/json") as response:
            raise_for_status(response.status_code, response.headers)
            body, _cut = await self._body(response)
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

    @asynccontextmanager
    async def _response(self, client: httpx.AsyncClient, target: Target, accept: str) -> AsyncIterator[httpx.Response]:
        request = client.build_request("GET", target.url, headers={**self._headers, "Accept": accept})
        # httpx would normalise the path once more; what was checked is what is sent.
        request.extensions = {**request.extensions, "target": target.path.encode("ascii")}
        try:
            response = await client.send(request, stream=True, follow_redirects=False)
        except httpcore.TimeoutException as error:
            raise KeyholeError(Code.TIMEOUT, f"{target.host} did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            raise KeyholeError(Code.PROTOCOL_ERROR, f"{target.host} broke off or did not speak HTTP") from error
        try:
            yield response
        finally:
            await response.aclose()

    async def _body(self, response: httpx.Response) -> tuple[bytes, bool]:
        """The decoded body and whether it was cut: at the byte cap, or by a connection that broke."""
        decoder = Decoder(response.headers.get("content-encoding", ""), self._config.max_decoded_bytes)
        received, out = 0, bytearray()
        try:
            async for piece in response.aiter_raw():
                room = self._config.max_bytes - received
                received += len(piece)
                out += decoder.feed(piece[:room])
                if received > self._config.max_bytes:
                    return bytes(out), True
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            if not out:
                raise KeyholeError(Code.PROTOCOL_ERROR, "the connection broke before any content") from error
            return bytes(out), True
        return bytes(out), bool(out) and not decoder.finished

    async def _refuse_challenge(self, response: httpx.Response) -> None:
        """Name a challenge that a header tells of, or the body of an error: its status alone would mislead."""
        system = challenge_header(response.headers)
        if not system and response.status_code in MAY_CHALLENGE:
            system = challenge_in_error(await self._beginning(response))
        if system:
            message = f"HTTP {response.status_code}; the site's protection ({system}) let no program through"
            raise KeyholeError(Code.BOT_CHALLENGE, message, status=response.status_code)

    async def _beginning(self, response: httpx.Response) -> bytes:
        """What of an error's body comes soon, bounded; b"" for one that cannot be read."""
        out = bytearray()
        try:
            decoder = Decoder(response.headers.get("content-encoding", ""), 16 * MAX_ERROR)
            async with asyncio.timeout(ERROR_SECONDS):
                async for piece in response.aiter_raw():
                    out += decoder.feed(piece[:MAX_ERROR])
                    if len(out) >= MAX_ERROR:
                        break
        except (KeyholeError, httpcore.NetworkError, httpcore.ProtocolError, OSError):  # TimeoutError is an OSError
            pass
        return bytes(out[:MAX_ERROR])

    def _page(self, url: str, target: Target, response: httpx.Response, body: bytes, cut: bool) -> Page:
        headers = response.headers
        return Page(
            requested_url=url,
            url=target.url,
            status=response.status_code,
            content_type=headers.get("content-type", ""),
            body=body,
            fetched_at=self._clock(),
            cut=cut,
            etag=headers.get("etag", ""),
            last_modified=headers.get("last-modified", ""),
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


def _client(allowed: frozenset[str], context: ssl.SSLContext) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=_PinnedTransport(allowed, context),
        trust_env=False,
        # No timeout per step: a server that drips a byte a second would renew it. retrieve.py has the one deadline.
        timeout=None,  # noqa: S113
        # A jar that takes no cookie: what one page sets, no other fetch may carry.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


class _PinnedTransport(httpx.AsyncBaseTransport):
    """httpx over an httpcore pool whose connections go to checked addresses only.

    After encode/httpx's own transport; written again because that one takes no network backend.
    """

    def __init__(self, allowed: frozenset[str], context: ssl.SSLContext) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=0,
            network_backend=CheckedBackend(lambda endpoint: endpoint in allowed),
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
