"""The operator's view is read from the stores of all tenants, at most once a minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.hosted.pages import DAYS, FRESH_SECONDS, OperatorPage, read_view
from keyhole.store.base import LOCAL, Store
from keyhole.store.calls.base import CallLog
from keyhole.store.open import MemoryStores, open_stores, tenant_folder_name
from keyhole.store.sqlite.store import MemoryStore
from keyhole.store.stores import Stores
from tests.store.calls.samples import START, call
from tests.support.fakes import Clock, MemoryCallLog, artifact
from tests.support.postgresql import Cluster

TOKEN = "kW7-2hQxv9Zr4mTb"


@dataclass
class OneTenant:
    """Stores of one tenant, which count how often all tenants are read; `fails` makes its log fail."""

    calls: CallLog
    fails: bool = False
    read: int = 0
    store: MemoryStore = field(default_factory=lambda: MemoryStore(Clock()))

    def for_tenant(self, tenant: str) -> tuple[Store, bytes]:
        return self.store, tenant.encode()

    def calls_for(self, tenant: str) -> CallLog:
        return self.calls

    def remove_files(self, tenant: str, *, everything: bool) -> int:
        return 0

    def all_tenants(self, names: Iterable[str]) -> Iterator[tuple[str, Store, CallLog]]:
        self.read += 1
        if self.fails:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store failed")
        yield "one" if "one" in names else "7692c3ad3540", self.store, self.calls

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        """Do nothing: there are no resources."""


class FailingLog(MemoryCallLog):
    """A log whose medium fails."""

    def size_bytes(self) -> int:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the log failed")


def operator_of(stores: Stores, now: list[float]) -> OperatorPage:
    async def find() -> Stores:
        return stores

    return OperatorPage(Config(look=True, operator_token=TOKEN), find, clock=Clock(), now=lambda: now[0])


def log_of(*started_at: float) -> MemoryCallLog:
    log = MemoryCallLog(Clock(), 1e9)
    for number, at in enumerate(started_at):
        log.add(call(f"call {number}", started_at=at))
    return log


def test_only_the_operators_token_is_admitted_and_none_without_the_setting() -> None:
    operator = operator_of(OneTenant(log_of()), [0.0])
    assert operator.admits(TOKEN)
    for token in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "é"):
        assert not operator.admits(token)

    async def find() -> Stores:
        raise AssertionError("nobody may see the view")

    assert not OperatorPage(Config(), find).admits("")


def test_the_view_is_read_again_after_a_minute() -> None:
    stores, now = OneTenant(log_of(START)), [0.0]
    operator = operator_of(stores, now)

    async def show() -> list[bytes]:
        return [bytes((await operator.show()).body) for _ in range(3)]

    assert len(set(asyncio.run(show()))) == 1
    assert stores.read == 1
    now[0] = FRESH_SECONDS
    asyncio.run(operator.show())
    assert stores.read == 2


def test_stores_that_cannot_be_listed_are_an_error_and_are_asked_again() -> None:
    stores = OneTenant(log_of(), fails=True)
    operator = operator_of(stores, [0.0])
    for _ in range(2):
        with pytest.raises(KeyholeError):
            asyncio.run(operator.show())
    stores.fails = False
    assert b"7692c3ad3540" in asyncio.run(operator.show()).body


def test_a_tenant_whose_log_fails_is_counted_as_failed() -> None:
    view = read_view(OneTenant(FailingLog(Clock(), 1e9)), ["one"], 0.0)
    assert (view.rows, view.failed) == ((), 1)


def test_calls_before_the_time_are_left_out() -> None:
    view = read_view(OneTenant(log_of(START - DAYS * 86_400, START)), ["one"], START - 1)
    assert [(row.name, row.calls) for row in view.rows] == [("one", 1)]


@pytest.mark.parametrize("kind", ["sqlite", "memory", "postgresql"])
def test_all_tenants_of_each_kind_of_store_are_found(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    settings = {"KEYHOLE_HOME": str(tmp_path)}
    if kind == "postgresql":
        cluster: Cluster = request.getfixturevalue("postgresql")
        settings["KEYHOLE_STORE"] = cluster.database()
    elif kind == "memory":
        settings["KEYHOLE_STORE"] = "memory"
    stores = open_stores(parse_config(settings))
    kept = [(stores.for_tenant(tenant)[0], stores.calls_for(tenant)) for tenant in ("one", "two")]
    for (store, log), count in zip(kept, (1, 2), strict=True):
        store.put(replace(artifact(), id="a" * 16), "word")
        for number in range(count):
            log.add(call(f"call {number}", started_at=time.time()))  # older ones would have expired
    view = read_view(stores, ["one", "three"], 0.0)
    rows = {row.name: (row.calls, row.artifacts) for row in view.rows}
    assert rows.pop("one") == (1, 1)
    assert list(rows.values()) == [(2, 1)]
    assert all(len(name) == 12 and name.isalnum() for name in rows)
    assert list(rows) == [tenant_folder_name("two")[:12]] or kind == "postgresql"
    stores.close()


def test_the_only_user_of_a_server_without_authentication_is_no_tenant() -> None:
    stores = MemoryStores()
    store, _ = stores.for_tenant(LOCAL)
    store.put(artifact(), "word")
    assert list(stores.all_tenants([])) == []
