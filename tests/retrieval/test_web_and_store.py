"""A search of the store, and of web and store together, over fakes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.passages.stems import index_terms
from keyhole.records import Answer, Hit, Page
from keyhole.retrieval.arguments import Scope
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import BrokenStore, Clock, FakeEngine, artifact, page
from tests.support.product import retrieval

TEXT = "The {} valve opens at forty bar and stays open.\n"


def web(*names: str) -> dict[str, Page]:
    return {f"https://{n}.example/": page(f"https://{n}.example/", TEXT.format(n), "text/plain") for n in names}


def engine(*names: str) -> FakeEngine:
    return FakeEngine([Hit(f"https://{n}.example/", f"Title {n}", f"Snippet of {n}.", "fake") for n in names])


def store_pages(product: Retrieval, *names: str, **fields: Any) -> None:
    for name in names:
        text = TEXT.format(name)
        kept = artifact(name * 16, text, url=f"https://{name}.example/", title=f"Stored {name}", **fields)
        product.store.put(kept, " ".join(index_terms(kept.title, text)))


def search(product: Retrieval, query: str = "valve", scope: Scope = "both", **options: Any) -> Answer:
    return asyncio.run(product.search(query, scope=scope, **options))


def test_web_and_store_are_one_list_with_the_number_of_stored_sources() -> None:
    product = retrieval(web("a", "b"), engines=[engine("a", "b")])
    store_pages(product, "c")
    answer = search(product)
    assert "1 of 3 sources from the store." in answer.text
    for name in "abc":
        assert f"The {name} valve opens" in answer.text


def test_a_page_from_web_and_store_is_shown_once() -> None:
    product = retrieval(web("a", "b"), engines=[engine("a", "b")])
    store_pages(product, "a", fetched_at=1.0)
    answer = search(product)
    assert "0 of 2 sources from the store." in answer.text
    assert answer.text.count("https://a.example/") == 1


def test_if_the_engines_fail_the_store_answers_and_the_failure_is_reported() -> None:
    failing = FakeEngine(KeyholeError(Code.RATE_LIMITED, "slow down"), name="brave")
    product = retrieval({}, engines=[failing])
    store_pages(product, "c")
    answer = search(product)
    assert not answer.is_error
    assert "1 of 1 source from the store." in answer.text.splitlines()[0]
    assert "web search failed: brave: quota." in answer.text.splitlines()[0]
    assert "The c valve opens" in answer.text


@pytest.mark.parametrize("store", [MemoryStore(Clock()), BrokenStore()])
def test_if_the_store_is_empty_or_fails_the_web_answers(store: Store) -> None:
    answer = search(retrieval(web("a"), engines=[engine("a")], store=store))
    assert "0 of 1 source from the store." in answer.text
    assert "The a valve opens" in answer.text


def test_if_neither_answers_both_are_named() -> None:
    answer = search(retrieval({}, engines=[FakeEngine()]), "zebra")
    assert answer.text.startswith("no_results: ")
    assert "found nothing" in answer.text
    assert "no stored page contains a word of the question: zebra" in answer.text


def test_without_fetching_the_web_shows_snippets_beside_stored_passages() -> None:
    product = retrieval({}, engines=[engine("a")])
    store_pages(product, "c")
    answer = search(product, fetch=False)
    assert "Snippet of a." in answer.text
    assert "The c valve opens" in answer.text


def test_progress_rises_in_a_search_of_web_and_store() -> None:
    seen: list[float] = []

    async def progress(done: float, total: float, what: str) -> None:
        seen.append(done)

    product = retrieval(web("a"), engines=[engine("a")])
    store_pages(product, "c")
    search(product, progress=progress)
    assert seen == sorted(set(seen))
    assert len(seen) >= 2


def test_a_stored_search_applies_the_filters_and_names_them_if_nothing_is_left() -> None:
    product = retrieval({})
    store_pages(product, "a", "b", fetched_at=Clock().now)
    shown = search(product, scope="stored", sites=["b.example"], freshness="day", language="en").text
    assert "The b valve" in shown
    assert "The a valve" not in shown
    none = search(product, "valve quagga", scope="stored", sites=["c.example"])
    assert none.text.startswith("no_results: no stored page that the filters allow contains")
    assert "no stored page at all contains: quagga" in none.text


def test_a_stored_search_names_the_filters_that_it_does_not_apply() -> None:
    product = retrieval({})
    store_pages(product, "a")
    shown = search(product, scope="stored", country="de", kind="news").text
    assert "country, kind not applied by the store." in shown.splitlines()[0]
    assert "engines" not in shown.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Die Häuser waren in der Stadt und das ist gut so.", "Hauses"),
        ("Стоимость новых насосов была высокой, и это не удивило их.", "насосами"),
        ("서울에서 회의를 열었다.", "서울은"),
        ("यह किताबें लड़कों के लिए हैं और वे इसे पढ़ते हैं।", "किताब"),
        ("蒙特利尔的总督投降了。", "总督"),
        ("เมืองยอมจำนนในที่สุด", "การยอมจำนน"),
        ("وصل المعلمون إلى المدرسة في الصباح من كل مدينة.", "معلمين"),
        ("東京で会議が開かれました。", "会議を"),
    ],
)
def test_a_stored_page_is_found_and_shown_in_every_script(text: str, query: str) -> None:
    product = retrieval({})
    kept = artifact(text=text + "\n", title="")
    product.store.put(kept, " ".join(index_terms("", text)))
    assert text in search(product, query, scope="stored").text
