"""Admit the requests of each tenant within its limits.

A call waits for its turn, all other requests are admitted or refused at once. Tool calls and reads of stored pages
count as calls. All other requests (handshakes, listings, notifications) have separate limits, so that a client whose
calls are refused can still reconnect. Open streams have separate limits too, since they only use a connection.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

from keyhole.config.config import Config
from keyhole.extensions.hosted.bodies import READING_SLOT, BodyMiddleware
from keyhole.retrieval import instrumentation
from keyhole.runtime.fair_slots import FairSlots
from keyhole.serve.http.asgi import App, Message, Receive, Refusal, Scope, Send, refuse, replay, send_json
from keyhole.serve.http.host import SESSION_IDLE_SECONDS, find_session_id
from keyhole.serve.http.limits import BODY_SECONDS, LimitRefusal, Rate, Slot, Slots, TokenBuckets, limit_refusal
from keyhole.serve.tools import SLOT, WAITED, tenant_of
from keyhole.text.parse_json import parse_json

REQUESTS_PER_CALL: Final = 10
"""Allowed requests for each allowed call: a client sends four requests to start, and one or two around a call."""
MIN_REQUESTS_PER_MINUTE: Final = 600
"""Minimum requests per minute that a tenant may send: enough for some ten clients that start at once."""
REQUESTS_PER_TENANT: Final = 64
"""Maximum concurrent requests of one tenant whose body is being read (bodies.py), or that are not calls or streams.
Each takes milliseconds, so that only slow bodies reach this maximum."""
MAX_REQUESTS: Final = 512
"""Maximum of such requests for all tenants together."""
STREAMS_PER_TENANT: Final = 100
"""Maximum open streams of one tenant: every session of a client has one."""
MAX_STREAMS: Final = 800
"""Maximum open streams of all tenants: fewer than the 1,024 files that a process may open by default, so that calls can
open files too."""
WAIT_SHARE: Final = 0.5
"""Share of a call's deadline that it may wait for its turn. The rest is for its work."""


class AdmissionMiddleware:
    """Middleware that limits each tenant's rates and its calls, requests, streams and sessions at once."""

    def __init__(
        self,
        app: App,
        config: Config,
        now: Callable[[], float] = time.monotonic,
        body_seconds: float = BODY_SECONDS,
        wait_share: float = WAIT_SHARE,
    ) -> None:
        self._app = app
        self._now = now
        self._read_body = BodyMiddleware(self._handle_body, config.max_request_bytes, seconds=body_seconds)
        self._calls = CallSlots(config.calls_at_once, config.max_calls)
        self._wait_seconds = wait_share * config.timeout
        self._requests = Slots(REQUESTS_PER_TENANT, MAX_REQUESTS)
        self._streams = Slots(STREAMS_PER_TENANT, MAX_STREAMS)
        self._sessions = SessionCounts(now)
        self._call_rate = TokenBuckets(Rate(config.calls_per_minute))
        requests_per_minute = max(MIN_REQUESTS_PER_MINUTE, config.calls_per_minute * REQUESTS_PER_CALL)
        self._request_rate = TokenBuckets(Rate(requests_per_minute))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refusal := self._refuse_request(tenant_of(scope)):
            await send_limit_refusal(send, refusal, UNREAD_REQUEST if scope["method"] == "POST" else RequestInfo())
        elif scope["method"] == "GET":
            await self._stream(tenant_of(scope), RequestInfo(), scope, receive, send)
        else:
            await self._request(tenant_of(scope), scope, receive, send)

    async def _request(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a request's body in a request slot; calls and streams release that slot before they start."""
        with ExitStack() as reading:
            reading.enter_context(self._requests.slot(tenant))
            scope[READING_SLOT] = reading
            await self._read_body(scope, receive, send)

    async def _handle_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request whose body `receive` returns in one piece."""
        tenant, request = tenant_of(scope), RequestInfo()
        if scope["method"] == "POST":
            body = (await receive())["body"]
            request, receive = read_request(body), replay(body, receive)
        if request.kind == "light":
            await self._light(tenant, request, scope, receive, send)
            return
        scope.pop(READING_SLOT).close()
        handle = self._stream if request.kind == "stream" else self._call
        await handle(tenant, request, scope, receive, send)

    async def _light(self, tenant: str, request: RequestInfo, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request that is answered at once; it may open a session."""
        if request.opens_session and self._sessions.is_full(tenant):
            await send_limit_refusal(send, limit_refusal("open_sessions"), request)
        else:
            await self._run_app(tenant, scope, receive, send)

    async def _stream(self, tenant: str, request: RequestInfo, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request for a stream, which is open until the client closes it."""
        if self._streams.is_full_for(tenant) or self._streams.is_full():
            await send_limit_refusal(send, limit_refusal("open_streams"), request)
            return
        with self._streams.slot(tenant):
            await self._run_app(tenant, scope, receive, send)

    async def _call(self, tenant: str, request: RequestInfo, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a call. The server's handler finds the call's slot in the scope and holds it until the work ends."""
        if wait := self._call_rate.take(tenant, self._now()):
            await send_limit_refusal(send, limit_refusal("calls_per_minute", wait), request)
            return
        start = self._now()
        slot = await self._calls.slot(tenant, self._wait_seconds)
        if slot is None:
            self._call_rate.refund(tenant)
            full = limit_refusal("calls_at_once" if self._calls.is_full_for(tenant) else "server_full")
            await send_limit_refusal(send, full, request)
            return
        with slot:
            scope[SLOT], scope[WAITED] = slot, self._now() - start
            await self._run_app(tenant, scope, receive, send)

    async def _run_app(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        with self._sessions.track(tenant, scope, send) as tracked_send:
            await self._app(scope, receive, tracked_send)

    def _refuse_request(self, tenant: str) -> LimitRefusal | None:
        if self._requests.is_full_for(tenant) or self._requests.is_full():
            return limit_refusal("open_requests")
        wait = self._request_rate.take(tenant, self._now())
        return limit_refusal("requests_per_minute", wait) if wait else None


# Calls.

WAITING_PER_SLOT: Final = 8
"""Calls that may wait for each slot of a tenant or of the server: as many as get one in time if each takes a second."""


@dataclass(slots=True)
class CallSlots:
    """The slots of calls, for which calls wait in fair turn: see runtime/fair_slots.py."""

    per_tenant: int
    """Maximum slots of one tenant."""
    total: int
    """Maximum slots of all tenants."""
    _slots: FairSlots = field(init=False)

    def __post_init__(self) -> None:
        self._slots = FairSlots(self.total, most=self.per_tenant)

    async def slot(self, tenant: str, seconds: float) -> Slot | None:
        """Return a slot for one `with` block, None if none was free for `seconds` or too many calls wait."""
        waiting, all_waiting = self._slots.waiting(tenant), self._slots.all_waiting()
        if waiting >= self.per_tenant * WAITING_PER_SLOT or all_waiting >= self.total * WAITING_PER_SLOT:
            return None
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire(tenant)
        except TimeoutError:
            return None
        return Slot(tenant, self._slots.count, self._slots.release, is_acquired=True)

    @property
    def in_use(self) -> int:
        """The number of slots that calls hold."""
        return self._slots.in_use

    def is_full_for(self, tenant: str) -> bool:
        """Return whether a tenant holds as many slots as allowed."""
        return self._slots.held(tenant) >= self.per_tenant


# Open sessions of each tenant, counted by the headers of requests. The SDK stores the sessions themselves.

MAX_SESSIONS_PER_TENANT: Final = 100
"""Maximum open sessions of one tenant, each about 40 KB: clients open one for every window and seldom close it."""


@dataclass(slots=True)
class _Session:
    tenant: str
    last_used: float
    active_requests: int = 0


class SessionCounts:
    """The number of open sessions of each tenant."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: OrderedDict[str, _Session] = OrderedDict()
        """Sessions by id, least recently used first."""
        self._counts: Counter[str] = Counter()

    def is_full(self, tenant: str) -> bool:
        """Return whether a tenant has as many open sessions as allowed."""
        self._expire()
        return tenant in self._counts and self._counts[tenant] >= MAX_SESSIONS_PER_TENANT

    @contextmanager
    def track(self, tenant: str, scope: Scope, send: Send) -> Iterator[Send]:
        """Yield a `send` that also observes the response, and count the request as active in its session meanwhile."""
        id = find_session_id(scope["headers"])
        session = self._open.get(id)
        session = session if session and session.tenant == tenant else None

        async def observe(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._observe_response(tenant, id if session else "", scope["method"], message)
            await send(message)

        if session:
            session.active_requests += 1
        try:
            yield observe
        finally:
            if session:
                session.active_requests -= 1
                self._touch(id)

    def __len__(self) -> int:
        return len(self._open)

    def _observe_response(self, tenant: str, id: str, method: str, message: Message) -> None:
        """Remove the session that a response ends, or add the one that it opens. `id`: the request's session, or ""."""
        status, new_id = message["status"], find_session_id(message["headers"])
        if id in self._open and (status == 404 or (method == "DELETE" and status == 200)):
            self._remove(id)
        elif not id and new_id and new_id not in self._open and status < 400:
            self._expire()
            self._open[new_id] = _Session(tenant, self._now())
            self._counts[tenant] += 1

    def _touch(self, id: str) -> None:
        if id in self._open:
            self._open[id].last_used = self._now()
            self._open.move_to_end(id)

    def _remove(self, id: str) -> None:
        session = self._open.pop(id)
        self._counts[session.tenant] -= 1
        if not self._counts[session.tenant]:
            del self._counts[session.tenant]

    def _expire(self) -> None:
        """Remove sessions that have been idle too long."""
        while self._open:
            id, session = next(iter(self._open.items()))
            if session.last_used + SESSION_IDLE_SECONDS > self._now():
                break
            if session.active_requests:
                self._touch(id)
            else:
                self._remove(id)


# Requests: their kind, and the refusal of one that exceeds a limit as a JSON-RPC error whose message reaches the model.
#
# Clients show the message of a JSON-RPC error even with a status such as 429: the Python and Rust SDKs read it from the
# body, and the TypeScript SDK shows the complete body. Without a JSON-RPC error, clients only show "an error response".

ERROR: Final = -32003
"""The JSON-RPC error code of every refusal, from the range reserved for servers (-32000 to -32019)."""
MAX_ID: Final = 200
"""Maximum characters of a request's id that the error repeats. No known client's id is longer; the error has no id
then."""


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
