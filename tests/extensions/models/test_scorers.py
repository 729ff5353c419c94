"""The scorers that the settings name reorder passages in turn. A failed one changes no order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.build import build
from keyhole.config.config import Config
from keyhole.extensions.models.apis import MAX_TEXTS, Reranker
from keyhole.extensions.models.scorers import open_scorers
from keyhole.fetch.base import Api
from keyhole.render.answer import rerank_note
from keyhole.rerank.base import Scorer
from keyhole.rerank.rerank_passages import CALL_MARGIN, PassageReranker, Reranking
from keyhole.store.base import LOCAL
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock
from tests.support.local_model import install_model
from tests.support.scorer_requests import Server, config, embedder, with_api
from tests.support.scorer_server import POISON

QUERY = "pump seal pressure"
TEXTS = ["a pump", "nothing", "pump seal", "pump seal pressure", "seal"]


def scorers(settings: Config, api: Api) -> list[Scorer]:
    """Return the scorers of the settings, as the command line builds them."""
    embedders: list[Scorer] = [embedder(settings, api, MemoryStore(Clock()))] if settings.embed_url else []
    return [*embedders, Reranker(settings, api)] if settings.rerank_url else embedders


def rerank(settings: Config, texts: Sequence[str] = TEXTS, seconds: float = 60.0) -> Reranking:
    """Rerank texts with `seconds` left of the call."""

    async def use(api: Api) -> Reranking:
        until = asyncio.get_running_loop().time() + seconds
        return await PassageReranker(scorers(settings, api)).rerank(QUERY, len(texts), texts.__getitem__, until)

    return with_api(settings, use)


def test_a_reranker_orders_by_its_scores(server: Server) -> None:
    assert rerank(config(rerank_url=server.url("v1/rerank"))) == Reranking((3, 2, 0, 4, 1))


def test_the_reranker_scores_the_first_texts_by_embedding(server: Server) -> None:
    session = server.session()
    settings = config(embed_url=server.url("v1/embeddings"), rerank_url=server.url("v1/rerank", session=session))
    texts = [*["nothing"] * MAX_TEXTS, "pump seal", QUERY]
    alone = rerank(config(embed_url=settings.embed_url), texts)
    assert alone.order != tuple(range(len(texts)))
    assert rerank(settings, texts).faults == ()
    sent = [texts[at] for at in alone.order[:MAX_TEXTS]]
    assert [call["body"]["documents"] for call in server.requests(session)] == [sent]


@pytest.mark.parametrize("fault", ["500", "garbage", "fewer", "twice", "nan", "null", "infinity", "401"])
def test_a_failed_reranker_leaves_the_lexical_order_and_one_line(server: Server, fault: str) -> None:
    result = rerank(config(rerank_url=server.url("v1/rerank", fault)))
    assert result.order == (0, 1, 2, 3, 4)
    assert rerank_note(result.faults).startswith("Reranker: ")
    assert rerank_note(result.faults).endswith("; lexical order.")


def test_a_timeout_is_reported(server: Server) -> None:
    result = rerank(config(rerank_url=server.url("v1/rerank", "slow")), seconds=CALL_MARGIN + 0.2)
    assert result.order == (0, 1, 2, 3, 4)
    assert rerank_note(result.faults) == "Reranker: timeout; lexical order."


def test_one_failed_batch_leaves_the_lexical_order(server: Server) -> None:
    settings = config(embed_url=server.url("v1/embeddings", "poison"))
    result = rerank(settings, [*["other words"] * 6, QUERY, *["more"] * 30, f"{POISON} last"])
    assert result.order == tuple(range(38))
    assert rerank_note(result.faults) == "Embeddings: HTTP 500; lexical order."


def test_a_failed_reranker_leaves_the_order_of_the_embeddings(server: Server) -> None:
    settings = config(embed_url=server.url("v1/embeddings"), rerank_url=server.url("v1/rerank", "500"))
    result = rerank(settings)
    assert result.order == rerank(config(embed_url=settings.embed_url)).order
    assert rerank_note(result.faults) == "Reranker: HTTP 500; order of the embeddings."


def test_each_url_in_the_settings_makes_scorers(tmp_path: Path) -> None:
    def build_reranker(**settings: Any) -> PassageReranker | None:
        return build(config(home=tmp_path, **settings)).of(LOCAL).reranker

    assert build_reranker() is None
    assert build_reranker(model="off") is None
    assert build_reranker(rerank_url="http://127.0.0.1:9/rerank") is not None
    assert build_reranker(embed_url="http://127.0.0.1:9/v1/embeddings") is not None


def test_an_installed_model_makes_scorers(tmp_path: Path) -> None:
    install_model(tmp_path)
    assert build(config(home=tmp_path)).of(LOCAL).reranker is not None
    assert build(config(home=tmp_path, model="off")).of(LOCAL).reranker is None


def test_the_local_model_is_used_between_the_embeddings_and_the_reranker(tmp_path: Path) -> None:
    install_model(tmp_path)
    settings = config(home=tmp_path, embed_url="http://127.0.0.1:9/e", rerank_url="http://127.0.0.1:9/r")

    async def names(api: Api) -> list[str]:
        make_scorers = open_scorers(settings, api)
        return [scorer.name for scorer in make_scorers(MemoryStore(Clock()))] if make_scorers else []

    assert with_api(settings, names) == ["Embeddings", "Model", "Reranker"]
