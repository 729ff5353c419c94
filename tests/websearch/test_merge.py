"""Test merging the hits of several engines: one entry per page, best agreement first."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Hit
from keyhole.websearch.merge import MAX_URL, clean_url, is_variant, merge_hits, page_key

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


# Canonical URLs


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/page",
        "http://example.org/page",
        "https://www.example.org/page",
        "https://EXAMPLE.org/page",
        "https://example.org:443/page",
        "http://example.org:80/page",
        "https://example.org/page/",
        "https://example.org/page#part",
        " https://example.org/page ",
        "https://example.org/page?utm_source=x&UTM_Medium=y",
        "https://example.org/page?fbclid=1&gclid=2&ref_src=3",
        "https://example.org./page",
        "https://m.example.org/page",
        "https://amp.example.org/page",
        "https://www2.example.org/page",
        "https://example.org/page/amp/",
        "https://example.org/amp/page",
        "https://example.org/page?amp=1",
        "https://example.org/page?outputType=amp&utm_id=5",
        "https://example.org/page/index.html",
        "https://example.org/p%61ge",
        "https://www.google.com/amp/s/example.org/page",
        "https://example-org.cdn.ampproject.org/c/s/example.org/page?utm_source=x",
        "https://example-org.cdn.ampproject.org/v/s/www.example.org/page/?amp=1",
    ],
)
def test_variants_of_a_url_have_the_same_key(url: str) -> None:
    assert page_key(url) == "example.org/page"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/Page",
        "https://example.org/page?id=1",
        "https://example.org/page?source=x",
        "https://example.org:8443/page",
        "https://docs.example.org/page",
        "https://example.org/page/x",
        "https://example.org/",
        "https://example.org/page/ample",
        "https://example.org/page#!/inner",
        "https://m.org/page",
        "https://example.org/index.html/page",
    ],
)
def test_urls_of_other_pages_have_other_keys(url: str) -> None:
    assert page_key(url) not in {"", "example.org/page"}


def test_the_key_depends_on_query_values_and_not_on_their_order() -> None:
    assert page_key("http://a.example/?b=2&a=1") == page_key("http://a.example/?a=1&b=2&utm_campaign=z")
    assert page_key("http://a.example/?a=1") != page_key("http://a.example/?a=2")
    assert page_key("http://a.example/?a=") != page_key("http://a.example/?")
    assert page_key("http://a.example/?q=%C3%A4") == page_key("http://a.example/?q=ä")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "ftp://example.org/",
        "javascript:x",
        "https://user:word@example.org/",
        "https://example.org\\@evil.example/",
        "http://",
        "http://[",
        "http://a:99999/",
        "http://℀/",
        "None",
    ],
)
def test_a_url_that_cannot_be_fetched_has_no_key(url: str) -> None:
    assert page_key(url) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://en.m.wikipedia.org/wiki/Clock", "https://en.wikipedia.org/wiki/Clock"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://news.example/story.amp.html", "https://news.example/story.html"),
        ("https://app.example/#/docs/intro", "http://www.app.example/#/docs/intro"),
        ("https://a.example/?x=1&gclid=5", "https://a.example?x=1"),
    ],
)
def test_two_spellings_have_the_same_key(one: str, other: str) -> None:
    assert page_key(one) == page_key(other) != ""


@pytest.mark.parametrize(
    ("url", "cleaned"),
    [
        ("https://a.example/x?utm_source=n&id=2&gclid=3#part", "https://a.example/x?id=2"),
        ("https://a.example/x?gclid=3", "https://a.example/x"),
        ("https://a.example/x?b=%20&a", "https://a.example/x?b=%20&a"),
        ("https://a.example/#!/x", "https://a.example/#!/x"),
        ("https://www.google.com/amp/s/a.example/x/?id=1", "https://a.example/x/?id=1"),
        ("https://www.google.com/amplify/s/a.example/x", "https://www.google.com/amplify/s/a.example/x"),
        ("https://m.a.example/X%c3", "https://m.a.example/X%c3"),
        (" https://a.example ", "https://a.example"),
    ],
)
def test_a_clean_url_has_no_tracking_parameters(url: str, cleaned: str) -> None:
    assert clean_url(url) == cleaned


@pytest.mark.parametrize(
    ("url", "variant"),
    [
        ("https://m.a.example/", True),
        ("https://en.m.wikipedia.org/wiki/X", True),
        ("https://a.example/x/amp", True),
        ("https://a.example/x?amp", True),
        ("https://www.a.example/x", False),
        ("https://mail.a.example/", False),
        ("not a url", False),
    ],
)
def test_mobile_and_amp_variants_are_recognized(url: str, variant: bool) -> None:
    assert is_variant(url) is variant


def test_an_overlong_url_has_no_key() -> None:
    assert page_key("https://a.example/" + "x" * MAX_URL) == ""


@given(st.text(max_size=60) | st.text(max_size=40).map(lambda rest: f"https://a.example/{rest}"))
def test_cleaning_a_url_keeps_its_key(url: str) -> None:
    assert page_key(clean_url(url)) == page_key(url)
