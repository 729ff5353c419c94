"""OpenTelemetry: a span for each stage, under the span that the SDK makes for the call. Set up by the standard OTEL_*
variables, and not loaded where none asks for it. No address, no query and no page content is in a span.

opentelemetry-sdk comes with the extra `hosted`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from keyhole._version import __version__
from keyhole.errors import KeyholeError
from keyhole.retrieval.instrumentation import CANCELLED, OK, Amount, Call, Stage
from keyhole.serve.http.asgi import App, Receive, Scope, Send

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

log = logging.getLogger(__name__)

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SERVICE: Final = "keyhole-mcp"
"""The name of the service where OTEL_SERVICE_NAME gives no other."""


def asked_for(environment: Mapping[str, str]) -> bool:
    """Whether the standard variables ask for spans to be sent."""
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or exporter not in ("", "otlp"):
        return False
    return exporter == "otlp" or any(environment.get(name) for name in ENDPOINTS)


@dataclass(frozen=True, slots=True)
class Sending:
    """Spans are being sent: who makes them, and what sends the last ones."""

    observer: Spans
    end: Callable[[], None]


def start(environment: Mapping[str, str]) -> Sending | None:
    """Begin to send spans, where that is asked for."""
    if not asked_for(environment):
        return None
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider as Provider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning("no spans are sent: Keyhole's extra [hosted] is not installed")
        return None
    named = {} if environment.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: SERVICE}
    provider = Provider(resource=Resource.create({**named, SERVICE_VERSION: __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return Sending(Spans(provider), provider.shutdown)


class Spans:
    """The observer that makes spans."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer: Tracer = provider.get_tracer("keyhole", __version__)

    @contextmanager
    def call(self, call: Call) -> Iterator[None]:
        """The span is the SDK's; it is told the outcome."""
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
        """A span of its own. What it failed of is told by name; messages repeat addresses."""
        with (
            self._tracer.start_as_current_span(
                f"keyhole.{name}", record_exception=False, set_status_on_exception=False
            ) as span,
            ExitStack() as ended,
        ):
            ended.push(partial(_named, span))
            yield

    def add(self, what: Amount, amount: int) -> None:
        """An attribute of the span that is under way."""
        from opentelemetry.trace import get_current_span

        get_current_span().set_attribute(f"keyhole.{what}", amount)

    def refused(self, reason: str) -> None:
        """No span was begun."""

    def answered(self, status: int) -> None:
        """The span was the call's, which has ended."""


def _named(span: Span, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
    """The end of a stage: if it failed, by what name."""
    from opentelemetry.trace import Status, StatusCode

    if kind is not None:
        span.set_attribute("error.type", str(error.code) if isinstance(error, KeyholeError) else kind.__name__)
        span.set_status(Status(StatusCode.ERROR))


class Traced:
    """The layer that lets a request's `traceparent` header be the parent of its spans."""

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
