"""Test MediaWiki over HTTP with recorded answers: requests, the choice of the wiki, and parsed hits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from keyhole.cli.main import main
from keyhole.extensions.engines.mediawiki import MediaWikiEngine, build_call, wikipedia_api_url
from keyhole.records import Hit, SearchRequest
from tests.support.engine_answers import answer_bytes, run_search
from tests.support.fakes import FakeFetcher, page, search_api
from tests.support.loopback import Call, serve


def received_call(request: SearchRequest) -> Call:
    """Return the API call that another wiki received for a request."""
    return run_search("wikipedia", request, answer_bytes("wikipedia", "empty"))[1]


def test_a_query_requests_articles_and_the_site_info() -> None:
    call = received_call(SearchRequest("größe & 数据", 5))
    assert call.method == "GET"
    assert urlsplit(call.path).path == "/w/api.php"
    assert parse_qs(urlsplit(call.path).query) == {
        "action": ["query"],
        "format": ["json"],
        "formatversion": ["2"],
        "list": ["search"],
        "srsearch": ["größe & 数据"],
        "srlimit": ["10"],
        "srprop": ["snippet"],
        "meta": ["siteinfo"],
        "siprop": ["general"],
    }


def test_a_long_query_is_truncated_between_words() -> None:
    (query,) = parse_qs(urlsplit(received_call(SearchRequest("word " * 100, 20)).path).query)["srsearch"]
    assert len(query) <= 300
    assert query.endswith("word")


@pytest.mark.parametrize(
    ("language", "host"),
    [("", "en"), ("de", "de"), ("pt-BR", "pt"), ("zh-Hant-TW", "zh"), ("nb-NO", "no"), ("yue", "zh-yue"),
     ("evil.example/", "en"), ("x", "en")],
)  # fmt: skip
def test_the_language_selects_the_wikipedia(language: str, host: str) -> None:
    assert wikipedia_api_url(language) == f"https://{host}.wikipedia.org/w/api.php"


def test_articles_become_hits_with_urls_and_without_markup() -> None:
    request = SearchRequest("q", 5)
    found, _ = run_search("wikipedia", request, answer_bytes("wikipedia", "web"))
    assert found == (
        Hit(
            "http://en.wikipedia.org/wiki/Tidal_bore",  # the scheme with which the wiki was queried
            "Tidal bore",
            "A tidal bore is a tide that travels up a river & against its current",
            "wikipedia",
        ),
        Hit(
            "http://en.wikipedia.org/wiki/C%2B%2B/CLI:_what%27s_new%3F_(100_%25)",
            "C++/CLI: what's new? (100 %)",
            "uses List<T^> as a type",
            "wikipedia",
        ),
    )


def test_articles_of_another_wiki_have_its_urls() -> None:
    found, _ = run_search("wikipedia", SearchRequest("q", 5), answer_bytes("wikipedia", "own_wiki"))
    assert [(hit.url, hit.snippet) for hit in found] == [
        ("https://wiki.corp.example/index.php?title=Release_steps", "First the tag")
    ]


def test_wikipedia_is_not_queried_if_the_site_filters_exclude_it() -> None:
    api = FakeFetcher()
    engine = MediaWikiEngine(search_api(api))
    assert asyncio.run(engine.search(SearchRequest("q", 5, sites=("docs.example",)))) == ()
    assert asyncio.run(engine.search(SearchRequest("q", 5, exclude_sites=("wikipedia.org",)))) == ()
    assert api.calls == []


def test_wikipedia_is_queried_over_https_in_the_language_of_the_request() -> None:
    request = SearchRequest("q", 5, language="de")
    url = build_call("https://de.wikipedia.org/w/api.php", request).url
    body = answer_bytes("wikipedia", "web").partition(b"\r\n\r\n")[2]
    api = FakeFetcher({url: page(url, body, "application/json")})
    found = asyncio.run(MediaWikiEngine(search_api(api)).search(request))
    assert found[0].url == "https://en.wikipedia.org/wiki/Tidal_bore"


def test_the_supported_filters_depend_on_the_wiki() -> None:
    assert MediaWikiEngine(search_api()).supported_filters == {"sites", "exclude_sites", "language"}
    assert MediaWikiEngine(search_api(), "https://wiki.example/api.php").supported_filters == {
        "sites",
        "exclude_sites",
    }


def test_an_answer_without_articles_is_empty() -> None:
    assert run_search("wikipedia", SearchRequest("q", 5), answer_bytes("wikipedia", "empty"))[0] == ()


def test_the_command_line_queries_a_configured_wiki_on_a_private_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with serve(lambda _: lambda call: call.send(answer_bytes("wikipedia", "own_wiki"))) as site:
        settings = {"HOME": str(tmp_path), "ENGINES": "wikipedia", "MEDIAWIKI_URL": site.url("/api.php")}
        for name, value in settings.items():
            monkeypatch.setenv(f"KEYHOLE_{name}", value)
        assert main(["search", "release steps", "--no-fetch"]) == 0
    out = capsys.readouterr().out
    assert "[1] https://wiki.corp.example/index.php?title=Release_steps “Release steps”" in out
    assert "https://wiki.corp.example/index.php?title=Release_steps" in out
    assert "First the tag" in out
    assert [call.path.partition("?")[0] for call in site.calls] == ["/api.php"]
