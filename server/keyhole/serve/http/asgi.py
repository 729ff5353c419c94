"""ASGI types, request bodies, JSON responses and refusals that the applications and the middleware share."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from keyhole.retrieval import instrumentation
from keyhole.text.parse_json import parse_json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application. Middleware is an application that wraps another."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The response to a request that is refused."""

    status: int
    code: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()


async def read_body(receive: Receive, most: int | None = None) -> bytes | None:
    """Return the body of a request, b"" if the client has gone, or None if it has more than `most` bytes."""
    body = bytearray()
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if most is not None and len(body) > most:
            return None
        if not message.get("more_body"):
            return bytes(body)
    return b""


async def refuse(send: Send, refusal: Refusal) -> None:
    """Send a refusal as the JSON body `{"error": code, "message": message}`."""
    instrumentation.count_refusal(refusal.code)
    await send_json(send, refusal.status, {"error": refusal.code, "message": refusal.message}, refusal.headers)


async def send_json(
    send: Send, status: int, value: Mapping[str, Any], headers: tuple[tuple[str, str], ...] = ()
) -> None:
    """Send a response with a JSON body."""
    await send_body(send, status, json.dumps(value).encode(), (("content-type", "application/json"), *headers))


async def send_body(send: Send, status: int, body: bytes, headers: tuple[tuple[str, str], ...]) -> None:
    """Send a response; `headers` must include its content type."""
    fields = [(name.encode(), value.encode()) for name, value in (*headers, ("content-length", str(len(body))))]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


# Refusals of requests that exceed a limit: a JSON-RPC error whose message reaches the model.
#
# Clients show the message of a JSON-RPC error even with a status such as 429: the Python and Rust SDKs read it from the
# body, and the TypeScript SDK shows the complete body. Without a JSON-RPC error, clients only show "an error response".

Reason = Literal[
    "calls_at_once",
    "calls_per_minute",
    "pages_at_once",
    "server_full",
    "open_requests",
    "requests_per_minute",
    "open_streams",
    "open_sessions",
    "sign_ins_per_minute",
]

ERROR: Final = -32003
"""The JSON-RPC error code of every refusal, from the range reserved for servers (-32000 to -32019)."""
MAX_ID: Final = 200
"""Maximum characters of a request's id that the error repeats. No known client's id is longer; the error has no id
then."""

_SENTENCES: Final = MappingProxyType(
    {
        "calls_at_once": "the user has as many calls running as allowed",
        "calls_per_minute": "the user has started as many calls this minute as allowed",
        "pages_at_once": "the user has as many pages open as are made at once",
        "server_full": "the server has as many calls running as it allows",
        "open_requests": "too many requests are open at once",
        "requests_per_minute": "too many requests came in a minute",
        "open_streams": "too many streams are open",
        "open_sessions": "too many sessions are open; end one, or reuse one",
        "sign_ins_per_minute": "too many tokens of this address were refused in a minute",
    }
)
_STATUS: Final = MappingProxyType({"server_full": 503, "open_requests": 503})
"""HTTP status of the reasons that other tenants may have caused; all other reasons have 429."""
_DEFAULT_WAITS: Final = MappingProxyType({"open_streams": 60.0, "open_sessions": 60.0})
"""Seconds to wait if the time of the next free slot is unknown, by reason; one second for all other reasons."""


@dataclass(frozen=True, slots=True)
class LimitRefusal:
    """The limit that a request exceeds, and the whole seconds to wait before the next attempt."""

    reason: str
    wait: int

    @property
    def status(self) -> int:
        """The HTTP status: 429 if the tenant caused the refusal, 503 if others may have."""
        return _STATUS.get(self.reason, 429)

    @property
    def message(self) -> str:
        """The reason's name and a sentence, in the format of tool errors."""
        return f"{self.reason}: {_SENTENCES[self.reason]}. Call again in {self.wait} s."


def retry_after_seconds(wait: float) -> int:
    """Return a wait for the `Retry-After` header: whole seconds, rounded up, at least one."""
    return max(1, math.ceil(wait))


def limit_refusal(reason: Reason, wait: float = 0.0) -> LimitRefusal:
    """Return the refusal for a reason. `wait`: seconds until the request would be allowed; 0 if unknown."""
    return LimitRefusal(reason, retry_after_seconds(wait or _DEFAULT_WAITS.get(reason, 1.0)))


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The kind of a request, and how to answer it."""

    kind: Literal["call", "stream", "light"] = "light"
    opens_session: bool = False
    id: str | int | None = None
    expects_rpc: bool = False
    """Whether the client waits for a JSON-RPC response."""


UNREAD_REQUEST: Final = RequestInfo(expects_rpc=True)
"""A POST whose body was not read, so that its id is unknown; the client knows which request it sent."""


def read_request(body: bytes) -> RequestInfo:
    """Return the kind of a POST's message. An unreadable body counts as a call, so that it does not evade limits."""
    try:
        message = parse_json(body)
    except ValueError:
        return RequestInfo("call", expects_rpc=True)
    if not isinstance(message, dict):
        return RequestInfo("call", expects_rpc=True)
    method, id = message.get("method"), message.get("id")
    is_valid_id = len(id) <= MAX_ID if isinstance(id, str) else type(id) is int and abs(id) < 2**63
    id = id if is_valid_id else None
    expects_rpc = "id" in message and method is not None
    if method in ("tools/call", "resources/read"):
        return RequestInfo("call", id=id, expects_rpc=expects_rpc)
    if method == "subscriptions/listen":
        return RequestInfo("stream", id=id, expects_rpc=expects_rpc)
    return RequestInfo("light", method == "initialize", id, expects_rpc)


async def send_limit_refusal(send: Send, refusal: LimitRefusal, request: RequestInfo) -> None:
    """Send a refusal: as a JSON-RPC error if the client expects a JSON-RPC response, else as plain JSON."""
    headers = (("retry-after", str(refusal.wait)),)
    if not request.expects_rpc:
        await refuse(send, Refusal(refusal.status, refusal.reason, refusal.message, headers))
        return
    instrumentation.count_refusal(refusal.reason)
    data = {"error": refusal.reason, "retry_after": refusal.wait}
    error = {"code": ERROR, "message": refusal.message, "data": data}
    await send_json(send, refusal.status, {"jsonrpc": "2.0", "id": request.id, "error": error}, headers)
