"""Test SearXNG: requests, parsed answers, and a real answer over loopback."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.engines.searxng import SearxngEngine, build_searxng, build_url, parse
from keyhole.fetch.base import ApiReply
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.urls import parse_target
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.hits import NotedHits
from tests.support.fakes import Clock, FakeFetcher, page, search_api
from tests.support.loopback import response, serve, unused_port

ROW = {"url": "https://a.example/", "title": "A", "content": "about a", "engine": "x", "score": 1.5}
HIT = Hit("https://a.example/", "A", "about a", "searxng")


def answer(*rows: Any, **more: Any) -> bytes:
    return json.dumps({"query": "q", "results": rows, **more}).encode()


def failure(body: bytes) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        parse(ApiReply(200, body))
    return caught.value


def fields(request: SearchRequest) -> dict[str, list[str]]:
    return parse_qs(urlsplit(build_url("http://searx.example", request)).query)


@pytest.mark.parametrize(
    ("base", "start"),
    [
        ("http://searx.example", "http://searx.example/search?"),
        ("http://searx.example/", "http://searx.example/search?"),
        ("https://example.org/searxng/", "https://example.org/searxng/search?"),
        ("http://[::1]:8080", "http://[::1]:8080/search?"),
    ],
)
def test_the_search_url_is_below_the_base_url(base: str, start: str) -> None:
    assert build_url(base, SearchRequest("q", 5)).startswith(start)


def test_a_plain_query_requests_json_without_filters() -> None:
    assert fields(SearchRequest("größe & 数据 +1", 5)) == {
        "q": ["größe & 数据 +1"],
        "format": ["json"],
        "safesearch": ["0"],
    }


def test_filters_are_sent_to_searxng() -> None:
    request = SearchRequest("q", 5, ("a.example",), ("b.example",), freshness="week", language="de-AT")
    sent = fields(request)
    assert sent["q"] == ["q site:a.example -site:b.example"]
    assert sent["time_range"] == ["week"]
    assert sent["language"] == ["de-AT"]


@pytest.mark.parametrize(
    ("language", "country", "expected"),
    [
        ("de", "", "de"),
        ("de", "at", "de-AT"),
        ("DE-at", "", "de-AT"),
        ("pt-BR", "pt", "pt-PT"),
        ("zh-Hant-TW", "", "zh-TW"),
        ("zh-Hant", "", "zh"),
    ],
)
def test_language_and_country_form_one_locale(language: str, country: str, expected: str) -> None:
    assert fields(SearchRequest("q", 5, language=language, country=country))["language"] == [expected]


def test_a_country_without_a_language_is_not_sent() -> None:
    assert "language" not in fields(SearchRequest("q", 5, country="at"))
    assert "country" not in SearxngEngine.supported_filters


def test_news_are_requested_as_a_category() -> None:
    assert fields(SearchRequest("q", 5, kind="news"))["categories"] == ["news"]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ({"publishedDate": "2026-11-20T08:30:00"}, "2026-11-20T08:30:00"),
        ({"publishedDate": None, "pubdate": None}, ""),
        (
            {"publishedDate": "2 hour(s), 3 minute(s) ago", "pubdate": "2026-11-20 08:30:00+0000"},
            "2026-11-20T08:30:00+00:00",
        ),
    ],
)
def test_dates_of_old_and_new_versions_are_read(dates: dict[str, Any], expected: str) -> None:
    (hit,) = parse(ApiReply(200, answer({**ROW, **dates})))
    assert hit.date == expected


def test_results_become_hits_in_their_order() -> None:
    second = {"url": "https://b.example/", "title": None}
    assert parse(ApiReply(200, answer(ROW, second))) == (HIT, Hit("https://b.example/", "", "", "searxng"))


@pytest.mark.parametrize("row", [{"title": "no url"}, {"url": None, "title": "x"}, {"url": "", "title": "x"}])
def test_a_result_without_a_url_is_left_out(row: dict[str, Any]) -> None:
    assert parse(ApiReply(200, answer(row, ROW))) == (HIT,)


def test_an_empty_answer_of_a_healthy_instance_gives_no_hits() -> None:
    assert parse(ApiReply(200, answer())) == ()
    assert parse(ApiReply(200, answer(unresponsive_engines=[]))) == ()
    assert parse(ApiReply(200, answer(unresponsive_engines=None))) == ()


def test_an_empty_answer_with_failed_engines_is_an_error_that_counts_them() -> None:
    error = failure(answer(unresponsive_engines=[["google", "CAPTCHA"], ["brave", "timeout"]]))
    assert error.code is Code.ENGINE_UNAVAILABLE
    assert error.message == "SearXNG found nothing, and 2 of its engines failed"


def test_results_are_returned_with_a_note_on_failed_engines() -> None:
    found = parse(
        ApiReply(200, answer(ROW, unresponsive_engines=[["google", "CAPTCHA"], ["bing", "timeout"], ["google", "x"]]))
    )
    assert found == (HIT,)
    assert isinstance(found, NotedHits)
    assert found.note == "without 2 of its engines"


@pytest.mark.parametrize("odd", [5, True, "google", {"google": 1}, [[]], [None], [["google"]], [1.5]])
def test_a_malformed_list_of_failed_engines_is_still_an_error(odd: Any) -> None:
    assert failure(answer(unresponsive_engines=odd)).code is Code.ENGINE_UNAVAILABLE
    assert parse(ApiReply(200, answer(ROW, unresponsive_engines=odd))) == (HIT,)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>403 Forbidden</html>",
        b"null",
        b"[]",
        b'"results"',
        b"{}",
        b'{"results": null}',
        b'{"results": 5}',
        b'{"results": ["x"]}',
        b'{"results": [{"url": "https://a.example/"}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"results": [{"url": ' + b"9" * 5_000 + b"}]}",
    ],
)
def test_an_answer_in_another_format_is_an_unavailable_engine(body: bytes) -> None:
    assert failure(body).code is Code.ENGINE_UNAVAILABLE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["results", "url", "title", "content", "unresponsive_engines"]), inner)
    ),
    max_leaves=8,
)


@given(JSON | st.fixed_dictionaries({"results": JSON, "unresponsive_engines": JSON}))
def test_any_json_gives_hits_or_an_unavailable_engine(value: Any) -> None:
    try:
        found = parse(ApiReply(200, json.dumps(value).encode()))
    except KeyholeError as error:
        assert error.code is Code.ENGINE_UNAVAILABLE
    else:
        assert all(isinstance(field, str) for hit in found for field in (hit.url, hit.title, hit.snippet))


def test_the_engine_sends_one_request() -> None:
    request = SearchRequest("q", 5)
    url = build_url("http://searx.example", request)
    fetcher = FakeFetcher({url: page(url, answer(ROW), "application/json")})
    engine = SearxngEngine("http://searx.example", search_api(fetcher))
    assert asyncio.run(engine.search(request)) == (HIT,)
    assert fetcher.calls == [url]
    assert engine.name == "searxng"


def test_network_errors_are_raised() -> None:
    engine = SearxngEngine("http://searx.example", search_api())
    with pytest.raises(KeyholeError) as caught:
        asyncio.run(engine.search(SearchRequest("q", 5)))
    assert caught.value.code is Code.DNS_FAILURE


def search_over_loopback(data: bytes) -> tuple[tuple[Hit, ...], list[str]]:
    """Return the hits of a real request to an instance that answers with `data`, and the paths requested from it."""

    async def run(base: str) -> tuple[Hit, ...]:
        async with HttpFetcher(Config(), "Keyhole-Test/1.0", apis=frozenset({parse_target(base).endpoint})) as fetcher:
            return await SearxngEngine(base, search_api(fetcher)).search(SearchRequest("größe now", 5))

    with serve(lambda _: lambda call: call.send(data)) as site:
        found = asyncio.run(run(site.url("/searx/")))
        return found, [call.path for call in site.calls]


def test_an_instance_on_loopback_is_queried_over_http() -> None:
    found, paths = search_over_loopback(response(answer(ROW), Content_Type="application/json"))
    assert found == (HIT,)
    assert paths == ["/searx/search?q=gr%C3%B6%C3%9Fe+now&format=json&safesearch=0"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (response(b"Forbidden", "403 Forbidden"), Code.ENGINE_UNAVAILABLE),
        (response(status="429 Too Many Requests", Retry_After="5"), Code.RATE_LIMITED),
        (response(b"<html>", Content_Type="text/html"), Code.ENGINE_UNAVAILABLE),
        (b"", Code.PROTOCOL_ERROR),
    ],
)
def test_a_wrong_answer_of_an_instance_has_its_error_code(data: bytes, code: Code) -> None:
    with pytest.raises(KeyholeError) as caught:
        search_over_loopback(data)
    assert caught.value.code is code


def test_the_next_instance_replaces_one_that_is_down() -> None:
    async def run(urls: list[str]) -> tuple[tuple[Hit, ...], str]:
        apis = frozenset(parse_target(url).endpoint for url in urls)
        async with HttpFetcher(Config(), "Keyhole-Test/1.0", apis=apis) as fetcher:
            found = await build_searxng(urls, search_api(fetcher), 10.0).search(SearchRequest("q", 5))
            return found, getattr(found, "note", "")

    found_it = response(answer(ROW), Content_Type="application/json")
    with (
        serve(lambda _: lambda call: call.send(response(b"no", "500 Oops"))) as broken,
        serve(lambda _: lambda call: call.send(found_it)) as site,
    ):
        down = f"http://127.0.0.1:{unused_port()}/searx/"
        found, note = asyncio.run(run([down, broken.url(), site.url()]))
    assert found == (HIT,)
    assert note.startswith(
        f"{down.removeprefix('http://').rstrip('/')} down (connect failure), {broken.endpoint} down ("
    )


def test_a_single_instance_needs_no_failover() -> None:
    assert isinstance(build_searxng(["http://searx.example"], search_api(), 10.0), SearxngEngine)


def test_an_instance_that_forbids_json_gives_a_hint() -> None:
    with pytest.raises(KeyholeError, match="is its JSON format enabled"):
        search_over_loopback(response(b"<title>403 Forbidden</title>", "403 Forbidden", Content_Type="text/html"))


def test_an_empty_answer_soon_after_a_failure_is_an_error() -> None:
    failed, well, empty = answer(unresponsive_engines=[["google", "blocked"]]), answer(ROW), answer()
    clock = Clock(1_000.0)

    def outcomes(*bodies: bytes) -> list[str]:
        url = build_url("http://searx.example", SearchRequest("q", 5))
        fetcher = FakeFetcher()
        engine = SearxngEngine("http://searx.example", search_api(fetcher), clock)
        results = []
        for body in bodies:
            fetcher.answers[url] = page(url, body, "application/json")
            try:
                results.append(f"{len(asyncio.run(engine.search(SearchRequest('q', 5))))} hits")
            except KeyholeError as error:
                results.append(str(error.code))
            clock.advance(60.0)
        return results

    assert outcomes(empty, failed, empty, empty) == ["0 hits", "engine_unavailable", "engine_unavailable", "0 hits"]
    assert outcomes(failed, well, empty) == ["engine_unavailable", "1 hits", "0 hits"]


@pytest.mark.parametrize("query", ["数据库" * 600, "😀" * 2_000, "a\ud800b"])
def test_any_query_gives_a_url_of_acceptable_length(query: str) -> None:
    request = SearchRequest(query, 5, tuple(f"a-rather-long-name-{number}.example" for number in range(20)))
    assert parse_target(build_url("http://searx.example", request)).path
