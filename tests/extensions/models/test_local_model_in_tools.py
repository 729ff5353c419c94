"""The tools with a real local model: what it finds that words do not, and that every call gives the same bytes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.extensions.models.local import LocalModel
from keyhole.extensions.models.scorers import make_local_scorer
from keyhole.records import Answer, Hit
from keyhole.rerank.rerank_passages import PassageReranker
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from keyhole.text.output_facts import output_url
from tests.support.fakes import Clock, FakeEngine, artifact, page
from tests.support.local_model import install_model
from tests.support.product import retrieval

URL = "https://laptops.example/manual"
QUESTION = "how do I keep the machine from falling asleep when I close it?"
ANSWER = "Set HandleLidSwitch=ignore in logind.conf, so that suspend is not entered with the lid down."
TEXT = "# Manual\n\n" + "".join(
    f"## Part {number}\n\n{text}\n\n"
    for number, text in enumerate(
        [
            f"The machine has a close fit in case {case}, and I keep the machine in it when I travel."
            for case in range(14)
        ]
        + [f"{ANSWER} The setting is read by the machine at its start."]
        + [f"A falling price for machine {item} is when the shop will close its stock of it." for item in range(14)]
    )
)
PAGES = {URL: page(URL, TEXT, content_type="text/markdown")}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    """Return the installed model."""
    return LocalModel(*install_model(tmp_path_factory.mktemp("home")))


def tools(model: LocalModel | None, **settings: object) -> Retrieval:
    """Return the tools over one page, with the model or without."""
    store = MemoryStore(Clock())
    reranker = PassageReranker([make_local_scorer(model, store)]) if model else None
    engines = [FakeEngine([Hit(URL, "Manual", "a snippet", "fake")])]
    return retrieval(PAGES, config=Config(**settings), store=store, engines=engines, reranker=reranker)  # type: ignore[arg-type]


def fetch(model: LocalModel | None, budget: int = 1_400) -> Answer:
    return asyncio.run(tools(model).web_fetch(URL, QUESTION, budget))


def test_an_answer_in_other_words_is_found_by_the_model_and_not_by_words(model: LocalModel) -> None:
    assert ANSWER not in fetch(None).text
    assert ANSWER in fetch(model).text


def test_each_call_gives_the_same_bytes_with_and_without_kept_vectors(model: LocalModel) -> None:
    agent = tools(model, repeats="always")

    async def ask_twice() -> list[str]:
        first = await agent.web_fetch(URL, QUESTION, 1_600, repeat=True)
        id = str(first.facts["artifact_id"])
        return [(await agent.read_artifact(id, query=QUESTION, max_chars=1_600, repeat=True)).text for _ in range(2)]

    first, second = asyncio.run(ask_twice())
    model.free()
    assert first == second
    assert fetch(model) == fetch(model)


@pytest.mark.parametrize("budget", [500, 900, 2_000, 9_000])
def test_the_budget_holds_and_a_larger_one_shows_all_of_a_smaller_one(model: LocalModel, budget: int) -> None:
    smaller, larger = fetch(model, budget), fetch(model, 2 * budget)
    assert len(smaller.text) <= budget
    assert _spans(smaller) <= _spans(larger)


def _spans(answer: Answer) -> set[int]:
    """Return the offsets that are shown."""
    shown = answer.details["spans"]
    assert isinstance(shown, list)
    return {offset for start, end, _ in shown for offset in range(start, end)}


def test_a_search_finds_the_passage_too(model: LocalModel) -> None:
    answer = asyncio.run(tools(model).search(QUESTION, max_chars=1_800))
    assert ANSWER in answer.text


def test_outputs_are_ranked_by_their_words(model: LocalModel) -> None:
    agent, plain = tools(model), tools(None)
    for each in (agent, plain):
        each.store.put(artifact(text=TEXT, url=output_url("log")), "")
    texts = [asyncio.run(each.read_artifact("a" * 16, query=QUESTION, max_chars=1_400)).text for each in (agent, plain)]
    assert texts[0] == texts[1]


def test_a_model_without_its_files_leaves_the_order_by_words_and_one_line(tmp_path: Path) -> None:
    models, manifest = install_model(tmp_path)
    models.remove(manifest.name)
    text = fetch(LocalModel(models, manifest)).text
    assert text.count("Model: the model minilm cannot be loaded; lexical order.") == 1
    assert "--- untrusted text" in text
