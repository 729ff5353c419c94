"""Serve Prometheus metrics of calls at `/metrics`. They name no tenants or URLs.

prometheus_client comes with the extra `hosted`; without it, `/metrics` answers 501 and nothing is counted.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from keyhole._version import __version__
from keyhole.retrieval.instrumentation import Amount, ObservedCall, Stage
from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, refuse, send_body
from keyhole.serve.http.origins import LOOPBACK_HOSTS, parse_authority

PATH: Final = "/metrics"
CALL_BUCKETS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 40.0, 60.0)
"""Bounds in seconds: from a read of the store to the deadlines of web_fetch and search, by default 30 and 40."""
STAGE_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0)
"""Bounds in seconds: storing an artifact takes milliseconds, fetching a page takes a second."""
SIZE_CACHE_SECONDS: Final = 60.0
"""Seconds for which the stores' sizes are reused: measuring a large store takes up to a second."""
LOOPBACK_ADDRESSES: Final = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
PROXY_HEADERS: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
"""Headers that proxies add: a request with one may come from any machine, whatever its client address."""

StoreSizes = Callable[[], tuple[int, int]]
"""Returns the number of artifacts and of bytes in the open stores."""

_FORBIDDEN: Final = Refusal(403, "metrics_forbidden", "metrics need the token, or a request from this machine")
_NOT_INSTALLED: Final = Refusal(501, "metrics_not_installed", "metrics need Keyhole's extra [hosted]")


class Metrics:
    """Observer that counts and times calls."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
        from prometheus_client.metrics import disable_created_metrics

        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each metric
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        Info("keyhole", "The server.", registry=registry).info({"version": __version__})
        self._calls = Counter("keyhole_calls", "Calls by outcome.", ["tool", "outcome"], registry=registry)
        self._call_seconds = Histogram(
            "keyhole_call_seconds", "Duration of calls.", ["tool"], buckets=CALL_BUCKETS, registry=registry
        )
        self._stage_seconds = Histogram(
            "keyhole_stage_seconds", "Duration of stages of calls.", ["stage"], buckets=STAGE_BUCKETS, registry=registry
        )
        self._amounts = {
            "bytes_in": Counter("keyhole_bytes_in", "Bytes of pages read from the web.", registry=registry),
            "characters_saved": Counter(
                "keyhole_characters_saved", "Characters of texts that answers left out.", registry=registry
            ),
        }
        self._under_way = Gauge("keyhole_calls_under_way", "Calls that are being answered.", registry=registry)
        self._refusals = Counter("keyhole_refusals", "Requests turned away.", ["reason"], registry=registry)
        self._answers = Counter("keyhole_http_responses", "HTTP requests answered.", ["status"], registry=registry)
        self._artifacts = Gauge("keyhole_store_artifacts", "Artifacts in the stores in use.", registry=registry)
        self._bytes = Gauge("keyhole_store_bytes", "Bytes that the stores in use take.", registry=registry)

    @contextmanager
    def call(self, call: ObservedCall) -> Iterator[None]:
        """Count and time a call."""
        start = time.perf_counter()
        self._under_way.inc()
        try:
            yield
        finally:
            self._under_way.dec()
            self._calls.labels(call.tool, call.outcome).inc()
            self._call_seconds.labels(call.tool).observe(time.perf_counter() - start)

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Time a stage, also if it fails."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stage_seconds.labels(name).observe(time.perf_counter() - start)

    def add(self, what: Amount, amount: int) -> None:
        """Add to the counter of an amount."""
        self._amounts[what].inc(amount)

    def count_refusal(self, reason: str) -> None:
        """Count a refusal by its reason."""
        self._refusals.labels(reason).inc()

    def count_response(self, status: int) -> None:
        """Count a response by its status."""
        self._answers.labels(str(status)).inc()

    def set_store_sizes(self, artifacts: int, size: int) -> None:
        """Set the number of artifacts and of bytes in the stores."""
        self._artifacts.set(artifacts)
        self._bytes.set(size)

    def to_text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


def create_metrics() -> Metrics | None:
    """Return the observer, or None if prometheus_client is not installed."""
    return Metrics() if find_spec("prometheus_client") else None


class MetricsMiddleware:
    """Middleware that answers `/metrics` to callers with the token or, if none is set, to callers on this machine."""

    def __init__(self, app: App, metrics: Metrics | None, token: str, store_sizes: StoreSizes) -> None:
        self._app = app
        self._metrics = metrics
        self._token = token
        self._store_sizes = store_sizes
        self._sizes_valid_until = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
        elif not is_permitted(scope, self._token):
            await refuse(send, _FORBIDDEN)
        elif self._metrics is None:
            await refuse(send, _NOT_INSTALLED)
        else:
            await self._send_metrics(self._metrics, send)

    async def _send_metrics(self, metrics: Metrics, send: Send) -> None:
        if time.monotonic() >= self._sizes_valid_until:
            self._sizes_valid_until = time.monotonic() + SIZE_CACHE_SECONDS
            metrics.set_store_sizes(*await asyncio.to_thread(self._store_sizes))
        content_type = ("content-type", "text/plain; version=0.0.4; charset=utf-8")
        await send_body(send, 200, metrics.to_text(), (content_type,))


def is_permitted(scope: Scope, token: str) -> bool:
    """Return whether a request may read the metrics. `token`: the required token, or ""."""
    headers = dict(scope["headers"])
    if token:
        return hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + token.encode())
    address = (scope.get("client") or ("",))[0]
    # The Host is checked since a web page on this machine could use a name that resolves here (DNS rebinding).
    host = parse_authority(headers.get(b"host", b"").decode("latin-1"))
    is_local_name = host is not None and host.host in LOOPBACK_HOSTS
    return is_local_name and address in LOOPBACK_ADDRESSES and not PROXY_HEADERS & headers.keys()
