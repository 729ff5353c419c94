"""A local model is loaded by the first question and freed later. Its order is the same each time, or is not used."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from keyhole.errors import KeyholeError
from keyhole.extensions.models import local
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.inference import Inference, converted_faults
from keyhole.extensions.models.local import LocalModel, open_local_model
from keyhole.extensions.models.manifest import Manifest, ModelKind
from keyhole.extensions.models.scorers import make_local_scorer
from keyhole.rerank.base import describe_error
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock
from tests.support.local_model import NAME, install_model

QUERY = "how do I stop the machine from falling asleep?"
TEXTS = ("Two eggs and flour.", "Suspend is disabled with IdleAction=ignore.", "The keys are on the table.")
Result = TypeVar("Result")


class FakeInference:
    """A model whose vectors are the counts of two letters; it can fail, and can wait for a signal."""

    def __init__(self, loads: list[str], fault: Callable[[str], None] = lambda text: None) -> None:
        loads.append("loaded")
        self.fault = fault
        self.texts: list[str] = []

    def embed(self, text: str) -> bytes:
        from array import array

        self.fault(text)
        self.texts.append(text)
        vector = (1.0 + text.count("e"), 1.0 + text.count("s"))
        return array("f", [value / math.hypot(*vector) for value in vector]).tobytes()

    def query_tokens(self, query: str) -> Any:
        return query

    def compare_tokens(self, query: Any, text: str) -> float:
        return float(text.count("s"))

    def score_pair(self, query: str, text: str) -> float:
        return float(text.count("s"))


def fake_model(tmp_path: Path, kind: ModelKind = ModelKind.EMBEDDING, **options: Any) -> tuple[LocalModel, list[str]]:
    """Return a model with a fake inference, and the list that records each load."""
    loads: list[str] = []
    manifest = Manifest("fake", kind, (), query_prefix="query: ", text_prefix="passage: ")
    load = lambda folder, manifest: cast("Inference", FakeInference(loads, **options))  # noqa: E731
    return LocalModel(ModelsFolder(tmp_path), manifest, load), loads


def score(model: LocalModel, store: MemoryStore | None = None, seconds: float = 60.0) -> tuple[float, ...]:
    scorer = make_local_scorer(model, store or MemoryStore(Clock()))
    return asyncio.run(scorer.score(QUERY, TEXTS, seconds))


def test_the_model_is_loaded_by_the_first_question_only(tmp_path: Path) -> None:
    model, loads = fake_model(tmp_path)
    assert loads == []
    score(model)
    score(model)
    assert loads == ["loaded"]


def test_a_freed_model_is_loaded_again(tmp_path: Path) -> None:
    model, loads = fake_model(tmp_path)
    first = score(model)
    model.free()
    assert score(model) == first
    assert loads == ["loaded", "loaded"]


def test_the_model_is_freed_when_no_question_comes(tmp_path: Path) -> None:
    model, _ = fake_model(tmp_path)

    async def ask_and_wait() -> float:
        await make_local_scorer(model, MemoryStore(Clock())).score(QUERY, TEXTS, 60.0)
        loop, handle = asyncio.get_running_loop(), model.release
        assert handle and not handle.cancelled()
        return handle.when() - loop.time()

    assert asyncio.run(ask_and_wait()) == pytest.approx(local.IDLE_SECONDS, abs=5)


def test_prefixes_are_written_before_query_and_texts(tmp_path: Path) -> None:
    seen: list[str] = []
    model, _ = fake_model(tmp_path, fault=seen.append)
    score(model)
    assert seen == [f"query: {QUERY}", *(f"passage: {text}" for text in TEXTS)]


def test_a_second_question_computes_only_the_question(tmp_path: Path) -> None:
    seen: list[str] = []
    model, _ = fake_model(tmp_path, fault=seen.append)
    store = MemoryStore(Clock())
    score(model, store)
    scorer = make_local_scorer(model, store)
    asyncio.run(scorer.score("another question", TEXTS, 60.0))
    assert seen[len(TEXTS) + 1 :] == ["query: another question"]


def test_finished_vectors_are_kept_when_the_time_is_up(tmp_path: Path) -> None:
    clock, seen = Clock(0.0), list[str]()

    def take_a_second(text: str) -> None:
        seen.append(text)
        clock.now += 1.0

    model, _ = fake_model(tmp_path, fault=take_a_second)
    model.now = clock
    store = MemoryStore(Clock())
    with pytest.raises(KeyholeError) as caught:
        score(model, store, seconds=1.5)
    assert describe_error(caught.value) == "timeout"
    assert 2 <= len(seen) <= len(TEXTS)
    assert len(score(model, store)) == len(TEXTS)
    assert len(set(seen)) == len(TEXTS) + 1
    assert len(seen) <= len(set(seen)) + 1, "only the text that was not finished is computed again"


def test_a_model_that_fails_is_a_fault(tmp_path: Path) -> None:
    def fail(text: str) -> None:
        with converted_faults("the model fake failed"):
            raise RuntimeError(text)

    model, _ = fake_model(tmp_path, fault=fail)
    with pytest.raises(KeyholeError) as caught:
        score(model)
    assert describe_error(caught.value) == "the model fake failed"


@pytest.mark.parametrize("kind", [ModelKind.LATE_INTERACTION, ModelKind.CROSS_ENCODER])
def test_models_that_compare_pairs_score_each_text(tmp_path: Path, kind: ModelKind) -> None:
    model, _ = fake_model(tmp_path, kind)
    assert score(model) == tuple(float(text.count("s")) for text in TEXTS)
    with pytest.raises(TimeoutError):
        score(model, seconds=0.0)


def test_a_cross_encoder_alone_decides_and_late_interaction_is_fused(tmp_path: Path) -> None:
    scores = [0.1, 0.2, 0.9]
    orders = [
        make_local_scorer(fake_model(tmp_path, kind)[0], MemoryStore(Clock())).rank(scores, 0.0)
        for kind in (ModelKind.CROSS_ENCODER, ModelKind.LATE_INTERACTION)
    ]
    assert orders == [[2, 1, 0], [0, 2, 1]]


def test_questions_at_the_same_time_share_one_model(tmp_path: Path) -> None:
    model, loads = fake_model(tmp_path)

    async def ask(queries: Sequence[str]) -> list[tuple[float, ...]]:
        scorer = make_local_scorer(model, MemoryStore(Clock()))
        return await asyncio.gather(*(scorer.score(query, TEXTS, 60.0) for query in queries))

    together = asyncio.run(ask([f"question {number}" for number in range(8)]))
    assert together == [asyncio.run(ask([f"question {number}"]))[0] for number in range(8)]
    assert loads == ["loaded"]


def test_a_real_model_prefers_the_answer_and_gives_the_same_scores_again(tmp_path: Path) -> None:
    models, manifest = install_model(tmp_path)
    model = open_local_model(models, "auto")
    assert model and model.manifest == manifest
    scores = score(model)
    assert max(range(len(TEXTS)), key=scores.__getitem__) == 1
    model.free()
    assert score(model) == scores


def test_a_named_model_that_is_not_installed_is_logged_and_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    models, _ = install_model(tmp_path)
    assert open_local_model(models, "other") is None
    assert "the model other is not installed" in caplog.text
    assert open_local_model(models, "off") is None
    assert (named := open_local_model(models, NAME)) and named.manifest.name == NAME
