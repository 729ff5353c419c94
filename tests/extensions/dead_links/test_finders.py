"""The lists that the finders request, and what they read from the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from keyhole.config.config import SITES
from keyhole.extensions.dead_links.documentation import DocumentationFinder, other_versions
from keyhole.extensions.dead_links.similarity import (
    STRONG,
    CandidateSource,
    CandidateUrl,
    Finder,
    ListRequest,
    Near,
    Reply,
    State,
    rank_candidates,
)
from tests.support.documentation import ROOT


def run(finder: Finder, url: str, answers: Mapping[str, bytes]) -> tuple[list[str], list[CandidateUrl]]:
    """Answer the requests of a finder; return them and the candidates."""
    requested: list[ListRequest] = []
    candidates: list[CandidateUrl] = []
    ranked: list[Near] = []
    while len(requested) < 8 and (request := finder.next_request(State(candidates, requested, ranked))):
        body = answers.get(request)
        requested.append(ListRequest(request, "" if body is None else request, body is not None))
        if body is not None:
            candidates += finder.read(Reply(request, request, body))
        ranked = rank_candidates(url, candidates)
    return [each.request for each in requested], candidates


def documentation(url: str, answers: Mapping[str, bytes]) -> tuple[list[str], list[CandidateUrl]]:
    return run(DocumentationFinder(url), url, answers)


def test_the_first_page_of_the_named_version_is_requested_before_the_folder_and_the_site() -> None:
    requests, _ = documentation("https://docs.example/en/3.2/topics/db/model.html", {})
    assert requests == [
        "https://docs.example/en/3.2/",
        "https://docs.example/en/3.2/topics/db/",
        "https://docs.example/",
        "https://docs.example/sitemap.xml",
        "https://docs.example/llms.txt",
    ]


def test_no_list_is_requested_once_the_page_is_found() -> None:
    page = b'<a href="/en/3.2/topics/db/models.html">Models</a>'
    url = "https://docs.example/en/3.2/topics/models.html"
    requests, candidates = documentation(url, {"https://docs.example/en/3.2/": page})
    assert requests == ["https://docs.example/en/3.2/"]
    assert [each.url for each in candidates] == [
        "https://docs.example/en/3.2/", "https://docs.example/en/3.2/topics/db/models.html",
    ]  # fmt: skip


def test_the_inventory_of_a_site_that_sphinx_made_is_requested_at_its_root() -> None:
    page = b'<html data-content_root="../"><script src="../_static/documentation_options.js"></script>'
    requests, _ = documentation("https://docs.example/guide/model.html", {"https://docs.example/guide/": page})
    assert requests[:2] == ["https://docs.example/guide/", "https://docs.example/objects.inv"]


def test_the_page_that_leads_towards_the_address_is_requested_where_the_version_is_another_one() -> None:
    home = b'<a href="/en/3.2/">3.2</a><a href="/blog/">Blog</a>'
    requests, _ = documentation("https://docs.example/en/9.9/topics/model/", {"https://docs.example/": home})
    assert "https://docs.example/en/3.2/" in requests


def test_the_page_is_requested_in_a_version_that_the_site_has() -> None:
    home = b'<a href="/en/3.2/">3.2</a><a href="/en/3.2/intro/">Intro</a><a href="/en/2.0/">2.0</a>'
    requests, _ = documentation("https://docs.example/en/9.9/topics/model/", {"https://docs.example/": home})
    assert requests[3:5] == ["https://docs.example/en/3.2/topics/model/", "https://docs.example/en/2.0/topics/model/"]


@pytest.mark.parametrize(
    ("dead", "known", "found"),
    [
        ("/docs/current/sql.html", "/docs/15/", ["/docs/15/sql.html"]),
        ("/docs/howto/ssl.html", "/docs/en/index.html", ["/docs/en/howto/ssl.html"]),
        ("/docs/15/sql.html", "/docs/15/functions.html", []),
        ("/docs/15/sql.html", "/blog/2024/news", []),
    ],
)
def test_a_version_is_replaced_or_added_where_the_paths_part(dead: str, known: str, found: list[str]) -> None:
    site = "https://docs.example"
    assert other_versions(site + dead, [site + known]) == [site + each for each in found]


def test_the_page_is_looked_for_in_english_first() -> None:
    known = ["https://docs.example/da/a", "https://docs.example/da/b", "https://docs.example/en/a"]
    assert other_versions("https://docs.example/sql", known) == [
        "https://docs.example/en/sql", "https://docs.example/da/sql",
    ]  # fmt: skip


def test_of_an_index_of_sitemaps_the_one_nearest_to_the_address_is_read() -> None:
    site = "https://docs.example"
    index = b"<sitemapindex><loc>/sitemaps/blog.xml</loc><loc>/sitemaps/api/pages.xml</loc></sitemapindex>"
    pages = b"<urlset><loc>/x/api/models</loc></urlset>"
    answers = {f"{site}/sitemap.xml": index, f"{site}/sitemaps/api/pages.xml": pages}
    requests, candidates = documentation(f"{site}/api/model", answers)
    assert requests[-2:] == [f"{site}/sitemap.xml", f"{site}/sitemaps/api/pages.xml"]
    assert [each.url for each in candidates] == [f"{site}/x/api/models"]


def test_links_to_other_sites_and_to_pictures_are_no_candidates() -> None:
    page = b'<a href="https://other.example/model">x</a><a href="/model.png">x</a><a href="/models">x</a>'
    _, candidates = documentation("https://www.docs.example/a/model", {"https://www.docs.example/a/": page})
    assert [each.url for each in candidates][:2] == ["https://www.docs.example/a/", "https://www.docs.example/models"]
    assert {each.url.split("/")[2] for each in candidates} == {"www.docs.example"}


def test_the_same_place_in_another_version_is_certain() -> None:
    candidate = CandidateUrl("https://docs.example/en/3.2/topics/db/models.html", "", CandidateSource.PAGE)
    assert rank_candidates("https://docs.example/en/4.2/topics/db/models/", [candidate])[0].score >= STRONG


# Documentation


def test_the_table_of_readers_names_the_sites_of_the_setting_in_order() -> None:
    text = (ROOT / "docs" / "how-it-works" / "sites.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == SITES
