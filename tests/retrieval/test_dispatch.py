"""Calls by the name of a tool, and failures as answers within the budget."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from keyhole.config.config import Config
from keyhole.records import Answer, Hit
from keyhole.render.tokens import estimate
from keyhole.retrieval.call import Caller
from keyhole.retrieval.dispatch import dispatch
from keyhole.retrieval.progress import no_progress
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import FakeEngine, page
from tests.support.product import retrieval

URL = "https://pumps.example/"


def product(config: Config | None = None) -> Retrieval:
    engine = FakeEngine([Hit(URL, "Pumps", "", "fake")])
    return retrieval({URL: page(URL, "<title>Pumps</title><p>They run.")}, engines=[engine], config=config)


def answer(agent: Retrieval, tool: str, caller: Caller | None = None, **arguments: Any) -> Answer:
    async def call() -> Answer:
        return await dispatch(agent, tool, arguments, no_progress, caller or Caller())

    return anyio.run(call)


def test_each_tool_is_called_by_its_name() -> None:
    agent = product()
    fetched = answer(agent, "web_fetch", url=URL)
    read = answer(agent, "read_artifact", id=fetched.facts["artifact_id"])
    searched = answer(agent, "search", query="do they run")
    assert all("They run." in each.text and not each.is_error for each in (fetched, read, searched))
    assert searched.details["sources"]


def test_arguments_may_be_strings() -> None:
    assert answer(product(), "web_fetch", url=URL, max_chars="2000").text == answer(
        product(), "web_fetch", url=URL, max_chars=2_000
    ).text  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [("web_fetch", {"url": 3}, "invalid_argument"), ("read_artifact", {"id": "gone"}, "unknown_artifact")],
)
def test_a_failure_is_an_answer_with_its_code(tool: str, given: dict[str, Any], code: str) -> None:
    failed = answer(product(), tool, **given)
    assert failed.is_error
    assert failed.text.startswith(f"{code}: ")


def test_a_failure_is_within_the_budget() -> None:
    url = "https://" + "long" * 900 + ".example/"
    whole = answer(product(), "web_fetch", url=url).text
    failed = answer(product(Config(max_chars=500)), "web_fetch", url=url, max_tokens=60)
    assert failed.is_error
    assert len(failed.text) < len(whole)
    assert estimate(failed.text) <= 60


@pytest.mark.parametrize(("max_chars", "max_tokens"), [(500, None), ("500", None), (None, 200), (700, 200)])
def test_an_error_of_the_arguments_is_within_the_requested_size(max_chars: int | str | None, max_tokens: int) -> None:
    bounds: dict[str, Any] = {"max_chars": max_chars, "max_tokens": max_tokens}
    failed = answer(product(), "web_fetch", url=URL, query="long " * 900, **bounds)
    assert failed.text.startswith("invalid_argument: ")
    assert len(failed.text) <= int(max_chars or 9_000)
    assert estimate(failed.text) <= (max_tokens or 9_000)


def test_an_internal_error_is_raised() -> None:
    with pytest.raises(RuntimeError):
        answer(retrieval({URL: RuntimeError("ours")}), "web_fetch", url=URL)
