"""What tenants of one server share, and what is each one's own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes import Clock, FakeFetcher, InProcess, page
from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.store.base import LOCAL
from keyhole.stores import LocalStores
from keyhole.tenants import Tenants
from keyhole.websearch.panel import Panel

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
