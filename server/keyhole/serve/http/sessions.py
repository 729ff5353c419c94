"""Count the open sessions of each tenant by the headers of its requests. The SDK stores the sessions themselves."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from keyhole.serve.http.asgi import Message, Scope, Send

HEADER: Final = b"mcp-session-id"
MAX_SESSIONS_PER_TENANT: Final = 100
"""Maximum open sessions of one tenant, each about 40 KB: clients open one for every window and seldom close it."""
SESSION_IDLE_SECONDS: Final = 1_800.0
"""Seconds without a request or an open stream until a session ends. A client that pauses longer gets a 404 and starts a
new session, as the protocol requires."""


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


def find_session_id(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the session id in the headers, or ""."""
    return next((value.decode("latin-1") for name, value in headers if name.lower() == HEADER), "")
