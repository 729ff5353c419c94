"""Calls, their results and their reasoning are one group; what a provider would refuse is marked."""

from __future__ import annotations

from typing import Any

from keyhole.extract.conversations import Group, read_conversation
from keyhole.extract.conversations.values import Format


def groups(format: Format, *items: dict[str, Any]) -> tuple[Group, ...]:
    return read_conversation(items, format).groups


def members(format: Format, *items: dict[str, Any]) -> list[tuple[int, ...]]:
    return [group.items for group in groups(format, *items)]


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": name, **more}


def output(id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": "done"}


THOUGHT = {"type": "reasoning"}
USER = {"role": "user", "content": "go on"}


def chat_call(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": id} for id in ids]}


def chat_result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "done"}


def uses(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": id} for id in ids]}


def results(*ids: str, text: str = "") -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": "done"} for id in ids]
    return {"role": "user", "content": [*blocks, *([{"type": "text", "text": text}] if text else [])]}


def test_parallel_calls_their_results_and_their_reasoning_are_one_group() -> None:
    assert members("responses", USER, THOUGHT, call("a"), call("b"), output("b"), output("a"), USER) == [
        (0,), (1, 2, 3, 4, 5), (6,),
    ]  # fmt: skip
    assert members("chat", USER, chat_call("a", "b"), chat_result("b"), chat_result("a")) == [(0,), (1, 2, 3)]
    assert members("anthropic", USER, uses("a", "b"), results("a", "b"), uses("c"), results("c")) == [
        (0,), (1, 2), (3, 4),
    ]  # fmt: skip


def test_interleaved_calls_that_are_tied_to_one_reasoning_stay_together() -> None:
    tied = (THOUGHT, call("a", id="fc_1"), output("a"), call("b", id="fc_2"), output("b"))
    assert members("responses", *tied) == [(0, 1, 2, 3, 4)]
    assert [len(rounds) for rounds in groups("responses", *tied)[0].rounds] == [1, 1]


def test_a_call_without_an_id_after_a_result_is_a_turn_of_its_own() -> None:
    assert members("responses", THOUGHT, call("a"), output("a"), call("b"), output("b")) == [(0, 1, 2), (3, 4)]


def test_reasoning_after_a_text_or_a_result_begins_a_turn() -> None:
    answer = {"role": "assistant", "content": "so"}
    assert members("responses", THOUGHT, answer, THOUGHT, call("a"), output("a"), THOUGHT) == [
        (0, 1), (2, 3, 4), (5,),
    ]  # fmt: skip


def test_a_result_far_after_its_call_belongs_to_its_group_in_responses_only() -> None:
    assert members("responses", call("a"), USER, output("a")) == [(0, 2), (1,)]
    assert [group.is_broken for group in groups("chat", chat_call("a"), USER, chat_result("a"))] == [True, False, True]


def test_a_result_without_a_call_is_broken() -> None:
    assert [group.is_broken for group in groups("responses", USER, output("a"))] == [False, True]
    assert [group.is_broken for group in groups("chat", USER, chat_result("a"))] == [False, True]
    assert [group.is_broken for group in groups("anthropic", USER, results("a"))] == [False, True]


def test_a_call_without_a_result_is_open_at_the_end_and_broken_elsewhere() -> None:
    [first, last] = groups("chat", chat_call("a"), chat_call("b"))
    assert (first.is_broken, first.is_open, last.is_broken, last.is_open) == (True, False, False, True)


def test_a_second_result_of_a_call_is_broken() -> None:
    found = groups("chat", chat_call("a"), chat_result("a"), chat_result("a"))
    assert [(group.items, group.is_broken) for group in found] == [((0, 1), False), ((2,), True)]


def test_of_two_turns_with_one_id_anthropic_takes_one_and_the_later_is_kept() -> None:
    found = groups("anthropic", uses("a"), results("a"), uses("a"), results("a"))
    assert [group.is_broken for group in found] == [True, False]
    again = groups("chat", chat_call("a"), chat_result("a"), chat_call("a"), chat_result("a"))
    assert [group.is_broken for group in again] == [False, False]


def test_what_the_user_wrote_beside_a_stray_result_is_a_message_of_its_own() -> None:
    answer = {"role": "assistant", "content": "So."}
    [broken, own, _] = groups("anthropic", uses("a", "b"), results("a", text="and then?"), answer)
    assert (broken.items, broken.is_broken) == ((0,), True)
    assert (own.kind, own.items, own.is_unpaired, own.has_user_text) == ("user", (1,), True, True)


def test_a_result_after_text_of_the_user_belongs_to_no_call_in_anthropic() -> None:
    found = groups("anthropic", uses("a", "b"), results("a", text="a reminder"), results("b"))
    assert [(group.items, group.is_broken) for group in found] == [((0,), True), ((1,), False), ((2,), True)]


def test_items_of_unknown_types_split_no_turn() -> None:
    note = {"type": "compaction"}
    assert members("responses", call("a"), note, output("a")) == [(0, 2), (1,)]
