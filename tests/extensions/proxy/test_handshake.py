"""The version of each message is known, and a server that is started again gets the client's handshake again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyhole.extensions.proxy import handshake as handshake_module
from keyhole.extensions.proxy.handshake import INITIALIZED, Handshake, is_modern, version_of
from keyhole.extensions.proxy.json_rpc import Message, build, parse


def request(method: str, **params: Any) -> Message:
    return build({"jsonrpc": "2.0", "id": 1, "method": method, "params": params, "new": 1})


def answer(raw: bytes) -> Message:
    return build({"id": parse(raw)[0].data["id"], "result": {}})


def test_a_message_names_its_version_or_has_the_agreed_one() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert version_of(request("tools/list", _meta=meta), "2025-06-18") == "2026-07-28"
    assert (
        version_of(request("tools/list"), "2025-06-18")
        == version_of(request("tools/list", _meta=5), "2025-06-18")
        == "2025-06-18"
    )
    assert version_of(request("tools/list")) == ""


def test_unknown_versions_count_as_new() -> None:
    assert is_modern("2026-07-28") and is_modern("2027-01-01")
    assert not is_modern("2025-06-18") and not is_modern("")


def test_a_client_that_has_not_initialized_has_no_greeting() -> None:
    assert Handshake().greeting() is None


def test_the_greeting_is_the_clients_own_with_another_id() -> None:
    known = Handshake()
    known.note(request("initialize", clientInfo={"name": "c"}))
    raw = known.greeting()
    assert raw
    assert {**json.loads(raw), "id": 1} == request("initialize", clientInfo={"name": "c"}).data
    assert known.is_greeting(answer(raw))
    assert not known.is_repeated(answer(raw))


def test_subscriptions_are_repeated_and_their_answers_are_known() -> None:
    known = Handshake()
    known.note(request("resources/subscribe", uri="a:1"))
    ready, subscription = known.repeated()
    assert ready == INITIALIZED
    assert json.loads(subscription)["params"] == {"uri": "a:1"}
    assert known.is_repeated(answer(subscription))
    assert not known.is_greeting(answer(subscription))
    assert not known.is_repeated(build({"id": "keyhole-1", "result": {}}))


def test_a_new_handshake_forgets_what_was_said_before() -> None:
    known = Handshake()
    known.note(request("logging/setLevel", level="debug"))
    known.note(request("resources/subscribe", uri="a:1"))
    known.note(request("initialize"))
    assert known.repeated() == [INITIALIZED]


def test_the_oldest_subscriptions_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake_module, "MAX_SUBSCRIPTIONS", 2)
    known = Handshake()
    for number in range(4):
        known.note(request("resources/subscribe", uri=f"a:{number}"))
    assert [json.loads(raw)["params"]["uri"] for raw in known.repeated()[1:]] == ["a:2", "a:3"]
