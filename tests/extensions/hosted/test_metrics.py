"""Metrics of a running server: their values, their limited labels, and access to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.errors import Code
from keyhole.extensions.hosted.telemetry import Metrics, is_permitted
from tests.support.server_process import Post, ServerProcess, open_session, server_process, tool_call

TOKEN = "a-token-of-metrics"
Samples = dict[tuple[str, tuple[str, ...]], float]


def samples(text: str) -> Samples:
    """Return the metrics' values by name and label values."""
    return {
        (
            sample.name,
            tuple(
                sample.labels[name]
                for name in ("tool", "outcome", "stage", "status", "reason")
                if name in sample.labels
            ),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(served: ServerProcess) -> Samples:
    status, text = served.get("/metrics")
    assert status == 200
    return samples(text)


def test_a_server_counts_its_calls_by_tool_and_outcome_and_its_stages(tmp_path: Path) -> None:
    with serve(recorded_pages()) as port, server_process(tmp_path, KEYHOLE_ALLOW_PRIVATE=f"127.0.0.1:{port}") as served:
        session = open_session(served.port)
        url = f"http://127.0.0.1:{port}/sqlite-wal"
        for call in (
            tool_call("web_fetch", url=url, query="checkpoint"),
            tool_call("web_fetch", url=url + "/none"),
            tool_call("search", query="checkpoint", scope="stored"),
            tool_call("search", query="checkpoint"),
            tool_call("read_artifact", id="a" * 16),
            tool_call("no_such_tool"),
        ):
            Post(served.port, call, mcp_session_id=session).answer()
        found = scraped(served)
    calls = {labels: value for (name, labels), value in found.items() if name == "keyhole_calls_total"}
    assert calls == {
        ("web_fetch", "ok"): 1,
        ("web_fetch", "not_found"): 1,
        ("search", "ok"): 1,
        ("search", "key_refused"): 1,
        ("read_artifact", "unknown_artifact"): 1,
    }
    stages = {labels[0] for name, labels in found if name == "keyhole_stage_seconds_count"}
    assert stages == {"store", "fetch", "extract", "engines", "rank", "render"}
    assert found["keyhole_call_seconds_count", ("search",)] == 2
    assert found["keyhole_bytes_in_total", ()] > 10_000
    assert found["keyhole_characters_saved_total", ()] > 10_000
    assert found["keyhole_calls_under_way", ()] == 0
    assert found["keyhole_http_responses_total", ("200",)] >= 6
    assert found["keyhole_store_artifacts", ()] == 1
    assert found["keyhole_store_bytes", ()] > 10_000
    assert found["process_resident_memory_bytes", ()] > 1_000_000
    assert not [
        name for name, _ in found if name.endswith("_created")
    ]  # every metric is listed in docs/hosting/monitoring.md


def test_no_name_from_a_request_becomes_a_label(tmp_path: Path) -> None:
    with server_process(tmp_path) as served:
        session = open_session(served.port)
        for secret in ("one", "two", "three"):
            Post(served.port, tool_call(secret, url=f"http://{secret}.invalid"), mcp_session_id=session).answer()
            Post(served.port, tool_call("web_fetch", url=f"ftp://{secret}.invalid"), mcp_session_id=session).answer()
            served.get(f"/{secret}")
        labels = {value for _, values in scraped(served) for value in values}
    assert not labels & {"one", "two", "three"}
    assert len(labels) < 60


def test_metrics_need_the_token_if_one_is_set(tmp_path: Path) -> None:
    with server_process(tmp_path, KEYHOLE_METRICS_TOKEN=TOKEN) as served:
        assert served.get("/metrics")[0] == 403
        assert served.get("/metrics", authorization=f"Bearer {TOKEN}x")[0] == 403
        assert served.get("/metrics", authorization=TOKEN)[0] == 403
        status, text = served.get("/metrics", authorization=f"Bearer {TOKEN}")
    assert status == 200
    assert samples(text)["keyhole_refusals_total", ("metrics_forbidden",)] == 3


def test_without_a_token_only_this_machine_reads_metrics_and_not_through_a_proxy() -> None:
    def seen(client: tuple[str, int] | None, *names: bytes) -> bool:
        given = [(b"host", b"localhost:8000"), *((name, b"x") for name in names)]
        return is_permitted({"client": client, "headers": given}, "")

    assert seen(("127.0.0.1", 1))
    assert seen(("::1", 1))
    assert not seen(("10.0.0.1", 1))
    assert not seen(None)
    assert not seen(("127.0.0.1", 1), b"x-forwarded-for")
    assert not seen(("127.0.0.1", 1), b"forwarded")


@pytest.mark.parametrize("host", [b"evil.example", b"127.0.0.1.evil.example", b"", b"localhost@evil.example"])
def test_without_a_token_dns_rebinding_does_not_expose_metrics(host: bytes) -> None:
    assert not is_permitted({"client": ("127.0.0.1", 1), "headers": [(b"host", host)]}, "")


def test_without_the_library_the_server_works_and_names_the_missing_extra(tmp_path: Path) -> None:
    program = "import sys; sys.modules['prometheus_client'] = None; from keyhole.cli.main import main; "
    program += "sys.exit(main(['serve', '--http', '--port', '0']))"
    with server_process(tmp_path, "-c", program) as served:
        status, text = served.get("/metrics")
        session = open_session(served.port)
        answer = Post(served.port, tool_call("read_artifact", id="a" * 16), mcp_session_id=session).answer()
    assert (status, "extra [hosted]" in text) == (501, True)
    assert "unknown_artifact" in answer[2]


def test_the_number_of_series_is_limited() -> None:
    from keyhole.retrieval.instrumentation import ObservedCall

    metrics = Metrics()
    for tool in ("web_fetch", "search", "read_artifact"):
        for outcome in ("ok", "cancelled", *(str(code) for code in Code)):
            with metrics.call(ObservedCall(tool, "t", outcome)):
                pass
    for stage in ("store", "fetch", "extract", "engines", "rank", "render"):
        with metrics.stage(stage):
            pass
    assert len(metrics.to_text().splitlines()) < 500
