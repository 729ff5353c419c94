"""What is left out first, what never, and how far, by the sizes of groups."""

from __future__ import annotations

from itertools import pairwise

from keyhole.extract.conversations import Group, Result
from keyhole.retrieval.compaction.plan import NOTICE_TOKENS, STUB_TOKENS, Decisions, Limits, Sizes, decide


def user(item: int) -> Group:
    return Group("user", (item,), has_user_text=True)


def turn(item: int, *, is_open: bool = False) -> Group:
    """Return a call and its result, the items `item` and `item + 1`."""
    return Group("model", (item, item + 1), ((Result(item + 1, None, f"c{item}", ""),),), 1, is_open=is_open)


def sizes(*results: int) -> Sizes:
    """Return the sizes of a conversation of a task (10 tokens), turns (calls of 10 tokens), and a question (10)."""
    items = [10]
    for result in results:
        items += [10, result]
    places: dict[tuple[int, int | None], int] = {(2 + 2 * n, None): result for n, result in enumerate(results)}
    return Sizes([*items, 10], places)


def conversation(turns: int) -> list[Group]:
    return [user(0), *(turn(1 + 2 * number) for number in range(turns)), user(1 + 2 * turns)]


def limits(budget: int, goal: int, keep_last: int = 1, clear_at_least: int = 0) -> Limits:
    return Limits(budget, budget, goal, keep_last, clear_at_least)


def test_a_conversation_within_the_trigger_loses_nothing() -> None:
    assert decide(conversation(3), sizes(900, 900, 900), limits(5_000, 3_000)) == Decisions()


def test_the_largest_old_result_becomes_a_stub_first() -> None:
    decided = decide(conversation(4), sizes(800, 2_000, 900, 900), limits(4_500, 3_000))
    assert decided == Decisions(frozenset({(4, None)}))


def test_of_results_of_one_size_the_oldest_becomes_a_stub_first() -> None:
    decided = decide(conversation(4), sizes(1_000, 1_000, 1_000, 1_000), limits(4_000, 3_300))
    assert decided == Decisions(frozenset({(2, None)}))


def test_a_result_that_is_hardly_longer_than_a_stub_stays() -> None:
    short = STUB_TOKENS + 50
    decided = decide(conversation(5), sizes(short, short, short, short, 2_000), limits(2_600, 2_500))
    assert not decided.stubs


def test_whole_turns_are_left_out_when_stubs_do_not_suffice_the_oldest_first() -> None:
    decided = decide(conversation(12), sizes(*[150] * 12), limits(1_500, 900))
    assert decided.stubs == frozenset()
    assert decided.dropped == frozenset(range(1, 1 + len(decided.dropped)))
    assert len(decided.dropped) % 2 == 0
    assert decided.tokens <= 1_500


def test_turns_stay_if_stubs_spare_half_of_what_is_wanted() -> None:
    decided = decide(conversation(4), sizes(1_000, 1_000, 1_000, 1_000), limits(4_000, 1_300, keep_last=1))
    assert len(decided.stubs) == 3
    assert decided.dropped == frozenset()


def test_the_last_turns_are_kept_whole() -> None:
    decided = decide(conversation(6), sizes(*[1_000] * 6), limits(4_500, 100, keep_last=3))
    assert decided.dropped
    assert all(item < 1 + 2 * 3 for item in decided.dropped | {item for item, _ in decided.stubs})


def test_a_message_of_the_user_between_the_last_turns_is_kept() -> None:
    groups = [user(0), turn(1), user(3), turn(4), user(6), turn(7), user(9)]
    equal = Sizes([1_000] * 10, {(2, None): 10, (5, None): 10, (8, None): 10})
    assert decide(groups, equal, Limits(9_000, 9_000, 1, keep_last=2)).dropped == {1, 2, 3}


def test_calls_in_flight_are_kept() -> None:
    groups = [user(0), turn(1), turn(3, is_open=True)]
    decided = decide(groups, Sizes([10, 10, 900, 10, 900], {(2, None): 900, (4, None): 900}), limits(1_000, 500, 0))
    assert not decided.dropped & {3, 4}
    assert (4, None) not in decided.stubs


def test_text_of_the_system_and_unknown_items_are_kept_whatever_the_budget() -> None:
    groups = [Group("system", (0,)), user(1), Group("unknown", (2,)), turn(3), Group("system", (5,)), user(6)]
    decided = decide(groups, Sizes([500] * 7, {(4, None): 500}), limits(100, 60, 0))
    assert decided.dropped == {1, 3, 4}


def test_the_first_message_of_the_user_is_left_out_only_if_nothing_else_is_left() -> None:
    huge = Sizes([3_000, 10, 900, 10, 900, 10], {(2, None): 900, (4, None): 900})
    assert 0 not in decide(conversation(2), huge, limits(4_200, 3_700, 1)).dropped
    assert 0 in decide(conversation(2), huge, limits(3_000, 1_800, 0)).dropped


def test_old_rounds_of_a_turn_that_is_kept_become_stubs() -> None:
    rounds = tuple((Result(item, None, f"c{item}", ""),) for item in (2, 4, 6, 8))
    groups = [user(0), Group("model", tuple(range(1, 9)), rounds, 4)]
    decided = decide(
        groups,
        Sizes([10, *[10, 1_000] * 4], dict.fromkeys([(2, None), (4, None), (6, None), (8, None)], 1_000)),
        limits(3_000, 2_000, 2),
    )
    assert decided == Decisions(frozenset({(2, None), (4, None)}))


def test_groups_that_a_provider_would_refuse_are_left_out_even_if_all_fits() -> None:
    groups = [user(0), Group("result", (1,), is_broken=True), user(2)]
    decided = decide(groups, Sizes([10, 10, 10], {}), limits(1_000, 600))
    assert decided.dropped == {1}
    assert decided.tokens == 20 + NOTICE_TOKENS


def test_a_compaction_that_spares_too_little_is_not_made_below_the_budget() -> None:
    groups, large = conversation(4), sizes(1_000, 1_000, 1_000, 1_000)
    trigger = Limits(5_000, 4_000, 3_300, 1, clear_at_least=2_000)
    assert decide(groups, large, trigger) == Decisions()
    assert decide(groups, large, Limits(4_000, 4_000, 3_300, 1, clear_at_least=2_000)).stubs


def test_earlier_decisions_stay_and_are_extended() -> None:
    earlier = Decisions(frozenset({(4, None)}), frozenset({1, 2}))
    decided = decide(conversation(8), sizes(*[1_000] * 8), limits(5_000, 3_000), earlier)
    assert decided.stubs > earlier.stubs
    assert decided.dropped >= earlier.dropped


def test_decisions_depend_on_the_beginning_alone() -> None:
    results = [700 + 37 * number % 500 for number in range(30)]
    cuts = [decide(conversation(n), sizes(*results[:n]), limits(8_000, 4_800)) for n in range(1, 31)]
    changes = [before for before, after in pairwise(cuts) if before != after]
    assert 2 <= len(changes) <= 8


def test_a_turn_that_went_on_after_it_was_left_out_is_kept() -> None:
    groups = [user(0), Group("model", (1, 2)), user(3)]
    decided = decide(groups, Sizes([10] * 4, {}), limits(1_000, 600), Decisions(frozenset(), frozenset({1})))
    assert decided.dropped == frozenset()
