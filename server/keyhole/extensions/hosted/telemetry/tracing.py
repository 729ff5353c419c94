"""Send OpenTelemetry spans: one for each stage, as children of the SDK's span of the call.

The standard OTEL_* variables configure tracing; without them, the library is not loaded. Spans contain no addresses,
queries or page content. opentelemetry-sdk comes with the extra `hosted`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from keyhole._version import __version__
from keyhole.errors import KeyholeError
from keyhole.retrieval.instrumentation import CANCELLED, Amount, ObservedCall, Stage
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.store.calls.base import OK

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

log = logging.getLogger(__name__)

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
        log.warning("tracing is off: Keyhole's extra [hosted] is not installed")
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
