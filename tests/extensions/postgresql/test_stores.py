"""Tests of tenants' stores in one PostgreSQL database, with several servers on it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql.store import SharedStores
from keyhole.retrieval.tenants import Tenants
from keyhole.store.base import LOCAL
from keyhole.store.open import derive_tenant_secret, open_stores
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcessExtractor, page
from tests.support.loopback import unused_port
from tests.support.postgresql import PASSWORD, Cluster

URL = "https://a.example/"


@pytest.fixture
def config(postgresql: Cluster) -> Config:
    return parse_config({"KEYHOLE_STORE": postgresql.database(), "KEYHOLE_STORE_CONNECTIONS": "2"})


@pytest.fixture
def replicas(config: Config) -> Iterator[list[Tenants]]:
    """Return three servers on one database."""
    network = {URL: page(URL, "<p>Pumps and valves.")}
    made = [
        Tenants(config, FakeFetcher(network), open_stores(config), lambda: Panel(()), Clock(), InProcessExtractor())
        for _ in range(3)
    ]
    yield made
    for product in made:
        product.stores.close()


def test_the_setting_chooses_the_shared_store(config: Config) -> None:
    assert isinstance(open_stores(config), SharedStores)
    assert not isinstance(open_stores(replace(config, store="")), SharedStores)


def test_all_servers_read_an_artifact_under_the_same_id(replicas: list[Tenants]) -> None:
    ids = {str(asyncio.run(product.of("one").web_fetch(URL)).facts["artifact_id"]) for product in replicas}
    (id,) = ids
    for product in replicas:
        assert "Pumps" in asyncio.run(product.of("one").read_artifact(id)).text
        for other in ("two", LOCAL, "one ", "ONE", "one\x00", "\ud800"):
            answer = asyncio.run(product.of(other).read_artifact(id))
            assert answer.text == asyncio.run(product.of(other).read_artifact("a" * 16)).text
            assert answer.text.startswith("unknown_artifact")


def test_each_tenant_has_its_own_secret(replicas: list[Tenants]) -> None:
    stores = replicas[0].stores
    local, one, two = (stores.for_tenant(name)[1] for name in (LOCAL, "one", "two"))
    assert len({local, one, two}) == 3
    assert one == derive_tenant_secret(local, "one")
    assert replicas[1].stores.for_tenant("one")[1] == one


def test_no_store_is_available_before_the_database_was_reached() -> None:
    config = parse_config({"KEYHOLE_STORE": f"postgresql://u:p@127.0.0.1:{unused_port()}/d"})
    stores = open_stores(config)
    with pytest.raises(KeyholeError) as caught:
        stores.for_tenant(LOCAL)
    assert caught.value.code is Code.STORE_UNAVAILABLE
    stores.close()


def test_the_repr_of_the_settings_does_not_contain_the_address(config: Config) -> None:
    assert PASSWORD.split(":")[0] not in repr(config)


def test_a_malformed_address_is_reported_as_an_error_of_the_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYHOLE_STORE", "postgresql://u:secret@h/d?nonsense=1")
    assert main(["artifacts", "list"]) == 2
    shown = capsys.readouterr().err
    assert "KEYHOLE_STORE" in shown
    assert "secret" not in shown


def test_the_command_line_lists_the_shared_store(
    config: Config, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYHOLE_STORE", config.store)
    assert main(["artifacts", "list"]) == 0
    assert PASSWORD not in capsys.readouterr().out
