"""Test engines of the engines file: the requests that a real server receives, and parsed hits."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.engines.custom import CustomEngine, build_call, parse
from keyhole.extensions.engines.engines_file import EngineSpec, parse_engines_file
from keyhole.fetch.base import ApiReply
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.urls import parse_target
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.hits import MAX_ROWS
from tests.support.fakes import search_api
from tests.support.loopback import Call, Site, response, serve

KEY = "s3cret-key-of-the-team"
ENVIRONMENT = {"TEAM_KEY": KEY}
BY_GET = """
[[engine]]
name = "wiki"
url = "http://127.0.0.1:PORT/find/{query}?q={query}&n={count}&lang={language}-{country}&age={freshness}&fixed=1"
headers = { X-Key = "${TEAM_KEY}" }
results = "data.items[?!hidden]"
link = "links.web"
title = "name"
snippet = "highlights[].text"
date = "changed"
timeout = 5
freshness = { week = "7d" }
"""
BY_POST = """
[[engine]]
name = "index"
url = "http://127.0.0.1:PORT/_search?key=${TEAM_KEY}"
body = '''{"size": "{count}", "query": {"match": "all of {query}", "lang": "{language}"},
           "sort": ["{freshness}", "score"]}'''
results = "hits"
link = "url"
title = "title"
"""


def spec(text: str = BY_GET, port: int = 80) -> EngineSpec:
    (found,) = parse_engines_file(text.replace("PORT", str(port)), ENVIRONMENT)
    return found


def search(text: str, answer: bytes, request: SearchRequest) -> tuple[tuple[Hit, ...], Call]:
    """Return the hits of a real request to a server that sends `answer`, and the call that the server received."""

    async def run(site: Site) -> tuple[Hit, ...]:
        described = spec(text, site.port)
        async with HttpFetcher(Config(), "Keyhole-Test/1.0", apis=frozenset({described.endpoint})) as fetcher:
            return await CustomEngine(described, search_api(fetcher)).search(request)

    with serve(lambda _: lambda call: call.send(answer)) as site:
        found = asyncio.run(run(site))
        return found, site.calls[0]


def ok(value: Any) -> bytes:
    return response(json.dumps(value).encode(), Content_Type="application/json")


ITEMS = {
    "data": {
        "items": [
            {"links": {"web": "/pages/7"}, "name": "Pumps", "changed": 1_700_000_000_000,
             "highlights": [{"text": "a <em>pump</em> &amp; a hose"}, {"text": "two pumps"}]},
            {"links": {"web": "https://b.example/x"}, "name": None, "changed": "yesterday"},
            {"links": {"web": "https://c.example/"}, "hidden": True},
            {"links": {}},
            {"links": {"web": 5}},
            "no row",
        ]
    }
}  # fmt: skip


def test_a_get_follows_the_template_and_its_answer_is_read_by_the_paths() -> None:
    request = SearchRequest("größe & {count} 100%", 8, freshness="week", language="de", country="at")
    found, call = search(BY_GET, ok(ITEMS), request)
    assert call.method == "GET"
    encoded = "gr%C3%B6%C3%9Fe%20%26%20%7Bcount%7D%20100%25"
    assert call.path == f"/find/{encoded}?q={encoded}&n=16&lang=de-at&age=7d&fixed=1"
    assert call.headers["x-key"] == KEY
    (first, second) = found
    assert first.url.endswith("/pages/7")
    assert (first.title, first.snippet, first.engine) == ("Pumps", "a pump & a hose … two pumps", "wiki")
    assert first.date == "2023-11-14T22:13:20+00:00"
    assert second == Hit("https://b.example/x", "", "", "wiki")


def test_parameters_of_unset_filters_are_left_out() -> None:
    _, call = search(BY_GET, ok({"data": {"items": []}}), SearchRequest("q", 1))
    assert call.path == "/find/q?q=q&n=10&fixed=1"


def test_a_post_contains_the_values_as_json() -> None:
    question = 'say "hi"\n{language} \\ größe'
    _, call = search(BY_POST, ok({"hits": []}), SearchRequest(question, 20, freshness="day", language="en"))
    assert call.method == "POST"
    assert call.path == f"/_search?key={KEY}"
    assert json.loads(call.body) == {
        "size": 40,
        "query": {"match": f"all of {question}", "lang": "en"},
        "sort": ["day", "score"],
    }


def test_json_members_of_unset_filters_are_left_out() -> None:
    body = build_call(spec(BY_POST), SearchRequest("q", 5)).body
    assert json.loads(body or b"") == {"size": 10, "query": {"match": "all of q"}, "sort": ["score"]}


@given(st.text(min_size=1, max_size=40), st.text(max_size=5), st.sampled_from([BY_GET, BY_POST]))
def test_any_query_gives_a_request_of_the_described_form(query: str, language: str, text: str) -> None:
    call = build_call(spec(text), SearchRequest(query, 5, language=language))
    target = parse_target(call.url)
    assert target.endpoint == "127.0.0.1:80"
    assert call.url.count("?") == 1
    if call.body is None:
        assert parse_qs(urlsplit(call.url).query, keep_blank_values=True)["q"] == [query]
    else:
        assert json.loads(call.body)["query"]["match"] == f"all of {query}"


def test_characters_that_utf_8_cannot_encode_are_replaced() -> None:
    assert "q=%3F" in build_call(spec(), SearchRequest("\ud800", 5)).url
    assert json.loads(build_call(spec(BY_POST), SearchRequest("\ud800", 5)).body or b"")["query"]["match"] == "all of ?"


def test_an_engine_applies_the_filters_it_has_placeholders_for() -> None:
    async def applied() -> list[frozenset[str]]:
        async with HttpFetcher(Config(), "Keyhole-Test/1.0") as api:
            return [CustomEngine(spec(text), search_api(api)).supported_filters for text in (BY_GET, BY_POST)]

    assert asyncio.run(applied()) == [{"language", "country", "freshness"}, {"language", "freshness"}]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (response(b'{"error": "no"}', "401 Unauthorized", Content_Type="application/json"), Code.KEY_REFUSED),
        (response(b"{}", "429 Too Many Requests", Content_Type="application/json"), Code.RATE_LIMITED),
        (response(b"oops", "500 Internal Server Error"), Code.ENGINE_UNAVAILABLE),
        (response(b"", "302 Found", Location="http://127.0.0.1:1/"), Code.ENGINE_UNAVAILABLE),
        (response(b"<html>Log in", Content_Type="text/html"), Code.ENGINE_UNAVAILABLE),
        (ok({"items": []}), Code.ENGINE_UNAVAILABLE),
        (ok({"data": {"items": {"a": 1}}}), Code.ENGINE_UNAVAILABLE),
        (ok({"data": {"items": [{"href": "https://a.example/"}]}}), Code.ENGINE_UNAVAILABLE),
        (b"", Code.PROTOCOL_ERROR),
    ],
)
def test_an_unexpected_answer_has_its_error_code(answer: bytes, code: Code) -> None:
    with pytest.raises(KeyholeError) as caught:
        search(BY_GET, answer, SearchRequest("q", 5))
    assert caught.value.code is code


def test_an_engine_that_does_not_answer_times_out_after_its_own_timeout() -> None:
    async def run(site: Site) -> None:
        described = spec(BY_GET.replace("timeout = 5", "timeout = 0.1"), site.port)
        async with HttpFetcher(Config(), "Keyhole-Test/1.0", apis=frozenset({described.endpoint})) as fetcher:
            await CustomEngine(described, search_api(fetcher)).search(SearchRequest("q", 5))

    with serve(lambda site: site.hold) as site, pytest.raises(KeyholeError) as caught:
        asyncio.run(run(site))
    assert caught.value.code is Code.TIMEOUT


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "401 Unauthorized", "429 Too Many Requests", "500 X"])
@pytest.mark.parametrize("text", [BY_GET, BY_POST])
def test_results_errors_and_logs_do_not_contain_the_key(
    text: str, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def echo(call: Call) -> None:
        repeated = f"{call.path} {call.headers}"
        row = {
            "url": f"https://a.example/{repeated.split()[0]}",
            "links": {"web": "https://a.example/"},
            "title": repeated,
            "name": repeated,
        }
        body = {"message": repeated, "data": {"items": [row]}, "hits": [row]}
        call.send(response(json.dumps(body).encode(), status, Content_Type="application/json"))

    async def run(site: Site) -> str:
        described = spec(text, site.port)
        async with HttpFetcher(Config(), "Keyhole-Test/1.0", apis=frozenset({described.endpoint})) as fetcher:
            engine = CustomEngine(described, search_api(fetcher))
            try:
                return repr((await engine.search(SearchRequest("q", 5)), described, engine))
            except KeyholeError as error:
                return repr((error, error.facts, error.__cause__, described, engine))

    with serve(lambda _: echo) as site:
        shown = asyncio.run(run(site))
    assert KEY not in shown
    assert KEY not in caplog.text


def parsed(value: object) -> tuple[Hit, ...]:
    described = spec()
    paths = [path.expression if path else "" for path in described.paths]
    return parse(ApiReply(200, json.dumps(value).encode()), described.name, described.base, paths, has_key=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "items", "links", "web", "name", "highlights", "text"]), inner)
    ),
    max_leaves=8,
)


@given(JSON | st.fixed_dictionaries({"data": st.fixed_dictionaries({"items": st.lists(JSON)})}))
def test_any_json_gives_hits_or_an_unavailable_engine(value: Any) -> None:
    try:
        found = parsed(value)
    except KeyholeError as error:
        assert error.code is Code.ENGINE_UNAVAILABLE
    else:
        assert all(isinstance(field, str) for hit in found for field in (hit.url, hit.title, hit.snippet, hit.date))


def test_the_number_of_rows_is_limited() -> None:
    rows = [{"links": {"web": f"https://a.example/{n}"}} for n in range(1_000)]
    assert len(parsed({"data": {"items": rows}})) == MAX_ROWS


def test_a_long_query_gives_a_valid_url() -> None:
    call = build_call(spec(), SearchRequest("数据库" * 600, 5))
    assert parse_target(call.url).path
