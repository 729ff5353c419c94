"""Test the message of a search without results: narrow terms and failed engines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.records import EngineReport, SearchRequest
from keyhole.text.measure import serialized_size
from keyhole.websearch.no_results import MAX_TERM, MAX_TERMS, describe_no_results, find_narrow_terms


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
