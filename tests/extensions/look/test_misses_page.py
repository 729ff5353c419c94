"""Tests of the list of misses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyhole.extensions.look.figures_pages import ADVICE, PER_PAGE, misses_view
from keyhole.store.calls.base import NO_CALL_FILTERS, CallRecord, CallSummary, ReadText
from tests.support.look import NOW, empty_look, page_client, words_of

CALL = CallSummary(
    "call1", "session1", "claude-code 2.1", "tool", "web_fetch", "retry limit", "https://docs.example/retries",
    NOW - 600, 0.5, "ok", 9_000, 8_000, 2_000, 50_000, 7_500, miss="same_page",
)  # fmt: skip
NEXT = replace(CALL, id="call2", query="how often are requests retried", started_at=NOW - 590, miss="", follows="call1")

TEXT = ReadText("text1", CALL.target, chars=50_000, spans=((100, 7_600),))


def test_a_miss_is_shown_with_the_call_that_followed() -> None:
    view = misses_view([CALL], {"call1": [NEXT]}, NO_CALL_FILTERS)
    assert [(row.site, row.next) for row in view.rows] == [("docs.example", NEXT)]
    assert (view.kinds, view.older) == ((("same_page", 1),), "")


def test_a_full_page_continues_after_its_last_call() -> None:
    calls = [replace(CALL, id=f"call{n}", started_at=NOW - n) for n in range(PER_PAGE + 1)]
    view = misses_view(calls, {}, NO_CALL_FILTERS)
    assert [row.call for row in view.rows] == calls[:PER_PAGE]
    assert view.older == f"{NOW - PER_PAGE + 1!r}~call{PER_PAGE - 1}"


def test_the_page_lists_only_calls_that_did_not_suffice_and_links_what_came_next() -> None:
    look = empty_look()
    failed = replace(CALL, id="call3", session="session2", outcome="timeout", query="", miss="")
    for call in (replace(CALL, miss=""), NEXT, failed):
        look.calls.add(CallRecord(call, f'{{"query": "{call.query}"}}', "the result", (TEXT,)))
    html = page_client(look).get("/misses").text
    assert '<a href="/calls/call1"><b dir="auto">web_fetch</b>' in html
    assert '<a href="/calls/call2"><b dir="auto">web_fetch</b> <span dir="auto">how often are requests retried' in html
    text = words_of(html)
    assert "page asked again 1 on this page" in text
    assert "same page again after 10 s: web_fetch how often are requests retried" in text
    assert "timeout" in text
    assert text.count("its session") == 2  # the second call sufficed


def test_a_filter_stays_in_the_form_and_in_the_links() -> None:
    look = empty_look()
    for number in range(PER_PAGE + 1):
        call = replace(CALL, id=f"{number}", session=f"{number}", outcome="timeout", started_at=NOW - number)
        look.calls.add(CallRecord(call, '{"url": "https://docs.example/retries"}', ""))
    client = page_client(look)
    html = client.get("/misses?words=retries&tool=web_fetch").text
    assert 'value="retries"' in html
    assert "<option selected>web_fetch</option>" in html
    older = html.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert "words=retries" in older and "tool=web_fetch" in older
    assert words_of(client.get(older).text).count("its session") == 1
    assert "No miss matches." in client.get("/misses?words=absent").text


def test_misses_are_filtered_by_their_kind() -> None:
    look = empty_look()
    for call in (replace(CALL, miss=""), NEXT, replace(CALL, id="call3", session="session2", outcome="timeout")):
        look.calls.add(CallRecord(call, f'{{"query": "{call.query}"}}', "the result", (TEXT,)))
    client = page_client(look)
    pages = {kind: client.get(f"/misses?miss={kind}").text for kind in ("same_page", "error", "read_on", "nonsense")}
    assert {kind: html.count("its session") for kind, html in pages.items()} == {
        "same_page": 1, "error": 1, "read_on": 0, "nonsense": 2,
    }  # fmt: skip
    assert '<option value="error" selected>' in pages["error"]


def test_the_newest_misses_are_updated_live_and_older_pages_stay() -> None:
    look = empty_look()
    client = page_client(look)
    assert f'data-live="/live?since={look.calls.latest()}"' in client.get("/misses").text
    assert "data-live" not in client.get(f"/misses?after={NOW}~call1").text


def test_what_an_agent_wrote_is_only_text() -> None:
    look = empty_look()
    hostile = replace(CALL, outcome="timeout", query="<script>alert(1)</script>", target='https://a"onload=x.example/')
    look.calls.add(CallRecord(hostile, "{}", ""))
    html = page_client(look).get("/misses").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert html.count("<script") == 1


@pytest.mark.parametrize("target", ["http://[::1", "not a URL", "", "http://a.example:port/\ud800"])
def test_a_miss_of_a_malformed_address_is_shown(target: str) -> None:
    look = empty_look()
    look.calls.add(CallRecord(replace(CALL, outcome="invalid_argument", query="", target=target), "{}", ""))
    response = page_client(look).get("/misses")
    assert response.status_code == 200
    assert "invalid_argument" in words_of(response.text)


def test_every_kind_of_miss_has_advice() -> None:
    assert set(ADVICE) == {"weak", "same_page", "read_on", "searched_again", "error"}


def test_an_empty_log_has_no_misses() -> None:
    assert "No misses: every call that was recorded sufficed." in page_client(empty_look()).get("/misses").text
