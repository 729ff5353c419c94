"""Scorers reorder the passages of a call. A failed scorer changes no order, and no call exceeds its deadline."""

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
from keyhole.passages import index_text
from keyhole.records import Fault, Passage, Ranked
from keyhole.render.answer import rerank_note
from keyhole.rerank.apis import MAX_TEXTS, Reranker
from keyhole.rerank.base import Scorer
from keyhole.rerank.rerank_passages import CALL_MARGIN, PassageReranker, Reranking, is_spoken, list_units
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


def test_only_the_first_candidates_are_sent_and_the_rest_follow_in_order(server: Server) -> None:
    session = server.session()
    texts = [*["nothing"] * (MAX_TEXTS - 1), "pump seal", QUERY, "pump"]
    result = rerank(config(rerank_url=server.url("v1/rerank", session=session)), texts)
    assert result.order == (MAX_TEXTS - 1, *range(MAX_TEXTS - 1), MAX_TEXTS, MAX_TEXTS + 1)
    assert [call["body"]["documents"] for call in server.requests(session)] == [texts[:MAX_TEXTS]]


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


def test_no_scorer_is_called_within_the_margin_of_the_deadline(server: Server) -> None:
    session = server.session()
    settings = config(rerank_url=server.url("v1/rerank", session=session))
    result = rerank(settings, seconds=CALL_MARGIN)
    assert rerank_note(result.faults) == "Reranker: no time left; lexical order."
    assert server.requests(session) == []


def test_a_scorer_times_out_before_the_margin_of_the_deadline(server: Server) -> None:
    settings = config(rerank_url=server.url("v1/rerank", "slow"))
    assert rerank(settings, seconds=CALL_MARGIN + 0.05).faults[0].reason == "timeout"


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


def test_two_failures_are_reported_in_one_line() -> None:
    faults = (Fault("Embeddings", "timeout", "lexical order"), Fault("Reranker", "x", "lexical order"))
    assert rerank_note(faults) == "Embeddings: timeout; lexical order. Reranker: x; lexical order."
    assert rerank_note(()) == ""


def test_passages_of_several_sources_are_reranked_together(server: Server) -> None:
    texts = ["pump. pump seal pressure.", "pump seal."]
    ranked: Ranked = ((Passage(0, 5, 3.0), Passage(6, 25, 1.0)), (Passage(0, 10, 2.0),))
    settings = config(rerank_url=server.url("v1/rerank"))

    async def use(api: Api) -> tuple[Ranked, tuple[Fault, ...]]:
        until = asyncio.get_running_loop().time() + 60
        return await PassageReranker([Reranker(settings, api)]).rerank_passages(texts, ranked, QUERY, until)

    assert with_api(settings, use) == (
        ((Passage(6, 25, 3.0), Passage(0, 5, 1.0)), (Passage(0, 10, 2.0),)),
        (),
    )


class UncallableScorer:
    """A scorer that must not be called."""

    name, limit, seconds, languages = "Uncallable", 5, 1.0, ()

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        raise AssertionError

    def rank(self, scores: Sequence[float], strength: float) -> list[int]:
        raise AssertionError


def test_without_candidates_no_scorer_is_called() -> None:
    reranker = PassageReranker([UncallableScorer()])
    assert asyncio.run(reranker.rerank_passages(["", "text"], ((), ()), QUERY, 0.0)) == (((), ()), ())
    assert asyncio.run(reranker.rerank_windows(index_text("A text about other things."), QUERY, 0.0)) == ((), ())


class RecordingScorer:
    """A scorer that records the texts it is given, and then takes too long."""

    name, limit, seconds, languages = "Recording", 50, 1.0, ()

    def __init__(self) -> None:
        self.texts = ""

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        self.texts += "".join(texts)
        raise TimeoutError

    def rank(self, scores: Sequence[float], strength: float) -> list[int]:
        raise AssertionError


@pytest.mark.parametrize(("query", "scores_rest"), [("pump seal", False), ("office Lucerne", True)])
def test_windows_of_the_rest_are_scored_only_if_it_answers_better(query: str, scores_rest: bool) -> None:
    main, rest = "A pump has a seal.\n", "\n# [rest: footer]\n\nThe office is in Lucerne.\n"
    scorer = RecordingScorer()
    reranker = PassageReranker([scorer])

    async def use() -> None:
        await reranker.rerank_windows(index_text(main + rest, len(main)), query, asyncio.get_running_loop().time() + 60)

    asyncio.run(use())
    assert ("Lucerne" in scorer.texts) is scores_rest


def test_a_unit_is_a_passage_with_the_headings_above_it() -> None:
    text = (
        "# Pumps\n\nAll of them.\n\n## Limits\n\nThe seal holds forty bar in every part of the plant.\n"
        + "More. " * 400
    )
    windows, units, _ = list_units(index_text(text), "which pressure does the seal hold", 3)
    assert units[0].startswith("Limits\n") or units[0].startswith("## Limits")
    assert "forty bar" in units[0]
    assert len(windows) == len(units) <= 3


@pytest.mark.parametrize(
    ("query", "languages", "spoken"),
    [
        ("how is the log of the database cut?", (), True),
        ("how is the log of the database cut?", ("en",), True),
        ("wie wird das Protokoll der Datenbank gekürzt?", ("en",), False),
        ("wie wird das Protokoll der Datenbank gekürzt?", (), True),
        ("日志如何截断", ("en",), False),
        ("wal_checkpoint TRUNCATE", ("en",), True),
    ],
)
def test_a_model_of_one_language_is_asked_only_in_it(query: str, languages: tuple[str, ...], spoken: bool) -> None:
    assert is_spoken(query, languages) is spoken


def test_without_settings_no_rerank_module_is_loaded() -> None:
    code = (
        "import sys, keyhole.cli.build as c; c.build(c.Config());"
        "print([m for m in sys.modules if m.startswith('keyhole.rerank')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_each_url_in_the_settings_creates_a_reranker(tmp_path: Path) -> None:
    def build_reranker(**settings: Any) -> PassageReranker | None:
        return build(config(home=tmp_path, **settings)).of(LOCAL).reranker

    assert build_reranker() is None
    assert build_reranker(model="off") is None
    assert build_reranker(rerank_url="http://127.0.0.1:9/rerank") is not None
    assert build_reranker(embed_url="http://127.0.0.1:9/v1/embeddings") is not None


def test_an_installed_model_creates_a_reranker(tmp_path: Path) -> None:
    install_model(tmp_path)
    assert build(config(home=tmp_path)).of(LOCAL).reranker is not None
    assert build(config(home=tmp_path, model="off")).of(LOCAL).reranker is None
