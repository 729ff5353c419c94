"""What is logged of requests and of calls: one line each, at INFO. Never a query, a header, an address or an answer."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from keyhole.retrieval import instrumentation
from keyhole.retrieval.instrumentation import Amount, Call, Stage
from keyhole.serve.http.asgi import App, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

PATHS: Final = ("/mcp", "/healthz", "/readyz", "/metrics", "/.well-known/")
"""Paths that are written as they came. Of others nothing is: people paste secrets into addresses."""
HASH_CHARS: Final = 12
"""Of a tenant's hash, as in the name of its folder: enough to tell tenants apart, and to find one by its name."""
UNANSWERED: Final = 499
"""The status of a request whose client went away before an answer, as nginx writes it."""


class Access:
    """The outermost layer: a line for each request, and its status told."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = UNANSWERED, time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            instrumentation.answered(status)
            path = shown(scope["path"])
            facts = {"method": scope["method"][:16], "path": path, "status": status, "milliseconds": since(start)}
            log.info("%s %s %s", facts["method"], path, status, extra=facts)


class CallLines:
    """The observer that writes a line for each call."""

    @contextmanager
    def call(self, call: Call) -> Iterator[None]:
        """A line when it has ended."""
        start = time.perf_counter()
        try:
            yield
        finally:
            facts = {"tool": call.tool, "outcome": call.outcome, "milliseconds": since(start)}
            log.info("%s %s", call.tool, call.outcome, extra={**facts, "tenant": tenant_hash(call.tenant)})

    def stage(self, name: Stage) -> AbstractContextManager[object]:  # noqa: ARG002 - the port's
        """Stages have no lines."""
        return nullcontext()

    def add(self, what: Amount, amount: int) -> None:
        """Nor have amounts."""

    def refused(self, reason: str) -> None:
        """Nor have refusals: the request's own line has the status."""

    def answered(self, status: int) -> None:
        """This has its line already."""


def shown(path: str) -> str:
    """A path as it may be logged."""
    return path if path in PATHS else next((known + "…" for known in PATHS if path.startswith(known)), "(other)")


def tenant_hash(tenant: str) -> str | None:
    """What a tenant is called in the log; the one user of a server without authentication has no name."""
    return hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS] if tenant else None


def since(start: float) -> float:
    """Milliseconds since then."""
    return round((time.perf_counter() - start) * 1_000, 1)
