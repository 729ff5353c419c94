"""Tests of determining which earlier call a call follows, and which calls did not suffice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyhole.store.calls.base import MATCH, WEAK, CallOrigin, CallRecord
from keyhole.store.calls.relations import earlier_of, relate
from tests.store.calls.samples import START, call, page, read_text

PAGE = page(1)
SHOWN = read_text(PAGE, (0, 500))
FETCH = call("fetch", target=PAGE.url, query="abort signal", texts=[SHOWN])
SEARCH = call("search", tool="search", query="abort a fetch request", texts=[SHOWN, read_text(page(2))])


def related(record: CallRecord, *earlier: CallRecord) -> tuple[str, str, str]:
    """Return what a call follows, its relation, and the miss of the call that it follows."""
    found = relate(record, [earlier_of(each) for each in earlier])
    return found.record.summary.follows, found.record.summary.relation, found.miss


def later(tool: str = "read_artifact", target: str = PAGE.id, **arguments: object) -> CallRecord:
    """Return a call ten seconds after the others."""
    texts = [] if tool == "search" else [SHOWN]
    return call("later", tool=tool, target=target, started_at=START + 10, texts=texts, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "earlier", "expected"),
    [
        (later(), FETCH, ("fetch", "read_on", "read_on")),
        (later(query="another"), FETCH, ("fetch", "same_page", "same_page")),
        (later("web_fetch", PAGE.url), FETCH, ("fetch", "same_page", "same_page")),
        (later("web_fetch", PAGE.url, query="abort signal"), FETCH, ("fetch", "same_call", "same_page")),
        (later(find="a quote"), FETCH, ("fetch", "quote_found", "")),
        (later("web_fetch", "https://other.example/"), call("x", target="https://x.example/"), ("", "", "")),
        (later(), SEARCH, ("search", "read_on", "read_on")),
        (later("web_fetch", PAGE.url), SEARCH, ("search", "same_page", "same_page")),
        (later("search", query="fetch abort controller"), SEARCH, ("search", "searched_again", "searched_again")),
        (later("search", query="a b c row level security"), SEARCH, ("", "", "")),
        (later("search", query="abort a fetch request"), SEARCH, ("search", "same_call", "searched_again")),
    ],
)
def test_a_call_follows_the_call_on_the_same_text_or_question(
    record: CallRecord, earlier: CallRecord, expected: tuple[str, str, str]
) -> None:
    assert related(record, earlier) == expected


def test_a_page_that_a_search_listed_without_text_is_no_miss_of_the_search() -> None:
    second = page(2)
    record = call("later", target=second.url, started_at=START + 10, texts=[read_text(second, (0, 9))])
    assert related(record, SEARCH) == ("search", "same_page", "")


def test_the_latest_of_several_calls_on_the_same_text_is_followed() -> None:
    window = call("window", tool="read_artifact", target=PAGE.id, started_at=START + 5, texts=[SHOWN], offset=500)
    assert related(later(offset=1_000), window, FETCH) == ("window", "read_on", "")


def test_a_call_that_showed_some_of_the_text_is_followed_rather_than_a_later_one_that_only_read_it() -> None:
    found = call("found", tool="search", query="unlike", started_at=START + 5, texts=[read_text(PAGE)])
    again = later("web_fetch", PAGE.url, query="signal to abort")
    assert related(again, found, FETCH) == ("fetch", "same_page", "same_page")
    assert related(again, found) == ("found", "same_page", "")


def test_calls_made_at_the_same_time_do_not_follow_each_other() -> None:
    running = call("running", target=PAGE.url, texts=[SHOWN], started_at=START + 9, seconds=4)
    assert related(later(), running) == ("", "", "")


def test_a_failed_call_is_a_miss_itself_and_keeps_it() -> None:
    failed = call("failed", target=PAGE.url, outcome="timeout")
    found = relate(failed, []).record
    assert found.summary.miss == "error"
    assert related(later("web_fetch", PAGE.url), found) == ("failed", "same_call", "")


def test_a_missing_quote_is_told_from_a_found_one() -> None:
    absent = call(
        "later", tool="read_artifact", target=PAGE.id, started_at=START + 9, outcome="quote_not_found", find="x"
    )
    near = call(
        "later", tool="read_artifact", target=PAGE.id, started_at=START + 9, texts=[SHOWN], notes=[("found", "no")],
        find="x",
    )  # fmt: skip
    assert related(absent, FETCH)[1] == related(near, FETCH)[1] == "quote_not_found"


@pytest.mark.parametrize("origin", ["hook", "run", "pipe", "proxy"])
def test_running_a_command_again_is_no_miss_and_reading_on_in_its_output_is(origin: CallOrigin) -> None:
    first = call("first", tool="make", origin=origin, target="make all", texts=[SHOWN])
    again = call("again", tool="make", origin=origin, target="make all", started_at=START + 9, texts=[SHOWN])
    assert related(again, first) == ("first", "same_call", "")
    assert related(later(), first) == ("first", "read_on", "read_on")


def test_reading_on_in_a_resource_that_a_person_attached_is_no_miss() -> None:
    attached = call("attached", tool="read_artifact", origin="resource", target=PAGE.id, query="q", texts=[SHOWN])
    assert related(later(offset=900), attached) == ("attached", "read_on", "")


def test_queries_in_scripts_without_spaces_are_compared_by_pairs_of_characters() -> None:
    first = call("first", tool="search", query="非同期処理タイムアウト")
    assert related(later("search", query="非同期処理の中止"), first) == ("first", "searched_again", "searched_again")
    assert related(later("search", query="東京の天気"), first) == ("", "", "")


def test_outputs_share_an_address_but_only_one_text_is_the_same() -> None:
    one = call("one", origin="run", target="make", texts=[read_text(page(3), (0, 9))])
    other = call("other", origin="run", target="test", started_at=START + 9, texts=[read_text(page(4), (0, 9))])
    assert related(other, one) == ("", "", "")


def test_arguments_that_are_no_json_object_relate_like_any_other() -> None:
    assert related(later(), FETCH)[1] == "read_on"
    for arguments in ("", "[1]", "{", '"find"'):
        assert related(replace(later(), arguments=arguments), FETCH)[1] == "read_on"


@pytest.mark.parametrize("outcome", ["cancelled", "invalid_argument"])
def test_what_the_caller_stopped_or_misspelt_is_no_miss(outcome: str) -> None:
    assert relate(call("stopped", target=PAGE.url, outcome=outcome), []).record.summary.miss == ""


def test_a_weak_match_is_a_miss_itself_and_keeps_it() -> None:
    weak = replace(FETCH, notes=((MATCH, WEAK),))
    found = relate(weak, []).record
    assert found.summary.miss == "weak"
    assert related(later(), found) == ("fetch", "read_on", "")


def test_the_same_question_with_another_budget_is_no_miss() -> None:
    again = later("web_fetch", PAGE.url, query="abort signal", max_chars=9_000)
    assert related(again, FETCH) == ("fetch", "same_page", "")
