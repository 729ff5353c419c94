"""Test Tavily over HTTP with recorded answers: requests and parsed hits."""

from __future__ import annotations

import json
from typing import Any

from keyhole.records import Hit, SearchRequest
from tests.support.engine_answers import KEY, answer_bytes, run_search

ALWAYS = {"search_depth": "basic", "include_answer": False, "include_raw_content": False, "include_images": False}


def request_body(request: SearchRequest) -> dict[str, Any]:
    """Return the body of the API call for a request."""
    _, call = run_search("tavily", request, answer_bytes("tavily", "empty"))
    body: dict[str, Any] = json.loads(call.body)
    return body


def test_a_plain_query_is_posted_with_the_key_as_a_bearer_token() -> None:
    _, call = run_search("tavily", SearchRequest("größe & 数据", 5), answer_bytes("tavily", "web"))
    assert (call.method, call.path) == ("POST", "/search")
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.headers["content-type"] == "application/json"
    assert json.loads(call.body) == {"query": "größe & 数据", "topic": "general", "max_results": 10, **ALWAYS}


def test_every_supported_filter_is_sent_to_tavily() -> None:
    request = SearchRequest("q", 20, ("a.example",), ("b.example",), "month", "de", "gb")
    assert request_body(request) == {
        "query": "q",
        "topic": "general",
        "max_results": 20,
        "time_range": "month",
        "include_domains": ["a.example"],
        "exclude_domains": ["b.example"],
        "country": "united kingdom",
        **ALWAYS,
    }


def test_values_that_tavily_would_refuse_are_not_sent() -> None:
    news = request_body(SearchRequest("x" * 500, 5, country="de", kind="news"))
    assert (len(news["query"]), news["topic"]) == (400, "news")
    assert "country" not in news
    assert "country" not in request_body(SearchRequest("q", 5, country="aq"))


def test_titles_and_snippets_are_one_line_each() -> None:
    found, _ = run_search("tavily", SearchRequest("q", 5), answer_bytes("tavily", "web"))
    assert found[0] == Hit(
        "https://tides.example/how",
        "How tide tables are made",
        "Tables sum up to 37 constituents; the M2 tide has a period of 12.42 hours.",
        "tavily",
    )
    assert [hit.url for hit in found] == ["https://tides.example/how", "https://harbour.example/tables"]


def test_news_have_iso_8601_dates() -> None:
    found, _ = run_search("tavily", SearchRequest("q", 5, kind="news"), answer_bytes("tavily", "news"))
    assert [hit.date for hit in found] == ["2024-11-14T10:05:00+00:00"]


def test_an_answer_without_results_is_empty() -> None:
    assert run_search("tavily", SearchRequest("q", 5), answer_bytes("tavily", "empty"))[0] == ()
