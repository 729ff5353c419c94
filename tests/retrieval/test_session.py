"""Session history: the ranges shown before each call, repeated calls and bounded memory."""

from __future__ import annotations

import sys

from keyhole.retrieval.session import HORIZON, MAX_CALLS, MAX_SESSIONS, Session, Sessions, Shown, Visits


def test_a_call_sees_the_ranges_shown_by_earlier_calls_latest_first() -> None:
    session = Session()
    session.record(session.begin("a", "pumps", 100), [("id", 0, 10), ("other", 5, 6)], 7)
    session.record(session.begin("b", "seals", 100), [("id", 5, 20)], 8)
    turn = session.begin("c", "", 100)
    assert turn.shown("id") == (Shown(5, 20, 2, "seals"), Shown(0, 10, 1, "pumps"))
    assert (turn.call, turn.spent) == (3, 15)


def test_an_unrecorded_call_showed_nothing_but_has_a_number() -> None:
    session = Session()
    session.begin("a", "", 100)
    turn = session.begin("a", "", 100)
    assert (turn.call, turn.shown("id"), turn.spent) == (2, (), 0)


def test_a_repeated_call_has_its_first_history_unless_it_requests_more() -> None:
    session = Session()
    first = session.begin("a", "", 100)
    session.record(first, [("id", 0, 10)], 1)
    assert session.begin("a", "", 100) == first
    assert session.begin("a", "", 50) == first
    assert session.begin("a", "", 101).shown("id")


def test_a_call_with_a_larger_limit_requests_more() -> None:
    session = Session()
    first = session.begin("a", "", 9_000, 200)
    session.record(first, [("id", 0, 10)], 1)
    assert session.begin("a", "", 9_000, 150) == first
    assert session.begin("a", "", 9_000, 600).shown("id")
    assert session.begin("a", "", 9_001, 200).shown("id")


def test_a_larger_call_does_not_change_the_history_of_smaller_ones() -> None:
    session = Session()
    small = session.begin("a", "", 100)
    session.record(small, [("id", 0, 10)], 1)
    session.record(session.begin("a", "", 900), [("id", 10, 90)], 1)
    assert session.begin("a", "", 100) == small
    assert session.begin("a", "", 101).call == 2


def test_concurrent_calls_do_not_see_each_other() -> None:
    session = Session()
    one, two = session.begin("a", "", 100), session.begin("b", "", 100)
    session.record(one, [("id", 0, 10)], 1)
    session.record(two, [("id", 0, 10)], 1)
    assert not two.shown("id")


def test_ranges_older_than_the_horizon_are_forgotten() -> None:
    session = Session(horizon=100)
    session.record(session.begin("a", "", 100), [("id", 0, 10)], 60)
    session.record(session.begin("b", "", 100), [("id", 10, 20)], 60)
    assert len(session.begin("c", "", 100).shown("id")) == 2
    session.record(session.begin("d", "", 100), [], 60)
    assert [each.start for each in session.begin("e", "", 100).shown("id")] == [10]
    assert session.begin("a", "", 100).call == 6


def test_an_endless_session_uses_bounded_memory() -> None:
    session = Session(horizon=sys.maxsize)
    for number in range(3 * MAX_CALLS):
        session.record(session.begin(number, "x" * 9_000, 100), [("id", number, number + 1)], 1)
    assert len(session.begin("new", "", 100).shown("id")) == MAX_CALLS
    assert session.begin(0, "", 100).call > 3 * MAX_CALLS


def test_each_session_has_its_own_history_and_the_least_recently_used_is_dropped() -> None:
    ledgers = Sessions()
    first, second = ledgers.get("first", None), ledgers.get("second", HORIZON)
    assert first is not second
    for number in range(MAX_SESSIONS - 1):
        assert ledgers.get("first", None) is first
        ledgers.get(number, None)
    assert ledgers.get("first", None) is first
    assert ledgers.get("second", None) is not second


def test_a_visit_ends_after_half_an_hour_without_a_call_and_few_visits_are_remembered() -> None:
    numbers = iter(range(9_999))
    visits = Visits(lambda: str(next(numbers)))
    assert [visits.id_at("a", now) for now in (0.0, 1_800.0, 3_600.0, 5_401.0)] == ["0", "0", "0", "1"]
    for number in range(MAX_SESSIONS):
        visits.id_at(number, 5_402.0)
    assert visits.id_at("a", 5_403.0) == str(MAX_SESSIONS + 2)
