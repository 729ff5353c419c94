"""Test the filtering of hits, and the list of filters that were not applied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import EngineReport, Hit, SearchRequest
from keyhole.text.measure import serialized_size
from keyhole.websearch.filters import (
    HITS_PER_RESULT,
    MAX_TERM,
    MAX_TERMS,
    active_filters,
    adapt_request,
    describe_no_results,
    filter_hits,
    find_narrow_terms,
    unapplied_filters,
)

NOW = 1_700_000_000.0  # 2023-11-14 in the evening
ALL = frozenset({"sites", "exclude_sites", "freshness", "language", "country", "news"})
NONE = frozenset[str]()


def hit(name: str, date: str = "") -> Hit:
    return Hit(f"https://{name}.example/", name, "", "fake", date)


def names(hits: tuple[Hit, ...]) -> list[str]:
    return [found.title for found in hits]


def test_sites_are_filtered_whatever_the_engine_supports() -> None:
    request = SearchRequest("q", 5, sites=("a.example",), exclude_sites=("x.a.example",))
    hits = [hit("a"), hit("b"), hit("x.a"), hit("docs.a")]
    for supported_filters in (NONE, ALL):
        assert names(filter_hits(hits, request, supported_filters, NOW)) == ["a", "docs.a"]
        assert unapplied_filters(hits, request, supported_filters) == ()


def test_old_hits_are_dropped_if_the_engine_does_not_filter_by_age() -> None:
    request = SearchRequest("q", 5, freshness="week")
    hits = [hit("new", "2023-11-13"), hit("border", "2023-11-07"), hit("old", "2023-11-06"), hit("undated")]
    assert names(filter_hits(hits, request, NONE, NOW)) == ["new", "border", "undated"]
    assert names(filter_hits(hits, request, ALL, NOW)) == ["new", "border", "old", "undated"]


def test_freshness_counts_as_applied_only_if_every_hit_has_a_date() -> None:
    request = SearchRequest("q", 5, freshness="day")
    assert unapplied_filters([hit("a", "2023-11-14")], request, NONE) == ()
    assert unapplied_filters([hit("a", "2023-11-14"), hit("b")], request, NONE) == ("freshness",)
    assert unapplied_filters([hit("b")], request, ALL) == ()


def test_unapplied_filters_are_listed_in_order_and_only_with_hits() -> None:
    request = SearchRequest("q", 5, freshness="year", language="de", country="at", kind="news")
    assert active_filters(request) == ("freshness", "language", "country", "news")
    assert unapplied_filters([hit("a")], request, NONE) == ("freshness", "language", "country", "news")
    assert unapplied_filters([], request, NONE) == ()


def test_a_locale_applies_a_country_only_with_a_language() -> None:
    locale = frozenset({"language", "locale"})
    assert unapplied_filters([hit("a")], SearchRequest("q", 5, country="at"), locale) == ("country",)
    assert unapplied_filters([hit("a")], SearchRequest("q", 5, country="at", language="de"), locale) == ()


def test_an_engine_without_news_is_queried_for_web_pages() -> None:
    request = SearchRequest("q", 5, kind="news")
    assert adapt_request(request, NONE).kind == "web"
    assert adapt_request(request, ALL) is request


def test_one_engine_gives_a_limited_number_of_hits_for_each_result() -> None:
    hits = [hit(f"n{n}") for n in range(50)]
    for kind in ("web", "news"):
        assert filter_hits(hits, SearchRequest("q", 3, kind=kind), ALL, NOW) == tuple(hits[: 3 * HITS_PER_RESULT])


def test_dropped_hits_leave_space_for_others() -> None:
    hits = [*(hit(f"n{n}") for n in range(50)), hit("a")]
    assert names(filter_hits(hits, SearchRequest("q", 1, sites=("a.example",)), ALL, NOW)) == ["a"]


@given(
    st.lists(st.builds(hit, st.sampled_from("abc"), st.sampled_from(["", "2023-11-14", "2001", "x"])), max_size=30),
    st.builds(SearchRequest, st.just("q"), st.integers(1, 20), st.just(()), st.sampled_from([(), ("a.example",)]),
              st.sampled_from(["", "day", "week", "month", "year"])),
    st.frozensets(st.sampled_from(sorted(ALL))),
)  # fmt: skip
def test_filtered_hits_are_a_subsequence_of_the_hits(
    hits: list[Hit], request: SearchRequest, supported_filters: frozenset[str]
) -> None:
    passed = filter_hits(hits, request, supported_filters, NOW)
    rest = iter(hits)
    assert all(any(found == other for other in rest) for found in passed)
    assert filter_hits(passed, request, supported_filters, NOW) == passed
    assert (
        set(unapplied_filters(passed, request, supported_filters)) <= set(active_filters(request)) - supported_filters
    )


# A search without results


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("how do pumps work", ()),
        ('the "exact phrase" of it', ('"exact phrase"',)),
        ("das „genaue Wort“ und «le mot» 「言葉」", ("„genaue Wort“", "«le mot»", "「言葉」")),
        ("pumps site:a.example filetype:pdf -diesel", ("site:a.example", "filetype:pdf", "-diesel")),
        ("pumps AND valves", ("AND",)),
        ("error 0x80070005 in kernel32.dll, 4711 times", ("0x80070005", "kernel32.dll", "4711")),
        ("asyncio.TaskGroup __aexit__ run_until()", ("asyncio.TaskGroup", "__aexit__", "run_until()")),
        ("myCamelCase GPT4 x-ray 1,5", ("myCamelCase", "GPT4", "x-ray", "1,5")),
        ("Donaudampfschifffahrt im Winter", ("Donaudampfschifffahrt",)),
        ("如何在数据库中避免事务回卷故障发生的问题", ()),
        ("time: 5-10 min", ("5-10",)),
        ("", ()),
    ],
)  # fmt: skip
def test_rare_looking_words_are_listed(query: str, named: tuple[str, ...]) -> None:
    assert find_narrow_terms(SearchRequest(query, 5)) == named


def test_phrases_come_first_then_operators_then_filters_then_words() -> None:
    request = SearchRequest('"a b" site:x.example abc_def', 5, ("y.example",), freshness="day", language="de")
    assert find_narrow_terms(request) == ('"a b"', "site:x.example", "sites=y.example", "freshness=day")


def test_every_filter_is_listed_as_its_argument() -> None:
    request = SearchRequest("q", 5, (), ("x.example", "y.example"), language="de-AT", country="at", kind="news")
    assert find_narrow_terms(request) == (
        "exclude_sites=x.example, y.example",
        "language=de-AT",
        "country=at",
        "kind=news",
    )


def test_the_message_names_failed_engines_and_narrow_terms() -> None:
    well, brave = EngineReport("exa"), EngineReport("brave", "quota")
    plain = SearchRequest("pumps", 5)
    assert describe_no_results(plain, [well]) == "the engines answered and found nothing"
    assert describe_no_results(plain, [well], has_disallowed=True) == (
        "the engines answered and found nothing on the sites that may be fetched"
    )
    assert describe_no_results(SearchRequest("pump_7", 5, freshness="day"), [well, brave]) == (
        "1 of 2 engines found nothing; perhaps too narrow: freshness=day, pump_7 (brave: quota)"
    )


@given(st.text(max_size=300), st.lists(st.text(max_size=99), max_size=5))
def test_any_query_gives_a_few_short_terms(query: str, sites: list[str]) -> None:
    named = find_narrow_terms(SearchRequest(query, 5, tuple(sites)))
    assert len(named) <= MAX_TERMS
    assert all(serialized_size(name) <= MAX_TERM for name in named)


def test_a_very_long_query_takes_linear_time() -> None:
    for piece in ('"', "a:b ", "-", "x.", '"a" ', "„", "1-"):
        assert len(find_narrow_terms(SearchRequest(piece * 100_000, 5))) <= MAX_TERMS
