"""Asks the network, within limits. The only file that imports httpx.

The redirect loop is here and nowhere else: it alone alternates between deciding (urls.py) and doing.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType

import certifi
import httpcore
import httpx

from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.base import ANY, Terms
from keyhole.fetch.decoding import ACCEPT_ENCODING, Decoder
from keyhole.fetch.domains import check_domain
from keyhole.fetch.manners import BACKOFF, Manners, retry_after
from keyhole.fetch.robots import MAX_ROBOTS, RobotsCache
from keyhole.fetch.urls import DEFAULT_PORTS, Target, parse_target, redirect_target
from keyhole.records import Page

ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_CONNECTIONS = 32
"""Open connections of one server: a search fetches 10 at once, and several clients may share a host."""


class HttpFetcher:
    """Fetches over HTTP/1.1, with no cookies, no proxy from the environment and no automatic redirects."""

    def __init__(
        self,
        config: Config,
        user_agent: str,
        clock: Callable[[], float] = time.time,
        manners: Manners | None = None,
        own: frozenset[str] | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._manners = manners or Manners()
        self._robots = RobotsCache(self._ask_robots, self._manners.now)
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": ACCEPT_ENCODING, "Connection": "close"}
        self._engines: frozenset[str] = frozenset()
        if config.searxng_url:
            self._engines = frozenset({parse_target(config.searxng_url).endpoint})
        # What the operator opened by name is the operator's own: manners are for strangers.
        self._own = config.allow_private | self._engines if own is None else own
        context = ssl.create_default_context(cafile=certifi.where())
        self._public = _client(config.allow_private, context)
        self._operator = _client(config.allow_private | self._engines, context)

    async def fetch(self, url: str, terms: Terms = ANY) -> Page:
        """Follow redirects by hand, each hop checked anew; raise what the final status means."""
        target = parse_target(url)
        for _hop in range(self._config.max_redirects + 1):
            await self._admit(target, terms)
            found = await self._waited(url, target, terms)
            if isinstance(found, Page):
                return found
            target = found
        raise KeyholeError(Code.TOO_MANY_REDIRECTS, f"more than {self._config.max_redirects} redirects")

    async def _admit(self, target: Target, terms: Terms) -> None:
        """Refuse a hop that the operator, the call or the site does not want. Raises KeyholeError."""
        self._check_domain(target)
        if not terms.permits(target.url):
            raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, f"the call's sites do not let {target.host} be fetched")
        if target.endpoint in self._own:
            return
        self._manners.check(target.host)
        if self._config.robots == "on":
            await self._robots.check(target)

    def _check_domain(self, target: Target) -> None:
        check_domain(target.host, self._config.allow_domains, self._config.deny_domains)

    async def _waited(self, url: str, target: Target, terms: Terms) -> Page | Target:
        """One hop; where the site asks to wait and the deadline lets us, the same hop once more after that."""
        for last in (False, True):
            try:
                return await self._ask(url, target)
            except KeyholeError as error:
                seconds = error.facts.get("retry_after")
                if not isinstance(seconds, int):
                    raise
                if target.endpoint not in self._own:
                    self._manners.leave_alone(target.host, seconds)
                if last or not self._manners.fits(seconds, terms.until):
                    raise
            await self._manners.sleep(seconds)
        raise AssertionError("the second try returns or raises")

    async def _ask(self, url: str, target: Target) -> Page | Target:
        """One hop: the page, or where it redirects to."""
        async with self._response(self._public, target, ACCEPT) as response:
            location = response.headers.get("location", "")
            if response.status_code in REDIRECTS and location:
                return redirect_target(target, location)
            raise_for_status(response.status_code, response.headers, self._clock())
            body, cut = await self._body(response)
            return self._page(url, target, response, body, cut)

    async def _ask_robots(self, target: Target) -> bytes | Target:
        """One hop to a robots.txt: as much of its body as counts, or where it redirects to."""
        self._check_domain(target)
        async with self._response(self._public, target, "text/plain") as response:
            location = response.headers.get("location", "")
            if response.status_code in REDIRECTS and location:
                return redirect_target(target, location)
            raise_for_status(response.status_code, response.headers, self._clock())
            return (await self._body(response, MAX_ROBOTS))[0]

    async def get_json(self, url: str) -> bytes:
        """One request without redirects, to an endpoint that the operator's settings name."""
        async with self._response(self._operator, parse_target(url), "application/json") as response:
            raise_for_status(response.status_code, response.headers, self._clock())
            body, _cut = await self._body(response)
            return body

    async def aclose(self) -> None:
        """Close all connections."""
        await self._robots.aclose()
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
        async with nullcontext() if target.endpoint in self._own else self._manners.slot(target.host):
            try:
                response = await self._sent(client, request)
            except httpcore.TimeoutException as error:
                raise KeyholeError(Code.TIMEOUT, f"{target.host} did not answer in time") from error
            except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
                raise KeyholeError(Code.PROTOCOL_ERROR, f"{target.host} broke off or did not speak HTTP") from error
            try:
                yield response
            finally:
                await response.aclose()

    async def _sent(self, client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        """The head of the answer; a connection that failed or broke before it is tried once more, as GET may be."""
        for pause in BACKOFF:
            try:
                return await client.send(request, stream=True, follow_redirects=False)
            except (KeyholeError, httpcore.NetworkError, OSError) as error:
                if isinstance(error, KeyholeError) and error.code is not Code.CONNECT_FAILURE:
                    raise
            await self._manners.sleep(pause)
        return await client.send(request, stream=True, follow_redirects=False)

    async def _body(self, response: httpx.Response, max_bytes: int = 0) -> tuple[bytes, bool]:
        """The decoded body and whether it was cut: at the byte cap, or by a connection that broke."""
        decoder = Decoder(response.headers.get("content-encoding", ""), self._config.max_decoded_bytes)
        received, out, max_bytes = 0, bytearray(), max_bytes or self._config.max_bytes
        try:
            async for piece in response.aiter_raw():
                room = max_bytes - received
                received += len(piece)
                out += decoder.feed(piece[:room])
                if received > max_bytes:
                    return bytes(out), True
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            if not out:
                raise KeyholeError(Code.PROTOCOL_ERROR, "the connection broke before any content") from error
            return bytes(out), True
        return bytes(out), bool(out) and not decoder.finished

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


def raise_for_status(status: int, headers: Mapping[str, str], now: float) -> None:
    """Name a status that is not a success: rate_limited, login_required or http_status. `now`: for dates."""
    if 200 <= status < 300:
        return
    if status in {429, 503} and (wait := retry_after(headers.get("retry-after", ""), now)) is not None:
        message = f"HTTP {status}; Retry-After {wait} s"
        raise KeyholeError(Code.RATE_LIMITED, message, status=status, retry_after=wait)
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
