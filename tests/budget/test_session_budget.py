"""Which call is named for what is left out, and how the session's budget shortens a result."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.budget.budget import MIN_SESSION_TOKENS, Budget, session_budget
from keyhole.config.schema import MIN_BUDGET
from keyhole.records import Repeat
from keyhole.render.repeats import repeat_calls_line, repeats_line, short_repeats
from keyhole.retrieval.session import Shown, repeats_of


def test_the_latest_call_that_showed_all_of_a_stretch_is_named() -> None:
    shown = [Shown(0, 5, 3), Shown(0, 90, 2), Shown(0, 90, 1)]
    assert repeats_of([(0, 80)], shown) == (Repeat(0, 80, 2),)


def test_a_stretch_that_several_calls_showed_is_named_in_parts() -> None:
    assert repeats_of([(10, 80)], [Shown(40, 90, 2), Shown(0, 40, 1)]) == (Repeat(10, 40, 1), Repeat(40, 80, 2))


def test_stretches_of_one_call_stand_together_and_its_words_are_one_plain_line() -> None:
    repeats = [Repeat(0, 9, 2, "pump\nseal"), Repeat(20, 30, 1), Repeat(40, 50, 2, "pump\nseal")]
    line = repeats_line(repeats, True)
    assert line == (
        "Left out, as shown before: 0:9, 40:50 in call 2 (pump seal); 20:30 in call 1. repeat=true shows it again."
    )
    assert repeats_line(repeats[1:2], False).endswith(" Nothing else is left to show.")
    assert repeats_line([], True) == ""


def test_a_search_names_calls_once_and_stretches_at_their_source() -> None:
    repeats = [Repeat(0, 9, 2, "pump"), Repeat(20, 30, 1)]
    assert short_repeats(repeats) == "shown before: 0:9, 20:30 in calls 1, 2"
    assert short_repeats([]) == ""
    assert (
        repeat_calls_line(repeats) == "Left out, as shown before in call 1, call 2 (pump); repeat=true shows it again."
    )
    assert repeat_calls_line([]) == ""


def test_without_a_session_budget_nothing_changes() -> None:
    assert session_budget(Budget(9_000, 50), None, 10**9) == Budget(9_000, 50)


def test_a_call_that_asks_for_less_than_its_share_is_not_told_that_the_session_shortens_it() -> None:
    assert session_budget(Budget(9_000, 500), 6_000, 0).note == ""
    assert session_budget(Budget(9_000, 1_501), 6_000, 0).note


@given(whole=st.integers(200, 10**7), spent=st.integers(0, 10**8), size=st.integers(MIN_BUDGET, 200_000))
def test_a_session_budget_never_gives_more_and_always_room_for_a_passage(whole: int, spent: int, size: int) -> None:
    given_to = session_budget(Budget(size), whole, spent)
    assert min(size, 4 * MIN_SESSION_TOKENS) <= given_to.size <= size
    assert (given_to.tokens or MIN_SESSION_TOKENS) >= MIN_SESSION_TOKENS
    assert (given_to.tokens or given_to.size) <= max(MIN_SESSION_TOKENS, (whole - spent) // 4)
    assert bool(given_to.note) is (given_to.size < size)
    assert session_budget(Budget(size), whole, spent + 1).size <= given_to.size
