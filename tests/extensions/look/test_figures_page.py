"""Tests of the page of figures."""

from __future__ import annotations

from dataclasses import replace

from keyhole.extensions.look.figures_pages import figures_view, since_of
from keyhole.store.base import StoreStats
from keyhole.store.calls.base import Figures, Hour
from tests.support.look import NOW, empty_look, page_client, words_of

STATS = StoreStats("memory", 4, 2, 5_000, 1_000_000, 4_000_000, 0, 1, NOW - 86_400, NOW, 1, (1, 1, 3))
FIGURES = Figures(
    since=0,
    calls=12,
    asked=8,
    sufficed=6,
    hours=(Hour(NOW // 3_600 * 3_600, 12, 1, 3, 90_000, 9_000, 2_500, 45_000),),
    outcomes=(("ok", 11), ("timeout", 1)),
    stages=(("rank", 0.5, 10), ("fetch", 4.0, 8)),
    sources=(("docs.example", 80_000, 6), ("a.example", 10_000, 1)),
    tools=(("web_fetch", 10), ("search", 2)),
    clients=(("claude-code 2.1", 11), ("", 1)),
    misses=(("", 9), ("read_on", 2), ("error", 1)),
)


def test_the_totals_name_what_is_counted_and_what_is_estimated() -> None:
    totals = {figure.name: figure for figure in figures_view(FIGURES, STATS, 2_000, 7, NOW).totals}
    assert totals["Answered by the first call"].value == "75 %"
    assert totals["Characters shown"].note == "10 % of those read"
    assert {name for name, figure in totals.items() if figure.basis == "estimated"} == {"Tokens returned"}


def test_errors_leave_out_the_calls_that_did_not_fail() -> None:
    charts = {chart.title: chart for chart in figures_view(FIGURES, STATS, 2_000, 7, NOW).bars}
    assert [(row.label, row.value) for row in charts["Errors by code"].rows] == [("timeout", 1)]


def test_misses_are_counted_by_kind_without_the_calls_that_sufficed() -> None:
    charts = {chart.title: chart for chart in figures_view(FIGURES, STATS, 2_000, 7, NOW).bars}
    kinds = [(row.label, row.value, row.share) for row in charts["Misses by kind"].rows]
    assert kinds == [("read on right after", 2, 100), ("failed", 1, 50)]


def test_stages_are_ordered_by_their_time() -> None:
    charts = {chart.title: chart for chart in figures_view(FIGURES, STATS, 2_000, 7, NOW).bars}
    stages = [(row.label, row.share, row.note) for row in charts["Time by stage"].rows]
    assert stages == [("fetch", 100, "500 ms a call, 8 calls"), ("rank", 12.5, "50 ms a call, 10 calls")]


def test_the_texts_that_expire_soon_are_counted() -> None:
    rows = figures_view(FIGURES, STATS, 2_000, 7, NOW).expiring.rows
    assert [(row.label, row.value, row.note) for row in rows] == [
        ("within 1 day", 1, "25 % of the texts"),
        ("within 7 days", 1, "25 % of the texts"),
        ("within 30 days", 3, "75 % of the texts"),
    ]


def test_the_first_column_begins_where_the_figures_begin() -> None:
    for days, seconds in ((1, 3_600), (7, 21_600), (30, 86_400)):
        since = since_of(days, NOW)
        assert since % seconds == 0
        assert 0 <= since - (NOW - days * 86_400) <= seconds


def test_the_page_of_an_empty_log_says_that_there_is_nothing() -> None:
    text = words_of(page_client(empty_look()).get("/figures").text)
    assert "None in this time." in text
    assert "Answered by the first call counted –" in text


def test_a_range_of_days_that_does_not_exist_shows_the_default() -> None:
    client = page_client(empty_look())
    pages = [client.get(f"/figures{query}").text for query in ("", "?days=7", "?days=1000000000", "?days=x")]
    assert len(set(pages)) == 1
    assert client.get("/figures?days=30").text != pages[0]


def test_the_charts_need_no_inline_style_and_no_script() -> None:
    html = page_client(empty_look()).get("/figures").text
    assert " style=" not in html
    assert html.count("<script") == 1  # the one of every page


def test_the_page_names_the_shared_servers_of_this_machine() -> None:
    with page_client(empty_look()) as client:
        assert "Shared server" not in client.get("/figures").text
    with page_client(replace(empty_look(), servers=lambda: ("process 7 with 2 clients",))) as client:
        assert "Shared server process 7 with 2 clients" in words_of(client.get("/figures").text)
