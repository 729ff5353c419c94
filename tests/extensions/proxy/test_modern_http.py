"""The rules for HTTP requests of the protocol that has no sessions."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND

from keyhole.extensions.proxy.messages import Message, build
from keyhole.extensions.proxy.modern_http import (
    argument_headers,
    error_status,
    find_header_error,
    is_modern,
    read_header_names,
)

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
    assert is_modern(headers(), [call(None)])
    assert is_modern([], [call()])
    assert is_modern(headers(FUTURE), [call(None)])
    assert not is_modern(headers(LEGACY), [call(None)])
    assert not is_modern([], [call(None)])


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
