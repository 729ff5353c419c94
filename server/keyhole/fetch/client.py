"""From a URL to a page: permission, manners, redirects. How bytes are sent and read is exchange.py's.

The redirect loop is here and nowhere else: it alone alternates between deciding (urls.py) and doing.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Final

import certifi

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ANY, ApiCall, ApiReply, Terms
from keyhole.fetch.decoding import ACCEPT_ENCODING
from keyhole.fetch.domains import check_domain
from keyhole.fetch.exchange import Exchange
from keyhole.fetch.host_limits import Manners, retry_after
from keyhole.fetch.response_head import MAX_HEADER, kept_headers, location, raise_for_status
from keyhole.fetch.robots import MAX_ROBOTS, RobotsCache
from keyhole.fetch.urls import Target, parse_target, redirect_target
from keyhole.fetch.validators import NOT_MODIFIED
from keyhole.records import Page
from keyhole.text.challenges import MAX_ERROR, challenge_header, challenge_in_error

if TYPE_CHECKING:
    from keyhole.fetch.exchange import Response

ACCEPT: Final = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
READING_SHARE: Final = 2 / 3
"""Of a call's deadline, for connecting, redirects and reading; the rest is for extraction and ranking. What has come
of a page by then is shown and said to be partial."""
MAY_CHALLENGE: Final = frozenset({400, 401, 403, 404, 405, 406, 418, 429, 503})
"""Statuses that protections give their challenges and blocks; of 2xx pages the extraction judges."""
ERROR_SECONDS: Final = 3.0
"""For the body of an error: it decides only on the error's name."""


class HttpFetcher:
    """Fetches over HTTP/1.1, with no cookies, no proxy from the environment and no automatic redirects."""

    def __init__(
        self,
        config: Config,
        user_agent: str,
        clock: Callable[[], float] = time.time,
        manners: Manners | None = None,
        own: frozenset[str] | None = None,
        apis: frozenset[str] = frozenset(),
    ) -> None:
        """`apis`: `host:port` of the APIs that the operator configured, which may be private."""
        self._config = config
        self._clock = clock
        self._manners = manners or Manners()
        self._robots = RobotsCache(self._ask_robots, self._manners.now, config.timeout)
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": ACCEPT_ENCODING, "Connection": "close"}
        # What the operator opened by name is the operator's own: manners are for strangers.
        self._own = config.allow_private | apis if own is None else own
        context = ssl.create_default_context(cafile=certifi.where())
        self._public = Exchange(config, config.allow_private, context, self._manners)
        self._operator = Exchange(config, config.allow_private | apis, context, self._manners)

    async def fetch(self, url: str, terms: Terms = ANY) -> Page:
        """Follow redirects by hand, each hop checked anew; raise what the final status means."""
        target, until = parse_target(url), self._until(terms)
        for _hop in range(self._config.max_redirects + 1):
            await self._admit(target, terms)
            found = await self._waited(url, target, terms, until)
            if isinstance(found, Page):
                return found
            target = found
        raise KeyholeError(Code.TOO_MANY_REDIRECTS, f"more than {self._config.max_redirects} redirects")

    async def ask(self, call: ApiCall) -> ApiReply:
        """One request without redirects, to an API that the operator's settings name."""
        target, until = parse_target(call.url), self._until()
        kind = {} if call.body is None else {"Content-Type": "application/json"}
        headers = {**self._headers, "Accept": "application/json", **kind, **dict(call.headers)}
        async with self._operator.response(target, headers, until, call.body) as response:
            body, cut = await self._operator.body(response, until)
            if cut:
                raise KeyholeError(Code.TOO_LARGE, f"the answer of {target.host} was not whole")
            wait = retry_after(response.headers.get("retry-after", ""), self._clock())
            return ApiReply(response.status_code, body, response.headers.get("content-type", "")[:MAX_HEADER], wait)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._robots.aclose()
        await self._public.aclose()
        await self._operator.aclose()
        await self._manners.aclose()

    async def __aenter__(self) -> HttpFetcher:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _admit(self, target: Target, terms: Terms) -> None:
        """Refuse a hop that the operator, the call or the site does not want. Raises KeyholeError."""
        self._check_domain(target)
        if not terms.permits(target.url):
            raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, f"the call's sites do not let {target.host} be fetched")
        if target.endpoint in self._own:
            return
        await self._manners.check(target.host)
        if self._config.robots == "on":
            await self._robots.check(target)

    def _check_domain(self, target: Target) -> None:
        check_domain(target.host, self._config.allow_domains, self._config.deny_domains)

    def _until(self, terms: Terms = ANY) -> float:
        left = min(self._config.timeout, terms.until - self._manners.now()) if terms.until else self._config.timeout
        return asyncio.get_running_loop().time() + left * READING_SHARE

    async def _waited(self, url: str, target: Target, terms: Terms, until: float) -> Page | Target:
        """One hop; where the site asks to wait and the deadline lets us, the same hop once more after that."""
        for last in (False, True):
            try:
                return await self._ask(url, target, terms, until)
            except KeyholeError as error:
                seconds = error.facts.get("retry_after")
                if not isinstance(seconds, int):
                    raise
                if target.endpoint not in self._own:
                    await self._manners.leave_alone(target.host, seconds)
                if last or not self._manners.fits(seconds, min(terms.until, until)):
                    raise
            await self._manners.sleep(seconds)
        raise AssertionError("the second try returns or raises")

    async def _ask(self, url: str, target: Target, terms: Terms, until: float) -> Page | Target:
        """One hop: the page, or where it redirects to."""
        conditions = terms.known.headers(target.url) if terms.known else {}
        async with self._response(self._public, target, ACCEPT, until, conditions) as response:
            if place := location(response):
                return redirect_target(target, place)
            if conditions and response.status_code == NOT_MODIFIED:
                return self._page(url, target, response, b"", cut=False)
            await self._refuse_challenge(response)
            raise_for_status(response.status_code, response.headers, self._clock())
            body, cut = await self._public.body(response, until)
            return self._page(url, target, response, body, cut)

    async def _ask_robots(self, target: Target) -> bytes | Target:
        """One hop to a robots.txt: as much of its body as counts, or where it redirects to."""
        self._check_domain(target)
        until = self._until()
        async with self._response(self._public, target, "text/plain", until) as response:
            if place := location(response):
                return redirect_target(target, place)
            raise_for_status(response.status_code, response.headers, self._clock())
            return (await self._public.body(response, until, MAX_ROBOTS))[0]

    @asynccontextmanager
    async def _response(
        self,
        exchange: Exchange,
        target: Target,
        accept: str,
        until: float,
        conditions: Mapping[str, str] = MappingProxyType({}),
    ) -> AsyncIterator[Response]:
        """A response, one of few at a time from the same host."""
        headers = {**self._headers, "Accept": accept, **conditions}
        slot = nullcontext() if target.endpoint in self._own else self._manners.slot(target.host, until)
        async with slot, exchange.response(target, headers, until) as response:
            yield response

    async def _refuse_challenge(self, response: Response) -> None:
        """Name a challenge that a header tells of, or the body of an error: its status alone would mislead."""
        system = challenge_header(response.headers)
        if not system and response.status_code in MAY_CHALLENGE:
            system = challenge_in_error(await self._public.beginning(response, ERROR_SECONDS, MAX_ERROR))
        if system:
            message = f"HTTP {response.status_code}; the site's protection ({system}) let no program through"
            raise KeyholeError(Code.BOT_CHALLENGE, message, status=response.status_code)

    def _page(self, url: str, target: Target, response: Response, body: bytes, cut: bool) -> Page:
        return Page(
            requested_url=url,
            url=target.url,
            status=response.status_code,
            body=body,
            fetched_at=self._clock(),
            cut=cut,
            **kept_headers(response.headers),
        )
