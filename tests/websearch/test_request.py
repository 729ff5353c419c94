"""A request becomes what an API takes: enough results, no more words than it reads, every character escaped."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.fetch.urls import parse_target
from keyhole.records import SearchRequest
from keyhole.websearch.request import build_get, build_post, build_query, freshness_start, result_count, truncate_query
from tests.support.fakes import Clock


@pytest.mark.parametrize(
    ("wanted", "most", "asked"), [(1, 20, 10), (5, 20, 10), (8, 20, 16), (20, 20, 20), (20, 99, 40)]
)
def test_twice_the_results_are_asked_for_and_never_fewer_than_a_page(wanted: int, most: int, asked: int) -> None:
    assert result_count(SearchRequest("q", wanted), most) == asked


def test_a_query_is_cut_between_words_and_one_without_spaces_anywhere() -> None:
    assert truncate_query("one two three", 8) == "one two"
    assert truncate_query("one two three", 7) == "one two"
    assert truncate_query("one  two\nthree", 100, 2) == "one two"
    assert truncate_query("数据" * 300, 400) == "数据" * 200


def test_sites_keep_their_room_and_give_way_where_they_would_take_half_of_it() -> None:
    some = SearchRequest("word " * 100, 5, ("a.example",), ("b.example",))
    assert build_query(some, 80).endswith("word site:a.example -site:b.example")
    assert len(build_query(some, 80)) <= 80
    many = SearchRequest("word " * 100, 5, tuple(f"site{number}.example" for number in range(20)))
    assert "site" not in build_query(many, 400)


@given(st.text(max_size=600), st.lists(st.sampled_from(["a.example", "b.example"]), max_size=8))
def test_no_query_is_longer_than_an_api_takes(query: str, sites: list[str]) -> None:
    made = build_query(SearchRequest(query, 5, tuple(sites)), 400, 50)
    assert len(made) <= 400
    assert len(made.split()) <= 50


def test_a_freshness_reaches_back_from_now() -> None:
    assert freshness_start("week", Clock()()).isoformat() == "2023-11-07T22:13:20+00:00"


@given(st.text(max_size=400))
def test_any_query_makes_a_url_that_can_be_asked_for(query: str) -> None:
    call = build_get("https://api.example/search", {"q": truncate_query(query, 300), "empty": ""})
    assert parse_target(call.url).host == "api.example"
    assert "empty" not in parse_qs(urlsplit(call.url).query)


def test_a_post_has_the_fields_that_have_values() -> None:
    call = build_post(
        "https://api.example/", {"q": "ü\ud800", "none": None, "sites": [], "name": "", "no": False, "n": 0}, {}
    )
    assert call.body is not None
    assert json.loads(call.body) == {"q": "ü\ud800", "no": False, "n": 0}
