"""Tests of the texts in which words and sites are looked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyhole.store.calls.base import CallFilters
from keyhole.store.calls.rows import MAX_WORDS, site_of, sites_of, wanted_site, wanted_words, words_of
from tests.store.calls.samples import call, page, read_text


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://Docs.Python.ORG:8443/x", "docs.python.org"),
        ("http://user@a.example/", "a.example"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("http://[::1]/", "::1"),
        ("http://[::1/", ""),
        ("output:test", ""),
        ("abcdefghijklmnop", ""),
        ("", ""),
    ],
)
def test_only_web_addresses_have_a_site(url: str, site: str) -> None:
    assert site_of(url) == site


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("python.org", True),
        ("docs.python.org", True),
        ("WWW.python.org", True),
        ("https://docs.python.org/3/", True),
        ("ocs.python.org", False),
        ("python.or", False),
        ("org", True),
        ("", True),
    ],
)
def test_a_site_matches_its_host_and_subdomains(wanted: str, found: bool) -> None:
    sites = sites_of(call(target="https://docs.python.org/asyncio"))
    assert (wanted_site(CallFilters(site=wanted)) in sites) is found


def test_words_are_those_of_arguments_titles_and_addresses_without_regard_to_case() -> None:
    words = words_of(call(tool="search", query="Straße ΣΊΣΥΦΟΣ", texts=[read_text(page(3))]))
    for text in ("STRASSE", "σίσυφοσ", page(3).title, page(3).url):
        assert all(word in words for word in wanted_words(CallFilters(words=text)))


def test_the_words_of_a_call_are_bounded() -> None:
    record = call(query="x" * 50_000)
    assert len(words_of(replace(record, arguments="y" * 50_000))) == MAX_WORDS
