"""What is left out first, what never, and how far, by the sizes of groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.conversations.formats import GroupedConversation, MessageGroup, ToolResult
from keyhole.extensions.conversations.formats.values import ItemKind
from keyhole.extensions.conversations.plan import (
    LEAST_TOKENS,
    NOTICE_TOKENS,
    SHORTENED_TOKENS,
    STUB_TOKENS,
    Decisions,
    InputLimits,
    Sizes,
    decide,
)


def user(item: int) -> MessageGroup:
    return MessageGroup("user", (item,), has_user_text=True)


def result(item: int) -> ToolResult:
    return ToolResult(item, ("content",), (f"c{item}",), "")


def turn(item: int, results: int = 1, *, is_open: bool = False) -> MessageGroup:
    """Return a call and its results, the items from `item` on."""
    items = tuple(range(item, item + 1 + results))
    rounds = (tuple(map(result, items[1:])),)
    return MessageGroup("model", items, rounds, results, is_open=is_open, answered_at=items[-1])


def sizes(*results: int, question: bool = True) -> Sizes:
    """Return the sizes of a conversation of a task (10 tokens), turns (calls of 10 tokens), and a question (10)."""
    items = [10]
    for tokens in results:
        items += [10, tokens]
    places: dict[tuple[int, int | None], int] = {(2 + 2 * n, None): tokens for n, tokens in enumerate(results)}
    return Sizes([*items, 10] if question else items, places)


def of(groups: Sequence[MessageGroup]) -> GroupedConversation:
    """Return a conversation of groups. The first item of a turn is of the model, all others in it are results."""
    kinds: dict[int, ItemKind] = {}
    for group in groups:
        is_round = group.kind == "model" and group.rounds
        results = {each.item for each in group.results}
        kinds.update({item: "result" if is_round and item in results else group.kind for item in group.items})
    return GroupedConversation("chat", tuple(groups), tuple(kinds[item] for item in sorted(kinds)))


def conversation(turns: int, *, question: bool = True) -> GroupedConversation:
    last = [user(1 + 2 * turns)] if question else []
    return of([user(0), *(turn(1 + 2 * number) for number in range(turns)), *last])


def limits(budget: int, goal: int, keep_last: int = 1, clear_at_least: int = 0) -> InputLimits:
    return InputLimits(budget, budget, goal, keep_last, clear_at_least)


def test_a_conversation_within_the_trigger_loses_nothing() -> None:
    decided = decide(conversation(3), sizes(900, 900, 900), limits(5_000, 3_000))
    assert decided == Decisions()
    assert decided.tokens == 2_750


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
    assert 0 < decided.tokens <= 1_500


def test_turns_stay_if_stubs_spare_half_of_what_is_wanted() -> None:
    decided = decide(conversation(4), sizes(1_000, 1_000, 1_000, 1_000), limits(4_000, 1_300, keep_last=1))
    assert len(decided.stubs) == 3
    assert decided.dropped == frozenset()


def test_the_last_turns_are_kept_whole() -> None:
    decided = decide(conversation(6), sizes(*[1_000] * 6), limits(3_300, 100, keep_last=3))
    assert decided.dropped
    assert not decided.shortened
    assert all(item < 1 + 2 * 3 for item in decided.dropped | {item for item, _ in decided.stubs})


def test_a_message_of_the_user_between_the_last_turns_is_kept() -> None:
    groups = of([user(0), turn(1), user(3), turn(4), user(6), turn(7), user(9)])
    equal = Sizes([1_000] * 10, {(2, None): 10, (5, None): 10, (8, None): 10})
    assert decide(groups, equal, InputLimits(9_000, 9_000, 1, keep_last=2)).dropped == {1, 2, 3}


def test_calls_in_flight_are_kept() -> None:
    groups = of([user(0), turn(1), turn(3, is_open=True)])
    decided = decide(groups, Sizes([10, 10, 900, 10, 900], {(2, None): 900, (4, None): 900}), limits(1_000, 500, 0))
    assert not decided.dropped & {3, 4}
    assert (4, None) not in decided.stubs


def test_text_of_the_system_and_unknown_items_are_kept_whatever_the_budget() -> None:
    system, unknown, reminder = (
        MessageGroup("system", (0,), is_fixed=True),
        MessageGroup("unknown", (2,), is_fixed=True),
        MessageGroup("system", (6,), is_fixed=True),
    )
    groups = of([system, user(1), unknown, turn(3), MessageGroup("model", (5,)), reminder, user(7)])
    assert decide(groups, Sizes([500] * 8, {(4, None): 500}), limits(100, 60, 0)).dropped == {1, 3, 4, 5}


def test_what_the_model_has_not_seen_is_kept_whatever_the_budget() -> None:
    groups = of([user(0), MessageGroup("model", (1,)), user(2), turn(3), user(5), user(6)])
    decided = decide(groups, Sizes([500] * 7, {(4, None): 500}), limits(100, 60, 0))
    assert decided.dropped == {0, 1, 2}
    assert decided.shortened == {(4, None): LEAST_TOKENS}


def test_the_first_message_of_the_user_is_left_out_only_if_nothing_else_is_left() -> None:
    huge = Sizes([3_000, 10, 900, 10, 900, 10], {(2, None): 900, (4, None): 900})
    assert 0 not in decide(conversation(2), huge, limits(4_200, 3_700, 1)).dropped
    assert 0 in decide(conversation(2), huge, limits(3_000, 1_800, 0)).dropped


def test_old_rounds_of_a_turn_that_is_kept_become_stubs() -> None:
    rounds = tuple((result(item),) for item in (2, 4, 6, 8))
    items = tuple(range(1, 9))
    groups = (user(0), MessageGroup("model", items, rounds, 4, answered_at=8))
    kinds: tuple[ItemKind, ...] = ("user", *("model", "result") * 4)
    decided = decide(
        GroupedConversation("responses", groups, kinds),
        Sizes([10, *[10, 1_000] * 4], dict.fromkeys([(2, None), (4, None), (6, None), (8, None)], 1_000)),
        limits(3_000, 2_000, 2),
    )
    assert decided == Decisions(frozenset({(2, None), (4, None)}))


def test_groups_that_a_provider_would_refuse_are_left_out_even_if_all_fits() -> None:
    groups = of([user(0), MessageGroup("result", (1,), is_broken=True), user(2)])
    decided = decide(groups, Sizes([10, 10, 10], {}), limits(1_000, 600))
    assert decided.dropped == {1}
    assert decided.tokens == 20 + NOTICE_TOKENS


def test_a_compaction_that_spares_too_little_is_not_made_below_the_budget() -> None:
    groups, large = conversation(4), sizes(1_000, 1_000, 1_000, 1_000)
    trigger = InputLimits(5_000, 4_000, 3_300, 1, clear_at_least=2_000)
    assert decide(groups, large, trigger) == Decisions()
    assert decide(groups, large, InputLimits(4_000, 4_000, 3_300, 1, clear_at_least=2_000)).stubs


def test_a_longer_conversation_has_the_decisions_of_a_shorter_one_and_more() -> None:
    decided = [decide(conversation(n), sizes(*[1_000] * n), limits(5_000, 3_000)) for n in range(1, 20)]
    for before, after in pairwise(decided):
        assert before.dropped <= after.dropped
        assert all(stub in after.stubs or stub[0] in after.dropped for stub in before.stubs)


def test_decisions_change_only_where_the_trigger_is_exceeded() -> None:
    results = [700 + 37 * number % 500 for number in range(30)]
    cuts = [decide(conversation(n), sizes(*results[:n]), limits(8_000, 4_800)) for n in range(1, 31)]
    changes = [before for before, after in pairwise(cuts) if before != after]
    assert 2 <= len(changes) <= 8


def test_a_turn_that_goes_on_after_it_was_left_out_is_kept() -> None:
    items = [10, 10, 150, 100, 400, 400, 10, 150]
    begun = of([user(0), turn(1), user(3), MessageGroup("model", (4,)), user(5)])
    places: dict[tuple[int, int | None], int] = {(2, None): 150}
    assert decide(begun, Sizes(items[:6], places), limits(1_000, 900, 0)).dropped == {1, 2, 3, 4}
    whole = MessageGroup("model", (1, 2, 6, 7), ((result(2),), (result(7),)), 2, answered_at=7)
    groups = (begun.groups[0], whole, *begun.groups[2:])
    longer = GroupedConversation("responses", groups, (*begun.kinds, "model", "result"))
    assert decide(longer, Sizes(items, {**places, (7, None): 150}), limits(1_000, 900, 0)).dropped == {3, 4}


def test_a_large_last_result_is_shortened_as_far_as_the_budget_demands() -> None:
    for keep_last in (0, 1, 3):
        decided = decide(conversation(1, question=False), sizes(9_000, question=False), limits(5_000, 3_000, keep_last))
        assert (decided.stubs, decided.dropped) == (frozenset(), frozenset())
        assert decided.shortened == {(2, None): 4_980}
        assert decided.tokens == 5_000


def test_the_longest_of_several_last_results_are_shortened_to_one_length() -> None:
    groups = of([user(0), turn(1, results=3)])
    places: dict[tuple[int, int | None], int] = {(2, None): 5_000, (3, None): 400, (4, None): 9_000}
    decided = decide(groups, Sizes([10, 10, 5_000, 400, 9_000], places), limits(5_420, 3_000))
    assert decided.shortened == {(2, None): 2_500, (4, None): 2_500}


def test_a_recent_result_is_shortened_before_its_turn_is_left_out() -> None:
    decided = decide(conversation(2, question=False), sizes(9_000, 900, question=False), limits(5_000, 3_000, 3))
    assert decided.dropped == frozenset()
    assert decided.shortened == {(2, None): 4_070}


def test_a_last_result_without_text_is_not_shortened() -> None:
    image = Sizes([10, 10, 9_000], {(2, None): 9_000}, {(2, None)})
    assert decide(conversation(1, question=False), image, limits(5_000, 3_000)).shortened == {}


def test_older_turns_are_left_out_before_the_last_result_is_shortened_further() -> None:
    tokens = sizes(900, 900, 9_000, question=False)
    decided = decide(conversation(3, question=False), tokens, limits(SHORTENED_TOKENS + 120, 600, keep_last=3))
    assert decided.dropped == {1, 2, 3, 4}
    assert decided.shortened[6, None] >= SHORTENED_TOKENS - 10
    far = decide(conversation(3, question=False), tokens, limits(LEAST_TOKENS + 130, 200, keep_last=3))
    assert far.shortened[6, None] == LEAST_TOKENS + 10


@given(
    results=st.lists(st.integers(1, 3_000), min_size=1, max_size=8),
    budget=st.integers(100, 5_000),
    keep_last=st.integers(0, 3),
    question=st.booleans(),
)
def test_what_fits_at_all_is_made_to_fit(results: list[int], budget: int, keep_last: int, *, question: bool) -> None:
    """The task, the calls and a shortened last result are what must be kept."""
    decided = decide(
        conversation(len(results), question=question),
        sizes(*results, question=question),
        limits(budget, int(0.6 * budget), keep_last),
    )
    if budget >= 20 + NOTICE_TOKENS + LEAST_TOKENS + 10:
        assert decided.tokens <= budget
    assert all(tokens >= LEAST_TOKENS for tokens in decided.shortened.values())
    assert not decided.shortened.keys() & decided.stubs
