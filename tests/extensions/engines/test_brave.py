"""Test Brave over HTTP with recorded answers: requests and parsed hits."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from keyhole.extensions.engines.brave import map_language
from keyhole.records import Hit, SearchRequest
from tests.support.engine_answers import KEY, answer_bytes, run_search


def request_fields(request: SearchRequest) -> tuple[str, dict[str, list[str]]]:
    """Return the path and query of the API call for a request."""
    _, call = run_search("brave", request, answer_bytes("brave", "news" if request.kind == "news" else "empty"))
    parts = urlsplit(call.path)
    return parts.path, parse_qs(parts.query)


def test_a_plain_query_requests_worldwide_web_results_with_the_key_as_a_header() -> None:
    _, call = run_search("brave", SearchRequest("größe & 数据 +1", 5), answer_bytes("brave", "web"))
    assert call.method == "GET"
    assert call.body == b""
    assert call.headers["x-subscription-token"] == KEY
    assert call.headers["accept"] == "application/json"
    assert call.headers["user-agent"] == "Keyhole-Test/1.0"
    assert urlsplit(call.path).path == "/web/search"
    assert parse_qs(urlsplit(call.path).query) == {
        "q": ["größe & 数据 +1"],
        "count": ["10"],
        "country": ["ALL"],
        "safesearch": ["off"],
        "text_decorations": ["false"],
        "result_filter": ["web"],
    }


def test_every_filter_is_sent_to_brave() -> None:
    path, fields = request_fields(
        SearchRequest("q", 15, ("a.example", "b.example"), ("c.example",), "week", "de-AT", "at", "news")
    )
    assert path == "/news/search"
    assert fields["q"] == ["q (site:a.example OR site:b.example) -site:c.example"]
    assert (fields["freshness"], fields["search_lang"], fields["country"]) == (["pw"], ["de"], ["AT"])
    assert fields["count"] == ["30"]
    assert "result_filter" not in fields


def test_the_result_count_is_limited_to_what_brave_returns() -> None:
    assert request_fields(SearchRequest("q", 20))[1]["count"] == ["20"]


def test_values_that_brave_would_refuse_are_not_sent() -> None:
    _, fields = request_fields(SearchRequest("word " * 100, 5, language="sw", country="ke"))
    assert "search_lang" not in fields
    assert fields["country"] == ["ALL"]
    assert len(fields["q"][0].split()) == 50
    assert fields["q"][0].endswith("word lang:sw loc:ke")


@pytest.mark.parametrize(
    ("tag", "name"),
    [("ja", "jp"), ("pt", "pt-br"), ("pt-PT", "pt-pt"), ("zh", "zh-hans"), ("zh-Hant-TW", "zh-hant"),
     ("zh-TW", "zh-hant"), ("en-US", "en"), ("en-GB", "en-gb"), ("nb-NO", "nb"), ("no", "nb"), ("tlh", ""), ("", "")],
)  # fmt: skip
def test_languages_are_mapped_to_the_codes_of_brave(tag: str, name: str) -> None:
    assert map_language(tag) == name


def test_web_results_become_hits_with_dates_and_without_markup() -> None:
    found, _ = run_search("brave", SearchRequest("q", 5), answer_bytes("brave", "web"))
    assert found == (
        Hit(
            "https://pumps.example/defrost",
            "Why a heat pump defrosts & how often",
            "A defrost cycle reverses the refrigerant for 5 to 10 minutes; "
            "it's started when the coil falls below 0 °C.",
            "brave",
            "2024-02-11T09:30:00",
        ),
        Hit(
            "https://code.example/controller?file=coil.java&line=7",
            "List<Coil> in the controller's source",
            "for (Coil coil : List<Coil>) if (coil.temperature < 0 && coil.wet) start();",
            "brave",
        ),
    )


def test_news_become_hits_with_dates_except_relative_ones() -> None:
    found, _ = run_search("brave", SearchRequest("q", 5, kind="news"), answer_bytes("brave", "news"))
    assert [(hit.title, hit.date) for hit in found] == [
        ("Subsidy for heat pumps extended", "2024-05-06"),
        ("Installers warn of a queue", ""),
    ]


def test_an_answer_without_web_results_is_empty() -> None:
    assert run_search("brave", SearchRequest("q", 5), answer_bytes("brave", "empty"))[0] == ()
