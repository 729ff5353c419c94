"""The tools with a reranker: what they show, what they report when it fails, their budgets and deadlines."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.extensions.models.apis import Reranker
from keyhole.fetch.base import Api
from keyhole.records import Answer, Hit
from keyhole.rerank.rerank_passages import PassageReranker
from keyhole.retrieval.arguments import Scope
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import FakeEngine, page
from tests.support.loopback import response, serve
from tests.support.product import retrieval
from tests.support.scorer_requests import Server, config, with_api
from tests.support.scorer_server import KEY

URL = "https://pumps.example/manual"
OTHER = "https://other.example/seals"
QUERY = "which pressure does the pump seal hold"
# Lexical ranking prefers sections that repeat some words; the test reranker prefers the passage with all of them.
LONG = "# Manual\n\n" + "".join(
    f"## Part {n}\n\nThe pump of part {n} has a seal, and the seal of the pump is grey, as all of part {n} is.\n\n"
    for n in range(300)
)
ANSWER = "Which is the pressure that this does hold? The pump seal is made for 40 bar."
TEXT = LONG + f"## Limits\n\n{ANSWER}\n\n" + LONG.replace("part", "piece")
PAGES = {url: page(url, TEXT, content_type="text/markdown") for url in (URL, OTHER)}
HITS = [Hit(URL, "Manual", "a snippet", "fake"), Hit(OTHER, "Seals", "another", "fake")]


def product(settings: Config, api: Api | None) -> Retrieval:
    """Return the product with recorded pages, and with a reranker if there is an `api`."""
    reranker = PassageReranker([Reranker(settings, api)]) if api else None
    return retrieval(PAGES, config=settings, engines=[FakeEngine(HITS)], reranker=reranker)


def fetch(settings: Config, budget: int = 3_000, *, reranking: bool = True) -> Answer:
    """Fetch a page with the query."""

    async def use(api: Api) -> Answer:
        return await product(settings, api if reranking else None).web_fetch(URL, QUERY, budget)

    return with_api(settings, use)


def search(settings: Config, budget: int = 4_000, scope: Scope = "web") -> Answer:
    """Search; with the scope `stored`, fetch a page first."""

    async def use(api: Api) -> Answer:
        agent = product(settings, api)
        if scope == "stored":
            await agent.web_fetch(URL)
        return await agent.search(QUERY, scope=scope, max_chars=budget)

    return with_api(settings, use)


def read(settings: Config) -> Answer:
    """Read a stored page with the query."""

    async def use(api: Api) -> Answer:
        agent = product(settings, api)
        id = str((await agent.web_fetch(URL, max_chars=9_000)).facts["artifact_id"])
        return await agent.read_artifact(id, query=QUERY, limit=3_000)

    return with_api(settings, use)


@pytest.mark.parametrize("tool", [fetch, search, read])
def test_every_tool_with_a_query_shows_the_reranked_passage(server: Server, tool: object) -> None:
    assert callable(tool)
    session = server.session()
    answer = tool(config(rerank_url=server.url("v1/rerank", session=session)))
    assert not answer.is_error
    assert len(server.requests(session)) == 1
    assert ANSWER in answer.text, "the whole passage"
    assert "lexical order" not in answer.text


@pytest.mark.parametrize("fault", ["500", "garbage", "fewer", "nan"])
@pytest.mark.parametrize("tool", [fetch, search, read])
def test_every_tool_reports_a_failed_reranker_in_one_line(server: Server, tool: object, fault: str) -> None:
    assert callable(tool)
    settings = config(rerank_url=server.url("v1/rerank", fault))
    answer = tool(settings)
    assert answer.text.count("Reranker: ") == answer.text.count("; lexical order.") == 1
    assert not answer.is_error


def spans(answer: Answer) -> list[tuple[int, int]]:
    """Return the spans of a page that are shown."""
    shown = answer.details["spans"]
    assert isinstance(shown, list)
    return [(start, end) for start, end, _ in shown]


def test_a_failed_reranker_costs_only_the_size_of_its_line(server: Server) -> None:
    plain = spans(fetch(config(), reranking=False))
    failed = spans(fetch(config(rerank_url=server.url("v1/rerank", "500"))))
    assert all(any(first <= start and end <= last for first, last in plain) for start, end in failed)
    assert sum(end - start for start, end in plain) - sum(end - start for start, end in failed) < 300


@pytest.mark.parametrize("fault", ["-", "500"])
@pytest.mark.parametrize("budget", [500, 700, 1_199, 1_200, 2_000, 9_000])
def test_the_line_counts_towards_every_budget(server: Server, budget: int, fault: str) -> None:
    settings = config(rerank_url=server.url("v1/rerank", fault))
    for answer in (fetch(settings, budget), search(settings, budget), search(settings, budget, "stored")):
        assert len(answer.text) <= budget
        assert ("lexical order" in answer.text) == (fault == "500")


def test_equal_scores_give_equal_answers(server: Server) -> None:
    settings = config(rerank_url=server.url("v1/rerank"))
    assert fetch(settings) == fetch(settings)
    assert search(settings) == search(settings)


def test_a_reranker_that_never_answers_does_not_delay_the_answer(server: Server) -> None:
    settings = config(rerank_url=server.url("v1/rerank", "slow"), timeout=1.5)
    started = time.monotonic()
    answer = fetch(settings)
    assert time.monotonic() - started < 1.5
    assert "Reranker: timeout; lexical order." in answer.text
    assert "--- untrusted text" in answer.text


def test_a_page_that_fits_the_budget_is_not_reranked(server: Server) -> None:
    session = server.session()
    fetch(config(rerank_url=server.url("v1/rerank", session=session)), 200_000)
    assert server.requests(session) == []


def test_snippets_are_not_sent(server: Server) -> None:
    session = server.session()
    settings = config(rerank_url=server.url("v1/rerank", session=session))

    async def use(api: Api) -> Answer:
        return await product(settings, api).search(QUERY, fetch=False)

    assert "a snippet" in with_api(settings, use).text
    assert server.requests(session) == []


def test_a_key_is_not_in_the_answer(server: Server) -> None:
    settings = config(rerank_url=server.url("v1/rerank", "key"), rerank_key="an0ther-key")
    answer = fetch(settings)
    assert "the key is refused" in answer.text
    assert "an0ther" not in answer.text + repr(answer.facts) + repr(settings)


def test_a_cancelled_call_cancels_its_scorer(server: Server) -> None:
    settings = config(rerank_url=server.url("v1/rerank", "slow"))

    async def use(api: Api) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await product(settings, api).web_fetch(URL, QUERY, 3_000)

    with_api(settings, use)


def test_the_command_line_uses_the_scorers_of_the_environment(server: Server, tmp_path: Path) -> None:
    session = server.session()
    with serve({"/manual": response(TEXT.encode(), Content_Type="text/markdown")}) as site:
        environment = {
            "KEYHOLE_HOME": str(tmp_path),
            "KEYHOLE_ALLOW_PRIVATE": site.endpoint,
            "KEYHOLE_EMBED_URL": server.url("v1/embeddings", "key", session),
            "KEYHOLE_EMBED_MODEL": "words",
            "KEYHOLE_EMBED_KEY": KEY,
            "KEYHOLE_RERANK_URL": server.url("v1/rerank", "key", session),
            "KEYHOLE_RERANK_KEY": "an0ther",
            "KEYHOLE_LOG_LEVEL": "DEBUG",
        }
        command = [sys.executable, "-m", "keyhole", "fetch", site.url("/manual"), "--query", QUERY, "--json"]
        run = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=60
        )
    assert "Reranker: the key is refused (HTTP 401); order of the embeddings." in run.stdout
    assert ANSWER in json.loads(run.stdout)["text"]
    assert len(server.requests(session)) == 4, "the query, two batches, the reranker"
    assert KEY not in run.stdout + run.stderr
    assert "an0ther" not in run.stdout + run.stderr
