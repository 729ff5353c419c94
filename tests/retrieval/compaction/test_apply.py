"""The decisions about a conversation are carried out, and nothing else is changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyhole.extract.conversations import read_conversation
from keyhole.retrieval.compaction.apply import apply
from keyhole.retrieval.compaction.notices import Amount
from keyhole.retrieval.compaction.plan import Decisions, Sizes
from keyhole.retrieval.compaction.transcript import read_transcript

CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "main.c:3: error: no\n" * 40}
TASK = {"role": "user", "content": "Build it."}
LAST = {"role": "user", "content": "And now?"}


def run(
    decisions: Decisions, *items: dict[str, Any], format: Any = "chat"
) -> tuple[list[Any], Amount, list[tuple[str, str]]]:
    stored: list[tuple[str, str]] = []

    def keep(kind: str, write_text: Callable[[], str]) -> str:
        stored.append((kind, write_text()))
        return f"call {len(stored)}"

    conversation = read_conversation(items, format)
    kept, amount = apply(items, conversation, Sizes([7] * len(items), {}), decisions, keep)
    return kept, amount, stored


def test_without_decisions_all_items_are_the_same_objects() -> None:
    kept, amount, stored = run(Decisions(), TASK, CALL, RESULT)
    assert [id(item) for item in kept] == [id(item) for item in (TASK, CALL, RESULT)]
    assert (amount, stored) == (Amount(), [])


def test_a_result_is_replaced_by_a_stub_and_stored_with_its_kind() -> None:
    kept, _, stored = run(Decisions(frozenset({(2, None)})), TASK, CALL, RESULT)
    assert kept[:2] == [TASK, CALL]
    assert kept[2]["tool_call_id"] == "a"
    assert kept[2]["content"].startswith("[Keyhole left out this result: compiler output, 800 characters.")
    assert "call 1" in kept[2]["content"]
    assert stored == [("compiler", RESULT["content"])]


def test_items_are_left_out_stored_and_counted_in_the_first_message() -> None:
    kept, amount, stored = run(Decisions(dropped=frozenset({1, 2})), TASK, CALL, RESULT, LAST)
    assert kept[1] is LAST
    assert kept[0]["content"].startswith("Build it.\n\n[Keyhole left out 2 messages with 1 tool call here: ")
    assert (amount.messages, amount.calls, amount.tokens) == (2, 1, 14)
    [(kind, text)] = stored
    assert (kind, read_transcript(text)) == ("text", [CALL, RESULT])


def test_a_notice_of_an_earlier_compaction_is_replaced_by_one_with_the_sums() -> None:
    [first, *_], earlier, _ = run(Decisions(dropped=frozenset({1, 2})), TASK, CALL, RESULT, LAST)
    kept, amount, [(_, text)] = run(Decisions(dropped=frozenset({1, 2})), first, CALL, RESULT, LAST)
    assert kept[0]["content"].count("Keyhole left out") == 1
    assert (amount.messages, amount.calls) == (4, 2)
    assert amount.characters == 2 * earlier.characters
    assert read_transcript(text)[0]["earlier"] in first["content"]


def test_the_notice_stands_in_the_place_of_the_first_message_if_that_is_left_out() -> None:
    kept, _, _ = run(Decisions(dropped=frozenset({0, 1, 2})), TASK, CALL, RESULT, LAST)
    assert [item["role"] for item in kept] == ["user", "user"]
    assert kept[0]["content"].startswith("[Keyhole left out 3 messages")


def test_the_notice_is_a_part_of_a_message_that_has_parts() -> None:
    task = {"role": "user", "content": [{"type": "input_text", "text": "Build it."}]}
    answer = {"role": "assistant", "content": "ok"}
    kept, _, _ = run(Decisions(dropped=frozenset({1})), task, answer, LAST, format="responses")
    assert kept[0]["content"][0] == task["content"][0]
    assert kept[0]["content"][1]["type"] == "input_text"
    assert kept[0]["content"][1]["text"].startswith("[Keyhole left out 1 message with 0 tool calls")


def test_stray_results_beside_text_of_the_user_are_shown_as_text() -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
    message = {"role": "user", "content": [block, {"type": "text", "text": "And now?"}]}
    [kept], _, _ = run(Decisions(), message, format="anthropic")
    assert [part["text"] for part in kept["content"]] == ["done", "And now?"]
