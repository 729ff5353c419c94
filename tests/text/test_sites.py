"""URLs pass or fail site filters by their host."""

from __future__ import annotations

import pytest

from keyhole.records import SearchRequest
from keyhole.text.sites import is_allowed_by_sites


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://example.org/x", True),
        ("https://docs.example.org/x", True),
        ("https://www.example.org/x", True),
        ("https://EXAMPLE.ORG:8080/x", True),
        ("https://notexample.org/x", False),
        ("https://example.org.evil.example/x", False),
        ("https://evil.example/?example.org", False),
        ("not a url", False),
    ],
)
def test_a_url_passes_a_site_filter_by_its_host(url: str, allowed: bool) -> None:
    assert is_allowed_by_sites(url, SearchRequest("q", 5, sites=("www.Example.org", "other.example"))) is allowed
    assert is_allowed_by_sites(url, SearchRequest("q", 5, exclude_sites=("example.org",))) is not allowed


@pytest.mark.parametrize(
    "url", ["https://bücher.example/", "https://a.xn--bcher-kva.example/", "https://BÜCHER.example./"]
)
@pytest.mark.parametrize("site", ["bücher.example", "xn--bcher-kva.example", "BÜCHER.example."])
def test_a_site_matches_in_unicode_and_in_ascii(url: str, site: str) -> None:
    assert is_allowed_by_sites(url, SearchRequest("q", 5, sites=(site,)))
    assert not is_allowed_by_sites(url, SearchRequest("q", 5, exclude_sites=(site,)))


def test_without_filters_every_valid_url_passes() -> None:
    assert is_allowed_by_sites("https://anything.example/", SearchRequest("q", 5))
    assert not is_allowed_by_sites("http://[", SearchRequest("q", 5))


def test_an_excluded_subdomain_of_an_included_site_fails() -> None:
    request = SearchRequest("q", 5, sites=("example.org",), exclude_sites=("old.example.org",))
    assert is_allowed_by_sites("https://example.org/", request)
    assert not is_allowed_by_sites("https://old.example.org/", request)
