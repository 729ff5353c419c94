"""Calls, their results and their reasoning are one group; what a provider would refuse is marked."""

from __future__ import annotations

from typing import Any

from keyhole.extensions.conversations.formats import MessageGroup, read_conversation
from keyhole.extensions.conversations.formats.values import Format


def groups(format: Format, *items: dict[str, Any]) -> tuple[MessageGroup, ...]:
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
    assert (own.kind, own.items, own.has_user_text) == ("user", (1,), True)
    assert [(result.names, result.path) for result in own.strays] == [(("a",), ("content", 0, "content"))]


def test_a_result_after_text_of_the_user_belongs_to_no_call_in_anthropic() -> None:
    found = groups("anthropic", uses("a", "b"), results("a", text="a reminder"), results("b"))
    assert [(group.items, group.is_broken) for group in found] == [((0,), True), ((1,), False), ((2,), True)]


def test_items_that_change_the_state_of_the_model_split_no_turn() -> None:
    note = {"type": "compaction"}
    assert members("responses", call("a"), note, output("a")) == [(0, 2), (1,)]


UNKNOWN = {"type": "hologram"}


def test_items_of_unknown_types_split_no_turn() -> None:
    assert members("responses", call("a"), UNKNOWN, output("a")) == [(0, 2), (1,)]
    assert members("chat", chat_call("a"), {"role": "critic"}, chat_result("a")) == [(0, 2), (1,)]


def test_nothing_is_broken_beside_an_item_that_was_not_understood() -> None:
    assert [group.is_broken for group in groups("responses", UNKNOWN, USER, output("a"))] == [False] * 3
    found = groups("chat", {"role": "critic"}, USER, chat_call("a"), USER, chat_result("b"))
    assert [group.is_broken for group in found] == [False] * 5
    assert [group.is_fixed for group in found] == [True, False, False, False, False]


def test_an_item_of_an_unknown_type_belongs_to_the_call_that_it_names() -> None:
    named = {"type": "hologram", "details": [{"call_id": "a"}]}
    [turn, _] = groups("responses", call("a"), output("a"), USER, named)
    assert (turn.items, turn.is_fixed) == ((0, 1, 3), True)


def test_a_result_stays_with_an_unknown_item_that_has_its_id() -> None:
    made = {"type": "hologram_call", "call_id": "a"}
    assert members("responses", USER, made, output("a"), USER) == [(0,), (1, 2), (3,)]


def test_an_unknown_item_after_reasoning_stays_with_it() -> None:
    assert members("responses", USER, THOUGHT, UNKNOWN, USER) == [(0,), (1, 2), (3,)]


def test_a_program_of_anthropic_and_the_calls_that_it_makes_are_one_group() -> None:
    caller = {"type": "code_execution_20260120", "tool_id": "s"}
    program = {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}}
    [first, second] = ({"type": "tool_use", "id": id, "name": "sh", "input": {}, "caller": caller} for id in "ab")
    done = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {"stdout": "2"}}
    found = groups(
        "anthropic",
        USER,
        {"role": "assistant", "content": [program, first]},
        results("a"),
        {"role": "assistant", "content": [second]},
        results("b"),
        {"role": "assistant", "content": [done, {"type": "text", "text": "So."}]},
        USER,
    )
    assert [group.items for group in found] == [(0,), (1, 2, 3, 4, 5), (6,)]
    assert not any(group.is_broken or group.is_open for group in found)


def test_a_call_of_a_finished_program_belongs_to_its_group() -> None:
    used = {"type": "tool_use", "id": "b", "caller": {"type": "code_execution_20260120", "tool_id": "s"}}
    begun = [{"type": "server_tool_use", "id": "s"}, {"type": "code_execution_tool_result", "tool_use_id": "s"}]
    found = members(
        "anthropic", USER, {"role": "assistant", "content": begun}, {"role": "assistant", "content": [used]}
    )
    assert found == [(0,), (1, 2)]


def test_a_paused_turn_of_server_tools_is_open_and_its_result_belongs_to_it() -> None:
    paused = {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search"}]}
    found = [{"type": "web_search_tool_result", "tool_use_id": "s", "content": []}]
    conversation = read_conversation([USER, paused])
    assert (conversation.format, conversation.groups[1].is_open) == ("anthropic", True)
    [_, turn, _] = groups("anthropic", USER, paused, {"role": "assistant", "content": found}, USER)
    assert (turn.items, turn.is_open, turn.is_broken) == ((1, 2), False, False)


APPROVAL = {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}


def test_the_approval_of_an_mcp_call_stays_with_its_request_and_reasoning() -> None:
    request = {"type": "mcp_approval_request", "id": "r", "name": "send", "arguments": "{}", "server_label": "mail"}
    made = {"type": "mcp_call", "id": "m", "approval_request_id": "r", "output": "sent"}
    assert members("responses", USER, THOUGHT, request, APPROVAL, made, USER) == [(0,), (1, 2, 3, 4), (5,)]
    assert members("responses", USER, THOUGHT, request, USER, APPROVAL, made, USER) == [(0,), (1, 2, 4, 5), (3,), (6,)]


def test_a_search_for_tools_stays_with_its_output_and_reasoning() -> None:
    for execution, ids in (("client", {"call_id": "a"}), ("server", {})):
        search = {"type": "tool_search_call", "execution": execution, "id": "ts_1", **ids}
        found = {"type": "tool_search_output", "execution": execution, "tools": [], **ids}
        grouped = members("responses", USER, THOUGHT, search, found, call("b", id="fc_1"), output("b"), USER)
        assert grouped == [(0,), (1, 2, 3, 4, 5), (6,)], execution


def test_a_program_of_responses_stays_with_its_calls_output_and_reasoning() -> None:
    program = {"type": "program", "id": "prog_1", "call_id": "p", "code": "…", "fingerprint": "f"}
    inner = call("a", caller={"type": "program", "caller_id": "p"})
    other = call("b", caller={"type": "program", "caller_id": "p"})
    done = {"type": "program_output", "id": "po_1", "call_id": "p", "result": "2", "status": "completed"}
    assert members("responses", USER, THOUGHT, program, inner, output("a"), other, output("b"), done, USER) == [
        (0,), (1, 2, 3, 4, 5, 6, 7), (8,),
    ]  # fmt: skip


def test_the_calls_of_gemini_are_answered_by_the_next_content() -> None:
    calls = {"role": "model", "parts": [{"functionCall": {"name": name}} for name in ("sh", "sh", "read")]}
    answers = [{"functionResponse": {"name": name, "response": {"output": "done"}}} for name in ("sh", "sh", "read")]
    found = groups("gemini", {"parts": [{"text": "hi"}]}, calls, {"role": "user", "parts": answers})
    assert [(group.items, group.is_broken) for group in found] == [((0,), False), ((1, 2), False)]
    assert [group.is_broken for group in groups("gemini", calls, {"role": "user", "parts": answers[:2]}, calls)] == [
        True,
        False,
    ]


def test_a_call_with_an_id_is_answered_by_id_or_by_name() -> None:
    calls = {"role": "model", "parts": [{"functionCall": {"id": id, "name": "sh"}} for id in ("1", "2")]}
    by_id = [{"functionResponse": {"id": id, "name": "sh"}} for id in ("2", "1")]
    by_name = [{"functionResponse": {"name": "sh"}}] * 2
    by_other_id = [{"functionResponse": {"id": id, "name": "sh"}} for id in ("1", "3")]
    for answers, is_broken in ((by_id, False), (by_name, False), (by_other_id, True)):
        found = groups("gemini", calls, {"role": "user", "parts": answers}, {"role": "user", "parts": [{"text": "?"}]})
        assert found[0].is_broken == is_broken
