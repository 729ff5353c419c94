"""The load test: its client, its checks of replies, its figures, and a small complete run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.server.load_test.client import Reply, parse_reply
from benchmarks.server.load_test.results import Run, Tally, find_misses, is_gain_too_small, percentile
from benchmarks.server.load_test.workload import (
    MIX,
    Acknowledged,
    Call,
    World,
    acknowledged_artifacts,
    find_faults,
    is_timeout,
    is_undigested,
    plan_call,
)
from benchmarks.server.memory_slope import slope
from tests.support.documentation import ROOT

PAGE = "http://127.0.0.1:1/a"
WORLD = World(
    small=(PAGE,), large=(PAGE,), slow=(PAGE,), hostile=(PAGE,), questions=("what",),
    texts={"127.0.0.1/a": "one two three [here](http://127.0.0.1:1/a?v=000000000000#b)"},
)  # fmt: skip
EXPECTED_TEXT = "one two three [here](http://127.0.0.1:1/a?v=00000000000f#b)"
STORED = Acknowledged("id1", f"{PAGE}?v=00000000000f", len(EXPECTED_TEXT), has_notice=False)


FACTS = {"artifact_id": "id1", "next": None}
WHOLE = f"{STORED.url} “A page”\nWhole text, {len(EXPECTED_TEXT)} characters. …"


def result(text: str, is_error: bool = False, **facts: object) -> str:
    message = {"content": [{"type": "text", "text": text}], "isError": is_error, "_meta": {"keyhole": facts}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": message})


def reading(text: str, start: int, end: int) -> Reply:
    status = f"Characters {start}:{end} of {len(EXPECTED_TEXT)}."
    framed = f"{STORED.url}\n{status}\n--- untrusted text m ---\n{text}\n--- end m ---\nNext: more"
    return Reply(200, 0.1, framed, FACTS)


def test_a_reply_is_parsed_from_json_and_from_the_last_message_of_a_stream() -> None:
    stream = f"event: message\r\ndata: {{}}\r\n\r\n: ping\r\n\r\ndata: {result('hello', next=5)}\r\n\r\n"
    for kind, text in (("application/json", result("hello", next=5)), ("text/event-stream", stream)):
        reply = parse_reply(200, {"content-type": kind}, text, 0.5)
        assert (reply.outcome, reply.text, reply.facts["next"]) == ("ok", "hello", 5)


def test_a_refusal_has_a_code_and_a_retry_after() -> None:
    body = json.dumps({"error": "too_many_calls", "message": "…"})
    reply = parse_reply(429, {"content-type": "application/json", "retry-after": "3"}, body, 0.0)
    assert (reply.is_refused, reply.outcome, reply.retry_after) == (True, "too_many_calls", 3.0)
    assert parse_reply(503, {}, "<html>", 0.0).outcome == "http_503"
    assert parse_reply(200, {}, result("timeout: nothing", is_error=True), 0.0).outcome == "timeout"


def test_a_page_is_acknowledged_with_its_address_and_length() -> None:
    call = Call("fetch small", "web_fetch", {"url": STORED.url})
    assert find_faults(call, Reply(200, 0.1, WHOLE, FACTS), WORLD) == []
    assert acknowledged_artifacts(call, Reply(200, 0.1, WHOLE, FACTS)) == [STORED]
    assert acknowledged_artifacts(call, Reply(200, 0.1, WHOLE, {**FACTS, "notice": "paywalled"}))[0].has_notice


def test_a_range_must_equal_the_text_exactly() -> None:
    call = Call("read", "read_artifact", {"id": "id1", "offset": 4, "limit": 100}, STORED)
    assert find_faults(call, reading(EXPECTED_TEXT[4:], 4, len(EXPECTED_TEXT)), WORLD) == []
    assert find_faults(call, reading(EXPECTED_TEXT[4:-1] + "x", 4, len(EXPECTED_TEXT)), WORLD) != []
    assert find_faults(call, reading(EXPECTED_TEXT[3:], 3, len(EXPECTED_TEXT)), WORLD) != []
    assert find_faults(call, Reply(200, 0.1, f"{STORED.url}\nNothing there", FACTS), WORLD) != []


def test_a_reply_must_belong_to_its_call() -> None:
    fetched = Call("fetch again", "web_fetch", {"url": STORED.url}, STORED)
    assert find_faults(fetched, Reply(200, 0.1, WHOLE, FACTS), WORLD) == []
    assert find_faults(fetched, Reply(200, 0.1, WHOLE.replace("00f", "00e"), FACTS), WORLD) != []
    read = Call("read for a query", "read_artifact", {"id": "id1", "query": "two"}, STORED)
    assert find_faults(read, Reply(200, 0.1, WHOLE, FACTS), WORLD) == []
    assert find_faults(read, Reply(200, 0.1, WHOLE, {**FACTS, "artifact_id": "id2"}), WORLD) != []


@pytest.mark.parametrize(
    ("kind", "reply", "right"),
    [
        ("read another's", Reply(200, 0.1, "unknown_artifact: no", is_error=True), True),
        ("read another's", Reply(200, 0.1, "the text", {"artifact_id": "x", "url": "u", "total_chars": 1}), False),
        ("read another's", Reply(200, 0.1, "expired_artifact: no", is_error=True), False),
        ("fetch small", Reply(200, 0.1, "timeout: no", is_error=True), True),
        ("fetch small", Reply(200, 0.1, "not_found: no", is_error=True), False),
        ("fetch hostile", Reply(200, 0.1, "timeout: no", is_error=True), True),
        ("fetch hostile", Reply(200, 0.1, "internal_error: no", is_error=True), False),
        ("read", Reply(429, 0.1, code="rate_exceeded"), True),
        ("read", Reply(503, 0.1, code="http_503"), False),
        ("read", Reply(0, 0.1, code="ReadError"), False),
        ("read", Reply(502, 0.1, code="http_502"), False),
    ],
)
def test_only_named_errors_that_fit_the_call_are_right(kind: str, reply: Reply, right: bool) -> None:
    assert (find_faults(Call(kind, "web_fetch", {}), reply, WORLD) == []) is right


def test_calls_have_the_shares_of_mix_and_depend_only_on_the_seed() -> None:
    def plan(seed: int) -> list[Call]:
        random = Random(seed)
        return [plan_call(random, WORLD, [STORED], ["other"]) for _ in range(2_000)]

    assert sum(MIX.values()) == 100
    assert plan(1) == plan(1)
    kinds = [call.kind for call in plan(1)]
    assert {kind for kind, share in MIX.items() if abs(kinds.count(kind) / 20 - share) > 4} == set()
    assert all(call.arguments["id"] == "other" for call in plan(1) if call.kind == "read another's")


def run(offered: float = 0, rate: int = 10, cpu: float = 2.0, **changes: object) -> Run:
    tally = Tally(in_time=rate)
    tally.add("fetch small", "ok", 1.5)
    given = {"lost": (), "wrong": (), "foreign": (), **changes}
    return Run(1, 1, 1.0, offered, tally, 1, 1, kills=0, cpu={"all": cpu}, machine=cpu, processors=2, **given)  # type: ignore[arg-type]


def test_every_loss_is_a_miss_but_slowness_only_at_an_offered_rate() -> None:
    assert find_misses(run()) == []
    assert len(find_misses(run(lost=("a",), wrong=("b",), foreign=("c",)))) == 3
    assert find_misses(run(offered=5)) == ["p95 of small fetches is 1.50 s at 5 calls/s offered"]
    late = run()
    late.tally.out_of_time = 2
    assert find_misses(late) == []
    assert find_misses(replace(late, offered=5))[0] == "2 calls ran out of time at 5 calls/s offered"
    assert find_misses(replace(late, offered=5, busy_programs=2)) == []


def test_a_call_that_a_stopping_replica_refuses_is_a_miss() -> None:
    stopping = run()
    stopping.tally.refusals["503 draining"] = 3
    assert find_misses(stopping) == ["3 calls were refused by a replica that stopped"]


def test_an_undigested_text_is_a_miss_also_on_a_busy_machine() -> None:
    assert is_undigested(
        Reply(200, 0.1, "Warning extraction_failed: the page could not be read; this is the undigested text.")
    )
    assert not is_undigested(Reply(200, 0.1, WHOLE))
    undigested = run(offered=5, busy_programs=2)
    undigested.tally.undigested = 1
    assert find_misses(undigested) == ["1 answers show undigested text"]


def test_a_page_that_was_not_read_in_time_is_late_and_not_wrong() -> None:
    call, reply = Call("fetch small", "web_fetch", {}), Reply(200, 0.1, "extraction_pending: no", is_error=True)
    assert find_faults(call, reply, WORLD) == []
    assert is_timeout(call, reply)


def test_a_small_gain_of_replicas_is_a_miss_only_if_processors_were_idle() -> None:
    assert is_gain_too_small(run(cpu=1.0), run(rate=15))
    assert not is_gain_too_small(run(cpu=1.9), run(rate=15))
    assert not is_gain_too_small(run(cpu=1.0), run(rate=17))


def test_percentiles_and_slopes() -> None:
    times = [float(number) for number in range(1, 101)]
    assert [percentile(times, share) for share in (0.5, 0.95, 0.99)] == [51, 96, 100]
    assert slope([(0, 100), (10_000, 102), (20_000, 104)]) == pytest.approx(2)
    assert slope([(0, 100), (10_000, 100)]) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="every address of 127.0.0.0/8 is this machine's on Linux")
@pytest.mark.skipif(not (shutil.which("nginx") or Path("/usr/sbin/nginx").exists()), reason="nginx is not installed")
def test_a_small_run_on_a_busy_machine_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    sizes = {"replicas": 2, "rates": 0, "seconds": 2, "clients": 6, "tenants": 0, "store": "sqlite", "pages": 6}
    options = [word for name, value in {**sizes, "json": file}.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "benchmarks.server.load", "--busy", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    (facts,) = json.loads(file.read_text())
    assert facts["misses"] == []
    assert facts["read_back"] == facts["acknowledged"] > 0
