"""Searches over fakes: the sources with passages, the listed sources and the errors."""

from __future__ import annotations

import asyncio

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, Hit, Source
from keyhole.render.budget import Budget
from keyhole.render.sources import UNRANKED
from keyhole.retrieval.call import UNKNOWN_CALLER, Call
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.sources import FoundSources
from tests.support.fakes import HANGS, FakeEngine, artifact, page
from tests.support.product import retrieval


def hits(*names: str) -> tuple[Hit, ...]:
    return tuple(Hit(f"https://{n}.example/", f"Title {n}", f"Snippet of {n}.", "fake") for n in names)


def web(*names: str) -> dict[str, object]:
    return {
        f"https://{n}.example/": page(f"https://{n}.example/", f"# {n}\n\n" + f"The {n} valve opens at noon. " * 400)
        for n in names
    }


def search(product: Retrieval, **more: object) -> Answer:
    return asyncio.run(product.search("valve opens", **more))  # type: ignore[arg-type]


def test_a_search_shows_numbered_sources_with_passages_and_ids() -> None:
    answer = search(retrieval(web("a", "b"), engines=[FakeEngine(hits("a", "b"))]))
    assert "[1] " in answer.text
    assert "[2] " in answer.text
    assert answer.text.count("valve opens at noon") > 2
    assert answer.text.count(', id="') == 2


def test_every_source_gets_its_best_passage_before_any_gets_its_second() -> None:
    product = retrieval(web("a", "b", "c"), engines=[FakeEngine(hits("a", "b", "c"))])
    answer = search(product, max_chars=6_000)
    for name in "abc":
        assert f"The {name} valve opens" in answer.text


def test_a_failing_engine_is_named_beside_the_results_of_the_others() -> None:
    broken = FakeEngine(KeyholeError(Code.RATE_LIMITED, "slow down"), name="brave")
    answer = search(retrieval(web("a"), engines=[broken, FakeEngine(hits("a"), name="searxng")]))
    assert "1 of 2 engines; brave: quota" in answer.text


def test_unreachable_engines_are_an_error_other_than_no_results() -> None:
    broken = FakeEngine(KeyholeError(Code.ENGINE_UNAVAILABLE, "challenge page"))
    assert search(retrieval(engines=[broken])).text.startswith("engine_unavailable: ")
    assert search(retrieval(engines=[])).text.startswith("key_refused: no search engine is set up. ")


def test_a_healthy_engine_without_hits_is_no_results() -> None:
    assert search(retrieval(engines=[FakeEngine(())])).text.startswith("no_results: ")


def test_a_page_that_cannot_be_read_keeps_its_snippet_with_the_reason() -> None:
    missing = {"https://missing.example/": KeyholeError(Code.SERVER_ERROR, "HTTP 503", status=503)}
    answer = search(retrieval({**web("a"), **missing}, engines=[FakeEngine(hits("a", "gone", "missing"))]))
    assert "https://gone.example/ “Title gone” (not read: dns_failure)" in answer.text
    assert "https://missing.example/ “Title missing” (not read: server_error 503)" in answer.text
    assert "Snippet of gone." in answer.text


def test_a_slow_page_does_not_delay_the_answer_past_the_deadline() -> None:
    answers = {**web("a"), "https://slow.example/": HANGS}
    product = retrieval(answers, engines=[FakeEngine(hits("a", "slow"))], config=Config(timeout=0.3))
    answer = search(product)
    assert "1 not read in time" in answer.text
    assert "https://slow.example/ “Title slow” (not read: timed out)" in answer.text
    assert "The a valve opens" in answer.text


def test_a_ranking_without_time_left_is_abandoned_with_a_note() -> None:
    found = FoundSources(
        (Source("https://a.example/", "A", artifact=artifact(text="A valve. " * 10_000), stored=True),)
    )

    async def run() -> tuple[object, str]:
        now = asyncio.get_running_loop().time()
        call = Call(UNKNOWN_CALLER, Budget(9_000), Budget(9_000), seconds=0.0, deadline=now)
        return await retrieval()._rank(call, found, ["valve"])

    assert asyncio.run(run()) == (None, UNRANKED)


def test_site_filters_apply_even_if_the_engine_ignores_them() -> None:
    product = retrieval(web("a", "b"), engines=[FakeEngine(hits("a", "b"))])
    answer = search(product, sites=["b.example"])
    assert "Title a" not in answer.text
    assert "https://b.example/" in answer.text
    assert "https://a.example/" not in search(product, exclude_sites=["a.example"]).text


def test_the_stored_scope_finds_fetched_pages_without_the_network() -> None:
    product = retrieval(web("a", "b"))
    for name in "ab":
        asyncio.run(product.web_fetch(f"https://{name}.example/"))
    answer = search(product, scope="stored", max_results=1)
    assert "1 source from stored artifacts." in answer.text
    assert asyncio.run(product.search("zebra", scope="stored")).text.startswith("no_results: ")


def test_progress_strictly_rises() -> None:
    seen: list[float] = []

    async def progress(done: float, total: float, what: str) -> None:
        seen.append(done)
        assert done <= total
        assert what

    product = retrieval(web("a", "b"), engines=[FakeEngine(hits("a", "b"))])
    asyncio.run(product.search("valve", progress=progress))
    assert seen == sorted(set(seen))
    assert len(seen) >= 3


def test_a_small_budget_omits_whole_sources_and_counts_them() -> None:
    product = retrieval(web("a", "b", "c"), engines=[FakeEngine(hits("a", "b", "c"))])
    for budget in range(500, 3_000, 50):
        text = search(product, max_chars=budget).text
        assert text.startswith("3 sources from the web"), budget
        assert "[1] " in text
        assert text.count("--- untrusted text") == text.count("--- end "), budget
        assert not text.endswith("…"), budget
    assert ", 2 not shown: the budget is small." in search(product, max_chars=500, max_tokens=200).text
