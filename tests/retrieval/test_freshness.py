"""A page fetched again from a server on loopback: it is revalidated, and its changes are named."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.config.config import MIN_BUDGET, Config
from keyhole.fetch.client import HttpFetcher
from keyhole.records import Answer
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Limits, Store
from keyhole.store.sqlite.store import MEMORY_LIMITS, MemoryStore, SqliteStore
from keyhole.text.challenges import CHALLENGE_MARKS
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcessExtractor, page
from tests.support.loopback import Call, Responder, Site, response, serve
from tests.support.product import SECRET, retrieval

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
FIRST = "# Fees\n\nThe fee is 5 euros.\n\nPay at the desk.\n"
SECOND = "# Fees\n\nThe fee is 6 euros.\n\nPay at the desk.\n\nCards are taken.\n"


@dataclass
class ConditionalSite:
    """A site that answers conditional requests; `pages` may change between fetches."""

    pages: dict[str, str]
    etags: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    always_304: bool = False

    def __call__(self, site: Site) -> Responder:
        def talk(call: Call) -> None:
            path, requests = call.path, call.headers
            if path in self.redirects:
                call.send(response(status="302 Found", Location=self.redirects[path]))
                return
            facts = {"Content_Type": "text/markdown; charset=utf-8"}
            facts |= {"ETag": self.etags[path]} if path in self.etags else {}
            facts |= {"Last_Modified": self.dates[path]} if path in self.dates else {}
            same = requests.get("if-none-match") == self.etags.get(path, "?") or (
                path not in self.etags and requests.get("if-modified-since") == self.dates.get(path, "?")
            )
            if same or self.always_304:
                call.send(f"HTTP/1.1 304 Not Modified\r\nETag: {self.etags.get(path, '')}\r\n\r\n".encode())
            else:
                call.send(response(self.pages[path].encode(), **facts))

        return talk


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore(clock, replace(MEMORY_LIMITS, ttl=1e9))
        return
    kept = SqliteStore(tmp_path, clock, Limits(1e9, 10**9))
    yield kept
    kept.close()


@dataclass
class Agent:
    """A product over a real client and a real store."""

    site: Site
    store: Store
    clock: Clock

    def fetch(self, path: str = "/x", *, refresh: bool = False, wait: float = 0, budget: int = 9_000) -> Answer:
        self.clock.advance(wait)

        async def run() -> Answer:
            config = Config(allow_private=frozenset({self.site.endpoint}))
            async with HttpFetcher(config, "Test/1", self.clock) as fetcher:
                product = Retrieval(
                    Pages(config, fetcher, InProcessExtractor(), self.store, SECRET, self.clock), lambda: Panel(())
                )
                return await product.web_fetch(self.site.url(path), None, budget, refresh=refresh)

        return asyncio.run(run())

    def requests(self) -> list[tuple[str, str, str]]:
        """Return path, If-None-Match and If-Modified-Since of every request so far."""
        heads = [(call.path, call.headers) for call in self.site.calls]
        return [(path, head.get("if-none-match", ""), head.get("if-modified-since", "")) for path, head in heads]


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"'])
def test_a_stale_page_is_revalidated_and_a_304_answers_from_the_store(store: Store, clock: Clock, etag: str) -> None:
    with serve(ConditionalSite({"/x": FIRST}, {"/x": etag}, {"/x": DATE})) as site:
        agent = Agent(site, store, clock)
        first = agent.fetch()
        again = agent.fetch(wait=901)
        assert agent.requests() == [("/x", "", ""), ("/x", etag, DATE)]
        assert again == first
        assert "The fee is 5 euros." in again.text
        # The 304 renewed the artifact, so there is no request within the freshness window.
        assert agent.fetch(wait=899) == first
        assert len(agent.requests()) == 2


def test_a_last_modified_date_is_enough_to_revalidate(store: Store, clock: Clock) -> None:
    with serve(ConditionalSite({"/x": FIRST}, dates={"/x": DATE})) as site:
        agent = Agent(site, store, clock)
        assert agent.fetch(refresh=True) == agent.fetch(refresh=True)
        assert agent.requests() == [("/x", "", ""), ("/x", "", DATE)]


@pytest.mark.parametrize("etag", ["v1", '"a b"', '"' + "x" * 500 + '"'])
def test_an_invalid_etag_is_not_sent(store: Store, clock: Clock, etag: str) -> None:
    with serve(ConditionalSite({"/x": FIRST}, {"/x": etag})) as site:
        agent = Agent(site, store, clock)
        assert agent.fetch() == agent.fetch(wait=901)
        assert agent.requests() == [("/x", "", "")] * 2


def test_an_unrequested_304_is_a_failure(store: Store, clock: Clock) -> None:
    with serve(ConditionalSite({"/x": FIRST}, always_304=True)) as site:
        answer = Agent(site, store, clock).fetch()
        assert answer.is_error
        assert answer.text.startswith("http_status: HTTP 304")


def test_validators_are_sent_only_to_the_url_they_came_from(store: Store, clock: Clock) -> None:
    with serve(ConditionalSite({"/y": FIRST, "/z": FIRST}, {"/y": '"1"', "/z": '"1"'}, redirects={"/x": "/y"})) as site:
        agent = Agent(site, store, clock)
        first = agent.fetch()
        assert agent.fetch(wait=901) == first
        assert agent.requests()[2:] == [("/x", "", ""), ("/y", '"1"', "")]


def test_a_changed_redirect_target_gets_no_validators(store: Store, clock: Clock) -> None:
    pages = ConditionalSite({"/y": FIRST, "/z": SECOND}, {"/y": '"1"', "/z": '"1"'}, redirects={"/x": "/y"})
    with serve(pages) as site:
        agent = Agent(site, store, clock)
        agent.fetch()
        pages.redirects["/x"] = "/z"
        assert "The fee is 6 euros." in agent.fetch(wait=901).text
        assert agent.requests()[2:] == [("/x", "", ""), ("/z", "", "")]


def test_a_changed_page_is_another_artifact_with_its_new_ranges(store: Store, clock: Clock) -> None:
    pages = ConditionalSite({"/x": FIRST}, {"/x": '"1"'})
    with serve(pages) as site:
        agent = Agent(site, store, clock)
        old = str(agent.fetch().facts["artifact_id"])
        pages.pages["/x"], pages.etags["/x"] = SECOND, '"2"'
        answer = agent.fetch(wait=901)
        line = re.search(r'^Changed since an earlier fetch \(id="(\w+)"\): new at (.*)\.$', answer.text, re.MULTILINE)
        assert line
        assert line[1] == old
        new = store.get(str(answer.facts["artifact_id"]))
        places = [tuple(map(int, place.split(":"))) for place in line[2].split(", ")]
        assert [new.text[start:end] for start, end in places] == ["The fee is 6 euros.", "Cards are taken."]
        assert store.get(old).text == FIRST
        # The answer has the same bytes from the store, after a 304, and after the text was sent again.
        assert agent.fetch() == answer
        assert agent.fetch(wait=901) == answer
        pages.etags["/x"] = '"3"'
        assert agent.fetch(refresh=True, wait=1) == answer
        assert agent.requests()[-1] == ("/x", '"2"', "")


def test_a_page_that_changes_back_is_the_first_artifact_again(store: Store, clock: Clock) -> None:
    pages = ConditionalSite({"/x": FIRST})
    with serve(pages) as site:
        agent = Agent(site, store, clock)
        first = agent.fetch()
        pages.pages["/x"] = SECOND
        second = agent.fetch(wait=901)
        pages.pages["/x"] = FIRST
        third = agent.fetch(wait=901)
        assert third.facts["artifact_id"] == first.facts["artifact_id"]
        since = f'(id="{second.facts["artifact_id"]}")'
        assert since in third.text


def test_a_truncated_page_is_fetched_again_without_validators(store: Store, clock: Clock) -> None:
    def make_responder(_: Site) -> Responder:
        def talk(call: Call) -> None:
            call.send(response(b"half of it\n" * 10, Content_Type="text/plain", ETag='"1"', Content_Length="999"))

        return talk

    with serve(make_responder) as site:
        agent = Agent(site, store, clock)
        assert "Partial" in agent.fetch().text
        agent.fetch(wait=901)
        assert agent.requests() == [("/x", "", "")] * 2


def test_a_page_removed_during_revalidation_is_fetched_again(store: Store, clock: Clock) -> None:
    def make_responder(_: Site) -> Responder:
        def talk(call: Call) -> None:
            if "if-none-match" in call.headers:
                for row in store.list(10):
                    store.remove(row.id)
                call.send(b"HTTP/1.1 304 Not Modified\r\n\r\n")
            else:
                call.send(response(b"The text.\n", Content_Type="text/plain", ETag='"1"'))

        return talk

    with serve(make_responder) as site:
        agent = Agent(site, store, clock)
        first = agent.fetch()
        assert agent.fetch(wait=901) == first
        assert agent.requests() == [("/x", "", ""), ("/x", '"1"', ""), ("/x", "", "")]
        assert store.get(str(first.facts["artifact_id"])).text == "The text.\n"


@settings(max_examples=120, deadline=None)
@given(
    # A page with the mark of a bot check is treated as a bot check.
    author=st.text(max_size=300).filter(lambda text: not any(mark in text for mark in CHALLENGE_MARKS)),
    lines=st.lists(st.text(st.sampled_from('aé中"<&\n '), max_size=40), min_size=1, max_size=60),
    other=st.lists(st.text(st.sampled_from('bé中"<&\n '), max_size=40), min_size=1, max_size=60),
    budget=st.integers(MIN_BUDGET, 6_000),
    query=st.sampled_from([None, "abba bb"]),
)
def test_the_result_of_a_changed_page_is_within_every_budget(
    author: str, lines: list[str], other: list[str], budget: int, query: str | None
) -> None:
    def html(texts: list[str]) -> str:
        about = f'<meta name="author" content="{escape(author)}"><meta property="og:site_name" content="{"S" * 99}">'
        return f"<title>T</title>{about}<main><p>start</p>{''.join(f'<p>{escape(text)}</p>' for text in texts)}"

    clock = Clock()
    product = retrieval({"https://a.example/x": page("https://a.example/x", html(lines))}, clock=clock)
    asyncio.run(product.web_fetch("https://a.example/x", query, budget))
    clock.advance(901)
    assert isinstance(product.pages.fetcher, FakeFetcher)
    product.pages.fetcher.answers["https://a.example/x"] = page(
        "https://a.example/x", html(other), fetched_at=clock.now
    )
    answer = asyncio.run(product.web_fetch("https://a.example/x", query, budget))
    assert not answer.is_error
    assert len(answer.text) <= budget
    assert asyncio.run(product.web_fetch("https://a.example/x", query, budget)) == answer
