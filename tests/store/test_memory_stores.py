"""Tests of tenants' stores in memory: separate, bounded, and released when unused."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keyhole.config.config import Config
from keyhole.retrieval.tenants import MAX_OPEN, Tenants
from keyhole.store.base import LOCAL
from keyhole.store.open import MemoryStores, open_stores
from keyhole.store.sqlite.store import MEMORY_BYTES
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcessExtractor, artifact, page
from tests.support.waiting import wait_for

URL = "https://a.example/"


def tenants(stores: MemoryStores) -> Tenants:
    network = FakeFetcher({URL: page(URL, "<p>Pumps and valves.")})
    return Tenants(Config(store="memory"), network, stores, lambda: Panel(()), Clock(), InProcessExtractor())


def fetched(product: Tenants, tenant: str) -> str:
    return str(asyncio.run(product.of(tenant).web_fetch(URL)).facts["artifact_id"])


def read(product: Tenants, tenant: str, id: str) -> str:
    return asyncio.run(product.of(tenant).read_artifact(id)).text


def test_the_setting_chooses_memory_and_writes_no_file(tmp_path: Path) -> None:
    stores = open_stores(Config(store="memory", home=tmp_path / "home"), long_running=True)
    assert isinstance(stores, MemoryStores)
    store, _ = stores.for_tenant(LOCAL)
    store.put(artifact(), "pumps")
    stores.close()
    assert list(tmp_path.iterdir()) == []


def test_artifacts_of_one_tenant_are_unknown_to_others() -> None:
    product = tenants(MemoryStores(Clock()))
    id = fetched(product, "one")
    assert "Pumps" in read(product, "one", id)
    for other in ("two", LOCAL, "one ", "ONE", "\ud800"):
        assert read(product, other, id) == read(product, other, "a" * 16)
        assert fetched(product, other) != id


def test_a_tenant_always_gets_the_same_store_and_secret() -> None:
    stores = MemoryStores(Clock())
    (one, secret), (again, same) = stores.for_tenant("one"), stores.for_tenant("one")
    assert one is again
    assert secret == same
    assert secret != stores.for_tenant("two")[1]
    assert secret != MemoryStores(Clock()).for_tenant("one")[1]


def test_stores_of_closed_tenants_are_released() -> None:
    stores = MemoryStores(Clock())
    product = tenants(stores)
    id = fetched(product, "one")
    for number in range(3 * MAX_OPEN):
        product.of(str(number))
    wait_for(lambda: len(stores._stores) <= MAX_OPEN)  # a thread releases the stores
    assert read(product, "one", id).startswith("unknown_artifact")
    assert fetched(product, "one") == id


def test_a_store_in_use_is_not_released() -> None:
    product = tenants(MemoryStores(Clock()))
    used = product.of("one")
    id = fetched(product, "one")
    for number in range(2 * MAX_OPEN):
        product.of(str(number))
    assert "Pumps" in read(product, "one", id)
    assert product.of("one") is used


def test_each_of_many_tenants_gets_a_share_of_the_memory() -> None:
    stores = MemoryStores(Clock())
    alone, shared = (stores.for_tenant(tenant)[0].stats().max_bytes for tenant in (LOCAL, "one"))
    assert alone == MEMORY_BYTES
    assert shared * MAX_OPEN <= 8 * MEMORY_BYTES
