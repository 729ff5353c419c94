"""Spans of calls: below the SDK's span, one for each stage, without page content."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from keyhole.extensions.hosted.telemetry import SpanObserver, is_tracing_enabled
from keyhole.retrieval.instrumentation import observed_by
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.tools import build_server
from tests.support.fakes import page
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.product import retrieval
from tests.support.server_process import Post, open_session, server_process, tool_call

SECRET = "hunter2"
URL = f"https://a.example/p?token={SECRET}"


@pytest.fixture(scope="module")
def provider() -> TracerProvider:
    """Return the one provider of this process: OpenTelemetry accepts no second one."""
    made = TracerProvider()
    trace.set_tracer_provider(made)
    return made


@pytest.fixture
def exported(provider: TracerProvider) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    processor = SimpleSpanProcessor(exporter)
    provider.add_span_processor(processor)
    yield exporter
    exporter.shutdown()


def called(provider: TracerProvider, product: Retrieval, *urls: str, era: str = "legacy") -> None:
    async def of(_tenant: str) -> Retrieval:
        return product

    async def run() -> None:
        async with Client(build_server(of), mode=era) as client:
            await asyncio.gather(*(client.call_tool("web_fetch", {"url": url, "query": SECRET}) for url in urls))

    with observed_by(SpanObserver(provider)):
        asyncio.run(run())


def named(exported: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exported.get_finished_spans() if span.name == name]


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_stages_are_child_spans_of_the_sdks_span_of_the_call(
    provider: TracerProvider, exported: InMemorySpanExporter, era: str
) -> None:
    product = retrieval({URL: page(URL, f"<p>{SECRET} and valves.")})
    called(provider, product, URL, era=era)
    (call,) = named(exported, "tools/call web_fetch")
    assert call.context is not None
    stages = [span for span in exported.get_finished_spans() if span.name.startswith("keyhole.")]
    assert {span.name for span in stages} == {f"keyhole.{n}" for n in ("store", "fetch", "extract", "rank", "render")}
    assert {span.parent.span_id for span in stages if span.parent} == {call.context.span_id}
    assert {span.context.trace_id for span in stages if span.context} == {call.context.trace_id}
    assert (call.attributes or {})["keyhole.outcome"] == "ok"


def test_concurrent_calls_have_their_own_stages(provider: TracerProvider, exported: InMemorySpanExporter) -> None:
    urls = [f"https://a.example/{number}" for number in range(10)]
    called(provider, retrieval({url: page(url, "<p>Pumps.") for url in urls}), *urls)
    calls = {span.context.span_id for span in named(exported, "tools/call web_fetch") if span.context}
    fetches = named(exported, "keyhole.fetch")
    assert len(calls) == len(fetches) == 10
    assert {span.parent.span_id for span in fetches if span.parent} == calls


def test_spans_name_failures_and_hold_no_query_or_content(
    provider: TracerProvider, exported: InMemorySpanExporter
) -> None:
    called(provider, retrieval({URL: page(URL, f"<p>{SECRET}.")}), URL, f"https://b.example/?{SECRET}")
    failed = [span for span in named(exported, "keyhole.fetch") if not span.status.is_ok]
    assert len(failed) == 1
    assert (failed[0].attributes or {})["error.type"]
    written = "".join(span.to_json() for span in exported.get_finished_spans())
    assert SECRET not in written
    assert "example" not in written


@pytest.mark.parametrize(
    ("environment", "enabled"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, False),
        ({"OTEL_SERVICE_NAME": "x"}, False),
    ],
)
def test_the_standard_variables_enable_spans(environment: dict[str, str], enabled: bool) -> None:
    assert is_tracing_enabled(environment) is enabled


def test_disabled_tracing_does_not_load_the_library() -> None:
    code = (
        "import sys, keyhole.extensions.hosted.telemetry as tracing\n"
        "tracing.start_tracing({}); print('opentelemetry.sdk' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "False"


def test_spans_are_sent_to_a_collector_including_the_last_at_shutdown(tmp_path: Path) -> None:
    parent, trace_id = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "0af7651916cd43dd8448eb211c80319c"

    def collector(site: Site) -> Responder:
        def talk(call: Call) -> None:
            if call.path == "/v1/traces":
                bodies.append(call.body)
            call.send(response(b"" if call.path == "/v1/traces" else b"<p>Pumps.", Content_Type="text/html"))

        return talk

    bodies: list[bytes] = []
    with serve(collector) as site:
        settings = {
            "KEYHOLE_ALLOW_PRIVATE": site.endpoint,
            "KEYHOLE_LOG_FORMAT": "json",
            "KEYHOLE_LOG_LEVEL": "INFO",
            "OTEL_EXPORTER_OTLP_ENDPOINT": site.url("").rstrip("/"),
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        }
        with server_process(tmp_path, **settings) as served:
            session = open_session(served.port)
            call = tool_call("web_fetch", url=site.url(f"/p?{SECRET}"))
            Post(served.port, call, mcp_session_id=session, traceparent=parent).answer()
            served.process.terminate()
            assert served.process.wait(timeout=PATIENCE) == 0
    sent = b"".join(bodies)
    assert all(f"keyhole.{name}".encode() in sent for name in ("fetch", "extract", "render"))
    assert b"keyhole-reader" in sent
    assert bytes.fromhex(trace_id) in sent
    assert SECRET.encode() not in sent
    assert any(f'"trace_id": "{trace_id}"' in line and '"tool": "web_fetch"' in line for line in served.lines)
