"""Test merging the hits of several engines: one entry per page, best agreement first."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Hit
from keyhole.websearch.canonical import clean_url, page_key
from keyhole.websearch.merge import merge_hits

URLS = st.sampled_from(
    [f"https://{host}.example/{path}" for host in ("a", "www.a", "b") for path in ("", "x", "x/", "y?utm_source=z")]
    + ["", "ftp://a.example/", "javascript:x", "http://[", "http://a:99999/", "http://a/?q=\ud800", "not a url"]
)
HITS = st.builds(Hit, URLS, st.text(max_size=5), st.text(max_size=9), st.sampled_from(["one", "two"]))
LISTS = st.lists(st.lists(HITS, max_size=8), max_size=4)


def hit(url: str, title: str = "T", snippet: str = "", engine: str = "one") -> Hit:
    return Hit(url, title, snippet, engine)


def hits(*names: str, engine: str = "one") -> list[Hit]:
    return [hit(f"https://{name}.example/", title=name, engine=engine) for name in names]


def titles(merged: tuple[Hit, ...]) -> list[str]:
    return [found.title for found in merged]


def test_one_list_keeps_its_order() -> None:
    assert titles(merge_hits([hits("a", "b", "c")])) == ["a", "b", "c"]
    assert merge_hits([]) == merge_hits([[], []]) == ()


def test_a_page_of_two_engines_ranks_above_the_first_hit_of_either() -> None:
    assert titles(merge_hits([hits("a", "both"), hits("b", "x", "both")])) == ["both", "a", "b", "x"]


def test_pages_with_equal_scores_keep_the_order_of_the_engines() -> None:
    assert titles(merge_hits([hits("a", "b"), hits("c", "d")])) == ["a", "c", "b", "d"]


def test_a_page_that_one_engine_lists_twice_counts_once() -> None:
    twice = [*hits("b"), hit("http://www.b.example/#again")]
    assert titles(merge_hits([hits("a"), twice])) == ["a", "b"]


def test_the_first_title_and_the_longest_snippet_of_a_page_are_kept() -> None:
    one = hit("http://a.example/x", "First", "short", "one")
    two = hit("https://www.a.example/x/?utm_source=y", "Second", "a longer snippet", "two")
    assert merge_hits([[one], [two]]) == (Hit("http://a.example/x", "First", "a longer snippet", "one"),)


def test_a_page_keeps_its_first_date_and_its_desktop_url() -> None:
    one = Hit("https://m.a.example/x?fbclid=1", "T", "", "one")
    two = Hit("https://a.example/x?id=2&utm_source=y", "T", "", "two", "2026-01-02")
    three = Hit("https://a.example/x#part", "T", "", "three", "2025-01-02")
    assert [found.url for found in merge_hits([[one], [two]])] == ["https://m.a.example/x", "https://a.example/x?id=2"]
    assert merge_hits([[one], [three]]) == (Hit("https://a.example/x", "T", "", "one", "2025-01-02"),)


def test_hits_that_cannot_be_fetched_are_left_out() -> None:
    assert titles(merge_hits([[hit("javascript:x"), hit("None"), *hits("a")]])) == ["a"]


@given(LISTS)
def test_every_page_appears_once_in_the_merged_list(lists: list[list[Hit]]) -> None:
    merged = merge_hits(lists)
    keys = [page_key(found.url) for found in merged]
    assert len(keys) == len(set(keys))
    assert set(keys) == {page_key(found.url) for found_by in lists for found in found_by} - {""}
    urls = {clean_url(found.url) for found_by in lists for found in found_by}
    assert {found.url for found in merged} <= urls
    assert merge_hits([merged]) == merged
    assert merge_hits(lists) == merged


def test_a_thousand_hits_are_merged_deterministically() -> None:
    names = [f"n{n}" for n in range(500)]
    shuffled = random.Random(1).sample(names, len(names))
    merged = merge_hits([hits(*names), hits(*shuffled)])
    assert len(merged) == 500
    assert merged == merge_hits([hits(*names), hits(*shuffled)])
