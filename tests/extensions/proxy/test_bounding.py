"""One response is bounded within the limits of its client, tool and kind, and is stored as the settings say."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.bounding import Bounder
from keyhole.extensions.proxy.json_rpc import Message, build, response
from keyhole.extensions.proxy.proxy_relay import ClientVersion, Pending
from keyhole.extensions.proxy.rewrite import READER, Intent, Policy
from keyhole.outputs.record import BoundCall, make_output_record
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock

WORDS = ("pump", "valve", "gauge", "filter", "tank", "meter", "seal", "drain", "boiler", "fan", "belt")
LINES = [
    f"{number:05} {WORDS[number % 11]} {WORDS[number % 7]} {WORDS[number % 5]}: checked" for number in range(1_500)
]
LINES[700] = "00700 the zebra valve of tank 3 was closed by hand"
TEXT = "\n".join(LINES)


def pending(client: str = "unknown", tool: str = "log", query: str = "", method: str = "tools/call") -> Pending:
    request = build({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": tool}})
    return Pending(request, ClientVersion(client, "1"), Intent(tool, query, tool))


def text_result(text: str = TEXT, **fields: Any) -> Message:
    return response(1, {"content": [{"type": "text", "text": text}], **fields})


def bound(
    message: Message, wanted: Pending, store: Store | None = None, config: Config | None = None, **policy: Any
) -> Any:
    """Return the result of the bounded response."""
    kept = store or MemoryStore(Clock())
    bounder = Bounder(config or Config(), Policy(**policy), lambda: (kept, b"secret"), Clock())
    raw = bounder.bound(message, wanted, READER)
    value = json.loads(raw)
    assert value["id"] == 1
    return value["result"]


def shown(result: Any) -> str:
    return str(result["content"][0]["text"])


def test_a_long_text_fits_its_budget_shows_what_the_call_asks_for_and_can_be_read_on() -> None:
    store = MemoryStore(Clock())
    text = shown(bound(text_result(), pending(query="who closed the zebra valve"), store))
    assert LINES[700] in text
    assert len(text) <= Config().max_chars
    (entry,) = store.list(10)
    assert f'{READER}(id="{entry.id}"' in text
    assert store.get(entry.id).text == TEXT


def test_a_bounded_result_is_recorded_with_the_ranges_that_it_shows() -> None:
    store, calls = MemoryStore(Clock()), list[BoundCall]()
    bounder = Bounder(Config(), Policy(), lambda: (store, b"secret"), Clock(), calls.append)
    request = build({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": {"tank": 3}}})
    wanted = Pending(request, ClientVersion("codex", "1"), Intent("log", "zebra valve", "log 3"))
    second = {"type": "resource", "resource": {"uri": "file:///b", "text": "b\n" * 20_000}}
    message = response(1, {"content": [{"type": "text", "text": TEXT}, second]})
    content = json.loads(bounder.bound(message, wanted, READER))["result"]["content"]
    (call,) = calls
    assert call.result == f"{content[0]['text']}\n{content[1]['resource']['text']}"
    record = make_output_record(replace(call, id="call", session="conversation"))
    assert (record.summary.origin, record.summary.tool, record.summary.query) == ("proxy", "log", "zebra valve")
    assert (record.summary.client, record.arguments) == ("codex 1", '{"tank": 3}')
    assert record.summary.budget == Config().max_chars
    for text in record.texts:
        stored = store.get(text.id).text
        assert len(stored) == text.chars > text.shown > 0
        assert all(stored[start:end].strip("\n") in call.result for start, end in text.spans)
    assert len(record.texts) == 2


@pytest.mark.parametrize("config", [Config(keep_outputs="off"), None])
def test_a_result_of_which_nothing_is_stored_is_not_recorded(config: Config | None) -> None:
    calls: list[BoundCall] = []
    bounder = Bounder(config or Config(), Policy(), lambda: (MemoryStore(Clock()), b""), Clock(), calls.append)
    message = text_result() if config else text_result("short")
    bounder.bound(message, pending(), READER)
    assert calls == []


def test_a_result_within_the_budget_is_left_alone() -> None:
    bounder = Bounder(Config(), Policy(), lambda: (MemoryStore(Clock()), b""), Clock())
    small = text_result("short")
    assert bounder.fits(small, pending())
    assert bounder.bound(small, pending(), READER) == small.raw


def test_a_tool_may_have_a_budget_of_its_own() -> None:
    small = shown(bound(text_result(), pending(), tool_bytes=MappingProxyType({"log": 2_000})))
    large = shown(bound(text_result(), pending(), tool_bytes=MappingProxyType({"log": 20_000})))
    assert len(small) <= 2_000 < len(large) <= 20_000


def test_a_result_that_is_an_error_is_bounded_as_any_other() -> None:
    store = MemoryStore(Clock())
    result = bound(text_result(isError=True), pending(), store)
    assert result["isError"] is True
    assert len(shown(result)) <= Config().max_chars
    (entry,) = store.list(10)
    assert store.get(entry.id).text == TEXT


@pytest.mark.parametrize("data", [None, {"log": LINES}, {"retry": True}])
def test_the_error_of_a_request_is_bounded_with_its_data(data: Any) -> None:
    calls, store = list[BoundCall](), MemoryStore(Clock())
    bounder = Bounder(Config(), Policy(), lambda: (store, b"secret"), Clock(), calls.append)
    error = {"code": -32603, "message": TEXT, "data": data}
    raw = bounder.bound(build({"jsonrpc": "2.0", "id": 1, "error": error}), pending(query="zebra valve"), READER)
    bounded = json.loads(raw)["error"]
    assert len(raw) <= Config().max_chars + 100
    assert bounded["code"] == -32603
    assert LINES[700] in bounded["message"]
    assert bounded.get("data") == (None if data and "log" in data else data)
    assert calls[0].result == bounded["message"]


def test_a_short_error_of_a_request_is_left_alone() -> None:
    message = build({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no", "data": "x" * 300}})
    bounder = Bounder(Config(), Policy(), lambda: (MemoryStore(Clock()), b""), Clock())
    assert bounder.bound(message, pending(), READER) == message.raw


def test_a_result_that_stays_too_long_for_any_client_is_an_error() -> None:
    with pytest.raises(KeyholeError, match="more than the 8,388,608") as raised:
        bound(response(1, {"content": [{"type": "hologram", "beam": "x" * 9_000_000}]}), pending())
    assert raised.value.code is Code.SERVER_FAULT


@pytest.mark.parametrize("setting", ["off", "on"])
def test_without_a_store_a_result_is_bounded_and_names_no_call(setting: str) -> None:
    def fail() -> tuple[Store, bytes]:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is full")

    store = MemoryStore(Clock())
    opened = (lambda: (store, b"secret")) if setting == "off" else fail
    bounder = Bounder(Config(keep_outputs=setting), Policy(), opened, Clock())
    text = shown(json.loads(bounder.bound(text_result(), pending(), READER))["result"])
    assert len(text) < len(TEXT)
    assert READER not in text
    assert not store.list(10)
    assert not bounder.index_oldest()


def test_an_image_over_the_client_s_limit_is_stored_and_named() -> None:
    store = MemoryStore(Clock())
    data = base64.b64encode(bytes(1_000_000)).decode()
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    result = bound(
        response(1, {"content": [image, {"type": "text", "text": "ok"}]}), pending("codex-mcp-client"), store
    )
    (entry,) = store.list(10)
    assert store.get(entry.id).text == data
    assert entry.id in json.dumps(result["content"])
    assert data not in json.dumps(result)


def test_a_resource_is_bounded_too() -> None:
    contents = [{"uri": "file:///a.log", "mimeType": "text/plain", "text": TEXT}]
    result = bound(response(1, {"contents": contents}), pending(method="resources/read"))
    assert result["contents"][0]["uri"] == "file:///a.log"
    assert len(result["contents"][0]["text"]) < len(TEXT)
