"""Apply the rules of the protocol from 2026-07-28 on for HTTP requests, which have no session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from keyhole.extensions.proxy.messages import Message, build, load

RawHeaders = Iterable[tuple[bytes, bytes]]
"""The headers of a request as ASGI gives them: their names are in lower case."""

HeaderNames = Mapping[str, Mapping[tuple[str, ...], str]]
"""The headers that repeat arguments: by the name of the tool, and by the path of the argument."""


def is_modern(headers: RawHeaders, messages: Sequence[Message]) -> bool:
    """Return whether a request without a session names a version that has no sessions, or an unknown version."""
    named = {value.decode("latin-1") for name, value in headers if name == b"mcp-protocol-version"}
    return not {*named, *map(_version, messages)} <= {"", *HANDSHAKE_PROTOCOL_VERSIONS}


def _version(message: Message) -> str:
    meta = message.params.get("_meta")
    return str(meta.get(PROTOCOL_VERSION_META_KEY, "")) if isinstance(meta, Mapping) else ""


def find_header_error(headers: RawHeaders, messages: Sequence[Message]) -> Message | None:
    """Return the error for a request whose headers contradict its body, None if they agree.

    The server cannot find such a contradiction, because the proxy makes the server's headers from the body. Any version
    is accepted here; the server decides whether it supports the version.
    """
    lines = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    for message in messages:
        if message.kind != "request":
            continue
        if duplicate := find_duplicated_routing_header(lines):
            return _error(message, HEADER_MISMATCH, f"the header {duplicate} is given twice")
        found = classify_inbound_request(
            message.data, headers=dict(lines), supported_modern_versions=[_version(message)]
        )
        if isinstance(found, InboundLadderRejection):
            return _error(message, found.code, found.message)
    return None


def _error(request: Message, code: int, text: str) -> Message:
    return build({"jsonrpc": "2.0", "id": request.data["id"], "error": {"code": code, "message": text}})


def error_status(raw: bytes) -> int | None:
    """Return the HTTP status of an error, None for an error without one and for other messages."""
    message = load(raw)
    error = message.data.get("error")
    return ERROR_CODE_HTTP_STATUS.get(error.get("code", 0)) if isinstance(error, Mapping) else None


def read_header_names(tools: Sequence[Any]) -> HeaderNames:
    """Return the headers that the schemas of a list of tools declare with `x-mcp-header`."""
    schemas = {str(tool.get("name")): tool.get("inputSchema") for tool in tools if isinstance(tool, Mapping)}
    valid = {name: schema for name, schema in schemas.items() if not find_invalid_x_mcp_header(schema)}
    return {name: names for name, schema in valid.items() if (names := x_mcp_header_map(schema))}


def argument_headers(names: HeaderNames, message: Message) -> dict[str, str]:
    """Return the headers that repeat arguments of a message, which servers compare with the arguments."""
    tool, arguments = message.params.get("name"), message.params.get("arguments")
    if message.method != "tools/call" or not isinstance(arguments, Mapping):
        return {}
    return mcp_param_headers(names.get(str(tool), {}), arguments)
