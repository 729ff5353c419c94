"""Test the filtering of hits, and the list of filters that were not applied."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import Hit, SearchRequest
from keyhole.websearch.filters import HITS_PER_RESULT, active_filters, adapt_request, filter_hits, unapplied_filters

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
