"""Tests of filters by site, age and language."""

from __future__ import annotations

import pytest

from keyhole.store.filters import NO_FILTERS, Facets, Filters, passes
from keyhole.text.sites import DAY

NOW = 1_700_000_000.0  # 2023-11-14
PAGE = Facets("https://docs.python.org/3/", "", NOW - 3 * DAY, "en-GB")


def test_outputs_and_pages_are_told_apart_by_their_addresses() -> None:
    output = Facets("output:log", "", NOW, "")
    assert passes(output, Filters(kind="outputs"), NOW)
    assert passes(PAGE, Filters(kind="pages"), NOW)
    assert not passes(output, Filters(kind="pages"), NOW)
    assert not passes(PAGE, Filters(kind="outputs"), NOW)
    assert Filters(kind="pages")


def test_empty_filters_are_falsy_and_match_everything() -> None:
    assert passes(Facets("", "", 0.0, ""), NO_FILTERS, NOW)
    assert not NO_FILTERS
    assert Filters(language="en")


@pytest.mark.parametrize(
    ("sites", "excluded", "expected"),
    [
        (("docs.python.org",), (), True),
        (("python.org",), (), True),
        (("www.Python.org",), (), True),
        (("example.org", "python.org"), (), True),
        (("thon.org",), (), False),
        (("org.example",), (), False),
        ((), ("python.org",), False),
        ((), ("pypi.org",), True),
        (("python.org",), ("docs.python.org",), False),
    ],
)
def test_a_site_is_a_host_with_its_subdomains(
    sites: tuple[str, ...], excluded: tuple[str, ...], expected: bool
) -> None:
    assert passes(PAGE, Filters(sites, excluded), NOW) is expected


@pytest.mark.parametrize("url", ["", "https://[", "docs.python.org"])
def test_an_address_without_a_host_matches_no_site(url: str) -> None:
    assert not passes(Facets(url, "", NOW, ""), Filters(("python.org",)), NOW)


@pytest.mark.parametrize(
    ("published", "age", "expected"),
    [
        ("", "week", True),
        ("", "day", False),
        ("2023-11-14T22:00:00+09:00", "day", True),
        ("2023-11-10", "week", True),
        ("2023-11-10", "day", False),
        ("2022", "year", False),
        ("2023-01", "year", True),
        ("2001-01-01", "year", False),
    ],
)
def test_age_is_of_the_publication_date_or_else_of_the_fetch(published: str, age: str, expected: bool) -> None:
    assert passes(Facets(PAGE.url, published, PAGE.fetched_at, ""), Filters(age=age), NOW) is expected


@pytest.mark.parametrize(("language", "expected"), [("en", True), ("EN-us", True), ("de", False)])
def test_language_is_compared_by_its_first_part(language: str, expected: bool) -> None:
    assert passes(PAGE, Filters(language=language), NOW) is expected


def test_a_page_of_unknown_language_matches_any() -> None:
    assert passes(Facets(PAGE.url, "", NOW, ""), Filters(language="de"), NOW)
