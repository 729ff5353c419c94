"""Read and write HTTP headers: those with credentials and, from protocol 2026-07-28 on, those that repeat a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

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

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.json_rpc import Message, build, load, parse

# Credentials: the caller of a request, and the demand of a server for credentials.

REFUSALS: Final = frozenset({401, 403})
"""The statuses with which a server asks for credentials, or for different ones."""
_ERROR: Final = re.compile(r'\b(error|scope)\s*=\s*"([\w.:/ -]{1,200})"')
"""The `error` and `scope` in a `WWW-Authenticate` header, if they are safe to show (RFC 6750, section 3)."""


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of a request. A session belongs to the caller that opened it."""

    tenant: str
    authorization: str = field(default="", repr=False)
    """The header `Authorization` that is handed on to the server; "" if there is none or it is for Keyhole."""


@dataclass(frozen=True, slots=True)
class AuthorizationDemand:
    """The refusal of a server: its HTTP status and its `WWW-Authenticate`, "" without one."""

    status: int
    challenge: str


def read_authorization(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the header `Authorization`, or ""."""
    return next((value.decode("latin-1") for name, value in headers if name == b"authorization"), "")


def authorization_error(status: int, challenge: str) -> KeyholeError:
    """Return the error for a 401 or 403. Its facts are the status and the header `WWW-Authenticate`."""
    said = ", ".join(f"{name} {value}" for name, value in _ERROR.findall(challenge))
    message = f"the server answered with HTTP status {status}{f' ({said})' if said else ''}: it needs an authorization"
    return KeyholeError(Code.AUTHORIZATION_REQUIRED, message, http_status=status, www_authenticate=challenge)


def find_demand(raw: bytes) -> AuthorizationDemand | None:
    """Return the demand for credentials in an error message, None for other messages."""
    if Code.AUTHORIZATION_REQUIRED.encode() not in raw:
        return None
    (message,) = parse(raw)
    error = message.data.get("error")
    data = error.get("data") if isinstance(error, Mapping) else None
    if not isinstance(data, Mapping) or data.get("code") != Code.AUTHORIZATION_REQUIRED:
        return None
    status = data.get("http_status")
    return AuthorizationDemand(status if status in REFUSALS else 401, str(data.get("www_authenticate", "")))


# Headers from protocol 2026-07-28 on: requests have no session, and headers repeat parts of the body.

RawHeaders = Iterable[tuple[bytes, bytes]]
"""The headers of a request as ASGI gives them: their names are in lower case."""

HeaderNames = Mapping[str, Mapping[tuple[str, ...], str]]
"""Names of the headers that repeat arguments, by tool name and then by the argument's path."""


def is_sessionless(headers: RawHeaders, messages: Sequence[Message]) -> bool:
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
    """Return the HTTP status that belongs to an error's code, else None."""
    message = load(raw)
    error = message.data.get("error")
    return ERROR_CODE_HTTP_STATUS.get(error.get("code", 0)) if isinstance(error, Mapping) else None


def read_header_names(tools: Sequence[Any]) -> HeaderNames:
    """Return the headers that the schemas of a list of tools declare with `x-mcp-header`."""
    schemas = {str(tool.get("name")): tool.get("inputSchema") for tool in tools if isinstance(tool, Mapping)}
    valid = {name: schema for name, schema in schemas.items() if not find_invalid_x_mcp_header(schema)}
    return {name: names for name, schema in valid.items() if (names := x_mcp_header_map(schema))}


def argument_headers(names: HeaderNames, message: Message) -> dict[str, str]:
    """Return the headers that repeat arguments of a call. Servers compare them with the arguments."""
    tool, arguments = message.params.get("name"), message.params.get("arguments")
    if message.method != "tools/call" or not isinstance(arguments, Mapping):
        return {}
    return mcp_param_headers(names.get(str(tool), {}), arguments)
