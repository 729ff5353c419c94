"""Pages that send their reader on: followed once, as a redirect, under the permission of the call; otherwise named."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import FetchOptions
from keyhole.fetch.permission import Permission
from keyhole.records import Answer, Page
from keyhole.render.boundary import enclose
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import FakeFetcher, page
from tests.support.product import SECRET, retrieval

OLD, NEW = "https://a.example/docs/old", "https://a.example/new"
TEXT = "The office keeps a register of every berth."
NEW_PAGE = page(NEW, f"<title>New</title><h1>New</h1><p>{TEXT}</p>")
NOTE = "The requested page only sends its reader here."
NAMED = f"The page sends its reader on to:\n{enclose(NEW, SECRET)}"
LONG = "<p>This text is long enough to be read before the page is left by anybody.</p>" * 9


def site(body: str, *others: Page, refresh: str = "") -> Retrieval:
    pages = (replace(page(OLD, body), refresh=refresh), *(others or (NEW_PAGE,)))
    return retrieval({each.url: each for each in pages})


def fetch(product: Retrieval) -> Answer:
    return asyncio.run(product.web_fetch(OLD))


def requests(product: Retrieval) -> list[str]:
    fetcher = product.pages.fetcher
    assert isinstance(fetcher, FakeFetcher)
    return fetcher.calls


@pytest.mark.parametrize(
    "body",
    [
        '<meta http-equiv="refresh" content="0;URL=/new">',
        "<title>Moved</title><meta http-equiv=Refresh content=\"5; url='/new'\"><p>You will be taken to it.</p>",
        '<base href="/"><meta http-equiv="refresh" content="0, new">',
        '<noscript><meta http-equiv="refresh" content="0;url=../new"></noscript><script>go("../new")</script>',
        "<script>window.location.replace('/new' + location.hash)</script>",
        '<link rel="canonical" href="/new"><script>if (top == self) { location = "/new" }</script>',
        '<p>Moved <a href="/new">here</a>.</p><script>setTimeout(() => { location.href = "/new" }, 9)</script>',
    ],
)
def test_a_page_of_little_text_that_sends_its_reader_on_is_followed_with_a_note(body: str) -> None:
    product = site(body)
    answer = fetch(product)
    assert TEXT in answer.text and NOTE in answer.text and not answer.is_error
    assert answer.text.startswith(NEW)
    assert requests(product) == [OLD, NEW]


@pytest.mark.parametrize("body", ["<body></body>", "<p>Moved.</p>"])
def test_the_refresh_header_is_followed_too(body: str) -> None:
    assert TEXT in fetch(site(body, refresh="0; url=/new")).text


@pytest.mark.parametrize(("own", "shown"), [("", "Part two"), ("#a", "Part one")])
def test_the_part_that_the_followed_address_names_is_shown_unless_the_requested_one_names_another(
    own: str, shown: str
) -> None:
    parts = f"<h1>All</h1>{LONG * 3}<h2 id=a>Part one</h2>{LONG * 3}<h2 id=b>Part two</h2>{LONG * 3}"
    product = site('<meta http-equiv="refresh" content="0;url=/new#b">', page(NEW, parts))
    answer = asyncio.run(product.web_fetch(OLD + own, max_chars=1200))
    assert f"]\n## {shown}" in answer.text


def test_the_page_that_was_followed_is_stored_under_the_requested_address() -> None:
    product = site('<meta http-equiv="refresh" content="0;URL=/new">')
    assert fetch(product).text == fetch(product).text
    assert requests(product) == [OLD, NEW]


@pytest.mark.parametrize(
    "body",
    [
        '<meta http-equiv="refresh" content="30;url=/new"><p>Update your bookmarks.</p>',
        '<meta http-equiv="refresh" content="30;url=/new">',
        f'<meta http-equiv="refresh" content="5;url=/new">{LONG}',
        "<script>if (isPhone) { location.href = '/new' }</script>",
    ],
)
def test_any_other_page_that_sends_its_reader_on_names_the_address(body: str) -> None:
    product = site(body)
    answer = fetch(product)
    assert NAMED in answer.text and "only pictures" not in answer.text
    assert requests(product) == [OLD]


@pytest.mark.parametrize(
    "body",
    [
        f'<meta http-equiv="refresh" content="60"><p>{TEXT}</p>',
        f'<meta http-equiv="refresh" content="0;url={OLD}#top"><p>{TEXT}</p>',
        f'<meta http-equiv="refresh" content="0;url=javascript:alert(1)"><p>{TEXT}</p>',
        f'<!-- <meta http-equiv="refresh" content="0;url=/new"> --><p>{TEXT}</p>',
        f'<noscript><meta http-equiv="refresh" content="0;url=/new"></noscript>{LONG}<p>{TEXT}</p>',
    ],
)
def test_a_page_that_stays_is_the_page_itself(body: str) -> None:
    product = site(body)
    answer = fetch(product)
    assert TEXT in answer.text and "sends its reader" not in answer.text
    assert requests(product) == [OLD]


def test_a_second_refresh_is_named_not_followed() -> None:
    again = page(NEW, '<meta http-equiv="refresh" content="0;url=/third"><p>Moved again.</p>')
    product = site('<meta http-equiv="refresh" content="0;url=/new">', again)
    assert "https://a.example/third" in fetch(product).text
    assert requests(product) == [OLD, NEW]


def test_two_pages_that_send_their_readers_to_each_other_end() -> None:
    back = page(NEW, f'<meta http-equiv="refresh" content="0;url={OLD}">')
    answer = fetch(site('<meta http-equiv="refresh" content="0;url=/new">', back))
    assert answer.is_error and NAMED in answer.text


def test_the_request_has_the_permission_of_the_call_and_no_validators() -> None:
    product = site('<meta http-equiv="refresh" content="0;url=/new">')
    fetch(product)
    fetcher = product.pages.fetcher
    assert isinstance(fetcher, FakeFetcher)
    first, second = fetcher.options
    assert second.validators is None
    assert 0 < second.permission.deadline <= first.permission.deadline
    assert second.permission.allowance is first.permission.allowance


@pytest.mark.parametrize("body", ["", "<p>It has moved.</p>"])
def test_an_address_that_the_call_does_not_permit_is_not_requested(body: str) -> None:
    product = site(f'<meta http-equiv="refresh" content="0;url=https://b.example/">{body}')
    permission = Permission(accepts=lambda url: url.startswith("https://a.example/"))

    async def read() -> tuple[object, bool]:
        options = FetchOptions(permission.until(asyncio.get_running_loop().time() + 30))
        return await product.pages.get(OLD, False, options)

    if body:
        asyncio.run(read())
    else:
        with pytest.raises(KeyholeError) as error:
            asyncio.run(read())
        assert error.value.code is Code.EMPTY_DOCUMENT
    assert requests(product) == [OLD]


def test_an_address_that_fails_is_named() -> None:
    dead = retrieval({OLD: page(OLD, '<meta http-equiv="refresh" content="0;url=/new"><p>Moved.</p>')})
    answer = fetch(dead)
    assert "Moved." in answer.text and NAMED in answer.text


def test_a_named_address_counts_as_known() -> None:
    product = site('<meta http-equiv="refresh" content="30;url=/new">')
    fetch(product)
    known = replace(product, pages=replace(product.pages, config=Config(url_policy="known")))
    assert TEXT in asyncio.run(known.web_fetch(NEW)).text
