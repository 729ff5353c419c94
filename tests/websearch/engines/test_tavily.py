"""Tavily over real HTTP with recorded answers: what is asked, and what the answers mean."""

from __future__ import annotations

import json
from typing import Any

from keyhole.records import Hit, SearchRequest
from tests.support.engine_answers import KEY, answer_bytes, run_search

ALWAYS = {"search_depth": "basic", "include_answer": False, "include_raw_content": False, "include_images": False}


def asked(request: SearchRequest) -> dict[str, Any]:
    """The body of the request for this."""
    _, call = run_search("tavily", request, answer_bytes("tavily", "empty"))
    body: dict[str, Any] = json.loads(call.body)
    return body


def test_a_plain_question_is_posted_with_the_key_as_a_bearer() -> None:
    _, call = run_search("tavily", SearchRequest("größe & 数据", 5), answer_bytes("tavily", "web"))
    assert (call.method, call.path) == ("POST", "/search")
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.headers["content-type"] == "application/json"
    assert json.loads(call.body) == {"query": "größe & 数据", "topic": "general", "max_results": 10, **ALWAYS}


def test_every_filter_that_tavily_has_reaches_it() -> None:
    request = SearchRequest("q", 20, ("a.example",), ("b.example",), "month", "de", "gb")
    assert asked(request) == {
        "query": "q",
        "topic": "general",
        "max_results": 20,
        "time_range": "month",
        "include_domains": ["a.example"],
        "exclude_domains": ["b.example"],
        "country": "united kingdom",
        **ALWAYS,
    }


def test_what_tavily_would_refuse_is_not_sent() -> None:
    news = asked(SearchRequest("x" * 500, 5, country="de", kind="news"))
    assert (len(news["query"]), news["topic"]) == (400, "news")
    assert "country" not in news
    assert "country" not in asked(SearchRequest("q", 5, country="aq"))


def test_results_become_hits_on_one_line() -> None:
    found, _ = run_search("tavily", SearchRequest("q", 5), answer_bytes("tavily", "web"))
    assert found[0] == Hit(
        "https://tides.example/how",
        "How tide tables are made",
        "Tables sum up to 37 constituents; the M2 tide has a period of 12.42 hours.",
        "tavily",
    )
    assert [hit.url for hit in found] == ["https://tides.example/how", "https://harbour.example/tables"]


def test_news_have_their_dates_in_iso_8601() -> None:
    found, _ = run_search("tavily", SearchRequest("q", 5, kind="news"), answer_bytes("tavily", "news"))
    assert [hit.date for hit in found] == ["2024-11-14T10:05:00+00:00"]


def test_an_answer_without_results_is_empty() -> None:
    assert run_search("tavily", SearchRequest("q", 5), answer_bytes("tavily", "empty"))[0] == ()
