"""Requests and results are translated between the eras of the protocol, and are left as they are within one."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types.methods import validate_client_request, validate_server_result

from keyhole.extensions.proxy.eras import (
    CACHEABLE,
    Introduction,
    answer_for,
    complete_result,
    era_of,
    introduction_of,
    is_modern,
    request_for,
    version_of,
)
from keyhole.extensions.proxy.messages import Message, build, response

PREFIX = "io.modelcontextprotocol/"
META = {
    f"{PREFIX}protocolVersion": "2026-07-28",
    f"{PREFIX}clientInfo": {"name": "n", "version": "2"},
    f"{PREFIX}clientCapabilities": {"sampling": {}},
}
MODERN = Introduction("modern", "2026-07-28", {"name": "n", "version": "2"}, {"sampling": {}})


def request(method: str, **params: Any) -> Message:
    return build({"jsonrpc": "2.0", "id": 1, "method": method, "params": params, "new": 1})


def test_the_era_of_a_request_is_that_of_its_version() -> None:
    assert era_of(request("tools/list", _meta=META)) == "modern"
    assert era_of(request("tools/list")) == era_of(request("tools/list", _meta=5)) == "handshake"
    assert era_of(request("initialize", _meta=META)) == "handshake"
    assert is_modern("2027-01-01") and not is_modern("2025-06-18") and not is_modern("")
    assert version_of(request("tools/list"), "2025-06-18") == "2025-06-18"


def test_a_client_introduces_itself_once_or_with_each_request() -> None:
    assert introduction_of(request("tools/list", _meta=META), Introduction()) == MODERN
    initialize = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "c"}, "capabilities": {"roots": {}}, "new": 1}
    known = introduction_of(request("initialize", **initialize), Introduction())
    assert known.params() == initialize
    assert introduction_of(request("tools/list"), known) is known


def test_a_server_learns_of_no_capability_that_cannot_be_translated() -> None:
    assert MODERN.params() == {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": MODERN.info}
    validate_client_request("initialize", "2025-11-25", MODERN.params())
    older = introduction_of(request("initialize", clientInfo={"name": "c", "version": "1"}), Introduction())
    assert older.envelope()[f"{PREFIX}clientCapabilities"] == {}
    validate_client_request("tools/list", "2026-07-28", {"_meta": older.envelope()})


def test_a_request_within_an_era_keeps_its_bytes() -> None:
    for era, meta in (("modern", META), ("handshake", {"progressToken": 1})):
        message = request("tools/call", name="a", _meta=meta)
        assert request_for(era, message, MODERN) is message  # type: ignore[arg-type]


def test_an_older_server_gets_requests_without_the_envelope() -> None:
    message = request("tools/call", name="a", _meta={**META, "progressToken": 1, "new": 2})
    assert request_for("handshake", message, MODERN).data == {
        **message.data,
        "params": {"name": "a", "_meta": {"progressToken": 1, "new": 2}},
    }
    assert request_for("handshake", request("tools/list", _meta=META), MODERN).params == {}


def test_a_newer_server_gets_requests_with_the_envelope() -> None:
    client = Introduction(info={"name": "c", "version": "1"}, log_level="debug")
    message = request_for("modern", request("tools/call", name="a", _meta={"progressToken": 1}), client)
    validate_client_request("tools/call", "2026-07-28", message.params)
    assert message.params["_meta"]["progressToken"] == 1
    assert message.params["_meta"][f"{PREFIX}logLevel"] == "debug"


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("tools/list", {"tools": []}),
        ("tools/call", {"content": [], "new": 1}),
        ("resources/read", {"contents": []}),
        ("prompts/get", {"messages": []}),
        ("completion/complete", {"completion": {"values": []}}),
    ],
)
def test_a_newer_client_gets_results_with_the_fields_that_it_requires(method: str, result: dict[str, Any]) -> None:
    answer = answer_for(request(method, _meta=META), response(1, result), "one").result or {}
    validate_server_result(method, "2026-07-28", answer)
    assert {name: answer[name] for name in result} == result
    assert ("ttlMs" in answer) == (method in CACHEABLE)


def test_a_result_of_its_own_era_keeps_its_bytes() -> None:
    complete = response(1, {"content": [], "resultType": "complete"})
    assert answer_for(request("tools/call", _meta=META), complete, "one") is complete
    assert answer_for(request("tools/call"), complete, "one") is complete
    error = build({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}})
    assert answer_for(request("tools/call", _meta=META), error, "one") is error
    assert complete_result("tools/list", {"ttlMs": 5})["ttlMs"] == 5


def test_an_older_client_gets_an_error_where_a_newer_one_would_be_asked_for_input() -> None:
    asks = response(1, {"resultType": "input_required", "inputRequests": {}})
    answer = answer_for(request("tools/call"), asks, "one")
    assert answer.data["error"]["data"]["code"] == "server_fault"
    assert answer_for(request("tools/call", _meta=META), asks, "one") is asks
