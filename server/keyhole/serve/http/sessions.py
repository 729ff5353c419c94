"""Which sessions each tenant has open, told from the headers that pass by. The sessions themselves are the SDK's."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from keyhole.serve.http.asgi import Message, Scope, Send

HEADER: Final = b"mcp-session-id"
EACH: Final = 100
"""Sessions that one tenant may have open, each some 30 KB: clients open one for every window and seldom close them."""
IDLE: Final = 1_800.0
"""Seconds without a request or an open stream, after which a session ends and counts no more: an agent that pauses
longer has mostly gone without saying so, and one that has not is told to begin anew by a 404, as the protocol wants."""


@dataclass(slots=True)
class _Session:
    tenant: str
    last: float
    used: int = 0
    """By how many requests now."""


class Sessions:
    """Counts sessions, the longest unused first."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: OrderedDict[str, _Session] = OrderedDict()
        self._counts: Counter[str] = Counter()

    def full(self, tenant: str) -> bool:
        """Whether a tenant has as many as it may."""
        self._expire()
        return tenant in self._counts and self._counts[tenant] >= EACH

    @contextmanager
    def around(self, tenant: str, scope: Scope, send: Send) -> Iterator[Send]:
        """Around a request: `send` as the application under it should have it."""
        id = session_id(scope["headers"])
        session = self._open.get(id)
        session = session if session and session.tenant == tenant else None

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._hear(tenant, id if session else "", scope["method"], message)
            await send(message)

        if session:
            session.used += 1
        try:
            yield watched
        finally:
            if session:
                session.used -= 1
                self._touch(id)

    def __len__(self) -> int:
        return len(self._open)

    def _hear(self, tenant: str, known: str, method: str, message: Message) -> None:
        status, given = message["status"], session_id(message["headers"])
        if known and (status == 404 or (method == "DELETE" and status == 200)):
            self._forget(known)
        elif not known and given and given not in self._open and status < 400:
            self._expire()
            self._open[given] = _Session(tenant, self._now())
            self._counts[tenant] += 1

    def _touch(self, id: str) -> None:
        if id in self._open:
            self._open[id].last = self._now()
            self._open.move_to_end(id)

    def _forget(self, id: str) -> None:
        session = self._open.pop(id)
        self._counts[session.tenant] -= 1
        if not self._counts[session.tenant]:
            del self._counts[session.tenant]

    def _expire(self) -> None:
        while self._open and (oldest := next(iter(self._open.items())))[1].last + IDLE <= self._now():
            id, session = oldest
            if session.used:
                self._touch(id)
            else:
                self._forget(id)


def session_id(headers: list[tuple[bytes, bytes]]) -> str:
    """The session that headers name, or ""."""
    return next((value.decode("latin-1") for name, value in headers if name.lower() == HEADER), "")
