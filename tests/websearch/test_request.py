"""Test API requests: result counts, query lengths and escaping."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.fetch.urls import parse_target
from keyhole.records import SearchRequest
from keyhole.websearch.request import (
    add_site_operators,
    build_get,
    build_post,
    build_query,
    freshness_start,
    result_count,
    truncate_query,
)
from tests.support.fakes import Clock


@pytest.mark.parametrize(
    ("max_results", "maximum", "count"), [(1, 20, 10), (5, 20, 10), (8, 20, 16), (20, 20, 20), (20, 99, 40)]
)
def test_twice_the_results_are_requested_and_at_least_one_page(max_results: int, maximum: int, count: int) -> None:
    assert result_count(SearchRequest("q", max_results), maximum) == count


def test_a_query_is_truncated_between_words_if_it_has_spaces() -> None:
    assert truncate_query("one two three", 8) == "one two"
    assert truncate_query("one two three", 7) == "one two"
    assert truncate_query("one  two\nthree", 100, 2) == "one two"
    assert truncate_query("数据" * 300, 400) == "数据" * 200


def test_site_operators_are_dropped_if_they_would_take_half_of_the_query() -> None:
    some = SearchRequest("word " * 100, 5, ("a.example",), ("b.example",))
    assert build_query(some, 80).endswith("word site:a.example -site:b.example")
    assert len(build_query(some, 80)) <= 80
    many = SearchRequest("word " * 100, 5, tuple(f"site{number}.example" for number in range(20)))
    assert "site" not in build_query(many, 400)


@given(st.text(max_size=600), st.lists(st.sampled_from(["a.example", "b.example"]), max_size=8))
def test_no_query_exceeds_the_limits_of_an_api(query: str, sites: list[str]) -> None:
    made = build_query(SearchRequest(query, 5, tuple(sites)), 400, 50)
    assert len(made) <= 400
    assert len(made.split()) <= 50


def test_freshness_starts_before_now() -> None:
    assert freshness_start("week", Clock()()).isoformat() == "2023-11-07T22:13:20+00:00"


@given(st.text(max_size=400))
def test_any_query_gives_a_valid_url(query: str) -> None:
    call = build_get("https://api.example/search", {"q": truncate_query(query, 300), "empty": ""})
    assert parse_target(call.url).host == "api.example"
    assert "empty" not in parse_qs(urlsplit(call.url).query)


def test_a_post_leaves_empty_fields_out() -> None:
    call = build_post(
        "https://api.example/", {"q": "ü\ud800", "none": None, "sites": [], "name": "", "no": False, "n": 0}, {}
    )
    assert call.body is not None
    assert json.loads(call.body) == {"q": "ü\ud800", "no": False, "n": 0}


def test_a_query_without_sites_is_unchanged() -> None:
    assert add_site_operators(SearchRequest("two words", 5)) == "two words"


def test_sites_become_site_operators() -> None:
    assert add_site_operators(SearchRequest("q", 5, sites=("a.example",))) == "q site:a.example"
    assert (
        add_site_operators(SearchRequest("q", 5, sites=("a.example", "b.example")))
        == "q (site:a.example OR site:b.example)"
    )
    assert add_site_operators(SearchRequest("q", 5, exclude_sites=("a.example", "b.example"))) == (
        "q -site:a.example -site:b.example"
    )
