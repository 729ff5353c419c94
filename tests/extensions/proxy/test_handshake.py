"""A server that is started again hears what the client said before it ended, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyhole.extensions.proxy import handshake as handshake_module
from keyhole.extensions.proxy.handshake import INITIALIZED, Handshake
from keyhole.extensions.proxy.messages import Message, build, parse


def request(method: str, **params: Any) -> Message:
    return build({"jsonrpc": "2.0", "id": 1, "method": method, "params": params, "new": 1})


def answer(raw: bytes) -> Message:
    return build({"id": parse(raw)[0].data["id"], "result": {}})


def test_a_client_that_has_not_initialized_has_no_greeting() -> None:
    assert Handshake().greeting("one") is None


def test_the_greeting_is_the_clients_own_with_another_id() -> None:
    known = Handshake()
    known.note(request("initialize", clientInfo={"name": "c"}), ["one"])
    raw = known.greeting("one")
    assert raw
    assert {**json.loads(raw), "id": 1} == request("initialize", clientInfo={"name": "c"}).data
    assert known.is_greeting("one", answer(raw))
    assert not known.is_greeting("two", answer(raw))
    assert not known.is_repeated(answer(raw))


def test_each_server_hears_only_of_its_own_subscriptions() -> None:
    known = Handshake()
    known.note(request("resources/subscribe", uri="a:1"), ["one"])
    known.note(request("resources/subscribe", uri="a:2"), ["two"])
    ready, subscription = known.repeated("two")
    assert ready == INITIALIZED
    assert json.loads(subscription)["params"] == {"uri": "a:2"}
    assert known.is_repeated(answer(subscription))
    assert not known.is_repeated(build({"id": "keyhole-1", "result": {}}))


def test_a_new_handshake_forgets_what_was_said_before() -> None:
    known = Handshake()
    known.note(request("logging/setLevel", level="debug"), ["one"])
    known.note(request("resources/subscribe", uri="a:1"), ["one"])
    known.note(request("initialize"), ["one"])
    assert known.repeated("one") == [INITIALIZED]


def test_the_oldest_subscriptions_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake_module, "MAX_SUBSCRIPTIONS", 2)
    known = Handshake()
    for number in range(4):
        known.note(request("resources/subscribe", uri=f"a:{number}"), ["one"])
    assert [json.loads(raw)["params"]["uri"] for raw in known.repeated("one")[1:]] == ["a:2", "a:3"]
