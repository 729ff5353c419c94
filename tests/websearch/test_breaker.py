"""Test circuit breakers: each state, and properties over any history."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport
from keyhole.text.measure import serialized_size
from keyhole.websearch.breaker import (
    FAILURES,
    MAX_REASON,
    MAX_REST,
    MAX_RETRY_AFTER,
    REFUSED_REST,
    REST,
    Breaker,
    Breakers,
    describe_fault,
    describe_faults,
    retry_after_seconds,
)
from tests.support.fakes import Clock


def broken(times: int = FAILURES, now: float = 100.0) -> Breaker:
    breaker = Breaker()
    for _ in range(times):
        breaker = breaker.begin_call().record_failure("timeout", now)
    return breaker


def test_an_engine_is_queried_until_it_failed_several_times_in_a_row() -> None:
    assert broken(FAILURES - 1).allows_call(100.0)
    assert not broken().allows_call(100.0)
    assert broken().fault == "timeout"


def test_a_success_resets_the_count_of_failures() -> None:
    assert broken(FAILURES - 1).record_success() == Breaker()


@pytest.mark.parametrize("fault", ["quota", "bad key"])
def test_an_engine_rests_at_once_after_a_refusal(fault: str) -> None:
    breaker = Breaker().begin_call().record_failure(fault, 100.0)
    assert not breaker.allows_call(100.0 + REFUSED_REST - 1)
    assert breaker.allows_call(100.0 + REFUSED_REST)


def test_an_engine_rests_after_a_quota_as_long_as_it_requests() -> None:
    assert Breaker().record_failure("quota", 0.0, 5.0).until == 5.0
    assert Breaker().record_failure("quota", 0.0, 1e9).until == MAX_RETRY_AFTER
    assert Breaker().record_failure("quota", 0.0, 0.0).allows_call(0.0)


def test_retry_after_does_not_shorten_the_rest_after_a_failure() -> None:
    once = broken(FAILURES - 1)
    assert once.record_failure("down", 0.0, 1.0).until == REST
    assert once.record_failure("down", 0.0, 300.0).until == 300.0


def test_after_the_rest_only_one_call_tries_the_engine() -> None:
    over = broken().until
    assert broken().allows_call(over)
    tried = broken().begin_call()
    assert not tried.allows_call(over)
    assert tried.record_success().allows_call(over)


def test_each_further_rest_is_twice_as_long_up_to_the_maximum() -> None:
    breaker, now, rests = broken(now=0.0), 0.0, []
    for _ in range(12):
        rests.append(breaker.until - now)
        now = breaker.until
        breaker = breaker.begin_call().record_failure("timeout", now)
    assert rests[:3] == [REST, 2 * REST, 4 * REST]
    assert rests[-1] == MAX_REST


def test_after_an_abandoned_trial_the_next_call_tries_the_engine() -> None:
    over = broken().until
    assert broken().begin_call().abandon_call().allows_call(over)


def test_a_call_that_began_before_the_rest_does_not_lengthen_it() -> None:
    assert broken().record_failure("timeout", 110.0) == broken()


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["begin_call", "record_success", "abandon_call", "timeout", "quota", "bad key", "slow", "down (x)"]
        ),
        st.floats(0, 5_000),
        st.none() | st.floats(0, 1e7),
    ),
    max_size=40,
)


@given(EVENTS)
def test_after_any_history_an_engine_is_queried_again_within_an_hour(
    events: list[tuple[str, float, float | None]],
) -> None:
    breaker, now = Breaker(), 0.0
    for event, later, wait in events:
        now += later
        if event in {"begin_call", "record_success", "abandon_call"}:
            breaker = getattr(breaker, event)()
        else:
            breaker = breaker.record_failure(event, now, wait)
    assert breaker.abandon_call().allows_call(now + MAX_RETRY_AFTER)
    assert breaker.record_success() == Breaker()


def test_each_engine_has_its_own_breaker() -> None:
    clock = Clock(0.0)
    breakers = Breakers(clock)
    breakers.begin_call("brave")
    breakers.record_failure("brave", "quota")
    assert breakers.open_fault("brave") == "quota"
    assert breakers.open_fault("exa") == ""
    clock.advance(REFUSED_REST)
    assert breakers.open_fault("brave") == ""
    breakers.begin_call("brave")
    assert breakers.open_fault("brave") == "quota"
    breakers.abandon_call("brave")
    assert breakers.open_fault("brave") == ""
    breakers.record_success("brave")
    assert breakers.open_fault("brave") == ""


# Faults


@pytest.mark.parametrize(
    ("code", "message", "fault"),
    [
        (Code.RATE_LIMITED, "Brave asks to slow down", "quota"),
        (Code.KEY_REFUSED, "m", "bad key"),
        (Code.BOT_CHALLENGE, "m", "challenge"),
        (Code.TIMEOUT, "m", "timeout"),
        (Code.ENGINE_UNAVAILABLE, "SearXNG answers HTTP 500.", "down (SearXNG answers HTTP 500)"),
        (Code.ENGINE_UNAVAILABLE, "", "down"),
        (Code.CONNECT_FAILURE, "10.0.0.1 refused", "down (connect failure)"),
    ],
)
def test_a_failure_is_a_few_words(code: Code, message: str, fault: str) -> None:
    assert describe_fault(KeyholeError(code, message)) == fault


@given(st.sampled_from(Code), st.text(max_size=400))
def test_any_failure_is_one_short_line(code: Code, message: str) -> None:
    fault = describe_fault(KeyholeError(code, message))
    assert fault
    assert "\n" not in fault
    assert serialized_size(fault) <= MAX_REASON + len("down ()")


def test_retry_after_is_read_if_present() -> None:
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m", retry_after=30)) == 30.0
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m")) is None
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m", retry_after=-1)) is None
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m", retry_after="soon")) is None


def test_long_fault_lists_drop_reasons_and_keep_every_engine() -> None:
    reports = [EngineReport(f"engine{n}", "down (the server says a great deal about it)") for n in range(12)]
    fault = describe_faults(reports, 300)
    assert serialized_size(fault) <= 300
    assert all(f"engine{n}: down" in fault for n in range(12))
    assert "(" not in fault
    assert describe_faults(reports[:1], 300) == "engine0: down (the server says a great deal about it)"
    assert describe_faults([EngineReport("well"), EngineReport("brave", "quota")], 300) == "brave: quota"


def test_without_a_network_one_fault_is_told_and_not_those_of_the_engines() -> None:
    lost = EngineReport("wikipedia", "down (dns failure)"), EngineReport("keyless", "down (failed: no connection)")
    assert describe_faults(lost, 300) == "no network: no search engine could be reached"
    assert describe_faults((*lost, EngineReport("brave", "quota")), 300).startswith("wikipedia: down (dns failure); ")
