"""The renderer's permissions and the page that it returns. The browser is a fake; test_render.py runs a real one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.browser.render import BrowserRenderer, Rendered
from keyhole.fetch.base import AllowsDocument, FetchOptions
from keyhole.fetch.permission import Permission
from keyhole.records import Page
from tests.support.fakes import page

URL = "https://example.com/app"
OPTIONS = FetchOptions(Permission(20.0))
NOT_SHOWN = KeyholeError(Code.JAVASCRIPT_REQUIRED, "the browser did not show the page")


@dataclass
class FakePages:
    """Asks for the permission of `documents` and returns a page, or raises an error."""

    documents: Sequence[str] = ()
    status: int = 200
    error: KeyholeError | None = None
    permitted: list[bool] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    is_closed: bool = False

    async def render(self, url: str, deadline: float, allows: AllowsDocument) -> Rendered:
        self.deadlines.append(deadline)
        self.addresses.append(url)
        self.permitted += [await allows(each) for each in self.documents]
        if self.error:
            raise self.error
        return Rendered("<p>Grüße \ud800", f"{url}/start", self.status, 3)

    async def aclose(self) -> None:
        self.is_closed = True


class Permissions:
    """Refuses URLs with the word `private`."""

    async def check(self, url: str, options: FetchOptions) -> None:
        assert options is OPTIONS
        if "private" in url:
            raise KeyholeError(Code.ROBOTS_DISALLOWED, f"not {url}")


async def only_known(url: str) -> bool:
    return "known" in url


def render(pages: FakePages, shell: Page | None = None) -> Page:
    renderer = BrowserRenderer(pages, Permissions(), lambda: 1_000.0)

    async def run() -> Page:
        try:
            return await renderer.render(shell or page(URL, ""), OPTIONS, only_known)
        finally:
            await renderer.aclose()

    try:
        return asyncio.run(run())
    finally:
        assert pages.is_closed


def test_the_page_has_the_address_that_was_asked_for_and_the_final_one() -> None:
    pages = FakePages()
    shown = render(pages)
    assert (shown.requested_url, shown.url, shown.fetched_at) == (URL, f"{URL}/start", 1_000.0)
    assert shown.rendered
    assert (shown.body, shown.content_type) == ("<p>Grüße ?".encode(), "text/html; charset=utf-8")
    assert not shown.etag
    assert pages.deadlines == [20.0]


def test_the_fragment_of_the_address_that_was_asked_for_is_kept_after_a_redirect() -> None:
    pages = FakePages()
    render(pages, page("https://example.com/#/orders", "", final_url=URL))
    assert pages.addresses == [f"{URL}#/orders"]


def test_each_document_needs_the_permission_of_a_fetch_and_of_the_policy() -> None:
    documents = [URL, f"{URL}#top", "https://a.example/known", "https://a.example/known/private", "https://a.example/"]
    pages = FakePages(documents)
    render(pages)
    assert pages.permitted == [True, True, True, False, False]


def test_the_reason_of_a_refusal_is_reported_if_the_browser_shows_nothing() -> None:
    with pytest.raises(KeyholeError) as caught:
        render(FakePages(["https://a.example/private"], error=NOT_SHOWN))
    assert caught.value.code is Code.ROBOTS_DISALLOWED
    with pytest.raises(KeyholeError) as caught:
        render(FakePages(error=NOT_SHOWN))
    assert caught.value is NOT_SHOWN
    slow = KeyholeError(Code.TIMEOUT, "the page was not rendered in time")
    with pytest.raises(KeyholeError) as caught:
        render(FakePages(["https://a.example/private"], error=slow))
    assert caught.value is slow


def test_an_error_page_of_the_site_is_its_error() -> None:
    with pytest.raises(KeyholeError) as caught:
        render(FakePages(status=404))
    assert caught.value.code is Code.NOT_FOUND
