"""The stores of all tenants in one PostgreSQL, as the settings choose it: the whole product over it, replicas, ids."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from keyhole.cli.main import main
from keyhole.config.config import Config, parse_config
from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.tenants import Tenants
from keyhole.store.base import LOCAL
from keyhole.store.open import SharedStores, derive_tenant_secret, open_stores
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcess, page
from tests.support.loopback import unused_port
from tests.support.postgresql import PASSWORD, Cluster

URL = "https://a.example/"


@pytest.fixture
def config(postgresql: Cluster) -> Config:
    return parse_config({"KEYHOLE_STORE": postgresql.database(), "KEYHOLE_STORE_CONNECTIONS": "2"})


@pytest.fixture
def replicas(config: Config) -> Iterator[list[Tenants]]:
    """Three servers on one database."""
    network = {URL: page(URL, "<p>Pumps and valves.")}
    made = [
        Tenants(config, FakeFetcher(network), open_stores(config), Panel(()), Clock(), InProcess()) for _ in range(3)
    ]
    yield made
    for product in made:
        product.stores.close()


def test_the_setting_chooses_the_shared_store(config: Config) -> None:
    assert isinstance(open_stores(config), SharedStores)
    assert not isinstance(open_stores(replace(config, store="")), SharedStores)


def test_what_one_server_fetched_every_other_reads_under_the_same_id(replicas: list[Tenants]) -> None:
    ids = {str(asyncio.run(product.of("one").web_fetch(URL)).facts["artifact_id"]) for product in replicas}
    (id,) = ids
    for product in replicas:
        assert "Pumps" in asyncio.run(product.of("one").read_artifact(id)).text
        for other in ("two", LOCAL, "one ", "ONE", "one\x00", "\ud800"):
            answer = asyncio.run(product.of(other).read_artifact(id))
            assert answer.text == asyncio.run(product.of(other).read_artifact("a" * 16)).text
            assert answer.text.startswith("unknown_artifact")


def test_a_tenants_ids_are_under_a_secret_of_its_own(replicas: list[Tenants]) -> None:
    stores = replicas[0].stores
    local, one, two = (stores.for_tenant(name)[1] for name in (LOCAL, "one", "two"))
    assert len({local, one, two}) == 3
    assert one == derive_tenant_secret(local, "one")
    assert replicas[1].stores.for_tenant("one")[1] == one


def test_before_the_database_was_reached_once_nobody_has_a_store() -> None:
    config = parse_config({"KEYHOLE_STORE": f"postgresql://u:p@127.0.0.1:{unused_port()}/d"})
    stores = open_stores(config)
    with pytest.raises(KeyholeError) as caught:
        stores.for_tenant(LOCAL)
    assert caught.value.code is Code.STORE_UNAVAILABLE
    stores.close()


def test_the_address_is_in_no_representation_of_the_settings(config: Config) -> None:
    assert PASSWORD.split(":")[0] not in repr(config)


def test_an_address_that_cannot_be_read_is_a_mistake_of_the_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYHOLE_STORE", "postgresql://u:secret@h/d?nonsense=1")
    assert main(["artifacts", "list"]) == 2
    shown = capsys.readouterr().err
    assert "KEYHOLE_STORE" in shown
    assert "secret" not in shown


def test_the_command_line_lists_what_the_shared_store_has(
    config: Config, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYHOLE_STORE", config.store)
    assert main(["artifacts", "list"]) == 0
    assert PASSWORD not in capsys.readouterr().out
