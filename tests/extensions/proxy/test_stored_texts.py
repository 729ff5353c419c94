"""The proxy answers calls of its own tool from the store, under the name that the client sees, and records them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.build import build, open_stores
from keyhole.config.config import Config
from keyhole.extensions.proxy.bounding import StoredTexts
from keyhole.extensions.proxy.json_rpc import build as message
from keyhole.extensions.proxy.proxy_relay import ClientVersion
from keyhole.extensions.proxy.rewrite import READER
from keyhole.outputs.bound import bound
from keyhole.store.base import LOCAL

OTHER = "keyhole_read_artifact"
TEXT = "\n".join(f"{number:05} the zebra valve was checked" for number in range(3_000))
DEFAULT_BYTES = 9_500


def kept(config: Config) -> str:
    """Store a long output and return its id."""
    stores = open_stores(config)
    store, secret = stores.for_tenant(LOCAL)
    id = bound(TEXT, store=store, secret=secret, now=1.0).id
    stores.close()
    assert id
    return id


def read(config: Config, reader: str, **arguments: Any) -> Any:
    """Return the result of one call of the proxy's tool, which the client sees as `reader`."""

    async def run() -> Any:
        texts = StoredTexts(lambda: build(config))
        try:
            call = message({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": arguments}})
            return (await texts.read(call, ClientVersion("codex", "1"), reader, session="s1")).data["result"]
        finally:
            await texts.aclose()

    return asyncio.run(run())


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(home=tmp_path)


@pytest.mark.parametrize("reader", [READER, OTHER])
def test_a_stored_text_is_read_within_the_budget_and_continued_under_the_clients_name(
    config: Config, reader: str
) -> None:
    result = read(config, reader, id=kept(config))
    text = result["content"][0]["text"]
    assert TEXT[:1_000] in text
    assert f"\nNext: {reader}(id=" in text
    assert len(json.dumps(result)) <= DEFAULT_BYTES


@pytest.mark.parametrize("reader", [READER, OTHER])
def test_a_read_is_recorded_in_the_session_of_its_conversation(config: Config, reader: str) -> None:
    id = kept(config)
    read(config, reader, id=id, query="zebra valve")
    stores = open_stores(config)
    (call,) = stores.calls_for(LOCAL).calls(9)
    stores.close()
    assert (call.session, call.client, call.tool, call.target) == ("s1", "codex 1", READER, id)


@pytest.mark.parametrize("reader", [READER, OTHER])
def test_arguments_that_are_not_valid_are_an_error_with_a_code(config: Config, reader: str) -> None:
    result = read(config, reader, id=5)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("invalid_argument:")
