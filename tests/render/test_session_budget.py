"""The lines about repeated passages, and budgets lowered by the session budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import MIN_BUDGET
from keyhole.records import Repeat
from keyhole.render.budget import MIN_SESSION_TOKENS, Budget, session_budget
from keyhole.render.repeats import repeat_calls_line, repeats_line, short_repeats
from keyhole.retrieval.session import Shown, repeats_of


def test_the_latest_call_that_showed_a_whole_range_is_named() -> None:
    shown = [Shown(0, 5, 3), Shown(0, 90, 2), Shown(0, 90, 1)]
    assert repeats_of([(0, 80)], shown) == (Repeat(0, 80, 2),)


def test_a_range_shown_by_several_calls_is_named_in_parts() -> None:
    assert repeats_of([(10, 80)], [Shown(40, 90, 2), Shown(0, 40, 1)]) == (Repeat(10, 40, 1), Repeat(40, 80, 2))


def test_passages_left_out_are_counted_with_the_calls_that_showed_them_on_one_line() -> None:
    repeats = [Repeat(0, 9, 2, "pump\nseal"), Repeat(20, 30, 1), Repeat(40, 50, 2, "pump\nseal")]
    line = repeats_line(repeats, others=True)
    assert line == "3 passages left out, as shown in calls 1, 2; repeat=true shows them again."
    assert repeats_line(repeats[1:2], others=False).endswith(" Nothing else is left to show.")
    assert repeats_line([], others=True) == ""


def test_a_search_lists_calls_once_and_ranges_at_their_source() -> None:
    repeats = [Repeat(0, 9, 2, "pump"), Repeat(20, 30, 1)]
    assert short_repeats(repeats) == "shown before: 0:9, 20:30 in calls 1, 2"
    assert short_repeats([]) == ""
    assert (
        repeat_calls_line(repeats) == "Left out, as shown before in call 1, call 2 (pump); repeat=true shows it again."
    )
    assert repeat_calls_line([]) == ""


def test_without_a_session_budget_a_budget_is_unchanged() -> None:
    assert session_budget(Budget(9_000, 50), None, 10**9) == Budget(9_000, 50)


def test_a_request_below_its_share_of_the_session_has_no_note() -> None:
    assert session_budget(Budget(9_000, 500), 6_000, 0).note == ""
    assert session_budget(Budget(9_000, 1_501), 6_000, 0).note


@given(whole=st.integers(200, 10**7), spent=st.integers(0, 10**8), size=st.integers(MIN_BUDGET, 200_000))
def test_a_session_budget_never_raises_a_budget_and_always_fits_a_passage(whole: int, spent: int, size: int) -> None:
    lowered = session_budget(Budget(size), whole, spent)
    assert min(size, 4 * MIN_SESSION_TOKENS) <= lowered.size <= size
    assert (lowered.tokens or MIN_SESSION_TOKENS) >= MIN_SESSION_TOKENS
    assert (lowered.tokens or lowered.size) <= max(MIN_SESSION_TOKENS, (whole - spent) // 4)
    assert bool(lowered.note) is (lowered.size < size)
    assert session_budget(Budget(size), whole, spent + 1).size <= lowered.size
