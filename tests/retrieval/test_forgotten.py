"""What was under way when everything was forgotten is not written afterwards."""

from __future__ import annotations

import asyncio

from keyhole.fetch.base import DEFAULT_OPTIONS, FetchOptions
from keyhole.fetch.urls import hash_url
from keyhole.records import Page
from keyhole.store.forget_mark import ForgetMark
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock, FakeFetcher, page
from tests.support.product import retrieval

URL = "https://a.example/page"
LINK = "https://a.example/linked"


def test_a_page_on_its_way_is_shown_but_neither_it_nor_its_links_are_stored() -> None:
    clock = Clock()
    store = MemoryStore(clock)
    began = clock.now

    class Slow(FakeFetcher):
        async def fetch(self, url: str, options: FetchOptions = DEFAULT_OPTIONS) -> Page:
            clock.now += 5
            store.add_mark(ForgetMark(clock.now, clock.now))
            clock.now += 5
            return await super().fetch(url, options)

    body = f'<h1>Pumps</h1><p>{"Pumps move water. " * 40}<a href="{LINK}">more</a>'
    product = retrieval(store=store, clock=clock)
    object.__setattr__(product.pages, "fetcher", Slow({URL: page(URL, body, fetched_at=began)}))
    answer = asyncio.run(product.web_fetch(URL))
    assert "Pumps move water." in answer.text
    assert answer.facts["artifact_id"] is None
    assert "read_artifact" not in answer.text
    assert store.list(10) == ()
    assert not store.remembers(hash_url(URL))
    assert not store.remembers(hash_url(LINK))
