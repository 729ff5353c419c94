"""Counts and durations in Prometheus's format at `/metrics`, from what calls tell of themselves. No tenant, no URL.

prometheus_client comes with the extra `hosted`; without it `/metrics` says so and nothing is counted."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from keyhole._version import __version__
from keyhole.retrieval.instrumentation import Amount, Call, Stage
from keyhole.serve.http.asgi import App, Receive, Scope, Send, refuse, say_bytes
from keyhole.serve.http.origins import LOOPBACK as OWN_NAMES
from keyhole.serve.http.origins import authority

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

PATH: Final = "/metrics"
CALL_BUCKETS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 40.0, 60.0)
"""Seconds: from a read of the store to the deadlines of a fetch and a search, 30 and 40 by default."""
STAGE_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0)
"""Seconds: a put takes milliseconds, a page a second."""
SIZE_CACHED: Final = 60.0
"""Seconds that a look at the size of the store is good for: of a large one it takes up to a second."""
LOOPBACK: Final = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
FORWARDED: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
"""Headers of a request that a proxy passed on: then the address on the other side says nothing of who asks."""

Sizes = Callable[[], tuple[int, int]]
"""How many artifacts and bytes the stores in use hold."""


class Metrics:
    """The observer that counts."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
        from prometheus_client.metrics import disable_created_metrics

        disable_created_metrics()  # type: ignore[no-untyped-call]  # a series beside each other one, for OpenMetrics
        self.registry: CollectorRegistry = CollectorRegistry()
        mine = self.registry
        ProcessCollector(registry=mine)
        Info("keyhole", "The server.", registry=mine).info({"version": __version__})
        self._calls = Counter("keyhole_calls", "Calls by outcome.", ["tool", "outcome"], registry=mine)
        self._call_seconds = Histogram(
            "keyhole_call_seconds", "Duration of calls.", ["tool"], buckets=CALL_BUCKETS, registry=mine
        )
        self._stage_seconds = Histogram(
            "keyhole_stage_seconds", "Duration of stages of calls.", ["stage"], buckets=STAGE_BUCKETS, registry=mine
        )
        self._amounts = {
            "bytes_in": Counter("keyhole_bytes_in", "Bytes of pages read from the web.", registry=mine),
            "characters_saved": Counter(
                "keyhole_characters_saved", "Characters of texts that answers left out.", registry=mine
            ),
        }
        self._under_way = Gauge("keyhole_calls_under_way", "Calls that are being answered.", registry=mine)
        self._refusals = Counter("keyhole_refusals", "Requests turned away.", ["reason"], registry=mine)
        self._answers = Counter("keyhole_http_responses", "HTTP requests answered.", ["status"], registry=mine)
        self._artifacts = Gauge("keyhole_store_artifacts", "Artifacts in the stores in use.", registry=mine)
        self._bytes = Gauge("keyhole_store_bytes", "Bytes that the stores in use take.", registry=mine)

    @contextmanager
    def call(self, call: Call) -> Iterator[None]:
        """Counted when it has ended."""
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
        """Timed, however it ends."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stage_seconds.labels(name).observe(time.perf_counter() - start)

    def add(self, what: Amount, amount: int) -> None:
        """Added up."""
        self._amounts[what].inc(amount)

    def refused(self, reason: str) -> None:
        """Counted by its reason."""
        self._refusals.labels(reason).inc()

    def answered(self, status: int) -> None:
        """Counted by its status."""
        self._answers.labels(str(status)).inc()

    def holds(self, artifacts: int, size: int) -> None:
        """What the stores hold now."""
        self._artifacts.set(artifacts)
        self._bytes.set(size)

    def text(self) -> bytes:
        """All of it in the text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


def counting() -> Metrics | None:
    """The observer, or None where the library is not installed."""
    return Metrics() if find_spec("prometheus_client") else None


class MetricsPage:
    """The layer that answers `/metrics`: for who has the token or, where none is set, from this machine."""

    def __init__(self, app: App, metrics: Metrics | None, token: str, sizes: Sizes) -> None:
        self._app = app
        self._metrics = metrics
        self._token = token
        self._sizes = sizes
        self._until = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
        elif not permitted(scope, self._token):
            await refuse(send, 403, "metrics_forbidden", "metrics are for who has the token, or for this machine")
        elif self._metrics is None:
            await refuse(send, 501, "metrics_not_installed", "metrics need Keyhole's extra [hosted]")
        else:
            await self._say(self._metrics, send)

    async def _say(self, metrics: Metrics, send: Send) -> None:
        if time.monotonic() >= self._until:
            self._until = time.monotonic() + SIZE_CACHED
            metrics.holds(*await asyncio.to_thread(self._sizes))
        kind = ("content-type", "text/plain; version=0.0.4; charset=utf-8")
        await say_bytes(send, 200, metrics.text(), (kind,))


def permitted(scope: Scope, token: str) -> bool:
    """Whether who asks may see the metrics."""
    headers = dict(scope["headers"])
    if token:
        return hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + token.encode())
    address = (scope.get("client") or ("",))[0]
    # A page in a browser on this machine could come under a name of its own that it lets point here.
    named = authority(headers.get(b"host", b"").decode("latin-1"))
    local = named is not None and named.host in OWN_NAMES
    return local and address in LOOPBACK and not FORWARDED & headers.keys()
