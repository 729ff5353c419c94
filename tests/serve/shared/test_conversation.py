"""What a relay repeats to the next server, and which replies it knows."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.shared.conversation import CONSTANT_METHODS, LOST, MAX_REPLIES, Conversation, encode

PARAMS = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"}}


def request(id: int | str, method: str, params: dict[str, Any] | None = None) -> bytes:
    return encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})


def result(id: int | str, value: dict[str, Any]) -> bytes:
    return encode({"jsonrpc": "2.0", "id": id, "result": value})


INITIALIZE = request(0, "initialize", PARAMS)
INITIALIZED = encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
CALL = request(2, "tools/call", {"name": "search"})


def opened(replies: dict[str, Any] | None = None) -> Conversation:
    """Return a conversation whose client and server have made the handshake."""
    conversation = Conversation(replies or {})
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
    conversation = Conversation({})
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


def test_a_known_reply_is_given_without_the_server_and_is_what_the_server_wrote() -> None:
    first = opened()
    listing = result(1, {"tools": [{"name": "grüße", "size": 1.5}], "ttl": None})
    first.take_from_client(request(1, "tools/list"), is_connected=True)
    assert first.take_from_server(listing) == listing
    assert first.has_learned
    again = Conversation(json.loads(json.dumps(first.replies)))
    assert again.take_from_client(INITIALIZE, is_connected=False) == (b"", result(0, {"server": 1}))
    assert again.take_from_client(request(1, "tools/list"), is_connected=False) == (b"", listing)
    assert not again.is_waiting
    assert again.open_again() == INITIALIZE
    assert again.take_from_server(result(0, {"server": 1})) == b""


def test_another_handshake_another_argument_and_an_error_have_no_known_reply() -> None:
    first = opened()
    first.take_from_client(request(1, "tools/list"), is_connected=True)
    first.take_from_server(encode({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}}))
    other = {**PARAMS, "capabilities": {"sampling": {}}}
    assert Conversation(first.replies).take_from_client(request(0, "initialize", other), is_connected=False)[1] == b""
    again = Conversation(first.replies)
    again.take_from_client(INITIALIZE, is_connected=False)
    assert again.take_from_client(request(1, "tools/list"), is_connected=False)[1] == b""
    assert again.take_from_client(request(2, "prompts/list", {"cursor": "x"}), is_connected=False)[1] == b""


def test_a_client_of_another_name_has_the_same_known_replies_in_both_eras() -> None:
    first = opened()
    named = {**PARAMS, "clientInfo": {"name": "two", "version": "9"}}
    known = Conversation(first.replies).take_from_client(request(7, "initialize", named), is_connected=False)[1]
    assert known == result(7, {"server": 1})
    modern = [{"_meta": {"io.modelcontextprotocol/clientInfo": {"name": name}, "era": 2}} for name in ("a", "b")]
    later = Conversation({})
    later.take_from_client(request(1, "tools/list", modern[0]), is_connected=True)
    later.take_from_server(result(1, {"tools": []}))
    assert later.take_from_client(request(2, "tools/list", modern[1]), is_connected=True)[1] == result(2, {"tools": []})
    other = {"_meta": {**modern[1]["_meta"], "era": 3}}
    assert later.take_from_client(request(3, "tools/list", other), is_connected=True)[1] == b""


def test_no_reply_is_kept_of_a_call_or_of_a_request_with_a_progress_token() -> None:
    conversation = opened()
    asked = {"_meta": {"progressToken": 7}}
    for id, method, params in ((5, "tools/call", {"name": "search"}), (6, "tools/list", asked)):
        conversation.take_from_client(request(id, method, params), is_connected=True)
        conversation.take_from_server(result(id, {"x": 1}))
    assert list(conversation.replies.values()) == [{"server": 1}]


def test_the_number_of_kept_replies_is_limited() -> None:
    conversation = opened()
    for number in range(3 * MAX_REPLIES):
        conversation.take_from_client(request(number + 1, "tools/list", {"cursor": str(number)}), is_connected=True)
        conversation.take_from_server(result(number + 1, {}))
    assert len(conversation.replies) <= MAX_REPLIES


METHODS = st.sampled_from(sorted({*CONSTANT_METHODS, "tools/call", "ping"} - {"initialize"}))


@given(st.lists(st.tuples(st.sampled_from(["ask", "answer", "lose"]), METHODS), max_size=40))
def test_each_request_gets_exactly_one_reply_whenever_servers_end(steps: list[tuple[str, str]]) -> None:
    conversation = opened()
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
