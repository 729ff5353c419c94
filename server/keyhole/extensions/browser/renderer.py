"""Return a page as a browser shows it: the port `Renderer`, with the permissions of all other fetches."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, Protocol

from keyhole.config.config import Config, build_user_agent
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.browser.chromium import find_browser
from keyhole.extensions.browser.render import PageRenderer, Rendered
from keyhole.fetch.base import AllowsDocument, FetchOptions
from keyhole.fetch.exchange import raise_for_status
from keyhole.records import Page

log = logging.getLogger(__name__)

CONTENT_TYPE: Final = "text/html; charset=utf-8"


class PagePermissions(Protocol):
    """Decides whether a URL may be fetched."""

    async def check(self, url: str, options: FetchOptions) -> None:
        """Raise KeyholeError if the settings, the call or robots.txt forbid a URL."""
        ...


class RendersPages(Protocol):
    """Shows a URL in a browser; see PageRenderer in render.py."""

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
