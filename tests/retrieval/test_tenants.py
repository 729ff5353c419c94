"""What tenants of one server share, and what is each one's own."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.tenants import MAX_OPEN, Tenants
from keyhole.store.base import LOCAL, Store
from keyhole.store.memory import MemoryStore
from keyhole.store.open import LocalStores
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcess, page
from tests.support.waiting import wait_for

URL = "https://a.example/"


def tenants(home: Path) -> Tenants:
    network, config = FakeFetcher({URL: page(URL, "<p>Pumps and valves.")}), Config(home=home)
    return Tenants(config, network, LocalStores(config), Panel(()), Clock(), InProcess())


def test_what_one_tenant_fetched_is_unknown_to_all_others(tmp_path: Path) -> None:
    product = tenants(tmp_path)
    id = str(asyncio.run(product.of("one").web_fetch(URL)).facts["artifact_id"])
    assert "Pumps" in asyncio.run(product.of("one").read_artifact(id)).text
    for other in ("two", LOCAL, "../one", "one/", "ONE"):
        answer = asyncio.run(product.of(other).read_artifact(id))
        assert answer.text == asyncio.run(product.of(other).read_artifact("a" * 16)).text
        assert answer.text.startswith("unknown_artifact")
        with pytest.raises(KeyholeError) as caught:
            product.of(other).store.get(id)
        assert caught.value.code is Code.UNKNOWN_ARTIFACT


def test_ids_of_the_same_page_differ_between_tenants(tmp_path: Path) -> None:
    product = tenants(tmp_path)
    ids = {asyncio.run(product.of(name).web_fetch(URL)).facts["artifact_id"] for name in ("one", "two", LOCAL)}
    assert len(ids) == 3


def test_closing_closes_the_network_and_the_readers(tmp_path: Path) -> None:
    product = tenants(tmp_path)
    asyncio.run(product.aclose())
    assert isinstance(product.network, FakeFetcher)
    assert product.network.closed
    assert isinstance(product.extractor, InProcess)
    assert product.extractor.closed


class Noted(MemoryStore):
    """Notes that it was closed."""

    def __init__(self) -> None:
        super().__init__(Clock())
        self.closed = Event()

    def close(self) -> None:
        self.closed.set()


class NotedStores:
    """Stores of tenants that note when they are closed."""

    def __init__(self) -> None:
        self.made: dict[str, Noted] = {}

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        return self.made.setdefault(tenant, Noted()), tenant.encode()

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        for store in self.made.values():
            store.close()


def noted() -> tuple[Tenants, NotedStores]:
    network, stores = FakeFetcher({URL: page(URL, "<p>Pumps and valves.")}), NotedStores()
    return Tenants(Config(), network, stores, Panel(()), Clock(), InProcess()), stores


def test_the_stores_that_were_used_least_recently_are_closed() -> None:
    product, stores = noted()
    for number in range(MAX_OPEN):
        product.of(str(number))
    product.of("0")
    product.of("more")
    assert stores.made["1"].closed.wait(5)
    assert [name for name, store in stores.made.items() if store.closed.is_set()] == ["1"]


def test_a_store_in_use_is_never_closed_and_its_product_never_made_twice() -> None:
    product, stores = noted()
    used = product.of("used")
    for number in range(2 * MAX_OPEN):
        product.of(str(number))
    assert not stores.made["used"].closed.is_set()
    assert product.of("used") is used
    for number in range(2 * MAX_OPEN):
        product.of(str(number))
    del used
    assert stores.made["used"].closed.wait(5)


def test_a_store_that_was_closed_is_opened_by_the_next_use(tmp_path: Path) -> None:
    product = tenants(tmp_path)
    id = str(asyncio.run(product.of("one").web_fetch(URL)).facts["artifact_id"])
    for number in range(MAX_OPEN):
        asyncio.run(product.of(str(number)).web_fetch(URL))
    assert len(product._living) <= MAX_OPEN
    if sys.platform == "linux":
        wait_for(lambda: len(open_files(tmp_path)) <= MAX_OPEN)
    assert "Pumps" in asyncio.run(product.of("one").read_artifact(id)).text
    asyncio.run(product.aclose())


def open_files(folder: Path) -> set[str]:
    """What this process has open in a folder."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # one that was closed meanwhile, as that of this listing
            found.add(str(link.readlink()))
    return {name for name in found if name.startswith(str(folder))}


def test_the_sizes_of_stores_are_added_up(tmp_path: Path) -> None:
    product = tenants(tmp_path)
    for name in ("one", "two"):
        asyncio.run(product.of(name).web_fetch(URL))
    artifacts, size = product.sizes()
    assert artifacts == 2
    assert size > 0
    asyncio.run(product.aclose())
