"""Second opinions on a call: the order they give, the order that stands where they fail, and that no call waits."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.build import build
from keyhole.config.config import Config
from keyhole.fetch.base import Api
from keyhole.records import Fault, Passage, Ranked
from keyhole.render.answer import second_opinion
from keyhole.rerank.base import Opinion, Scorer
from keyhole.rerank.rerank_passages import MARGIN, Reordered, SecondOpinion
from keyhole.rerank.reranker import Reranker
from keyhole.store.base import LOCAL
from keyhole.store.memory import MemoryStore
from tests.support.fakes import Clock
from tests.support.scorer_requests import Server, config, embedder, with_api
from tests.support.scorer_server import POISON

QUERY = "pump seal pressure"
TEXTS = ["a pump", "nothing", "pump seal", "pump seal pressure", "seal"]


def scorers(settings: Config, api: Api) -> list[Scorer]:
    """As the command line builds them."""
    asked: list[Scorer] = [embedder(settings, api, MemoryStore(Clock()))] if settings.embed_url else []
    return [*asked, Reranker(settings, api)] if settings.rerank_url else asked


def ordered(settings: Config, texts: Sequence[str] = TEXTS, seconds: float = 60.0) -> Reordered:
    """The order that scorers give to texts, with so much time left of the call."""

    async def use(api: Api) -> Reordered:
        until = asyncio.get_running_loop().time() + seconds
        return await SecondOpinion(scorers(settings, api)).order(QUERY, len(texts), texts.__getitem__, until)

    return with_api(settings, use)


def test_a_reranker_orders_by_its_scores(server: Server) -> None:
    assert ordered(config(rerank_url=server.url("v1/rerank"))) == Reordered((3, 2, 0, 4, 1))


def test_only_the_first_are_sent_and_the_rest_keep_their_order_below(server: Server) -> None:
    session = server.session()
    found = ordered(config(rerank_url=server.url("v1/rerank", session=session), rerank_max_docs=3))
    assert found.order == (2, 0, 1, 3, 4)
    assert [call["body"]["documents"] for call in server.asked(session)] == [TEXTS[:3]]


def test_under_the_threshold_comes_after_all_others(server: Server) -> None:
    settings = config(rerank_url=server.url("v1/rerank"), rerank_max_docs=3, rerank_threshold=0.5)
    assert ordered(settings).order == (2, 3, 4, 0, 1)


def test_the_reranker_judges_what_the_embeddings_put_first(server: Server) -> None:
    session = server.session()
    settings = config(
        embed_url=server.url("v1/embeddings"),
        rerank_url=server.url("v1/rerank", session=session),
        rerank_max_docs=2,
    )
    alone = ordered(config(embed_url=settings.embed_url))
    assert alone.order != (0, 1, 2, 3, 4)
    assert ordered(settings).faults == ()
    assert [call["body"]["documents"] for call in server.asked(session)] == [[TEXTS[at] for at in alone.order[:2]]]


@pytest.mark.parametrize("fault", ["500", "garbage", "fewer", "twice", "nan", "null", "infinity", "401"])
def test_whatever_fails_the_lexical_order_stands_and_one_line_says_so(server: Server, fault: str) -> None:
    found = ordered(config(rerank_url=server.url("v1/rerank", fault)))
    assert found.order == (0, 1, 2, 3, 4)
    assert second_opinion(found.faults).startswith("Reranker: ")
    assert second_opinion(found.faults).endswith("; lexical order.")


def test_a_timeout_is_said_as_one(server: Server) -> None:
    found = ordered(config(rerank_url=server.url("v1/rerank", "slow"), rerank_timeout=0.05))
    assert found.order == (0, 1, 2, 3, 4)
    assert second_opinion(found.faults) == "Reranker: timeout; lexical order."


def test_no_scorer_takes_what_the_call_needs_for_its_end(server: Server) -> None:
    session = server.session()
    settings = config(rerank_url=server.url("v1/rerank", session=session))
    found = ordered(settings, seconds=MARGIN)
    assert second_opinion(found.faults) == "Reranker: no time left; lexical order."
    assert server.asked(session) == []


def test_a_scorer_gets_no_more_than_the_call_has_left(server: Server) -> None:
    settings = config(rerank_url=server.url("v1/rerank", "slow"), rerank_timeout=60.0)
    assert ordered(settings, seconds=MARGIN + 0.05).faults[0].what == "timeout"


def test_a_batch_that_failed_is_counted_and_the_others_move(server: Server) -> None:
    settings = config(embed_url=server.url("v1/embeddings", "poison"), embed_batch=1)
    found = ordered(settings, [f"{POISON} one", *["other words"] * 6, QUERY])
    assert found.order[0] == 0
    assert found.order.index(7) < found.order.index(6)
    assert second_opinion(found.faults) == "Embeddings: HTTP 500 for 1 of 8 passages; lexical order for these."


def test_a_reranker_that_fails_after_embeddings_leaves_their_order(server: Server) -> None:
    settings = config(embed_url=server.url("v1/embeddings"), rerank_url=server.url("v1/rerank", "500"))
    found = ordered(settings)
    assert found.order == ordered(config(embed_url=settings.embed_url)).order
    assert second_opinion(found.faults) == "Reranker: HTTP 500; order of the embeddings."


def test_two_failures_are_told_in_one_line() -> None:
    faults = (Fault("Embeddings", "timeout", 5, 5, "lexical order"), Fault("Reranker", "x", 5, 5, "lexical order"))
    assert second_opinion(faults) == "Embeddings: timeout; lexical order. Reranker: x; lexical order."
    assert second_opinion(()) == ""


def test_passages_of_several_sources_are_judged_together(server: Server) -> None:
    texts = ["pump. pump seal pressure.", "pump seal."]
    ranked: Ranked = ((Passage(0, 5, 3.0), Passage(6, 25, 1.0)), (Passage(0, 10, 2.0),))
    settings = config(rerank_url=server.url("v1/rerank"))

    async def use(api: Api) -> tuple[Ranked, tuple[Fault, ...]]:
        until = asyncio.get_running_loop().time() + 60
        return await SecondOpinion([Reranker(settings, api)]).passages(texts, ranked, QUERY, until)

    assert with_api(settings, use) == (
        ((Passage(6, 25, 3.0), Passage(0, 5, 1.0)), (Passage(0, 10, 2.0),)),
        (),
    )


class Never:
    """A scorer that must not be asked."""

    name, limit, seconds = "Never", 5, 1.0

    async def opinion(self, query: str, texts: Sequence[str], seconds: float) -> Opinion:
        raise AssertionError

    def verdict(self, scores: Sequence[float | None]) -> object:
        raise AssertionError


def test_nobody_is_asked_about_nothing() -> None:
    second = SecondOpinion([Never()])  # type: ignore[list-item]
    assert asyncio.run(second.passages(["", "text"], ((), ()), QUERY, 0.0)) == (((), ()), ())
    assert asyncio.run(second.windows("A text about other things.", QUERY, 0.0)) == ((), ())


def test_without_the_settings_nothing_of_it_is_loaded() -> None:
    code = "import sys, keyhole.cli.build as c; c.build(c.Config()); print([m for m in sys.modules if 'scorers' in m])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_each_address_that_is_set_makes_a_second_opinion(tmp_path: Path) -> None:
    def second(**settings: Any) -> SecondOpinion | None:
        return build(config(home=tmp_path, **settings)).of(LOCAL).second

    assert second() is None
    assert second(rerank_url="http://127.0.0.1:9/rerank") is not None
    assert second(embed_url="http://127.0.0.1:9/v1/embeddings") is not None
