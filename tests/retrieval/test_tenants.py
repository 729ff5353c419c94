"""Tenants share the network but not their artifacts, and their stores are opened and closed on demand."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.dispatch import dispatch
from keyhole.retrieval.progress import no_progress
from keyhole.retrieval.tenants import MAX_OPEN, Tenants
from keyhole.store.base import LOCAL, Store
from keyhole.store.calls.base import CallLog
from keyhole.store.open import LocalStores
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcessExtractor, MemoryCallLog, page
from tests.support.waiting import wait_for

URL = "https://a.example/"


def tenants(home: Path) -> Tenants:
    network, config = FakeFetcher({URL: page(URL, "<p>Pumps and valves.")}), Config(home=home)
    return Tenants(config, network, LocalStores(config), lambda: Panel(()), Clock(), InProcessExtractor())


def test_an_artifact_of_one_tenant_is_unknown_to_all_others(tmp_path: Path) -> None:
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


def test_closing_tenants_closes_the_network_and_the_extractor(tmp_path: Path) -> None:
    product = tenants(tmp_path)
    asyncio.run(product.aclose())
    assert isinstance(product.network, FakeFetcher)
    assert product.network.closed
    assert isinstance(product.extractor, InProcessExtractor)
    assert product.extractor.closed


class ObservableStore(MemoryStore):
    """A store that sets `closed` when it is closed."""

    def __init__(self) -> None:
        super().__init__(Clock())
        self.closed = Event()

    def close(self) -> None:
        self.closed.set()


class ObservableStores:
    """Stores of tenants, by name."""

    def __init__(self) -> None:
        self.opened: dict[str, ObservableStore] = {}

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        return self.opened.setdefault(tenant, ObservableStore()), tenant.encode()

    def calls_for(self, tenant: str) -> CallLog:
        return MemoryCallLog(Clock(), 86_400.0)

    def remove_files(self, tenant: str, *, everything: bool) -> int:
        return 0

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        return iter(())

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        for store in self.opened.values():
            store.close()


def observable_tenants() -> tuple[Tenants, ObservableStores]:
    network, stores = FakeFetcher({URL: page(URL, "<p>Pumps and valves.")}), ObservableStores()
    return Tenants(Config(), network, stores, lambda: Panel(()), Clock(), InProcessExtractor()), stores


def test_the_least_recently_used_stores_are_closed() -> None:
    product, stores = observable_tenants()
    for number in range(MAX_OPEN):
        product.of(str(number))
    product.of("0")
    product.of("more")
    assert stores.opened["1"].closed.wait(5)
    assert [name for name, store in stores.opened.items() if store.closed.is_set()] == ["1"]


def test_a_store_in_use_is_never_closed_or_opened_twice() -> None:
    product, stores = observable_tenants()
    used = product.of("used")
    for number in range(2 * MAX_OPEN):
        product.of(str(number))
    assert not stores.opened["used"].closed.is_set()
    assert product.of("used") is used
    for number in range(2 * MAX_OPEN):
        product.of(str(number))
    del used
    assert stores.opened["used"].closed.wait(5)


def test_a_closed_store_is_opened_again_by_the_next_use(tmp_path: Path) -> None:
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
    """Return the files in a folder that this process has open."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # a descriptor closed meanwhile, such as that of this listing
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


def test_the_setting_record_off_writes_no_log(tmp_path: Path) -> None:
    for setting, files in (("off", 0), ("on", 1)):
        config = Config(home=tmp_path, record=setting)
        network = FakeFetcher({URL: page(URL, "<p>Pumps and valves.")})
        product = Tenants(config, network, LocalStores(config), lambda: Panel(()), Clock(), InProcessExtractor())

        async def call(product: Tenants = product) -> None:
            await dispatch(product.of(LOCAL), "web_fetch", {"url": URL}, no_progress)
            await product.aclose()

        asyncio.run(call())
        assert len(list(tmp_path.glob("calls.*"))) == files
