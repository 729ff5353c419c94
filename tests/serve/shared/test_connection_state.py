"""What a relay repeats to the next server, and which replies it knows."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.shared.connection_state import (
    LOST,
    MAX_PENDING,
    METHODS,
    PING,
    PING_ID,
    SILENT,
    ConnectionState,
    KnownReplies,
    encode,
)
from keyhole.serve.stdio import MAX_OPEN

PARAMS = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"}}


def request(id: int | str, method: str, params: dict[str, Any] | None = None) -> bytes:
    return encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})


def result(id: int | str, value: dict[str, Any]) -> bytes:
    return encode({"jsonrpc": "2.0", "id": id, "result": value})


INITIALIZE = request(0, "initialize", PARAMS)
INITIALIZED = encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
CALL = request(2, "tools/call", {"name": "search"})


NONE = KnownReplies({})
LISTED = {"tools": [{"name": "grüße", "size": 1.5}], "ttl": None}
KNOWN = KnownReplies(
    {"2025-06-18": {"initialize": {"protocolVersion": "2025-06-18", "server": 1}, "tools/list": LISTED}}
)


def opened(known: KnownReplies = NONE) -> ConnectionState:
    """Return a conversation whose client and server have made the handshake."""
    conversation = ConnectionState(known)
    for line in (INITIALIZE, INITIALIZED):
        conversation.take_from_client(line, is_connected=True)
    conversation.take_from_server(result(0, {"server": 1}))
    return conversation


def test_a_new_server_gets_the_handshake_and_the_unanswered_requests() -> None:
    conversation = opened()
    assert conversation.take_from_client(CALL, is_connected=True) == (CALL, b"")
    conversation.lose_server()
    assert conversation.open_again() == INITIALIZE + INITIALIZED + CALL


def test_the_client_gets_no_second_reply_to_its_handshake() -> None:
    conversation = opened()
    conversation.lose_server()
    conversation.open_again()
    assert conversation.take_from_server(result(0, {"server": 2})) == b""


def test_an_unanswered_handshake_is_sent_once_and_answered() -> None:
    conversation = ConnectionState(NONE)
    conversation.take_from_client(INITIALIZE, is_connected=False)
    assert conversation.open_again() == INITIALIZE
    assert conversation.take_from_server(result(0, {})) == result(0, {})


def test_answered_and_cancelled_requests_are_not_repeated() -> None:
    conversation = opened()
    cancel = encode(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "late"}}
    )
    for line in (CALL, request(3, "tools/call"), cancel):
        conversation.take_from_client(line, is_connected=True)
    conversation.take_from_server(result(2, {"content": []}))
    assert conversation.open_again() == INITIALIZE + INITIALIZED


def test_what_a_client_sends_while_there_is_no_server_reaches_the_next_one() -> None:
    conversation = opened()
    conversation.lose_server()
    broken, notification = b"{broken\n", encode({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    for line in (CALL, broken, notification):
        assert conversation.take_from_client(line, is_connected=False) == (b"", b"")
    assert conversation.is_waiting
    assert conversation.open_again() == INITIALIZE + INITIALIZED + CALL + broken + notification


def test_a_request_during_which_two_servers_end_is_answered_with_an_error() -> None:
    conversation = opened()
    conversation.take_from_client(CALL, is_connected=True)
    assert conversation.lose_server() == b""
    conversation.open_again()
    reply = json.loads(conversation.lose_server())
    assert (reply["id"], reply["error"]) == (2, {"code": -32603, "message": LOST})
    assert not conversation.is_waiting


def test_all_requests_at_a_silent_private_server_are_answered_with_an_error() -> None:
    conversation = opened()
    for id in ("a", 3):
        conversation.take_from_client(request(id, "tools/call"), is_connected=True)
    replies = [json.loads(line) for line in conversation.lose_silent_server().splitlines()]
    assert [(reply["id"], reply["error"]["message"]) for reply in replies] == [("a", SILENT), (3, SILENT)]
    assert not conversation.is_waiting


def test_the_relays_own_ping_gets_no_reply_of_the_client() -> None:
    conversation = opened()
    conversation.take_from_client(CALL, is_connected=True)
    assert json.loads(PING) == {"jsonrpc": "2.0", "id": PING_ID, "method": "ping"}
    assert conversation.take_from_server(result(PING_ID, {})) == b""
    assert conversation.is_unanswered


def test_few_requests_wait_at_a_server_and_others_may_be_cancelled_meanwhile() -> None:
    conversation = opened()
    for id in range(1, MAX_PENDING + 1):
        line = request(id, "tools/call")
        assert conversation.has_room(line)
        conversation.take_from_client(line, is_connected=True)
    assert not conversation.has_room(request(99, "tools/call"))
    cancel = encode({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert conversation.has_room(cancel)
    conversation.take_from_client(cancel, is_connected=True)
    assert conversation.has_room(request(99, "tools/call"))


def test_a_server_takes_the_relays_ping_beside_all_requests_that_the_relay_sends() -> None:
    assert MAX_OPEN == MAX_PENDING + 1


def test_few_notifications_wait_for_a_server() -> None:
    conversation = opened()
    conversation.lose_server()
    notification = encode({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    for _ in range(MAX_PENDING):
        assert conversation.has_room(notification)
        conversation.take_from_client(notification, is_connected=False)
    assert not conversation.has_room(notification)


def test_a_known_reply_is_given_without_the_server_and_in_the_form_that_the_server_writes() -> None:
    conversation = ConnectionState(KNOWN)
    known = b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","server":1}}\n'
    assert conversation.take_from_client(INITIALIZE, is_connected=False) == (b"", known)
    assert conversation.take_from_client(INITIALIZED, is_connected=False) == (b"", b"")
    assert conversation.take_from_client(request("a", "tools/list"), is_connected=False) == (b"", result("a", LISTED))
    assert not conversation.is_waiting
    assert conversation.open_again() == INITIALIZE + INITIALIZED
    assert conversation.take_from_server(known) == b""


def test_a_handshake_with_a_known_reply_reaches_the_server_and_a_list_does_not() -> None:
    conversation = opened(KNOWN)
    assert conversation.take_from_client(request(1, "tools/list"), is_connected=True) == (b"", result(1, LISTED))
    again = ConnectionState(KNOWN)
    assert again.take_from_client(INITIALIZE, is_connected=True)[0] == INITIALIZE


def test_what_is_not_known_is_asked_of_the_server() -> None:
    conversation = opened(KNOWN)
    listing = request(1, "prompts/list")
    assert conversation.take_from_client(listing, is_connected=True) == (listing, b"")
    assert conversation.take_from_server(result(1, {"prompts": []})) == result(1, {"prompts": []})


ASKED = st.sampled_from(sorted({*METHODS, "tools/call", "ping"}))


@given(st.lists(st.tuples(st.sampled_from(["ask", "answer", "lose"]), ASKED), max_size=40))
def test_each_request_gets_exactly_one_reply_whenever_servers_end(steps: list[tuple[str, str]]) -> None:
    conversation = opened(KNOWN)
    at_server: dict[int, str] = {}
    replies: list[int] = []
    asked = 0

    def receive(lines: bytes) -> None:
        for line in lines.splitlines():
            message = json.loads(line)
            if "id" in message and message["id"] != 0:
                at_server[message["id"]] = message["method"]

    def give(lines: bytes) -> None:
        replies.extend(json.loads(line)["id"] for line in lines.splitlines())

    for step, method in steps:
        if step == "ask":
            asked += 1
            to_server, reply = conversation.take_from_client(request(asked, method), is_connected=True)
            receive(to_server)
            give(reply)
        elif step == "answer" and at_server:
            id = next(iter(at_server))
            give(conversation.take_from_server(result(id, {"method": at_server.pop(id)})))
        elif step == "lose":
            at_server.clear()
            give(conversation.lose_server())
            receive(conversation.open_again())
    for id in list(at_server):
        give(conversation.take_from_server(result(id, {})))
    assert sorted(replies) == list(range(1, asked + 1))
