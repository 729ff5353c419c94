"""Whether this server lives and whether it can work, for orchestrators: `/healthz` and `/readyz`. Nothing else is told.

They stand before every check, since orchestrators ask by address and without a token."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.serve.http.asgi import App, Receive, Scope, Send, say
from keyhole.serve.http.drain import Draining
from keyhole.store.base import LOCAL, Stores

log = logging.getLogger(__name__)

CACHED: Final = 1.0
"""Seconds that one look at the store is good for: however many ask, it costs one small read a second."""
PATIENCE: Final = 2.0
"""Seconds for that read. Probes give up after one to five, and a store that takes longer serves nobody."""
UNCACHED: Final = (("cache-control", "no-store"),)
READY: Final = "ready"
STARTING: Final = "starting"
DRAINING: Final = "draining"
UNAVAILABLE: Final = "store_unavailable"
IN_MEMORY: Final = "kept_in_memory"
"""What a store warns of that keeps nothing beyond this process."""

Look = Callable[[], Awaitable[str]]
"""Looks whether the store works: `ready`, or why not in one word, or KeyholeError or OSError."""


class Probes:
    """The layer that answers both."""

    def __init__(self, app: App, draining: Draining, look: Look, ticks: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._draining = draining
        self._look = look
        self._ticks = ticks
        self._seen, self._until = STARTING, 0.0
        self._looking: asyncio.Future[str] | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else ""
        if path == "/healthz":
            await say(send, 200, {"status": "ok"}, UNCACHED)
        elif path == "/readyz":
            status = await self._status()
            await say(send, 200 if status == READY else 503, {"status": status}, UNCACHED)
        else:
            await self._app(scope, receive, send)

    async def _status(self) -> str:
        if self._draining.begun.is_set():
            return DRAINING
        async with self._lock:  # those who ask meanwhile get the same answer
            if self._ticks() >= self._until:
                before, self._seen = self._seen, await self._looked()
                self._until = self._ticks() + CACHED
                if before != self._seen:
                    level = logging.INFO if self._seen == READY else logging.WARNING
                    log.log(level, "the server is %s, and was %s", self._seen, before)
        return self._seen

    async def _looked(self) -> str:
        """A look that takes too long goes on, and no second one is begun beside it: each holds a thread."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._look())
            self._looking.add_done_callback(_heard)
        done, _ = await asyncio.wait([self._looking], timeout=PATIENCE)
        if not done:
            return UNAVAILABLE
        looking, self._looking = self._looking, None
        try:
            return looking.result()
        except (KeyholeError, OSError):
            return UNAVAILABLE


def _heard(looking: asyncio.Future[str]) -> None:
    """A failure that comes after the time, when nobody waits for it any more, is no fault to be logged."""
    if not looking.cancelled():
        looking.exception()


def look_at(stores: Stores, in_memory: bool) -> str:
    """Whether the stores work, by one small read; and, unless memory was chosen, whether what is put is kept. Raises
    KeyholeError or OSError where they do not."""
    stores.of(LOCAL)[0].remembers(b"")
    return UNAVAILABLE if stores.warning() == IN_MEMORY and not in_memory else READY
