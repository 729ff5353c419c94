"""Each message goes where it belongs, by its id, and a caller that waits gets an answer in any case."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.methods import validate_server_result

from keyhole.extensions.proxy import proxy_relay
from keyhole.extensions.proxy.proxy_relay import (
    BoundResult,
    ClientVersion,
    ProxyRelay,
    ReadStored,
    RelayStep,
    ToClient,
    ToServer,
)
from keyhole.extensions.proxy.rewrite import Policy


def make(**policy: Any) -> ProxyRelay:
    return ProxyRelay("one", Policy(**policy), lambda: {"type": "object"})


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def request(id: object, method: str, **params: Any) -> bytes:
    return line(id=id, method=method, params=params)


def to_client(steps: list[RelayStep]) -> list[Any]:
    return [json.loads(step.raw) for step in steps if isinstance(step, ToClient)]


def to_server(steps: list[RelayStep]) -> list[Any]:
    return [json.loads(step.raw) for step in steps if isinstance(step, ToServer)]


def error_code(message: Any) -> str:
    return str(message["error"]["data"]["code"])


class TestTheServer:
    @pytest.mark.parametrize(
        "raw",
        [
            line(id=1, method="tools/call", params={"name": "a"}, new="field"),
            line(id="x", method="a/new/method"),
            line(method="notifications/initialized"),
            line(method="notifications/progress", params={"progressToken": 5, "progress": 1}),
            b'{"neither": "kind"}',
        ],
    )
    def test_gets_every_message_byte_for_byte(self, raw: bytes) -> None:
        assert make().from_client(raw) == [ToServer(raw)]

    @pytest.mark.parametrize(
        "raw",
        [
            line(method="notifications/message", params={"level": "info", "data": "x"}),
            line(method="notifications/tools/list_changed"),
            line(id=1, method="sampling/createMessage", params={"new": 1}),
            b'{"neither":  "kind"}',
        ],
    )
    def test_reaches_the_client_byte_for_byte(self, raw: bytes) -> None:
        assert make().from_server(raw) == [ToClient(raw, is_answer=False)]

    def test_is_answered_by_the_client_with_the_id_of_its_request(self) -> None:
        relay = make()
        relay.from_server(request(7, "roots/list"))
        answer = line(id=7, result={"roots": []})
        assert relay.from_client(answer) == [ToServer(answer)]
        assert relay.from_client(answer) == []

    def test_answers_a_request_once_and_an_unknown_one_not_at_all(self) -> None:
        relay = make()
        relay.from_client(request(1, "prompts/get"))
        answer = line(id=1, result={"messages": []}, new=1)
        assert relay.from_server(answer) == [ToClient(answer)]
        assert relay.from_server(answer) == []
        assert relay.from_server(line(id="1", result={})) == []

    def test_may_answer_a_cancelled_request(self) -> None:
        relay = make()
        relay.from_client(request(1, "tools/call", name="a"))
        cancel = line(method="notifications/cancelled", params={"requestId": 1})
        assert relay.from_client(cancel) == [ToServer(cancel)]
        error = line(id=1, error={"code": 0, "message": "Request cancelled"})
        assert relay.from_server(error) == [ToClient(error)]

    def test_gets_each_message_of_a_batch(self) -> None:
        steps = make().from_client(b"[" + request(1, "ping") + b"," + request(2, "ping") + b"]")
        assert [message["id"] for message in to_server(steps)] == [1, 2]


def test_a_line_of_the_client_that_is_no_json_is_answered_with_an_error() -> None:
    (message,) = to_client(make().from_client(b"hello"))
    assert message["id"] is None
    assert message["error"]["code"] == -32700
    assert make().from_client(b"  ") == []


def test_a_second_request_with_an_id_that_waits_is_refused_after_the_first_is_answered() -> None:
    relay = make()
    relay.from_client(request(1, "prompts/list"))
    assert relay.from_client(request(1, "ping")) == []
    first, second = to_client(relay.from_server(line(id=1, result={})))
    assert first["result"] == {}
    assert error_code(second) == "invalid_argument"


def test_a_line_of_the_server_that_is_no_json_disturbs_nothing_and_fails_only_its_own_caller() -> None:
    relay = make()
    relay.from_client(request(1, "tools/call", name="a"))
    assert relay.from_server(b"Server listening") == []
    (message,) = to_client(relay.from_server(b'{"jsonrpc":"2.0","id":1,"result":{"content":['))
    assert message["id"] == 1
    assert error_code(message) == "server_fault"


def test_a_message_that_is_too_long_fails_the_caller_that_waits_for_it() -> None:
    relay = make()
    relay.from_client(request("a", "tools/call", name="a"))
    (message,) = to_client(relay.lost_from_server(b'{"result":,"jsonrpc":"2.0","id":"a"}', "has 99 bytes"))
    assert message["id"] == "a"
    assert "has 99 bytes" in message["error"]["message"]
    assert relay.lost_from_server(b'{"method":"x"}', "has 99 bytes") == []


def test_what_is_too_long_for_a_client_and_not_bounded_is_an_error_to_whoever_waits() -> None:
    relay, long = make(excluded=("whole",)), "x" * 9_000_000
    relay.from_client(request(1, "prompts/get"))
    relay.from_client(request(2, "tools/call", name="whole"))
    relay.from_client(request(3, "tools/call", name="bounded"))
    for id in (1, 2):
        (message,) = to_client(relay.from_server(line(id=id, result={"text": long})))
        assert (message["id"], error_code(message)) == (id, "server_fault")
    assert isinstance(relay.from_server(line(id=3, error={"code": 1, "message": long}))[0], BoundResult)
    (refusal,) = to_server(relay.from_server(request(7, "sampling/createMessage", text=long)))
    assert (refusal["id"], error_code(refusal)) == (7, "invalid_argument")
    assert relay.from_server(line(method="notifications/message", params={"data": long})) == []


def test_a_request_that_is_too_long_is_refused() -> None:
    (message,) = to_client(make().lost_from_client(b'{"method":"tools/call","params":,"id":5}', "has 99 bytes"))
    assert (message["id"], error_code(message)) == (5, "invalid_argument")
    assert make().lost_from_client(b'{"method":"notifications/x","params":}', "has 99 bytes") == []


def test_the_end_of_a_server_answers_all_that_wait_and_withdraws_what_it_asked() -> None:
    relay = make()
    relay.from_client(request(1, "tools/call", name="a"))
    relay.from_server(request(9, "roots/list"))
    first, second = to_client(relay.ended("the server one ended with exit status 3"))
    assert (first["id"], error_code(first)) == (1, "server_unavailable")
    assert second["method"] == "notifications/cancelled"
    assert second["params"]["requestId"] == 9
    (refused,) = to_client(relay.from_client(request(2, "ping")))
    assert "exit status 3" in refused["error"]["message"]


def test_the_oldest_requests_of_the_server_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_relay, "MAX_ASKED", 1)
    relay = make()
    relay.from_server(request(1, "roots/list"))
    relay.from_server(request(2, "roots/list"))
    assert relay.from_client(line(id=1, result={})) == []
    assert to_server(relay.from_client(line(id=2, result={})))


def test_a_server_that_was_started_again_gets_the_handshake_of_the_client() -> None:
    relay = make()
    relay.from_client(request(0, "initialize", clientInfo={"name": "c"}, protocolVersion="2025-06-18"))
    relay.ended("the server one ended")
    (again,) = to_server(relay.restarted())
    assert again["params"]["clientInfo"] == {"name": "c"}
    assert to_client(relay.from_client(request(2, "ping")))[0]["error"]
    steps = relay.from_server(line(id=again["id"], result={"capabilities": {}}))
    assert [message["method"] for message in to_server(steps)] == ["notifications/initialized"]
    assert [message["method"] for message in to_client(steps)] == ["notifications/tools/list_changed"]
    assert to_server(relay.from_client(request(3, "ping")))


def test_a_server_that_refuses_the_handshake_after_its_restart_gets_the_requests_that_follow() -> None:
    relay = make()
    relay.from_client(request(0, "initialize"))
    relay.from_server(line(id=0, result={}))
    relay.ended("it ended")
    (handshake,) = to_server(relay.restarted())
    assert error_code(to_client(relay.from_client(request(1, "prompts/list")))[0]) == "server_unavailable"
    assert relay.from_server(line(id=handshake["id"], error={"code": 1, "message": "no"})) == []
    assert to_server(relay.from_client(request(2, "prompts/list")))


def test_a_server_that_was_started_again_gets_the_log_level_and_the_subscriptions_of_the_client() -> None:
    relay = make()
    relay.from_client(request(0, "initialize"))
    for id, method, params in [
        (1, "logging/setLevel", {"level": "debug"}),
        (2, "logging/setLevel", {"level": "error"}),
        (3, "resources/subscribe", {"uri": "a:1"}),
        (4, "resources/subscribe", {"uri": "a:2"}),
        (5, "resources/unsubscribe", {"uri": "a:1"}),
    ]:
        relay.from_client(request(id, method, **params))
    relay.ended("the server one ended")
    (greeting,) = to_server(relay.restarted())
    steps = relay.from_server(line(id=greeting["id"], result={"capabilities": {}}))
    _, level, subscription = (message for message in to_server(steps))
    assert (level["method"], level["params"]) == ("logging/setLevel", {"level": "error"})
    assert (subscription["method"], subscription["params"]) == ("resources/subscribe", {"uri": "a:2"})
    assert level["id"] != subscription["id"]
    assert relay.from_server(line(id=level["id"], result={})) == []
    assert relay.from_server(line(id=subscription["id"], error={"code": 1, "message": "no"})) == []


def test_a_server_that_does_not_read_fails_only_its_callers() -> None:
    relay = make()
    call = request(1, "tools/call", name="a")
    relay.from_client(call)
    (message,) = to_client(relay.undelivered(call))
    assert error_code(message) == "server_unavailable"
    assert relay.undelivered(line(method="notifications/initialized")) == []


def test_too_many_waiting_requests_are_refused_unless_the_oldest_was_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_relay, "MAX_PENDING", 1)
    relay = make()
    relay.from_client(request(1, "a"))
    assert error_code(to_client(relay.from_client(request(2, "a")))[0]) == "server_unavailable"
    relay.from_client(line(method="notifications/cancelled", params={"requestId": 1}))
    assert to_server(relay.from_client(request(2, "a")))


class TestRewriting:
    def test_the_handshake_gets_one_line_and_names_the_client(self) -> None:
        relay = make()
        relay.from_client(request(0, "initialize", clientInfo={"name": "codex-mcp-client", "version": "0.170"}))
        (answer,) = to_client(relay.from_server(line(id=0, result={"capabilities": {"tools": {}}, "new": 1})))
        assert answer["result"]["new"] == 1
        assert "Keyhole bounds" in answer["result"]["instructions"]
        relay.from_client(request(1, "tools/call", name="a"))
        (step,) = relay.from_server(line(id=1, result={"content": []}))
        assert isinstance(step, BoundResult)
        assert step.pending.client == ClientVersion("codex-mcp-client", "0.170")

    def test_each_request_of_the_newer_protocol_names_the_client(self) -> None:
        relay = make()
        meta = {"io.modelcontextprotocol/clientInfo": {"name": "n", "version": "2"}}
        relay.from_client(request(1, "tools/call", name="a", _meta=meta))
        (step,) = relay.from_server(line(id=1, result={}))
        assert isinstance(step, BoundResult)
        assert step.pending.client == ClientVersion("n", "2")

    def test_the_last_page_of_the_tools_ends_with_keyholes_own(self) -> None:
        relay = make()
        relay.from_client(request(1, "tools/list"))
        (page,) = to_client(relay.from_server(line(id=1, result={"tools": [{"name": "a"}], "nextCursor": "x"})))
        assert [tool["name"] for tool in page["result"]["tools"]] == ["a"]
        relay.from_client(request(2, "tools/list", cursor="x"))
        (page,) = to_client(relay.from_server(line(id=2, result={"tools": [{"name": "read_artifact"}]})))
        assert [tool["name"] for tool in page["result"]["tools"]] == ["read_artifact", "keyhole_read_artifact"]
        assert to_server(relay.from_client(request(3, "tools/call", name="read_artifact")))
        (step,) = relay.from_client(request(4, "tools/call", name="keyhole_read_artifact"))
        assert isinstance(step, ReadStored)

    def test_a_server_without_tools_has_keyholes_own(self) -> None:
        relay = make()
        relay.from_client(request(0, "initialize"))
        relay.from_server(line(id=0, result={"capabilities": {"resources": {}}}))
        (page,) = to_client(relay.from_client(request(1, "tools/list")))
        assert [tool["name"] for tool in page["result"]["tools"]] == ["read_artifact"]
        assert list(page["result"]) == ["tools"]
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        (page,) = to_client(relay.from_client(request(2, "tools/list", _meta=meta)))
        validate_server_result("tools/list", "2026-07-28", page["result"])

    @pytest.mark.parametrize(("method", "params"), [("tools/call", {"name": "a"}), ("resources/read", {"uri": "a:b"})])
    def test_results_and_long_errors_of_tools_and_resources_are_bounded(self, method: str, params: Any) -> None:
        relay = make()
        relay.from_client(request(1, method, **params))
        relay.from_client(request(2, method, **params))
        assert isinstance(relay.from_server(line(id=1, result={}))[0], BoundResult)
        relay.from_client(request(3, method, **params))
        assert isinstance(relay.from_server(line(id=2, error={}))[0], ToClient)
        assert isinstance(relay.from_server(line(id=3, error={"message": "x" * 2_000}))[0], BoundResult)

    def test_a_tool_that_is_left_out_is_not_bounded(self) -> None:
        relay = make(excluded=("get_*",))
        relay.from_client(request(1, "tools/call", name="get_a"))
        assert isinstance(relay.from_server(line(id=1, result={}))[0], ToClient)

    def test_the_question_of_a_call_is_not_handed_on_but_ranks_its_result(self) -> None:
        relay = make()
        call = request(1, "tools/call", name="a", arguments={"x": "y", "keyhole_query": "why"})
        (handed_on,) = to_server(relay.from_client(call))
        assert handed_on["params"]["arguments"] == {"x": "y"}
        (step,) = relay.from_server(line(id=1, result={}))
        assert isinstance(step, BoundResult)
        assert step.pending.intent
        assert step.pending.intent.query == "why"

    def test_a_tool_with_an_argument_of_that_name_gets_it(self) -> None:
        relay = make()
        relay.from_client(request(1, "tools/list"))
        tool = {"name": "a", "inputSchema": {"type": "object", "properties": {"keyhole_query": {}}}}
        relay.from_server(line(id=1, result={"tools": [tool]}))
        call = request(2, "tools/call", name="a", arguments={"keyhole_query": "why"})
        (handed_on,) = to_server(relay.from_client(call))
        assert handed_on["params"]["arguments"] == {"keyhole_query": "why"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(
    ["initialize", "tools/call", "tools/list", "resources/read", "resources/subscribe", "logging/setLevel", "ping",
     "prompts/list", "prompts/get", "sampling/createMessage", "server/discover", "subscriptions/listen", "new/method",
     "notifications/progress", "notifications/cancelled", "notifications/tools/list_changed"]
)  # fmt: skip
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "read_artifact"]) | JSON, "arguments": JSON, "_meta": JSON, "uri": JSON,
        "progressToken": JSON, "requestId": JSON, "level": JSON, "clientInfo": JSON, "protocolVersion": JSON,
        "cursor": JSON, "notifications": JSON, "ref": JSON,
    },
)  # fmt: skip
RESULTS = st.fixed_dictionaries(
    {},
    optional={
        "tools": JSON, "content": JSON, "structuredContent": JSON, "instructions": JSON, "capabilities": JSON,
        "contents": JSON, "nextCursor": JSON, "resources": JSON, "prompts": JSON, "protocolVersion": JSON,
    },
)  # fmt: skip
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON, "id": st.integers(1, 3) | JSON, "method": METHODS | JSON,
        "params": PARAMS | JSON, "result": RESULTS | JSON, "error": JSON,
    },
).map(lambda message: json.dumps(message).encode()) | st.binary(max_size=20)  # fmt: skip


@given(st.lists(st.tuples(st.booleans(), MESSAGES), max_size=8))
@settings(max_examples=100, deadline=None)
def test_no_message_of_either_side_makes_the_relay_raise(sent: list[tuple[bool, bytes]]) -> None:
    relay = make(asks_query=True)
    for is_client, raw in sent:
        if is_client:
            relay.from_client(raw)
        else:
            relay.from_server(raw)
    relay.ended("the server one ended")
    relay.restarted()
