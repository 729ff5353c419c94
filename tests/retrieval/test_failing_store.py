"""A failing store: every result has one warning, and continuations are offered only for readable texts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.config.config import MIN_BUDGET, Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, Artifact, Hit
from keyhole.render.answer import WARNINGS
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import LOCAL, Limits, Span, Store
from keyhole.store.chunks import PackedText
from keyhole.store.fallback import KEPT_IN_MEMORY, FallbackStore
from keyhole.store.open import LocalStores, open_stores
from keyhole.store.sqlite.store import MEMORY_LIMITS, MemoryStore
from tests.support.documentation import DOCS
from tests.support.fakes import BrokenStore, Clock, FakeEngine, page
from tests.support.product import retrieval

URL = "https://pumps.example/"
OTHER = "https://valves.example/"
TEXT = "<h1>Pumps</h1>" + "<p>The pump runs at 40 rpm, and its seal holds.</p>" * 400
HITS = (Hit(URL, "Pumps", "On pumps.", "fake"), Hit(OTHER, "Valves", "On valves.", "fake"))


def failing_store(clock: Clock, memory: MemoryStore | None = None) -> Store:
    return FallbackStore(BrokenStore(), memory or MemoryStore(clock), clock, Limits(1e9, 10**9))


def product(store: Store, clock: Clock | None = None) -> Retrieval:
    pages = {URL: page(URL, TEXT), OTHER: page(OTHER, TEXT.replace("rpm", "revolutions"))}
    return retrieval(pages, store=store, clock=clock, engines=[FakeEngine(HITS)])


def all_answers(agent: Retrieval, budget: int | None = None) -> list[Answer]:
    """Return an answer of every kind from the three tools."""

    async def call_all() -> list[Answer]:
        fetched = await agent.web_fetch(URL, "seal", 9_000)
        id = str(fetched.facts["artifact_id"])
        return [
            fetched,
            await agent.web_fetch(URL, None, budget),
            await agent.web_fetch(URL, "seal", budget),
            await agent.web_fetch("https://nowhere.example/", None, budget),
            await agent.read_artifact(id, 100, budget),
            await agent.read_artifact(id, query="seal", limit=budget),
            await agent.read_artifact(id, find="its seal holds", limit=budget),
            await agent.read_artifact(id, find="no such words", limit=budget),
            await agent.search("pump seal", max_chars=budget),
            await agent.search("pump seal", scope="stored", max_chars=budget),
            await agent.search("zebra", scope="stored", max_chars=budget),
        ]

    return asyncio.run(call_all())


@pytest.mark.parametrize("budget", [None, MIN_BUDGET, 1_000, 3_000])
def test_every_result_warns_once_that_texts_are_kept_in_memory(budget: int | None) -> None:
    clock = Clock()
    for answer in all_answers(product(failing_store(clock), clock), budget):
        assert answer.text.count("Warning kept_in_memory") == 1, answer.text
        assert len(answer.text.splitlines()[0]) > 0
        assert len(answer.text) <= max(9_000, budget or 0)
        if budget is None:
            assert answer.facts["warning"] == KEPT_IN_MEMORY
        elif "--- untrusted" in answer.text:
            assert answer.text.index("Warning") < answer.text.index("--- untrusted"), "above what the page says"


@pytest.mark.parametrize("budget", [MIN_BUDGET, 1_000])
def test_the_warning_is_within_the_budget(budget: int) -> None:
    clock = Clock()
    agent = product(failing_store(clock), clock)
    assert len(asyncio.run(agent.web_fetch(URL, "seal", budget)).text) <= budget
    assert len(asyncio.run(agent.search("pump seal", max_chars=budget)).text) <= budget


def test_a_working_store_causes_no_warning() -> None:
    for answer in all_answers(product(MemoryStore(Clock()))):
        assert "Warning" not in answer.text
        assert "warning" not in answer.facts


def test_texts_kept_in_memory_can_be_read() -> None:
    clock = Clock()
    agent = product(failing_store(clock), clock)
    answer = asyncio.run(agent.search("pump seal"))
    found = re.search(r'\bid="(\w+)"', answer.text)
    assert found
    reading = asyncio.run(agent.read_artifact(found[1], 0, 4_000))
    assert "The pump runs at 40 r" in reading.text


def test_a_text_lost_from_memory_names_the_url_to_fetch_again() -> None:
    clock = Clock()
    agent = product(failing_store(clock), clock)
    id = str(asyncio.run(agent.web_fetch(URL)).facts["artifact_id"])
    clock.advance(3_601)
    answer = asyncio.run(agent.read_artifact(id))
    assert answer.text.startswith("expired_artifact: ")
    assert f'web_fetch(url="{URL}")' in answer.text


def test_a_source_dropped_from_memory_has_no_continuation() -> None:
    clock = Clock()
    agent = product(failing_store(clock, MemoryStore(clock, replace(MEMORY_LIMITS, max_bytes=10_000))), clock)
    answer = asyncio.run(agent.search("pump seal"))
    offered = set(re.findall(r'id="(\w+)"', answer.text))
    assert len(offered) == 1
    assert "Warning kept_in_memory" in answer.text
    assert not asyncio.run(agent.read_artifact(offered.pop())).is_error


def test_a_search_that_cannot_store_anything_warns() -> None:
    answer = asyncio.run(product(BrokenStore()).search("pump seal"))
    assert answer.text.count("Warning store_unavailable: nothing was stored") == 1
    assert answer.facts["warning"] == "store_unavailable"
    assert "read_artifact(" not in answer.text


def test_a_store_that_fails_during_a_call_still_allows_continuations() -> None:
    class FailsToWrite(MemoryStore):
        def put(
            self,
            artifact: Artifact,
            words: str,
            keys: Iterable[bytes] = (),
            packed: PackedText | None = None,
            *,
            indexed: Sequence[Span] | None = None,
        ) -> None:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is full")

    clock = Clock()
    store = FallbackStore(FailsToWrite(clock), MemoryStore(clock), clock, Limits(1e9, 10**9))
    answer = asyncio.run(product(store, clock).web_fetch(URL))
    assert answer.facts["artifact_id"]
    assert "Next: read_artifact(" in answer.text


def test_a_replaced_store_causes_a_warning() -> None:
    class Replaced(MemoryStore):
        def warning(self) -> str:
            return "store_replaced"

    clock = Clock()
    agent = product(Replaced(clock), clock)
    assert f"Warning store_replaced: {WARNINGS['store_replaced']}" in asyncio.run(agent.web_fetch(URL)).text
    unknown = asyncio.run(agent.read_artifact("a" * 16))
    assert unknown.text.startswith("unknown_artifact: ")
    assert "Warning store_replaced" in unknown.text


def test_the_errors_page_lists_every_warning() -> None:
    text = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert all(f"| `{code}` | " in text for code in WARNINGS)


# The stores that the settings name.


def test_without_its_folder_a_server_uses_memory_and_a_command_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    config = Config(home=tmp_path / "file" / "home")
    for tenant in (LOCAL, "one"):
        store, _ = open_stores(config, long_running=True).for_tenant(tenant)
        assert product(store).store.recent(URL, 0) is None
        assert store.warning() == KEPT_IN_MEMORY
        alone, _ = open_stores(config).for_tenant(tenant)
        with pytest.raises(KeyholeError) as caught:
            alone.recent(URL, 0)
        assert caught.value.code is Code.STORE_UNAVAILABLE


def test_the_warning_of_any_store_is_the_warning_of_all(tmp_path: Path) -> None:
    stores = LocalStores(Config(home=tmp_path), long_running=True)
    assert stores.warning() == ""
    stores.for_tenant("one")[0].recent(URL, 0)
    assert stores.warning() == ""
    (tmp_path / "artifacts.db").mkdir()
    stores.for_tenant(LOCAL)[0].recent(URL, 0)
    assert stores.warning() == KEPT_IN_MEMORY
    stores.close()
