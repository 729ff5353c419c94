"""Render pages in a browser: the port `Renderer`, with the permissions of all other fetches.

Each page gets a browser of its own: a process with an empty profile, which ends after the page. After a page, the next
browser is started, so that a further page does not wait for its start. It has loaded nothing and ends if no page comes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final, Protocol

import httpcore

from keyhole.config.config import Config, build_user_agent
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.browser.chromium import Browser, DevToolsError, end_browser, find_browser, start_browser
from keyhole.extensions.browser.gateway import USER, ConnectPage, Gateway, PageConnections, open_gateway
from keyhole.extensions.browser.page_session import SETTLE_SECONDS, PageSession
from keyhole.fetch.base import AllowsDocument, FetchOptions
from keyhole.fetch.exchange import raise_for_status
from keyhole.fetch.urls import Target, parse_target
from keyhole.records import Page

# Pages in browsers: one process for each page.

log = logging.getLogger(__name__)

MAX_PAGES: Final = 2
"""Pages that are rendered at a time. Each needs a processor and about 200 MB of memory."""
SPARE_SECONDS: Final = 60.0
"""Seconds that a spare browser waits for a page: an agent's pause between two pages."""
READ_SECONDS: Final = 0.5
"""Seconds before the deadline in which a page that has not settled is read."""
END_SECONDS: Final = 1.0
"""Seconds after a page's deadline at which the supervisor ends a browser that the server has not ended."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as a browser showed it."""

    html: str
    """The visible part of the page, see visible.js."""
    url: str
    """The final URL, after redirects and navigation by scripts."""
    status: int
    requests: int


class PageRenderer:
    """Renders pages with a browser of the system. A renderer belongs to one event loop."""

    def __init__(self, config: Config, user_agent: str, program: str) -> None:
        """Create a renderer that runs `program`; see `find_browser`."""
        self._connections = PageConnections(config)
        self._user_agent = user_agent
        self._program = program
        self._slots = asyncio.Semaphore(MAX_PAGES)
        self._spare: asyncio.Task[_OpenBrowser] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def render(self, url: str, deadline: float, allows: AllowsDocument) -> Rendered:
        """Render a page until `deadline`, in seconds of the event loop's clock.

        `allows` is asked for every document: the page, its redirects and frames. Raises KeyholeError.
        """
        target = parse_target(url)
        try:
            async with asyncio.timeout_at(deadline), self._slots:
                opened = await self._take()
                try:
                    opened.use(self._connections.of_page(target))
                    return await opened.show(target, url.partition("#")[2], deadline, allows)
                finally:
                    self._end(opened)
        except TimeoutError as error:
            raise KeyholeError(Code.TIMEOUT, "the page was not rendered in time") from error
        except (DevToolsError, OSError) as error:
            raise KeyholeError(Code.JAVASCRIPT_REQUIRED, f"the browser did not show the page ({error})") from error
        finally:
            self.warm()

    def warm(self) -> None:
        """Start a browser for the next page, if none waits for it."""
        if self._spare is None or not self._is_usable(self._spare):
            self._drop_spare()
            self._spare = asyncio.create_task(_OpenBrowser.start(self._program, self._user_agent))

    async def aclose(self) -> None:
        """End all browsers."""
        self._drop_spare()
        while self._ending:
            await asyncio.wait(self._ending)

    async def _take(self) -> _OpenBrowser:
        """Return the browser that waits for a page, or a new one."""
        spare, self._spare = self._spare, None
        if spare is None or not self._is_usable(spare):
            return await _OpenBrowser.start(self._program, self._user_agent)
        return await spare  # is cancelled with its caller

    @staticmethod
    def _is_usable(spare: asyncio.Task[_OpenBrowser]) -> bool:
        if not spare.done():
            return True
        return not spare.cancelled() and spare.exception() is None and spare.result().browser.is_alive

    def _drop_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is None:
            return
        if spare.done() and not spare.cancelled() and spare.exception() is None:
            self._end(spare.result())
        else:
            spare.cancel()
            self._keep(asyncio.create_task(_settled(spare)))

    def _end(self, opened: _OpenBrowser) -> None:
        """End a browser without waiting for it."""
        self._keep(asyncio.create_task(opened.aclose()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


class _OpenBrowser:
    """A browser with an empty page, behind a proxy of its own."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._connect: ConnectPage | None = None
        self.browser: Browser
        self.gateway: Gateway
        self.session: PageSession

    @classmethod
    async def start(cls, program: str, user_agent: str) -> _OpenBrowser:
        """Start a browser and open a page. Raises DevToolsError and OSError."""
        async with AsyncExitStack() as stack:
            opened = cls(stack)
            opened.gateway = await stack.enter_async_context(open_gateway(opened._connect_page))
            opened.browser = await start_browser(program, opened.gateway.port, user_agent, SPARE_SECONDS)
            stack.push_async_callback(end_browser, opened.browser)
            opened.session = PageSession(opened.browser.devtools, USER, opened.gateway.secret)
            await opened.session.open()
            opened._stack = stack.pop_all()
            return opened
        raise AssertionError("the stack suppresses no exception")

    def use(self, connect: ConnectPage) -> None:
        """Set the function that makes the page's connections."""
        self._connect = connect

    async def show(self, target: Target, fragment: str, deadline: float, allows: AllowsDocument) -> Rendered:
        """Load a page, wait until it has settled, and return what it shows.

        `fragment` follows `#` in the page's address: some apps read from it which page to show.
        """
        now = asyncio.get_running_loop().time()
        self.browser.set_deadline(deadline - now + END_SECONDS)
        try:
            await self.session.load(f"{target.url}#{fragment}" if fragment else target.url, allows)
        finally:
            if refusal := self.gateway.totals.refusals.get(target.endpoint):
                raise refusal
        await self.session.settle(min(deadline - READ_SECONDS, now + SETTLE_SECONDS))
        html, url = await self.session.read()
        network = self.session.network
        return Rendered(html, url, network.status, network.requests)

    async def aclose(self) -> None:
        """End the browser and its proxy."""
        await self._stack.aclose()

    async def _connect_page(self, host: str, port: int) -> httpcore.AsyncNetworkStream:
        if self._connect is None:
            raise KeyholeError(Code.BLOCKED_ADDRESS, "the browser has no page to load yet")
        return await self._connect(host, port)


async def _settled(task: asyncio.Task[_OpenBrowser]) -> None:
    """Wait for the end of a task whose result is not needed, and close a browser that it opened nevertheless."""
    await asyncio.wait([task])
    if not task.cancelled() and task.exception() is None:
        await task.result().aclose()


# The port: a page whose documents are all permitted, as a browser shows it.

CONTENT_TYPE: Final = "text/html; charset=utf-8"


class PagePermissions(Protocol):
    """Decides whether a URL may be fetched."""

    async def check(self, url: str, options: FetchOptions) -> None:
        """Raise KeyholeError if the settings, the call or robots.txt forbid a URL."""
        ...


class RendersPages(Protocol):
    """Shows a URL in a browser, as `PageRenderer` does."""

    async def render(self, url: str, deadline: float, allows: AllowsDocument) -> Rendered:
        """Return what the browser shows. Raises KeyholeError."""
        ...

    async def aclose(self) -> None:
        """End all browsers."""
        ...


class BrowserRenderer:
    """Renders pages whose documents are all permitted."""

    def __init__(self, pages: RendersPages, permissions: PagePermissions, clock: Callable[[], float]) -> None:
        """Create a renderer. `clock` returns the time in seconds since the epoch."""
        self._pages = pages
        self._permissions = permissions
        self._clock = clock

    async def render(self, page: Page, options: FetchOptions, allows: AllowsDocument) -> Page:
        """Return the page as a browser shows it. The page, its redirects and its frames are checked like any fetch.

        Raises KeyholeError: javascript_required if the browser shows nothing, timeout, the status of the page, or the
        reason why a document was refused.
        """
        now = self._clock()
        refusals: list[KeyholeError] = []

        async def permits(url: str) -> bool:
            try:
                await self._permissions.check(url, options)
            except KeyholeError as error:
                refusals.append(error)
                return False
            return _is_same_document(url, page.url) or await allows(url)

        try:
            # Redirects keep the fragment.
            url = page.url + "".join(page.requested_url.partition("#")[1:])
            rendered = await self._pages.render(url, options.deadline, permits)
        except KeyholeError as error:
            if error.code is Code.JAVASCRIPT_REQUIRED and refusals:
                raise refusals[0] from error
            raise
        raise_for_status(rendered.status, {}, now)
        body = rendered.html.encode("utf-8", "replace")
        return Page(page.requested_url, rendered.url, rendered.status, CONTENT_TYPE, body, now, rendered=True)

    async def aclose(self) -> None:
        """End all browsers."""
        await self._pages.aclose()


def _is_same_document(url: str, other: str) -> bool:
    return url.partition("#")[0] == other.partition("#")[0]


def open_renderer(config: Config, permissions: PagePermissions) -> BrowserRenderer | None:
    """Return the renderer of pages that scripts write, None if this machine has no browser."""
    program = find_browser(str(config.browser or ""))
    if program is None:
        log.warning("KEYHOLE_RENDER is auto, but %s was not found", config.browser or "a Chromium")
        return None
    return BrowserRenderer(PageRenderer(config, build_user_agent(config), program), permissions, time.time)
