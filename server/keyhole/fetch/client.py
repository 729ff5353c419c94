"""Fetch pages: check permissions and host limits, follow redirects, and give each failure an error code.

exchange.py sends the requests and reads the responses. urls.py checks the URL of each redirect.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Final

import certifi

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.addresses import check_domain
from keyhole.fetch.base import DEFAULT_OPTIONS, NOT_MODIFIED, ApiCall, ApiReply, FetchOptions
from keyhole.fetch.decoding import ACCEPT_ENCODING
from keyhole.fetch.exchange import MAX_HEADER, Exchange, page_headers, raise_for_status, redirect_location
from keyhole.fetch.host_limits import HostLimits, parse_retry_after
from keyhole.fetch.permission import HourlyRequests
from keyhole.fetch.robots import MAX_ROBOTS, RobotsCache, whole_lines
from keyhole.fetch.urls import Target, parse_target, resolve_url
from keyhole.records import Page
from keyhole.text.challenges import MAX_ERROR_BODY, find_challenge_header, find_challenge_in_error

if TYPE_CHECKING:
    from keyhole.fetch.exchange import Response

ACCEPT: Final = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
MAX_REDIRECTS: Final = 10
"""Redirects that are followed, as in Go's `net/http` and Google's crawlers. Each is checked like the first URL."""
FETCH_SHARE: Final = 2 / 3
"""Share of a call's deadline for connecting, redirects and reading. The rest is for extraction and ranking. A page that
is incomplete by then is returned and marked as partial."""
CHALLENGE_STATUSES: Final = frozenset({400, 401, 403, 404, 405, 406, 418, 429, 503})
"""Statuses with which bot protections send challenge and block pages. Extraction detects those with status 2xx."""
MIN_ERROR_STATUS: Final = 400
ERROR_BODY_TIMEOUT: Final = 3.0
"""Seconds for reading the body of an error, which only decides which error code is reported and what the site says."""


def api_endpoints(config: Config) -> frozenset[str]:
    """Return `host:port` of the APIs whose URLs the operator configured; these may be private addresses."""
    urls = (*config.searxng_url, config.mediawiki_url, config.rerank_url, config.embed_url)
    return frozenset(parse_target(url).endpoint for url in urls if url)


class HttpFetcher:
    """A client for HTTP/1.1 without cookies, environment proxies and automatic redirects."""

    def __init__(
        self,
        config: Config,
        user_agent: str,
        clock: Callable[[], float] = time.time,
        host_limits: HostLimits | None = None,
        unlimited: frozenset[str] | None = None,
        apis: frozenset[str] = frozenset(),
    ) -> None:
        """Create a fetcher.

        `apis`: `host:port` of the operator's APIs, which may have private addresses. `unlimited`: `host:port` without
        host limits and robots.txt, by default every endpoint that the operator configured by name.
        """
        self._config = config
        self._clock = clock
        self._host_limits = host_limits or HostLimits()
        self._further = HourlyRequests(self._host_limits.now)
        self._robots = RobotsCache(self._fetch_robots, self._host_limits.now, config.timeout)
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": ACCEPT_ENCODING}
        self._unlimited = config.allow_private | apis if unlimited is None else unlimited
        context = ssl.create_default_context(cafile=certifi.where())
        context.set_alpn_protocols(["http/1.1"])
        self._pages = Exchange(config, config.allow_private, context, self._host_limits)
        self._apis = Exchange(config, config.allow_private | apis, context, self._host_limits)

    async def fetch(self, url: str, options: FetchOptions = DEFAULT_OPTIONS) -> Page:
        """Fetch a page. Every redirect is checked like the first URL. Raises KeyholeError for every failure."""
        target, deadline, began = parse_target(url), self._fetch_deadline(options), self._clock()
        credential = options.permission.credential
        for _hop in range(MAX_REDIRECTS + 1):
            await self._check_permission(target, options, deadline)
            self._further.spend(target.host, options.permission)
            if credential and not credential.applies_to(target.url):
                credential = None  # also for later hops: a redirect that comes back was chosen by another site
            secret = {"Authorization": credential.authorization} if credential else {}
            result = await self._fetch_hop_with_wait(url, target, options, deadline, secret)
            if isinstance(result, Page):
                # The time of the request, so that a page on its way is not stored after everything was forgotten.
                return replace(result, fetched_at=began)
            target = result
        raise KeyholeError(Code.TOO_MANY_REDIRECTS, f"more than {MAX_REDIRECTS} redirects")

    async def check(self, url: str, options: FetchOptions = DEFAULT_OPTIONS) -> None:
        """Raise KeyholeError if this URL would not be fetched: by the settings, the call, a wait or robots.txt."""
        await self._check_permission(parse_target(url), options, self._fetch_deadline(options))

    async def send(self, call: ApiCall) -> ApiReply:
        """Send a request to an API that the operator configured, without following redirects.

        The allow list does not apply: the operator named the API by its address or its key.
        """
        target, deadline = parse_target(call.url), self._fetch_deadline()
        check_domain(target.host, frozenset(), self._config.deny_domains)
        body_headers = {} if call.body is None else {"Content-Type": "application/json"}
        headers = {**self._headers, "Accept": "application/json", **body_headers, **dict(call.headers)}
        async with self._apis.open(target, headers, deadline, call.body) as response:
            body, cut = await self._apis.read_body(response, deadline)
            if cut:
                raise KeyholeError(Code.TOO_LARGE, f"the response of {target.host} is too large or incomplete")
            wait = parse_retry_after(response.headers.get("retry-after", ""), self._clock())
            return ApiReply(response.status_code, body, response.headers.get("content-type", "")[:MAX_HEADER], wait)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._robots.aclose()
        await self._pages.aclose()
        await self._apis.aclose()

    async def __aenter__(self) -> HttpFetcher:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _check_permission(self, target: Target, options: FetchOptions, deadline: float) -> None:
        """Raise KeyholeError if the operator, the call, a host's requested wait or robots.txt forbids a hop."""
        self._check_domain(target)
        permission = options.permission
        if not permission.permits(target.url):
            raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, f"the sites of this call do not include {target.host}")
        if target.endpoint in self._unlimited:
            return
        self._host_limits.check_wait(target.host)
        if self._config.robots == "on" or (self._config.robots == "pages" and not options.is_api):
            if self._robots.is_pending(target, permission.accepts):  # robots.txt and the page share one connection
                await self._pages.warm(target, deadline)
            await self._robots.check(target, permission.accepts)

    def _check_domain(self, target: Target) -> None:
        check_domain(target.host, self._config.allow_domains, self._config.deny_domains)

    def _fetch_deadline(self, options: FetchOptions = DEFAULT_OPTIONS) -> float:
        left = self._config.timeout
        if options.deadline:
            left = min(left, options.deadline - self._host_limits.now())
        return asyncio.get_running_loop().time() + left * FETCH_SHARE

    async def _fetch_hop_with_wait(
        self, url: str, target: Target, options: FetchOptions, deadline: float, secret: Mapping[str, str]
    ) -> Page | Target:
        """Fetch one hop. If the site requests a wait that fits the deadline, wait and fetch it once more."""
        for is_last in (False, True):
            try:
                return await self._fetch_hop(url, target, options, deadline, secret)
            except KeyholeError as error:
                seconds = error.facts.get("retry_after")
                if not isinstance(seconds, int):
                    raise
                if target.endpoint not in self._unlimited:
                    self._host_limits.record_wait(target.host, seconds)
                if is_last or not self._host_limits.fits_deadline(seconds, min(options.deadline, deadline)):
                    raise
            await self._host_limits.sleep(seconds)
        raise AssertionError("the second attempt returns or raises")

    async def _fetch_hop(
        self, url: str, target: Target, options: FetchOptions, deadline: float, secret: Mapping[str, str]
    ) -> Page | Target:
        """Return the page, or the target of its redirect."""
        conditions = options.validators.request_headers(target.url) if options.validators else {}
        added = {**conditions, **options.part_headers, **secret}
        async with self._response(target, ACCEPT, deadline, added) as response:
            if location := redirect_location(response):
                return resolve_url(target, location)
            if conditions and response.status_code == NOT_MODIFIED:
                return self._page(url, target, response, b"", cut=False)
            await self._raise_for_error(response)
            body, cut = await self._pages.read_body(response, deadline)
            return self._page(url, target, response, body, cut)

    async def _fetch_robots(self, target: Target) -> bytes | Target:
        """Return the first `MAX_ROBOTS` bytes of a robots.txt, or the target of its redirect."""
        self._check_domain(target)
        deadline = self._fetch_deadline()
        async with self._response(target, "text/plain", deadline) as response:
            if location := redirect_location(response):
                return resolve_url(target, location)
            raise_for_status(response.status_code, response.headers, self._clock())
            body, cut = await self._pages.read_body(response, deadline, MAX_ROBOTS)
            return whole_lines(body) if cut else body

    @asynccontextmanager
    async def _response(
        self, target: Target, accept: str, deadline: float, added: Mapping[str, str] = MappingProxyType({})
    ) -> AsyncIterator[Response]:
        """Open a response within the host's connection limit. `added`: further request headers."""
        headers = {**self._headers, "Accept": accept, **added}
        slot = nullcontext() if target.endpoint in self._unlimited else self._host_limits.slot(target.host, deadline)
        async with slot, self._pages.open(target, headers, deadline) as response:
            yield response

    async def _raise_for_error(self, response: Response) -> None:
        """Raise KeyholeError for a challenge page, whose status would be misleading, and for a status other than 2xx.

        The failure has the beginning of the response's body, in which the site may say why.
        """
        status, system, body = response.status_code, find_challenge_header(response.headers), b""
        if not system and status >= MIN_ERROR_STATUS:
            body = await self._pages.read_beginning(response, ERROR_BODY_TIMEOUT, MAX_ERROR_BODY)
            system = find_challenge_in_error(body) if status in CHALLENGE_STATUSES else ""
        if system:
            message = f"HTTP {status}; the site's bot protection ({system}) blocked the request"
            raise KeyholeError(Code.BOT_CHALLENGE, message, status=status)
        try:
            raise_for_status(status, response.headers, self._clock())
        except KeyholeError as error:
            error.body = body, page_headers(response.headers)["content_type"]
            raise

    def _page(self, url: str, target: Target, response: Response, body: bytes, cut: bool) -> Page:
        return Page(
            requested_url=url,
            url=target.url,
            status=response.status_code,
            body=body,
            fetched_at=self._clock(),
            cut=cut,
            **page_headers(response.headers),
        )
