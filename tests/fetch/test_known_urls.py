"""URLs are compared in their canonical form, and a page's text makes its links known."""

from __future__ import annotations

import posixpath
import re
import time
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyhole.errors import KeyholeError
from keyhole.extract.html.links import resolve_link
from keyhole.fetch.known_urls import MAX_LINKS, canonicalize, hash_page_urls, hash_url, hash_urls, is_listed
from keyhole.text.links import shorten_link

PAGE = "https://site.example/guide/page"


def makes_known(text: str, url: str) -> bool:
    """Return True if a page with this text makes a URL known."""
    return hash_url(canonicalize(url)) in hash_page_urls(PAGE, text)


@pytest.mark.parametrize(
    "same",
    [
        "https://example.com/a%2Fb/~c?d=%C3%A4",
        "  HTTPS://EXAMPLE.com:443/a%2fb/%7Ec?d=%c3%a4#part",
        "https://example.com./%61%2Fb/~c?d=ä",
    ],
)
def test_spellings_of_one_url_are_equal(same: str) -> None:
    assert canonicalize(same) == "https://example.com/a%2Fb/~c?d=%C3%A4"


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/a", "https://example.com:8443/a", "https://www.example.com/a", "https://example.com/A",
        "https://example.com/a/", "https://example.com/a?", "https://example.com/a?b", "https://example.com/a;b",
        "https://example.com//a", "https://example.com/a%20", "https://example.com/%2561", "https://example.org/a",
    ],
)  # fmt: skip
def test_urls_that_differ_in_more_than_spelling_are_not_equal(other: str) -> None:
    assert canonicalize(other) != canonicalize("https://example.com/a")


@given(st.text("aZ09253eEfF%()/?&=#;:@é \\'._~-", max_size=40))
@example("%%32e%%32e/x")
def test_canonicalizing_is_idempotent(path: str) -> None:
    try:
        once = canonicalize(f"https://example.com/{path}")
    except KeyholeError:
        return
    assert canonicalize(once) == once


# Entries of KEYHOLE_KNOWN_URLS.


def test_an_entry_is_a_url_or_a_prefix_that_ends_in_a_star() -> None:
    entries = ["https://docs.example/one", "HTTPS://Api.example/v1/*"]
    for url in ("https://docs.example/one", "https://api.example/v1/", "https://api.example/v1/x?y=z"):
        assert is_listed(url, entries)
    for url in (
        "https://docs.example/one?d=secret", "https://docs.example/one/", "https://docs.example/", "http://docs.example/one",
        "https://api.example/v1", "https://api.example/v2", "https://api.example.evil.example/v1/x",
    ):  # fmt: skip
        assert not is_listed(canonicalize(url), entries), url


@pytest.mark.parametrize(
    "rest",
    [
        "..", "../key", "./../key", "%2e%2e/key", "%2E%2e/key", ".%2e/key", "..?x", "..%2fkey", "..%2Fkey",
        "..%2f..%2fkey", "%2e%2e%2fkey", "a%2f..%2f..%2fkey", "..;/key", "..;a=b/key", "%2e%2e;/key", "..%3b/key",
        "..%5ckey", "%5c..%5ckey",
        "..%255ckey", "%252e%252e/key", "%252e%252e%252fkey", "..%252fkey", "..%25252fkey", "%25252e%25252e/key",
        "%%32e%%32e/key", "%25%32%65%25%32%65/key", "..%00/key", "..%20/key", "..%253b/key", ".%2e%2fkey",
        "%c0%ae%c0%ae/key", "..%c0%afkey", "%EF%BC%8E%EF%BC%8E/key", "．．/key", "a/%2e%2e;%2fkey", "a?b=/..%2fkey",
        "..%23", "..%3f", "%u002e%u002e/key", "..%u002fkey", "..%25u005Ckey", "..%u2215key", "..%E2%88%95key", "..∖key",
    ],
)  # fmt: skip
def test_a_prefix_is_not_left_by_any_form_of_dot_segments(rest: str) -> None:
    assert not is_listed(canonicalize(f"https://site.example/pub/{rest}"), ["https://site.example/pub/*"])


PIECES = st.sampled_from(
    [
        ".",
        "..",
        "/",
        "%2e",
        "%2F",
        "%5c",
        "%25",
        "25",
        "2e",
        "2f",
        "5C",
        "3b",
        ";",
        "%3B",
        "%00",
        "a",
        "?",
        "%",
        "u002F",
    ]
)


def read_by_server(path: str, decodings: int) -> str:
    """Return a path as a lenient server resolves it: decoded, without parameters, with backslashes as slashes."""
    for _ in range(decodings):
        path = unquote(re.sub("%u(.{4})", lambda escape: chr(int(escape[1], 16)), path))
    segments = re.split(r"[/\\]", path.partition("?")[0])
    return posixpath.normpath("/".join(re.split(r"[;\0]", segment)[0] for segment in segments))


@settings(max_examples=500)
@given(st.lists(PIECES, max_size=9).map("".join), st.integers(0, 5))
def test_no_server_reads_a_listed_url_as_one_outside_of_the_folder(rest: str, decodings: int) -> None:
    url = canonicalize(f"https://site.example/pub/{rest}")
    if is_listed(url, ["https://site.example/pub/*"]):
        path = url.removeprefix("https://site.example")
        assert f"{read_by_server(path, decodings)}/".startswith("/pub/")


@pytest.mark.parametrize(
    "rest",
    [
        "a", "a/b.html", "..a/b", "a..", "a;v=1/b", "a%20b/%C3%A9t%C3%A9", "100%25", "a?b=../c", "a?b=c/d", "a%2Fb",
        "%5Ca", "a//b", ".well-known/x", "~a/-b/_c", "中文/a", "a?b=50%",
    ],
)  # fmt: skip
def test_other_urls_with_the_prefix_are_listed(rest: str) -> None:
    assert is_listed(canonicalize(f"https://site.example/pub/{rest}"), ["https://site.example/pub/*"])


def test_a_prefix_that_ends_in_a_dot_stays_as_it_is() -> None:
    assert is_listed("https://site.example/.well-known/x", ["https://site.example/.*"])
    assert not is_listed("https://site.example/x", ["https://site.example/.*"])


@pytest.mark.parametrize("within", ["a/../b", "a/%2e%2e/b", "./b", "%2e/b"])
def test_dot_segments_inside_the_prefix_are_resolved(within: str) -> None:
    url = canonicalize(f"https://site.example/pub/{within}")
    assert url == "https://site.example/pub/b"
    assert is_listed(url, ["https://site.example/pub/*"])


def test_a_star_after_the_host_matches_the_whole_site_and_no_other_host() -> None:
    assert is_listed("https://site.example/any?x", ["https://site.example/*"])
    assert not is_listed("https://site.example.evil.example/", ["https://site.example/*"])


def test_an_invalid_entry_matches_nothing() -> None:
    assert not is_listed("https://a.example/", ["http://127.1/*", ""])


# URLs in a text.


@pytest.mark.parametrize(
    "text",
    [
        "[words](https://other.example/a_b?c=d)", "![picture](https://other.example/a_b?c=d)",
        '[words](https://other.example/a_b?c=d "title")', "[words](<https://other.example/a_b?c=d>)",
        "<https://other.example/a_b?c=d>", "see https://other.example/a_b?c=d.", "(https://other.example/a_b?c=d)",
        "https://other.example/a_b?c=d, and", "**https://other.example/a_b?c=d**", "[HTTPS://Other.example/a%5Fb?c=d#e]",
        "[https://x.example](https://other.example/a_b?c=d)", "[https://other.example/a_b?c=d](https://x.example)",
        "`https://other.example/a_b?c=d`", '"https://other.example/a_b?c=d"', "|https://other.example/a_b?c=d|",
        r"https://other.example/a\_b?c=d", "“https://other.example/a_b?c=d”", "见https://other.example/a_b?c=d。后面",
    ],
)  # fmt: skip
def test_a_url_in_a_text_is_known_in_any_context(text: str) -> None:
    assert makes_known(f"Before\n{text}\nafter.", "https://other.example/a_b?c=d")


def test_a_url_with_parentheses_is_known_as_text_and_as_a_link() -> None:
    for url in ("https://other.example/Foo_(bar)", "https://other.example/a(b)_(c).htm"):
        escaped = url.replace("(", "%28").replace(")", "%29")
        for text in (url, f"[x]({escaped})", f"[x]({url})(y)", f'[x](<{url}> "y")'):
            assert makes_known(text, url), text


@pytest.mark.parametrize("text", ["{}, and", "See {} for more.", "({}).", "“{}”"])
def test_a_url_that_ends_in_punctuation_is_known(text: str) -> None:
    for url in ("https://other.example/wiki/Yahoo!", "https://other.example/wiki/Inc."):
        assert makes_known(text.format(url), url)


def test_a_relative_link_is_known_as_its_absolute_url() -> None:
    text = "[a](../up) [b](/root?x=1) [c](#part) [d](mailto:a@example.org) [e](//cdn.example/f)"
    for url in ("https://site.example/up", "https://site.example/root?x=1", "https://cdn.example/f"):
        assert makes_known(text, url)


def test_absolute_links_of_a_page_with_an_invalid_url_are_known() -> None:
    text = "[whole](https://a.example/one) [relative](two)"
    assert hash_page_urls("no address", text) == hash_urls(["https://a.example/one"])


def test_the_pages_own_url_is_known() -> None:
    assert makes_known("", f"{PAGE}#anywhere")


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/log?d=secret", "https://other.example/logs", "https://other.example/", "http://other.example/log",
        "https://secret.other.example/log", "https://other.example/log/secret", "https://other.example:444/log",
    ],
)  # fmt: skip
def test_a_url_that_differs_from_a_known_one_is_not_known(url: str) -> None:
    assert not makes_known("[log](https://other.example/log)", url)


def test_a_host_without_a_scheme_is_not_known() -> None:
    assert not makes_known("Go to other.example/log or ask for other.example", "https://other.example/log")


def test_invalid_urls_are_skipped() -> None:
    assert hash_urls(["https://ok.example/", "http://127.1/", "", "ftp://a.example/", "https://\ud800/"]) == (
        hash_urls(["https://ok.example/"])
    )


@pytest.mark.parametrize(
    "text",
    [
        "https://" * 200_000, "](" * 700_000, "](https://a.example/" * 70_000, "https://a.example/" + "\\" * 1_400_000,
        "https://a.example/" + ")" * 1_400_000, "](a" + "(b)" * 500_000 + "(b" * 500_000,
        "".join(f"https://a.example/{n}) " for n in range(50_000)),
    ],
    ids=["schemes", "links", "addresses", "backslashes", "parentheses", "pairs", "many"],
)  # fmt: skip
def test_links_of_a_hostile_text_are_extracted_in_bounded_time(text: str) -> None:
    began = time.perf_counter()
    assert len(hash_page_urls(PAGE, text)) <= MAX_LINKS + 1
    assert time.perf_counter() - began < 3


@given(st.lists(st.text("/.?#;:@%a=&é ()", max_size=10), max_size=5))
def test_a_text_with_paths_makes_the_same_urls_known_as_one_with_full_urls(ends: list[str]) -> None:
    urls = [resolve_link(PAGE, f"https://site.example/{end}") for end in ends]
    full = "".join(f"[a]({url}) " for url in urls)
    short = "".join(f"[a]({shorten_link(url, PAGE)}) " for url in urls)
    assert hash_page_urls(PAGE, full) == hash_page_urls(PAGE, short)
