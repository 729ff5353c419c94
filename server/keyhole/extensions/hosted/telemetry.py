"""Telemetry of the HTTP server: an access log, Prometheus metrics, and OpenTelemetry traces."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from keyhole._version import __version__
from keyhole.errors import KeyholeError
from keyhole.retrieval import instrumentation
from keyhole.retrieval.instrumentation import CANCELLED, Amount, ObservedCall, Stage
from keyhole.runtime.installation import name_extra
from keyhole.serve.http.asgi import App, Message, Receive, Refusal, Scope, Send, refuse, send_body
from keyhole.serve.http.origins import LOOPBACK_HOSTS, parse_authority
from keyhole.store.calls.base import OK

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

# The access log: one line at INFO for each request and each call, without queries, headers, addresses or answers.

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


# Prometheus metrics of calls at `/metrics`. They name no tenants or URLs. prometheus_client comes with the extra
# `hosted`; without it, `/metrics` answers 501 and nothing is counted.

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
            message = f"metrics need {name_extra('hosted')}"
            await refuse(send, Refusal(501, "metrics_not_installed", message))
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


# OpenTelemetry spans: one for each stage, as children of the span of the call, which the SDK makes. The standard
# OTEL_* variables configure tracing; without them, the library is not loaded. Spans contain no addresses, queries or
# page content. opentelemetry-sdk comes with the extra `hosted`.

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
DEFAULT_SERVICE: Final = "keyhole-reader"
"""The service name if OTEL_SERVICE_NAME is not set."""


def is_tracing_enabled(environment: Mapping[str, str]) -> bool:
    """Return whether the standard variables enable tracing."""
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or exporter not in ("", "otlp"):
        return False
    return exporter == "otlp" or any(environment.get(name) for name in ENDPOINTS)


@dataclass(frozen=True, slots=True)
class Tracing:
    """Enabled tracing: its observer, and the function that sends the remaining spans and stops tracing."""

    observer: SpanObserver
    shutdown: Callable[[], None]


def start_tracing(environment: Mapping[str, str]) -> Tracing | None:
    """Start tracing; return None if tracing is disabled or not installed."""
    if not is_tracing_enabled(environment):
        return None
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider as Provider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning("tracing is off without %s", name_extra("hosted"))
        return None
    service = {} if environment.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: DEFAULT_SERVICE}
    provider = Provider(resource=Resource.create({**service, SERVICE_VERSION: __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return Tracing(SpanObserver(provider), provider.shutdown)


class SpanObserver:
    """Observer that creates spans."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer: Tracer = provider.get_tracer("keyhole", __version__)

    @contextmanager
    def call(self, call: ObservedCall) -> Iterator[None]:
        """Set the outcome of the SDK's span of the call."""
        from opentelemetry.trace import get_current_span

        span = get_current_span()
        try:
            yield
        finally:
            span.set_attribute("keyhole.outcome", call.outcome)
            if call.outcome not in (OK, CANCELLED):
                span.set_attribute("error.type", call.outcome)

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Create a span for a stage. Of a failure, record only the name, since messages quote addresses."""
        with (
            self._tracer.start_as_current_span(
                f"keyhole.{name}", record_exception=False, set_status_on_exception=False
            ) as span,
            ExitStack() as stack,
        ):
            stack.push(partial(_record_failure, span))
            yield

    def add(self, what: Amount, amount: int) -> None:
        """Set an attribute of the current span."""
        from opentelemetry.trace import get_current_span

        get_current_span().set_attribute(f"keyhole.{what}", amount)

    def count_refusal(self, reason: str) -> None:
        """Do nothing: the request has no span."""

    def count_response(self, status: int) -> None:
        """Do nothing: the call's span has ended."""


def _record_failure(span: Span, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
    """Record the error code or class of a failed stage in its span."""
    from opentelemetry.trace import Status, StatusCode

    if kind is not None:
        span.set_attribute("error.type", str(error.code) if isinstance(error, KeyholeError) else kind.__name__)
        span.set_status(Status(StatusCode.ERROR))


class TracingMiddleware:
    """Middleware that makes a request's `traceparent` header the parent of its spans."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from opentelemetry import context, propagate

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        carried = {name: headers[name] for name in propagate.get_global_textmap().fields if name in headers}
        token = context.attach(propagate.extract(carried))
        try:
            await self._app(scope, receive, send)
        finally:
            context.detach(token)
