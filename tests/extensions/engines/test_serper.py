"""Test Serper over HTTP with recorded answers: requests and parsed hits."""

from __future__ import annotations

import json

from keyhole.records import SearchRequest
from tests.support.engine_answers import KEY, answer_bytes, response_bytes, run_search


def test_a_plain_query_is_posted_with_the_key_as_a_header() -> None:
    _, call = run_search("serper", SearchRequest("größe & 数据", 5), answer_bytes("serper", "web"))
    assert (call.method, call.path) == ("POST", "/search")
    assert call.headers["x-api-key"] == KEY
    assert json.loads(call.body) == {"q": "größe & 数据", "num": 10}


def test_every_supported_filter_is_sent_to_google() -> None:
    request = SearchRequest("q", 8, ("a.example",), ("b.example",), "year", "pt-BR", "br", "news")
    _, call = run_search("serper", request, answer_bytes("serper", "news"))
    assert call.path == "/news"
    assert json.loads(call.body) == {
        "q": "q site:a.example -site:b.example",
        "num": 16,
        "gl": "br",
        "hl": "pt-br",
        "tbs": "qdr:y",
    }


def test_a_long_query_leaves_space_for_its_site_operators() -> None:
    request = SearchRequest("word " * 50, 5, ("a.example",))
    _, call = run_search("serper", request, answer_bytes("serper", "empty"))
    words = json.loads(call.body)["q"].split()
    assert len(words) == 32
    assert words[-1] == "site:a.example"


def test_organic_results_become_hits_and_their_text_is_not_parsed_as_html() -> None:
    found, _ = run_search("serper", SearchRequest("q", 5), answer_bytes("serper", "web"))
    assert [(hit.url, hit.date) for hit in found] == [
        ("https://bread.example/hydration", "2023-05-07"),
        ("https://html.example/b", ""),
        ("https://notes.example/", ""),
    ]
    assert found[1].snippet == "The <b> element brings attention to text."


def test_news_become_hits_with_absolute_dates_only() -> None:
    found, _ = run_search("serper", SearchRequest("q", 5, kind="news"), answer_bytes("serper", "news"))
    assert [(hit.title, hit.date) for hit in found] == [("Flour prices fall", ""), ("Mill opens", "2024-03-12")]


def test_an_answer_without_results_is_empty() -> None:
    assert run_search("serper", SearchRequest("q", 5), answer_bytes("serper", "empty"))[0] == ()


def test_an_answer_with_only_its_parameters_is_empty() -> None:
    body = b'{"searchParameters": {"q": "q", "type": "news"}, "credits": 1}'
    assert run_search("serper", SearchRequest("q", 5, kind="news"), response_bytes(body))[0] == ()
