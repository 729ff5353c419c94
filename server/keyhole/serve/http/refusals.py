"""What a request asks for, and how one is told that it may not: as a sentence that reaches the model. Sets no limit.

Clients show the message of a JSON-RPC error, also where it comes with a status such as 429: the SDKs for Python and
Rust read it from the body, that for TypeScript shows the body whole. Without one there is only "an error response".
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from keyhole.retrieval import instrumentation
from keyhole.serve.http.asgi import Send, refuse, say

Reason = Literal[
    "calls_at_once",
    "calls_per_minute",
    "server_full",
    "open_requests",
    "requests_per_minute",
    "open_streams",
    "open_sessions",
]

ERROR: Final = -32003
"""The JSON-RPC error of every refusal, of the range that is left to servers (-32000 to -32019)."""
MAX_ID: Final = 200
"""Characters of a request's id that are said back; no client's is longer, and another's error goes without."""

_SENTENCES: Final = MappingProxyType(
    {
        "calls_at_once": "as many calls as one user may have are under way",
        "calls_per_minute": "as many calls as one user may begin in a minute were begun",
        "server_full": "the server has as many calls under way as it can take",
        "open_requests": "too many requests are open at once",
        "requests_per_minute": "too many requests came in a minute",
        "open_streams": "too many streams are held open",
        "open_sessions": "too many sessions are open; end one, or use one again",
    }
)
_STATUS: Final = MappingProxyType({"server_full": 503, "open_requests": 503})
"""Of what is no fault of the tenant's, or not surely; all others are 429."""
_LATER: Final = MappingProxyType({"open_streams": 60.0, "open_sessions": 60.0})
"""Seconds, where nothing says when there will be room: of what is held for long. Everything else lasts seconds."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, and when to ask again."""

    reason: str
    wait: int

    @property
    def status(self) -> int:
        """429 for what the tenant did, 503 for what all did together."""
        return _STATUS.get(self.reason, 429)

    @property
    def message(self) -> str:
        """One sentence, the reason's stable name in front as in every error of a tool."""
        return f"{self.reason}: {_SENTENCES[self.reason]}. Call again in {self.wait} s."


def whole_seconds(wait: float) -> int:
    """Return a wait as `Retry-After` states it: whole seconds, rounded up, at least one."""
    return max(1, math.ceil(wait))


def refusal(reason: Reason, wait: float = 0.0) -> Refusal:
    """A refusal; `wait`: seconds after which the same would be let in, where that is known."""
    return Refusal(reason, whole_seconds(wait or _LATER.get(reason, 1.0)))


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a request's body matters here."""

    kind: Literal["call", "stream", "light"] = "light"
    opens_session: bool = False
    id: str | int | None = None
    rpc: bool = False
    """Whether an answer in JSON-RPC is awaited."""


UNREAD: Final = Asked(rpc=True)
"""A POST whose body was not read; a client that waits knows which request it sent."""


def asked(body: bytes) -> Asked:
    """What a POST asks for. What cannot be read is taken for a call: nothing gets around the limits by its spelling."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return Asked("call", rpc=True)
    if not isinstance(message, dict):
        return Asked("call", rpc=True)
    method, id = message.get("method"), message.get("id")
    known = len(id) <= MAX_ID if isinstance(id, str) else type(id) is int and abs(id) < 2**63
    awaited = "id" in message and method is not None
    if method in ("tools/call", "resources/read"):
        return Asked("call", id=id if known else None, rpc=awaited)
    if method == "subscriptions/listen":
        return Asked("stream", id=id if known else None, rpc=awaited)
    return Asked("light", method == "initialize", id if known else None, awaited)


async def answer(send: Send, no: Refusal, request: Asked) -> None:
    """End a request with a refusal."""
    again = ("retry-after", str(no.wait))
    if not request.rpc:
        await refuse(send, no.status, no.reason, no.message, (again,))
        return
    instrumentation.refused(no.reason)
    error = {"code": ERROR, "message": no.message, "data": {"error": no.reason, "retry_after": no.wait}}
    await say(send, no.status, {"jsonrpc": "2.0", "id": request.id, "error": error}, (again,))
