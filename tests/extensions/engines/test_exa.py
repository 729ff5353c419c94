"""Test Exa over HTTP with recorded answers: requests and parsed hits."""

from __future__ import annotations

import json
from typing import Any

from keyhole.extensions.engines.exa import ExaEngine, build_call
from keyhole.records import Hit, SearchRequest
from tests.support.engine_answers import KEY, answer_bytes, run_search
from tests.support.fakes import Clock, search_api

CONTENTS = {"highlights": {"maxCharacters": 1_000}}


def request_body(request: SearchRequest) -> dict[str, Any]:
    """Return the body of the API call for a request."""
    _, call = run_search("exa", request, answer_bytes("exa", "empty"))
    body: dict[str, Any] = json.loads(call.body)
    return body


def test_a_plain_query_is_posted_with_the_key_as_a_header_and_requests_highlights_only() -> None:
    _, call = run_search("exa", SearchRequest("größe & 数据", 5), answer_bytes("exa", "web"))
    assert (call.method, call.path) == ("POST", "/search")
    assert call.headers["x-api-key"] == KEY
    assert json.loads(call.body) == {"query": "größe & 数据", "type": "auto", "numResults": 10, "contents": CONTENTS}


def test_every_supported_filter_is_sent_to_exa() -> None:
    request = SearchRequest("q", 20, ("a.example",), ("b.example",), "week", "de", "at", "news")
    assert request_body(request) == {
        "query": "q",
        "type": "auto",
        "numResults": 25,
        "category": "news",
        "includeDomains": ["a.example"],
        "excludeDomains": ["b.example"],
        "startPublishedDate": "2023-11-07T22:13:20.000Z",
        "userLocation": "AT",
        "contents": CONTENTS,
    }


def test_without_a_clock_freshness_is_not_supported() -> None:
    request = SearchRequest("q", 5, freshness="day")
    body = build_call("https://exa.example", KEY, request, None).body
    assert body is not None
    assert b"startPublishedDate" not in body
    assert "freshness" not in ExaEngine(KEY, search_api()).supported_filters
    assert "freshness" in ExaEngine(KEY, search_api(), clock=Clock()).supported_filters


def test_highlights_become_a_snippet() -> None:
    found, _ = run_search("exa", SearchRequest("q", 5), answer_bytes("exa", "web"))
    assert found == (
        Hit(
            "https://rivers.example/meanders",
            "Why rivers meander",
            "The outer bank erodes while the inner one grows. … "
            "A meander's length is some 11 times the channel's width.",
            "exa",
            "2023-11-16T01:36:32+00:00",
        ),
        Hit("https://old.example/rivers", "", "", "exa"),
    )


def test_news_become_hits_and_an_empty_answer_gives_none() -> None:
    found, _ = run_search("exa", SearchRequest("q", 5, kind="news"), answer_bytes("exa", "news"))
    assert [(hit.url, hit.date) for hit in found] == [("https://news.example/flood", "2024-05-03T00:00:00+00:00")]
    assert run_search("exa", SearchRequest("q", 5), answer_bytes("exa", "empty"))[0] == ()
