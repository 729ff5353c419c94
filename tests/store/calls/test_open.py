"""Tests of opening the logs of tenants: each in its own folder, or in memory."""

from __future__ import annotations

from pathlib import Path

from keyhole.config.config import Config
from keyhole.store.base import LOCAL
from keyhole.store.calls.record import CallFilters
from keyhole.store.calls.sqlite import FILE_NAME
from keyhole.store.open import LocalStores, MemoryStores
from tests.store.calls.samples import START, call
from tests.support.fakes import Clock


def test_each_tenant_has_a_log_of_its_own(tmp_path: Path) -> None:
    for stores in (LocalStores(Config(home=tmp_path), clock=Clock()), MemoryStores(Clock())):
        one, two = stores.calls_for("one"), stores.calls_for("two")
        one.add(call(started_at=START))
        assert len(one.calls(9)) == 1
        assert two.calls(9) == stores.calls_for(LOCAL).calls(9) == ()
        assert stores.calls_for("one") is one
        stores.close()


def test_a_log_is_in_the_folder_of_its_tenant_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    stores = LocalStores(Config(home=tmp_path / "home"), clock=Clock())
    stores.calls_for(LOCAL).add(call())
    stores.calls_for("one").add(call())
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob(FILE_NAME))
    assert len(files) == 2
    assert files[0] == f"home/{FILE_NAME}"
    assert files[1].startswith("home/tenants/")
    assert (tmp_path / files[0]).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    stores.close()


def test_a_log_expires_with_the_setting_of_the_store(tmp_path: Path) -> None:
    clock = Clock()
    stores = LocalStores(Config(home=tmp_path, ttl_days=1), clock=clock)
    stores.calls_for(LOCAL).add(call())
    clock.advance(86_400 + 3_700)
    assert stores.calls_for(LOCAL).calls(9, CallFilters()) == ()
    stores.close()


def test_a_log_is_kept_when_its_store_is_closed_and_opened_again(tmp_path: Path) -> None:
    for count in (1, 2):
        stores = LocalStores(Config(home=tmp_path), clock=Clock())
        stores.calls_for(LOCAL).add(call(str(count)))
        assert len(stores.calls_for(LOCAL).calls(9)) == count
        stores.close()
