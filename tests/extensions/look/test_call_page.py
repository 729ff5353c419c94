"""The page of one call: what was asked, exactly what was answered, and where it stands in the stored texts."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import replace
from typing import Final

from keyhole.extensions.look.page import Look
from keyhole.extensions.look.sessions_pages import (
    default_arguments,
    find_neighbours,
    format_request,
    list_arguments,
    view_of,
)
from keyhole.extensions.look.text_pages import quote_of
from keyhole.records import Artifact
from keyhole.retrieval.dispatch import dispatch
from keyhole.retrieval.progress import no_progress
from keyhole.retrieval.recording import Recording
from keyhole.retrieval.session import Visits
from keyhole.store.calls.base import CallRecord, ReadText
from keyhole.store.calls.queue import CallQueue
from tests.store.calls.samples import call, page, read_text
from tests.support.fakes import artifact
from tests.support.fakes import page as web_page
from tests.support.look import NOW, empty_look, page_client, words_of
from tests.support.product import retrieval

URL: Final = "https://docs.example/pumps"


def look_with(record: CallRecord, *artifacts: Artifact) -> Look:
    look = empty_look()
    for each in artifacts:
        look.store.put(replace(each, fetched_at=NOW - 60), "")
    look.calls.add(record)
    return look


def show(look: Look, id: str = "call") -> str:
    response = page_client(look).get(f"/calls/{id}")
    assert response.status_code == 200
    return response.text


def test_the_page_has_the_arguments_the_exact_call_and_the_exact_result() -> None:
    result = "Title <b>\r\n  two  spaces\n[end]"
    shown = show(
        look_with(call(target="https://a.example/?x=1&y=2", query="retry limit", max_chars=500, result=result))
    )
    assert "url https://a.example/?x=1&amp;y=2 query retry limit max_chars 500" in words_of(shown)
    (request,) = re.findall(r'<pre class="code" id="request-call">\n(.*?)</pre>', shown, re.DOTALL)
    assert '"name": "web_fetch"' in html.unescape(request)
    (sent,) = re.findall(r'<pre class="result" id="result-call">\n(.*?)</pre>', shown, re.DOTALL)
    assert html.unescape(sent) == result


def test_the_stored_text_stands_beside_the_result_with_passages_marked_and_gaps_folded() -> None:
    stored = page(0, 9_000)
    record = call(query="timeout zebra", texts=[read_text(stored, (100, 300), (4_000, 4_200))])
    view = view_of(look_with(record, stored), "call")
    assert view is not None
    shown = view.texts[0].view
    assert shown is not None
    assert [(each.start, each.end) for each in shown.segments if each.shown] == [(100, 300), (4_000, 4_200)]
    assert "".join(segment.text for segment in shown.segments) == stored.text
    words = words_of(show(look_with(record, stored)))
    assert "Shown: 100 to 300" in words
    assert "Not shown: 300 to 4,000 (3,700 characters)" in words
    assert "Not in the text: zebra" in words


def test_a_call_is_titled_by_its_query_or_its_text_or_its_target() -> None:
    stored = page(0, 3_000)
    read = [read_text(stored, (0, 200))]
    records = (
        call(query="asyncio", texts=read),
        call(tool="read_artifact", target=stored.id, texts=read),
        call(target="https://gone.example/"),
        call(tool="search", outcome="no_results"),
    )
    views = [view_of(look_with(record, stored), "call") for record in records]
    assert [view and view.subject for view in views] == ["asyncio", stored.title, "https://gone.example/", ""]
    assert f"read_artifact : {stored.title} " in words_of(show(look_with(records[1], stored)))


def test_a_long_gap_links_to_its_text_and_an_export_can_leave_out_more() -> None:
    stored = page(0, 9_000)
    look = look_with(call(texts=[read_text(stored, (100, 300))]), stored)
    view = view_of(look, "call", room=0)
    assert view is not None and view.texts[0].view is not None
    assert [bool(segment.pieces) for segment in view.texts[0].view.segments] == [True, True, False]


def test_the_texts_of_a_call_share_the_room_for_gaps() -> None:
    stored = [page(number, 9_000) for number in range(3)]
    look = look_with(call(texts=[read_text(each, (100, 300)) for each in stored]), *stored)
    view = view_of(look, "call", room=3 * 8_000)
    assert view is not None
    assert [bool(text.view and text.view.segments[-1].pieces) for text in view.texts] == [False] * 3


def test_a_search_names_engines_sources_and_why_a_source_was_left_out() -> None:
    stored = page(0, 3_000)
    texts = [
        read_text(stored, (0, 200)),
        ReadText("b" * 16, "https://copy.example/", "Copy", 900, state="dropped: a copy of another source"),
        ReadText("", "https://gone.example/", "Gone", state="not read: timeout"),
    ]
    record = call(tool="search", query="asyncio", texts=texts)
    record = replace(record, engines=(("brave", "HTTP 500"), ("wikipedia", "")))
    words = words_of(show(look_with(record, stored)))
    assert "brave HTTP 500 wikipedia answered" in words
    assert "Sources (3 found, 2 read, 1 shown)" in words
    assert "not read: timeout" in words
    assert "dropped: a copy of another source" in words


def test_an_output_names_its_command_and_exit_status() -> None:
    output = artifact("a" * 16, "1 failed\n", url="output:test", title="pytest tests")
    record = call(
        origin="run", tool="pytest tests", target=output.id,
        texts=[read_text(output, (0, 9))], notes=[("command", "pytest tests"), ("exit", "1")],
    )  # fmt: skip
    words = words_of(show(look_with(record, output)))
    assert " pytest tests pytest tests What was asked " in words  # the way to the page, and its heading
    assert "command pytest tests exit status 1" in words
    assert "Shown: 0 to 9" in words


def test_the_calls_before_and_after_are_linked() -> None:
    stored = page(0, 3_000)
    look = look_with(call("first", query="asyncio", texts=[read_text(stored, (0, 200))]), stored)
    look.calls.add(
        call("second", query="cancel task", started_at=1_700_000_010.0, texts=[read_text(stored, (200, 400))])
    )
    assert "What followed" in words_of(show(look, "first"))
    assert '<a href="/calls/second">' in show(look, "first")
    assert 'Follows on <a href="/calls/first">' in show(look, "second")


def test_the_calls_of_a_session_link_to_each_other_in_order() -> None:
    look = look_with(call("first"))
    for number, (id, session) in enumerate(
        (("second", "session"), ("other", "elsewhere"), ("third", "session")), start=1
    ):
        look.calls.add(call(id, session, started_at=NOW + number))
    shown = show(look, "second")
    assert '<a rel="prev" href="/calls/first">' in shown and '<a rel="next" href="/calls/third">' in shown
    assert 'rel="prev"' not in show(look, "first") and 'rel="next"' not in show(look, "third")
    assert "Calls of the session" not in show(look, "other")
    assert find_neighbours((), "call") == (None, None)


def test_a_text_that_is_no_longer_stored_says_so() -> None:
    record = call(texts=[ReadText("b" * 16, "https://gone.example/", "Gone", 900, ((0, 90),))])
    words = words_of(show(look_with(record)))
    assert "not in the store" in words
    assert "Shown were 0 to 90 of 900 characters." in words


def test_a_quote_that_was_looked_for_is_marked() -> None:
    stored = page(0, 3_000)
    record = call(
        tool="read_artifact", target=stored.id, find=stored.text[140:180], texts=[read_text(stored, (50, 300))]
    )
    view = view_of(look_with(record, stored), "call")
    assert view is not None and view.texts[0].view is not None
    marked = [piece.text for segment in view.texts[0].view.segments for piece in segment.pieces if piece.marked]
    assert marked == [stored.text[140:180]]
    assert quote_of(replace(record, arguments="{cut")) == quote_of(replace(record, arguments="[]")) == ""


def test_the_passages_of_a_real_call_stand_in_its_result() -> None:
    body = "<main><h1>Pumps</h1>" + "".join(f"<p>Paragraph {n} about valves and seals.</p>" for n in range(900))
    product, look, queue = (
        retrieval({URL: web_page(URL, f"{body}</main><footer>Imprint</footer>")}),
        empty_look(),
        CallQueue(),
    )
    look = replace(look, store=product.store)
    product = replace(product, recording=Recording(look.calls, queue, Visits(lambda: "visit")))
    asyncio.run(dispatch(product, "web_fetch", {"url": URL, "query": "Paragraph 417 zebra"}, no_progress))
    queue.wait(9)
    view = view_of(look, look.calls.calls(1)[0].id)
    assert view is not None
    (text,) = view.texts
    assert text.view is not None and text.view.shown == text.read.shown == view.summary.shown_chars > 0
    assert all(each.text in view.record.result for each in text.view.segments if each.shown)
    assert "".join(each.text for each in text.view.segments) == product.store.get(text.read.id).text
    assert text.view.scores.absent == ("zebra",)
    assert {"417"} <= {piece.text for each in text.view.segments if each.shown for piece in each.pieces if piece.marked}


def test_an_unknown_call_is_not_found() -> None:
    response = page_client(empty_look()).get("/calls/none")
    assert response.status_code == 404
    assert "This call is not in the log" in response.text


def test_text_of_pages_and_agents_is_only_text() -> None:
    evil = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\n" * 3
    stored = artifact("a" * 16, evil, url="javascript:alert(3)", title="</h3><script>alert(4)</script>")
    record = call(tool="<script>", target="javascript:alert(5)", query="<svg onload=alert(6)>", result=evil,
                  texts=[read_text(stored, (0, len(evil)))], client="<script>")  # fmt: skip
    shown = show(look_with(record, stored))
    assert shown.count("<script") == 1  # look.js
    assert "<img" not in shown and "onload=alert(6)&gt;" in shown
    assert 'href="javascript:' not in shown


def test_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    assert list_arguments('{"a": "x", "b": [1, null]}') == (("a", "x"), ("b", "[1, null]"))
    assert list_arguments('{"cut…') == (("arguments", '{"cut…'),)
    assert list_arguments("") == ()
    given = '{"query": "x", "scope": "web", "fetch": true, "max_results": 3, "sites": null, "other": 1}'
    shown = list_arguments(given, default_arguments("search"))
    assert shown == (("query", "x"), ("max_results", "3"), ("other", "1"))
    assert default_arguments("git diff") == {}
    assert '"arguments": "{cut"' in format_request(replace(call(), arguments="{cut"))
