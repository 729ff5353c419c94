"""Resources when the store fails, an internal error occurs, a deadline passes, or a client gives up."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ResourceTemplateReference

from keyhole.config.config import Config
from keyhole.records import ArtifactSummary, Place
from keyhole.retrieval import instrumentation
from keyhole.retrieval.instrumentation import Amount, ObservedCall, Stage
from keyhole.serve.resources import PAGE_TEMPLATE
from tests.serve.test_resources import ERAS, id_of, refusal, with_client
from tests.support.fakes import BrokenStore
from tests.support.product import retrieval


@pytest.mark.parametrize("era", ERAS)
def test_a_failing_store_is_reported_with_its_code(era: str) -> None:
    def uses() -> list[Callable[[Client], Awaitable[object]]]:
        return [
            lambda client: client.list_resources(),
            lambda client: client.read_resource(f"artifact://{id_of(0)}"),
            lambda client: client.complete(ResourceTemplateReference(uri=PAGE_TEMPLATE), {"name": "id", "value": ""}),
        ]

    for use in uses():
        error = refusal(retrieval(store=BrokenStore()), era, use)
        assert error.code == -32603
        assert error.message.startswith("store_unavailable: ")
        assert (error.data["code"], error.data["retryable"]) == ("store_unavailable", True)


@pytest.mark.parametrize("era", ERAS)
def test_an_internal_error_of_a_resource_has_a_code_and_no_details(era: str) -> None:
    class Faulty(BrokenStore):
        def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
            raise RuntimeError("secret detail")

    error = refusal(retrieval(store=Faulty()), era, lambda client: client.list_resources())
    assert (error.code, error.data["code"]) == (-32603, "internal_error")
    assert "secret" not in error.message + json.dumps(error.data)


class PausedStore(BrokenStore):
    """A store whose listings wait until `released` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.released = threading.Event()

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        self.entered.set()
        assert self.released.wait(10)
        return ()


@pytest.mark.parametrize("era", ERAS)
def test_a_listing_has_a_deadline(era: str) -> None:
    store = PausedStore()

    async def use(client: Client) -> None:
        try:
            await client.list_resources()
        finally:
            store.released.set()

    error = refusal(retrieval(store=store, config=Config(timeout=0.05)), era, use)
    assert (error.code, error.data["code"]) == (-32603, "timeout")


@pytest.mark.parametrize("era", ERAS)
def test_an_abandoned_listing_ends_and_the_next_works(era: str) -> None:
    store = PausedStore()
    outcomes: list[str] = []

    class Heard:
        def call(self, call: ObservedCall) -> Any:
            class Around:
                def __enter__(self) -> None: ...
                def __exit__(self, *_: object) -> None:
                    outcomes.append(f"{call.tool} {call.outcome}")

            return Around()

        def stage(self, name: Stage) -> Any:
            return instrumentation._NO_CONTEXT

        def add(self, what: Amount, amount: int) -> None: ...
        def count_refusal(self, reason: str) -> None: ...
        def count_response(self, status: int) -> None: ...

    async def use(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.list_resources)
            await asyncio.to_thread(store.entered.wait, 10)
            group.cancel_scope.cancel()
        store.released.set()
        assert (await client.list_resources()).resources == []

    with instrumentation.observed_by(Heard()):
        with_client(retrieval(store=store), era, use)
    assert sorted(outcomes) == ["resources/list cancelled", "resources/list ok"]
