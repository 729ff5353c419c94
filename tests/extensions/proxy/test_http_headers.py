"""Headers: the credentials of callers, and the rules of the protocol that has no sessions."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND

from keyhole.extensions.proxy.http_headers import (
    AuthorizationDemand,
    Sender,
    argument_headers,
    authorization_error,
    error_status,
    find_demand,
    find_header_error,
    is_sessionless,
    read_authorization,
    read_header_names,
)
from keyhole.extensions.proxy.json_rpc import Message, build, error_response, response

CHALLENGE = 'Bearer error="invalid_token", error_description="<b>go</b> away", scope="notes:read"'


def test_a_demand_is_carried_by_the_error_of_a_request() -> None:
    raw = error_response(1, authorization_error(403, CHALLENGE)).raw
    assert find_demand(raw) == AuthorizationDemand(403, CHALLENGE)


@pytest.mark.parametrize(
    "message",
    [
        response(1, {"code": "authorization_required"}),
        build({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "authorization_required"}}),
        build({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "other"}}),
    ],
)
def test_other_messages_carry_none(message: object) -> None:
    assert find_demand(message.raw) is None  # type: ignore[attr-defined]


def test_the_error_says_what_is_wrong_with_the_token_in_known_words_only() -> None:
    message = authorization_error(401, CHALLENGE).message
    assert "HTTP status 401 (error invalid_token, scope notes:read)" in message
    assert "<b>" not in message


def test_a_caller_is_shown_without_its_credentials() -> None:
    authorization = read_authorization([(b"host", b"h"), (b"authorization", b"Bearer s3cret")])
    caller = Sender("", authorization)
    assert caller != Sender("", "")
    assert "s3cret" not in repr(caller)


# Headers from protocol 2026-07-28 on.

MODERN, LEGACY, FUTURE = "2026-07-28", "2025-11-25", "2099-01-01"


def call(version: str | None = MODERN, *, name: str = "add") -> Message:
    envelope: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": name, "_meta": envelope if version else {}}
    return build({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})


def headers(version: str = MODERN, method: str = "tools/call", name: str = "add") -> list[tuple[bytes, bytes]]:
    named = {"mcp-protocol-version": version, "mcp-method": method, "mcp-name": name}
    return [(key.encode(), value.encode()) for key, value in named.items() if value]


def test_a_request_without_a_session_is_modern_if_its_header_or_its_body_names_such_a_version() -> None:
    assert is_sessionless(headers(), [call(None)])
    assert is_sessionless([], [call()])
    assert is_sessionless(headers(FUTURE), [call(None)])
    assert not is_sessionless(headers(LEGACY), [call(None)])
    assert not is_sessionless([], [call(None)])


@pytest.mark.parametrize("version", [MODERN, FUTURE])
def test_headers_that_repeat_the_body_are_accepted_and_the_version_is_left_to_the_server(version: str) -> None:
    assert find_header_error(headers(version), [call(version)]) is None


@pytest.mark.parametrize(
    "wrong",
    [
        headers(version=LEGACY),
        headers(version=""),
        headers(method=""),
        headers(method="tools/list"),
        headers(name=""),
        headers(name="subtract"),
        [*headers(), (b"mcp-name", b"subtract")],
    ],
)
def test_headers_that_contradict_the_body_are_an_error_with_the_request_s_id(wrong: list[tuple[bytes, bytes]]) -> None:
    found = find_header_error(wrong, [call()])
    assert found is not None
    assert found.data["id"] == 7
    assert found.data["error"]["code"] == HEADER_MISMATCH


def test_a_request_without_the_fields_that_each_request_must_have_is_an_error() -> None:
    found = find_header_error(headers(), [call(None)])
    assert found is not None
    assert found.data["error"]["code"] == INVALID_PARAMS


def test_a_name_that_is_no_ascii_is_compared_after_decoding_it() -> None:
    assert find_header_error(headers(name="=?base64?w6Rw?="), [call(name="äp")]) is None


@pytest.mark.parametrize(("code", "status"), [(METHOD_NOT_FOUND, 404), (INVALID_PARAMS, 400), (-32603, None)])
def test_an_error_has_the_http_status_of_its_code(code: int, status: int | None) -> None:
    error: dict[str, Any] = {"code": code, "message": "no"}
    assert error_status(build({"jsonrpc": "2.0", "id": 1, "error": error}).raw) == status
    assert error_status(build({"jsonrpc": "2.0", "id": 1, "result": {}}).raw) is None


def test_arguments_whose_schema_names_a_header_are_repeated_there() -> None:
    place = {"type": "string", "x-mcp-header": "Place"}
    nested = {"type": "object", "properties": {"day": {"type": "integer", "x-mcp-header": "Day"}}}
    schema = {"type": "object", "properties": {"place": place, "when": nested, "note": {"type": "string"}}}
    invalid = {"type": "object", "properties": {"place": {"type": "number", "x-mcp-header": "Place"}}}
    names = read_header_names([{"name": "add", "inputSchema": schema}, {"name": "b", "inputSchema": invalid}, 3])
    arguments = {"place": "Tromsø", "when": {"day": 3}, "note": "x"}
    message = call().with_data(params={"name": "add", "arguments": arguments})
    assert argument_headers(names, message) == {"Mcp-Param-Place": "=?base64?VHJvbXPDuA==?=", "Mcp-Param-Day": "3"}
    assert argument_headers(names, message.with_data(params={"name": "b", "arguments": arguments})) == {}
    assert argument_headers(names, message.with_data(method="prompts/get")) == {}
