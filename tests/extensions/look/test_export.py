"""Tests of the export of a session or a call to one file."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look import export as module
from keyhole.extensions.look.export import export, hash_of, read_style
from keyhole.extensions.look.page import Look
from keyhole.store.calls.base import CallFilters, CallRecord
from tests.store.calls import samples
from tests.support.look import empty_look, words_of

LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "style", "onclick", "onload"}
"""Attributes with which an element loads, sends or runs something."""


class Elements(HTMLParser):
    """Collects the elements of a file: names, attributes, ids, and addresses of links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")


@pytest.fixture
def look() -> Look:
    """Return a look at 40 sample calls, with the pages that they read."""
    look = empty_look(samples.START + 86_400)
    for page in samples.pages(30):
        look.store.put(page, "words")
    for record in samples.calls(40):
        look.calls.add(record)
    return look


def test_a_session_is_exported_with_all_its_calls_and_the_exact_results(look: Look) -> None:
    (session,) = look.calls.sessions(1)
    html = export(look, session.id)
    calls = look.calls.calls(100, CallFilters(session=session.id))
    assert calls
    elements = Elements(html)
    for call in calls:
        assert f"call-{call.id}" in elements.ids
        assert f"#call-{call.id}" in elements.links
    assert export(look) == html  # the newest session
    assert f">{len(calls)}. <" in html  # the calls are numbered, the oldest first


def test_the_file_loads_nothing_and_runs_nothing(look: Look) -> None:
    elements = Elements(export(look))
    assert not elements.names & {"script", "link", "img", "iframe", "form", "object", "embed", "base", "video"}
    assert not elements.attributes & LOADING
    outside = [link for link in elements.links if not link.startswith("#")]
    assert all(link.startswith(("http://", "https://")) for link in outside)


def test_every_link_within_the_file_has_its_place(look: Look) -> None:
    for html in (export(look), export(look, call=look.calls.calls(1)[0].id)):
        elements = Elements(html)
        assert len(elements.ids) == len(set(elements.ids))
        assert {link[1:] for link in elements.links if link.startswith("#")} <= set(elements.ids)


def test_the_policy_of_the_file_allows_its_own_style_only(look: Look) -> None:
    html = export(look)
    assert html.count("<style>") == 1
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert style == read_style()
    assert f"style-src &#39;{hash_of(style)}&#39;" in html
    assert "default-src &#39;none&#39;" in html


def test_one_call_is_exported_without_the_others(look: Look) -> None:
    call, other = look.calls.calls(2)
    elements = Elements(export(look, call=call.id))
    assert f"call-{call.id}" in elements.ids
    assert f"call-{other.id}" not in elements.ids
    assert "session" not in elements.ids


def test_what_a_page_wrote_stays_text(look: Look) -> None:
    hostile = '</pre><script>alert(1)</script><img src="https://evil.example/"><style>*{}</style>'
    record = next(iter(samples.calls(1)))
    record = replace(record, summary=replace(record.summary, id="hostile", query=hostile), result=hostile)
    look.calls.add(record)
    html = export(look, call="hostile")
    assert not Elements(html).names & {"script", "img"}
    assert html.count("<style>") == 1
    assert "alert(1)" in words_of(html)


HOSTILE = st.text() | st.sampled_from(
    [
        "</style><script>x",
        "<svg onload=x>",
        '" onclick="x',
        "javascript:x",
        "http://[",
        "\ud800",
        "\u202e",
        "<!--",
        "{{ 1 }}",
    ]
)


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(HOSTILE, min_size=6, max_size=6))
def test_no_text_becomes_an_element_or_an_attribute(texts: list[str]) -> None:
    look = empty_look(samples.START + 60)
    query, target, result, title, url, note = texts
    page = replace(samples.page(0, 900), text=result * 3 + "the end", title=title, url=url)
    look.store.put(page, "words")
    read = replace(samples.read_text(page, (0, 5)), url=url, title=title)
    record = samples.call(target=target, query=query, result=result, texts=[read], notes=[("command", note)])
    look.calls.add(record)
    elements = Elements(export(look).encode("utf-8", "replace").decode())
    assert not elements.names & {"script", "img", "iframe", "form", "object", "embed", "link", "base"}
    assert not elements.attributes & LOADING
    assert all(link.startswith(("#", "http://", "https://")) for link in elements.links)


def test_the_oldest_calls_of_a_long_session_are_counted_and_left_out(
    look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    (session,) = look.calls.sessions(1)
    monkeypatch.setattr(module, "MAX_CALLS", 2)
    html = export(look, session.id)
    assert len(re.findall('class="exported-call"', html)) == 2
    assert f"The {session.calls - 2} oldest calls are not in this file." in words_of(html)


def test_a_call_whose_text_is_gone_is_exported_without_it(look: Look) -> None:
    record: CallRecord | None = None
    for call in look.calls.calls(40):
        record = look.calls.get(call.id)
        if record and any(text.spans for text in record.texts):
            break
    assert record
    for text in record.texts:
        look.store.remove(text.id)
    assert "not in the store" in words_of(export(look, call=record.summary.id))


def test_an_unknown_call_or_session_and_an_empty_log_are_named(look: Look) -> None:
    for pages, named in ((look, {"session": "none"}), (look, {"call": "none"}), (empty_look(), {})):
        with pytest.raises(KeyholeError) as error:
            export(pages, **named)
        assert error.value.code is Code.INVALID_ARGUMENT
