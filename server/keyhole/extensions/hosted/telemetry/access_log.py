"""Log one line at INFO for each request and each call, without queries, headers, addresses or answers."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from keyhole.retrieval import instrumentation
from keyhole.retrieval.instrumentation import Amount, ObservedCall, Stage
from keyhole.serve.http.asgi import App, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

LOGGED_PATHS: Final = ("/mcp", "/healthz", "/readyz", "/metrics", "/.well-known/", "/look")
"""Paths that are logged. Other paths are not, since people paste secrets into URLs."""
HASH_CHARS: Final = 12
"""Digits of a tenant's hash, as in the name of its folder: enough to distinguish tenants, and to find one by name."""
CLIENT_CLOSED: Final = 499
"""The status of a request whose client disconnected before the answer, as nginx logs it."""


class AccessLogMiddleware:
    """Outermost middleware: logs a line for each request and counts its status."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = CLIENT_CLOSED, time.perf_counter()

        async def record_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, record_status)
        finally:
            instrumentation.count_response(status)
            path = loggable_path(scope["path"])
            fields = {"method": scope["method"][:16], "path": path, "status": status, "milliseconds": elapsed_ms(start)}
            log.info("%s %s %s", fields["method"], path, status, extra=fields)


class CallLogger:
    """Observer that logs a line for each call."""

    @contextmanager
    def call(self, call: ObservedCall) -> Iterator[None]:
        """Log the call when it ends."""
        start = time.perf_counter()
        try:
            yield
        finally:
            fields = {"tool": call.tool, "outcome": call.outcome, "milliseconds": elapsed_ms(start)}
            log.info("%s %s", call.tool, call.outcome, extra={**fields, "tenant": tenant_hash(call.tenant)})

    def stage(self, name: Stage) -> AbstractContextManager[object]:  # noqa: ARG002 - the port's
        """Log nothing."""
        return nullcontext()

    def add(self, what: Amount, amount: int) -> None:
        """Log nothing."""

    def count_refusal(self, reason: str) -> None:
        """Log nothing: AccessLogMiddleware logs the status."""

    def count_response(self, status: int) -> None:
        """Log nothing: AccessLogMiddleware logs the status."""


def loggable_path(path: str) -> str:
    """Return a path for the log: unchanged if it is in LOGGED_PATHS, else cut after a known prefix, or "(other)"."""
    if path in LOGGED_PATHS:
        return path
    return next((known + "…" for known in LOGGED_PATHS if path.startswith(known)), "(other)")


def tenant_hash(tenant: str) -> str | None:
    """Return the start of the hash of a tenant's name; None for the only user of a server without authentication."""
    return hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS] if tenant else None


def elapsed_ms(start: float) -> float:
    """Return the milliseconds since `start`, a time of `time.perf_counter`."""
    return round((time.perf_counter() - start) * 1_000, 1)
