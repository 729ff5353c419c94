"""Scorers reorder the passages of a call. A failed scorer changes no order, and no call exceeds its deadline."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Collection, Sequence

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.passages import index_text
from keyhole.records import Fault, Passage, Ranked
from keyhole.render.answer import rerank_note
from keyhole.rerank.base import Scorer, order_by_score
from keyhole.rerank.rerank_passages import CALL_MARGIN, PassageReranker, Reranking, is_spoken, list_units

QUERY = "pump seal pressure"
TEXTS = ["a pump", "nothing", "pump seal", "pump seal pressure", "seal"]
LEXICAL = (0, 1, 2, 3, 4)


class FakeScorer:
    """Scores texts by the words that they share with the query, or raises `error`. Records the calls."""

    languages: Collection[str] = ()

    def __init__(self, name: str = "Fake", limit: int = 20, error: Exception | None = None) -> None:
        self.name, self.limit, self.error = name, limit, error
        self.seconds = 10.0
        self.calls: list[tuple[list[str], float]] = []

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        self.calls.append((list(texts), seconds))
        if self.error:
            raise self.error
        return tuple(float(len(set(text.split()) & set(query.split()))) for text in texts)

    def rank(self, scores: Sequence[float], strength: float | None) -> list[int]:
        return order_by_score(scores)


def rerank(*scorers: Scorer, texts: Sequence[str] = TEXTS, seconds: float = 60.0) -> Reranking:
    """Rerank texts with `seconds` left of the call."""

    async def use() -> Reranking:
        until = asyncio.get_running_loop().time() + seconds
        return await PassageReranker(scorers).rerank(QUERY, len(texts), texts.__getitem__, until)

    return asyncio.run(use())


def test_a_scorer_orders_by_its_scores() -> None:
    assert rerank(FakeScorer()) == Reranking((3, 2, 0, 4, 1))


def test_only_the_first_candidates_are_scored_and_the_rest_follow_in_order() -> None:
    scorer = FakeScorer(limit=3)
    assert rerank(scorer).order == (2, 0, 1, 3, 4)
    assert [texts for texts, _ in scorer.calls] == [TEXTS[:3]]


def test_a_scorer_is_given_the_order_of_the_one_before_it() -> None:
    second = FakeScorer(limit=2)
    assert rerank(FakeScorer(), second).order == (3, 2, 0, 4, 1)
    assert [texts for texts, _ in second.calls] == [[TEXTS[3], TEXTS[2]]]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyholeError(Code.PROTOCOL_ERROR, "a long message", fault="HTTP 500"), "HTTP 500"),
        (KeyholeError(Code.CONNECT_FAILURE, "a message"), "connect_failure"),
        (TimeoutError(), "timeout"),
    ],
)
def test_a_failed_scorer_leaves_the_lexical_order_and_one_line(error: Exception, reason: str) -> None:
    result = rerank(FakeScorer(error=error))
    assert result.order == LEXICAL
    assert rerank_note(result.faults) == f"Fake: {reason}; lexical order."


def test_a_failed_scorer_leaves_the_order_of_the_one_before_it() -> None:
    result = rerank(FakeScorer("First"), FakeScorer("Second", error=TimeoutError()))
    assert result.order == (3, 2, 0, 4, 1)
    assert rerank_note(result.faults) == "Second: timeout; order of the first."


def test_no_scorer_is_called_within_the_margin_of_the_deadline() -> None:
    scorer = FakeScorer()
    result = rerank(scorer, seconds=CALL_MARGIN)
    assert (result.order, scorer.calls) == (LEXICAL, [])
    assert rerank_note(result.faults) == "Fake: no time left; lexical order."


def test_a_scorer_has_its_own_time_limit_and_ends_before_the_margin_of_the_deadline() -> None:
    scorer = FakeScorer()
    rerank(scorer)
    rerank(scorer, seconds=CALL_MARGIN + 5)
    (_, own), (_, left) = scorer.calls
    assert own == 10
    assert 0 < left <= 5


def test_passages_of_several_sources_are_reranked_together() -> None:
    texts = ["pump. pump seal pressure", "pump seal"]
    ranked: Ranked = ((Passage(0, 5, 3.0), Passage(6, 24, 1.0)), (Passage(0, 9, 2.0),))

    async def use() -> tuple[Ranked, tuple[Fault, ...]]:
        until = asyncio.get_running_loop().time() + 60
        return await PassageReranker([FakeScorer()]).rerank_passages(texts, ranked, QUERY, until)

    assert asyncio.run(use()) == (((Passage(6, 24, 3.0), Passage(0, 5, 1.0)), (Passage(0, 9, 2.0),)), ())


def test_two_failures_are_reported_in_one_line() -> None:
    faults = (Fault("Embeddings", "timeout", "lexical order"), Fault("Reranker", "x", "lexical order"))
    assert rerank_note(faults) == "Embeddings: timeout; lexical order. Reranker: x; lexical order."
    assert rerank_note(()) == ""


class UncallableScorer:
    """A scorer that must not be called."""

    name, limit, seconds, languages = "Uncallable", 5, 1.0, ()

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        raise AssertionError

    def rank(self, scores: Sequence[float], strength: float | None) -> list[int]:
        raise AssertionError


def test_without_candidates_no_scorer_is_called() -> None:
    reranker = PassageReranker([UncallableScorer()])
    assert asyncio.run(reranker.rerank_passages(["", "text"], ((), ()), QUERY, 0.0)) == (((), ()), ())


class RecordingScorer:
    """A scorer that records the texts it is given, and then takes too long."""

    name, limit, seconds, languages = "Recording", 50, 1.0, ()

    def __init__(self) -> None:
        self.texts = ""

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        self.texts += "".join(texts)
        raise TimeoutError

    def rank(self, scores: Sequence[float], strength: float | None) -> list[int]:
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


def test_without_settings_no_module_of_reranking_is_loaded() -> None:
    code = (
        "import sys, keyhole.cli.build as c; c.build(c.Config());"
        "print([m for m in sys.modules if m.startswith(('keyhole.rerank', 'keyhole.extensions.models'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_windows_of_all_parts_of_a_page_are_scored_if_no_word_matches() -> None:
    text = "\n\n".join(f"Paragraph {number} is about pumps and valves. " + "More of it. " * 20 for number in range(40))
    windows, units, strength = list_units(index_text(text), "wie heiß?", 10)
    assert strength is None
    assert len(windows) == len(units) <= 10
    assert windows[0] == 0
    assert max(windows) > 0.8 * index_text(text).size
