"""Tests of recording calls: what the log holds after web_fetch, search and read_artifact, and what a failure does."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, Hit
from keyhole.retrieval.call import Caller
from keyhole.retrieval.dispatch import dispatch
from keyhole.retrieval.progress import no_progress
from keyhole.retrieval.recording import LEFT_OUT, NO_MATCH, SAME_TEXT, Recording
from keyhole.retrieval.session import Session, Visits
from keyhole.serve import resources
from keyhole.store.calls.base import CallRecord
from keyhole.store.calls.queue import MAX_WAITING, CallQueue
from tests.support.fakes import HANGS, Clock, FakeEngine, MemoryCallLog, page
from tests.support.product import retrieval

URL = "https://docs.example/pumps"
BODY = "<main><h1>Pumps</h1>" + "".join(f"<p>Paragraph {n} about valves and seals.</p>" for n in range(300)) + "</main>"
OTHER = "https://other.example/page"
COPY = "https://mirror.example/pumps"
FOREIGN = "https://third.example/page"


class Product:
    """A product whose calls are recorded, and its log."""

    def __init__(self, log: MemoryCallLog | None = None) -> None:
        self.clock = Clock()
        self.log = log or MemoryCallLog(self.clock, 86_400.0)
        self.queue = CallQueue()
        engine = FakeEngine([Hit(url, "Pumps", "", "engine") for url in (URL, OTHER, COPY, FOREIGN)], "engine")
        pages = {URL: page(URL, BODY), COPY: page(COPY, BODY), OTHER: page(OTHER, "<p>Nothing of interest.</p>")}
        product = retrieval(pages, engines=[engine], clock=self.clock)
        ids = iter(f"visit{number}" for number in range(99))
        self.retrieval = replace(product, recording=Recording(self.log, self.queue, Visits(lambda: next(ids))))

    def call(self, tool: str, caller: Caller | None = None, **arguments: Any) -> tuple[Answer, CallRecord]:
        """Call a tool; return its answer and its record a second later."""
        answer = asyncio.run(dispatch(self.retrieval, tool, arguments, no_progress, caller or Caller("tests", "1")))
        record = self.last()
        self.clock.advance(1)
        return answer, record

    def last(self) -> CallRecord:
        """Return the record of the latest call."""
        self.queue.wait(9)
        record = self.log.get(self.log.calls(1)[0].id)
        assert record is not None
        return record


def test_a_fetch_is_recorded_with_its_result_and_the_passages_that_it_showed() -> None:
    product = Product()
    answer, record = product.call("web_fetch", url=URL, query="Paragraph 17", max_chars=4_000)
    call, (text,) = record.summary, record.texts
    assert record.result == answer.text
    assert json.loads(record.arguments) == {"url": URL, "query": "Paragraph 17", "max_chars": 4_000}
    assert (call.tool, call.query, call.target, call.outcome) == ("web_fetch", "Paragraph 17", URL, "ok")
    assert (call.client, call.origin, call.budget, call.started_at) == ("tests 1", "tool", 4_000, product.clock.now - 1)
    assert call.result_bytes == len(answer.text.encode())
    assert call.tokens > 0
    stored = product.retrieval.store.get(text.id).text
    assert call.read_chars == text.chars == len(stored)
    assert call.shown_chars == text.shown > 0
    assert all(stored[start:end] in answer.text for start, end in text.spans)
    assert {"rank", "render"} <= dict(record.stages).keys()
    assert all(0 <= seconds <= call.seconds for _, seconds in record.stages)


def test_reading_a_range_counts_what_it_shows_of_the_whole_text_and_follows_the_fetch() -> None:
    product = Product()
    answer, fetched = product.call("web_fetch", url=URL)
    _, record = product.call("read_artifact", id=answer.facts["artifact_id"], offset=2_000, limit=500)
    assert record.summary.relation == "read_on"
    assert record.summary.follows == fetched.summary.id
    assert record.summary.shown_chars == record.texts[0].shown < record.summary.read_chars
    assert record.summary.read_chars == record.texts[0].chars == fetched.texts[0].chars
    assert record.texts[0].is_stored
    assert not fetched.texts[0].is_stored
    assert product.log.calls(9)[1].miss == "read_on"


@pytest.mark.parametrize(
    ("quote", "relation", "found"),
    [
        ("Paragraph 17 about valves and seals.", "quote_found", "yes"),
        ("Paragraph 17 concerning valves and seals.", "quote_not_found", "no"),
        ("Nobody wrote these entirely different words", "quote_not_found", None),
    ],
)
def test_a_quote_is_recorded_as_found_or_not(quote: str, relation: str, found: str | None) -> None:
    product = Product()
    answer, _ = product.call("web_fetch", url=URL)
    _, record = product.call("read_artifact", id=answer.facts["artifact_id"], find=quote)
    assert record.summary.relation == relation
    assert dict(record.notes).get("found") == found


def test_a_search_is_recorded_with_its_engines_and_why_sources_are_not_shown() -> None:
    product = Product()
    answer, record = product.call("search", query="valves seals")
    texts = {text.url: text for text in record.texts}
    assert record.engines == (("engine", ""),)
    assert texts[URL].spans
    assert texts[URL].state == ""
    assert (texts[FOREIGN].id, texts[FOREIGN].state != "") == ("", True)
    assert texts[OTHER].state == NO_MATCH
    assert texts[COPY].state == f"{SAME_TEXT} {URL}"
    assert next(iter(record.texts)).url == URL
    assert record.summary.shown_chars == sum(end - start for _, start, end in answer.shown)


def test_sources_beyond_the_requested_number_are_recorded_as_left_out() -> None:
    _, record = Product().call("search", query="valves seals", max_results=1)
    found = [(text.url, text.state) for text in record.texts if text.id]
    assert found[:2] == [(URL, ""), (OTHER, LEFT_OUT)]
    # On a slow machine, the search has enough before the copy is read.
    assert found[2:] in ([], [(COPY, f"{SAME_TEXT} {URL}")])


def test_an_error_is_recorded_with_its_code() -> None:
    product = Product()
    answer, record = product.call("web_fetch", url="https://nowhere.example/")
    assert (record.summary.outcome, record.summary.miss, record.result) == ("dns_failure", "error", answer.text)
    _, record = product.call("web_fetch", address=URL)
    assert record.summary.outcome == "invalid_argument"


def test_a_cancelled_call_is_recorded_as_cancelled() -> None:
    product = Product()
    fetcher: Any = product.retrieval.pages.fetcher
    fetcher.answers["https://slow.example/"] = HANGS

    async def cancel() -> None:
        call = dispatch(product.retrieval, "web_fetch", {"url": "https://slow.example/"}, no_progress)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await call

    asyncio.run(cancel())
    assert (product.last().summary.outcome, product.last().result) == ("cancelled", "")


def test_a_failure_inside_keyhole_is_recorded_and_raised() -> None:
    product = Product()
    fetcher: Any = product.retrieval.pages.fetcher
    fetcher.answers[OTHER] = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        product.call("web_fetch", url=OTHER)
    assert product.last().summary.outcome == "internal_error"


def test_secrets_in_arguments_are_masked() -> None:
    product = Product()
    _, record = product.call("web_fetch", url="https://user:hunter2secret@a.example/?token=abcdefgh12345", query="ok")
    shown = record.arguments + record.summary.target
    assert "hunter2" not in shown
    assert "abcdefgh" not in shown
    assert "a.example" in record.summary.target


def test_calls_of_a_session_have_its_random_id_and_other_calls_that_of_a_visit() -> None:
    product = Product()
    caller = Caller("tests", "1", Session(id="random"), "random")
    assert product.call("web_fetch", caller, url=URL)[1].summary.session == "random"
    visits = [product.call("web_fetch", url=URL)[1].summary.session]
    product.clock.advance(1_700)
    visits.append(product.call("web_fetch", url=URL)[1].summary.session)
    product.clock.advance(1_900)
    visits.append(product.call("web_fetch", url=URL)[1].summary.session)
    visits.append(product.call("web_fetch", Caller("other", "1"), url=URL)[1].summary.session)
    assert visits == ["visit0", "visit0", "visit1", "visit2"]


def test_reading_a_resource_is_recorded_in_the_session_that_reads_it() -> None:
    product = Product()
    answer, _ = product.call("web_fetch", url=URL)
    caller = Caller("tests", "1", Session(id="mine"), "mine")
    read = asyncio.run(resources.read(product.retrieval, caller, f"artifact://{answer.facts['artifact_id']}"))
    call = product.last().summary
    assert (call.origin, call.tool, call.session) == ("resource", "read_artifact", "mine")
    assert product.last().result == read.text


def test_the_same_calls_return_the_same_bytes_whether_they_are_recorded_or_not() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("web_fetch", {"url": URL, "query": "Paragraph 17"}),
        ("search", {"query": "valves"}),
        ("web_fetch", {"url": "https://nowhere.example/"}),
    ]
    recorded, plain = Product(), replace(Product().retrieval, recording=None)
    for tool, arguments in calls:
        answer, _ = recorded.call(tool, **arguments)
        assert asyncio.run(dispatch(plain, tool, arguments, no_progress, Caller("tests", "1"))) == answer


@cache
def product_with_page() -> tuple[Product, str]:
    """Return a product, and the id of the page that it has fetched."""
    product = Product()
    return product, str(product.call("web_fetch", url=URL)[0].facts["artifact_id"])


@settings(max_examples=30, deadline=None)
@given(
    arguments=st.one_of(
        st.fixed_dictionaries({"offset": st.integers(0, 20_000)}, optional={"limit": st.integers(1, 20_000)}),
        st.fixed_dictionaries({"query": st.sampled_from(["Paragraph 17", "valves", "absent", "Pumps seals 250"])}),
    ),
    max_chars=st.none() | st.integers(1_000, 20_000),
)
def test_a_record_has_the_result_and_exactly_the_ranges_that_it_shows(
    arguments: dict[str, Any], max_chars: int | None
) -> None:
    product, id = product_with_page()
    answer, record = product.call("read_artifact", id=id, max_chars=max_chars, **arguments)
    stored = product.retrieval.store.get(id).text
    spans = [span for text in record.texts for span in text.spans]
    assert record.result == answer.text
    assert record.summary.outcome == ("ok" if not answer.is_error else record.result.partition(":")[0])
    assert sum(end - start for start, end in spans) == record.summary.shown_chars
    assert all(0 <= start <= end <= len(stored) and stored[start:end].strip() in answer.text for start, end in spans)


class FailingLog(MemoryCallLog):
    """A log on a disk that is gone."""

    def add(self, record: CallRecord) -> None:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is gone")


class StuckLog(MemoryCallLog):
    """A log that writes nothing until it is released."""

    def __init__(self) -> None:
        super().__init__(Clock(), 86_400.0)
        self.released = threading.Event()

    def add(self, record: CallRecord) -> None:
        self.released.wait(9)
        super().add(record)


def test_a_log_that_fails_does_not_fail_a_call_and_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    product = Product(FailingLog(Clock(), 86_400.0))
    for _ in range(3):
        answer = asyncio.run(dispatch(product.retrieval, "web_fetch", {"url": URL}, no_progress))
        assert not answer.is_error
    product.queue.wait(9)
    assert [each.message for each in caplog.records] == ["calls are not recorded: the disk is gone"]


def test_a_log_that_is_stuck_delays_no_call() -> None:
    log = StuckLog()
    product = Product(log)
    for _ in range(3):
        assert not asyncio.run(dispatch(product.retrieval, "web_fetch", {"url": URL}, no_progress)).is_error
    assert log.calls(9) == ()
    log.released.set()
    product.queue.wait(9)
    assert len(log.calls(9)) == 3


def test_a_queue_drops_what_exceeds_its_bound(caplog: pytest.LogCaptureFixture) -> None:
    queue, release, done = CallQueue(), threading.Event(), []
    queue.put(lambda: void(release.wait(9)))
    for number in range(MAX_WAITING + 5):
        queue.put(lambda number=number: done.append(number))  # type: ignore[misc]
    release.set()
    queue.wait(9)
    assert len(done) == MAX_WAITING - 1
    assert "too many" in caplog.text


def void(_: object) -> None:
    """Return nothing."""
