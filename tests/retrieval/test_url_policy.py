"""URL policies over fakes: only URLs that were seen before may be fetched, and site filters apply."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.records import Answer, Hit
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Session
from keyhole.retrieval.sources import RESERVES
from keyhole.store.base import Limits, Store
from keyhole.store.sqlite.store import SqliteStore
from tests.support.fakes import BrokenStore, Clock, FakeEngine, FakeFetcher, page
from tests.support.product import retrieval

START = "https://start.example/index"
LINKED = "https://linked.example/a?b=c"
HIT = "https://hit.example/found"
KNOWN = Config(url_policy="known", known_urls=frozenset({START}))
PAGES = {
    START: page(START, f'<p>Pumps are <a href="{LINKED}">here</a> and more words about pumps.'),
    LINKED: page(LINKED, "<p>Linked pumps."),
    HIT: page(HIT, "<p>Pumps found by a search."),
}


def code(answer: Answer) -> str:
    return answer.text.partition(":")[0] if answer.is_error else ""


def fetch(product: Retrieval, url: str) -> str:
    return code(asyncio.run(product.web_fetch(url)))


def requested_urls(product: Retrieval) -> list[str]:
    assert isinstance(product.pages.fetcher, FakeFetcher)
    return product.pages.fetcher.calls


def test_by_default_any_url_is_fetched_as_written() -> None:
    product = retrieval({"https://start.example/%7e": page(START, "<p>Pumps.")})
    assert fetch(product, "https://start.example/%7e#x") == ""


def test_an_unknown_url_is_refused_without_a_request() -> None:
    product = retrieval(PAGES, config=KNOWN)
    answer = asyncio.run(product.web_fetch(LINKED))
    assert code(answer) == "url_not_known"
    assert "search" in answer.text
    assert requested_urls(product) == []


def test_a_malformed_url_is_reported_as_invalid() -> None:
    assert fetch(retrieval(config=KNOWN), "https://user@a.example/") == "invalid_url"


def test_a_link_of_a_fetched_page_is_known_but_similar_urls_are_not() -> None:
    product = retrieval(PAGES, config=KNOWN)
    assert fetch(product, START) == ""
    for near in (f"{LINKED}&d=secret", "https://linked.example/a", "https://secret.linked.example/a?b=c"):
        assert fetch(product, near) == "url_not_known"
    assert fetch(product, LINKED) == ""


def test_a_known_url_is_requested_in_its_known_spelling() -> None:
    product = retrieval(PAGES, config=KNOWN)
    fetch(product, START)
    assert fetch(product, "https://LINKED.example:443/%61?%62=%63#secret") == ""
    assert requested_urls(product) == [START, LINKED]


def test_a_search_result_is_known_but_an_unused_hit_is_not() -> None:
    spares = [Hit(f"https://spare.example/{number}", "", "", "fake") for number in range(RESERVES - 1)]
    engine = FakeEngine([Hit(HIT, "Pumps", "", "fake"), *spares, Hit(LINKED, "Not read", "", "fake")])
    product = retrieval(PAGES, config=KNOWN, engines=[engine])
    assert code(asyncio.run(product.search("pumps", max_results=1))) == ""
    assert fetch(product, HIT) == ""
    assert fetch(product, LINKED) == "url_not_known"


def test_the_target_of_a_redirect_is_known() -> None:
    product = retrieval({START: page(START, "<p>Pumps.", final_url=LINKED)}, config=KNOWN)
    fetch(product, START)
    assert fetch(product, LINKED) != "url_not_known"


def test_urls_seen_by_another_process_under_another_policy_are_known(tmp_path: Path) -> None:
    def store() -> Store:
        return SqliteStore(tmp_path, Clock(), Limits(1e9, 10**9))

    asyncio.run(retrieval(PAGES, store=store()).web_fetch(START))
    product = retrieval(PAGES, config=Config(url_policy="known"), store=store())
    assert fetch(product, LINKED) == ""
    assert fetch(product, HIT) == "url_not_known"


def test_while_the_store_fails_only_configured_urls_are_known() -> None:
    product = retrieval(PAGES, config=KNOWN, store=BrokenStore())
    assert fetch(product, START) == ""
    assert fetch(product, LINKED) == "url_not_known"


# The sites of a search.


def test_results_on_denied_domains_are_replaced_by_the_next_ones() -> None:
    engine = FakeEngine([Hit(LINKED, "Denied", "", "fake"), Hit(HIT, "Pumps", "", "fake")])
    product = retrieval(PAGES, config=Config(deny_domains=frozenset({"linked.example"})), engines=[engine])
    assert code(asyncio.run(product.search("pumps", max_results=1))) == ""
    assert requested_urls(product) == [HIT]


@pytest.mark.parametrize("allow", ["nowhere.example", "*.hit.example"])
def test_results_outside_the_allowed_domains_are_no_results(allow: str) -> None:
    engine = FakeEngine([Hit(HIT, "Pumps", "", "fake")])
    product = retrieval(PAGES, config=Config(allow_domains=frozenset({allow})), engines=[engine])
    answer = asyncio.run(product.search("pumps"))
    assert code(answer) == "no_results"
    assert "sites that may be fetched" in answer.text


def test_a_stored_page_of_another_site_is_not_used_for_a_site_filter() -> None:
    engine = FakeEngine([Hit(HIT, "Pumps", "", "fake")])
    pages = PAGES | {HIT: page(HIT, "<p>Pumps.", final_url=LINKED)}
    product = retrieval(pages, engines=[engine])
    fetch(product, HIT)
    asyncio.run(product.search("pumps", sites=["hit.example"]))
    assert isinstance(product.pages.fetcher, FakeFetcher)
    first, second = product.pages.fetcher.options
    assert first.permission.permits(LINKED)
    assert second.permission.permits(HIT)
    assert not second.permission.permits(LINKED)
    assert second.deadline > 0


def test_a_link_that_is_written_as_a_path_is_known_on_the_origin_of_its_page() -> None:
    own = "https://start.example/next?a=b"
    pages = {START: page(START, '<p>Pumps go <a href="next?a=b#c">on</a>.'), own: page(own, "<p>More pumps.")}
    product = retrieval(pages, config=KNOWN)
    assert "[on](/next?a=b#c)" in asyncio.run(product.web_fetch(START)).text
    assert fetch(product, "https://hit.example/next?a=b") == "url_not_known"
    assert fetch(product, own) == ""


# A path alone.

ONE, TWO, THREE = (f"https://{name}.example/" for name in ("one", "two", "three"))
LINKS = '<p>Pumps are <a href="/pumps?a=b">here</a>, and <a href="https://other.example/valves">valves</a> there.'
SITES = {url: page(url, LINKS) for url in (ONE, TWO, THREE)}


def ask_for_path(path: str, *read: str, config: Config | None = None) -> Answer:
    """Read pages in a session, then request a path."""
    product, caller = retrieval(SITES, config=config or Config()), Caller(session=Session())
    for url in read:
        assert not asyncio.run(product.web_fetch(url, caller=caller)).is_error
    answer = asyncio.run(product.web_fetch(path, caller=caller))
    assert requested_urls(product) == list(read)
    return answer


@pytest.mark.parametrize("config", [Config(), Config(url_policy="known", known_urls=frozenset({ONE}))])
@pytest.mark.parametrize("end", ["", "#part"])
def test_a_path_that_one_page_of_the_session_links_to_fails_with_the_full_url(end: str, config: Config) -> None:
    answer = ask_for_path(f"/pumps?a=b{end}", ONE, config=config)
    assert code(answer) == "invalid_url"
    assert f'Call web_fetch(url="https://one.example/pumps?a=b{end}").' in answer.text


def test_a_path_that_pages_of_several_sites_link_to_fails_with_their_sites() -> None:
    answer = ask_for_path("/pumps?a=b", ONE, TWO)
    assert "on 2 sites, such as https://two.example, https://one.example." in answer.text
    assert "web_fetch(url=" not in answer.text


@pytest.mark.parametrize("path", ["/valves", "/pumps", "/", '/"<b>`[a](b)'])
def test_a_path_that_no_page_of_the_session_links_to_fails_without_a_url(path: str) -> None:
    answer = ask_for_path(path, *([ONE] if path != "/" else []))
    assert answer.text == (
        "invalid_url: the URL is a path without its site. "
        "Give one absolute URL, such as https://example.org/page; search(query=…) finds one."
    )


def test_a_path_is_not_completed_from_pages_of_another_session() -> None:
    product = retrieval(SITES)
    assert fetch(product, ONE) == ""
    assert "web_fetch(url=" not in asyncio.run(product.web_fetch("/pumps?a=b", caller=Caller(session=Session()))).text


def test_a_path_without_a_session_or_a_store_fails_in_the_same_way() -> None:
    assert fetch(retrieval(SITES), "/pumps?a=b") == "invalid_url"
    assert fetch(retrieval(SITES, store=BrokenStore()), "/pumps?a=b") == "invalid_url"
