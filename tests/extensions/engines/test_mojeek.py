"""Test Mojeek over HTTP with recorded answers: requests and parsed hits."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from keyhole.extensions.engines.mojeek import MojeekEngine, build_call
from keyhole.records import Hit, SearchRequest
from tests.support.engine_answers import KEY, answer_bytes, run_search
from tests.support.fakes import Clock, search_api


def request_fields(request: SearchRequest) -> dict[str, list[str]]:
    """Return the query of the API call for a request."""
    _, call = run_search("mojeek", request, answer_bytes("mojeek", "empty"))
    assert (call.method, urlsplit(call.path).path) == ("GET", "/search")
    return parse_qs(urlsplit(call.path).query)


def test_a_plain_query_sends_the_key_in_the_url() -> None:
    assert request_fields(SearchRequest("größe & 数据 +1", 5)) == {
        "q": ["größe & 数据 +1"],
        "fmt": ["json"],
        "t": ["10"],
        "api_key": [KEY],
    }


def test_every_supported_filter_is_sent_to_mojeek() -> None:
    fields = request_fields(SearchRequest("q", 20, ("a.example",), ("b.example",), "week", "de-AT", "at"))
    assert (fields["q"], fields["t"], fields["site"]) == (["q"], ["20"], ["a.example"])
    assert fields["since"] == ["20231107"]
    assert (fields["lb"], fields["lbb"], fields["rb"], fields["rbb"]) == (["DE"], ["50"], ["AT"], ["10"])


def test_several_sites_are_filtered_afterwards() -> None:
    assert "site" not in request_fields(SearchRequest("q", 5, ("a.example", "b.example")))
    assert not MojeekEngine(KEY, search_api(), clock=Clock()).supported_filters & {
        "sites",
        "exclude_sites",
        "language",
    }


def test_without_a_clock_freshness_is_not_supported() -> None:
    assert "since" not in build_call("https://mojeek.example", KEY, SearchRequest("q", 5, freshness="day"), None).url
    assert "freshness" not in MojeekEngine(KEY, search_api()).supported_filters


def test_results_become_hits_without_markup() -> None:
    found, _ = run_search("mojeek", SearchRequest("q", 5), answer_bytes("mojeek", "web"))
    assert found == (
        Hit(
            "https://bogs.example/peat",
            "How peat grows",
            "A peat bog gains about 1 mm a year & holds carbon.",
            "mojeek",
        ),
        Hit("https://moor.example/", "The moor", "Paths and birds.", "mojeek"),
    )


def test_an_answer_without_results_is_empty() -> None:
    assert run_search("mojeek", SearchRequest("q", 5), answer_bytes("mojeek", "empty"))[0] == ()
