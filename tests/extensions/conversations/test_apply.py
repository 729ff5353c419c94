"""The decisions about a conversation are carried out, and nothing else is changed."""

from __future__ import annotations

from typing import Any

from keyhole.extensions.conversations.apply import ConversationViews, apply
from keyhole.extensions.conversations.formats import read_conversation
from keyhole.extensions.conversations.formats.contents import plain
from keyhole.extensions.conversations.notices import Amount, split_notice
from keyhole.extensions.conversations.plan import Decisions, Sizes
from keyhole.extensions.conversations.transcript import Keeper, read_left_out
from keyhole.store.sqlite.store import MemoryStore
from keyhole.text.output_facts import output_url

CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "main.c:3: error: no\n" * 40}
TASK = {"role": "user", "content": "Build it."}
LAST = {"role": "user", "content": "And now?"}


def run(
    decisions: Decisions, *items: Any, format: Any = "chat", store: MemoryStore | None = None
) -> tuple[list[Any], Amount, list[tuple[str, str]]]:
    """Return the items, the amount, and the addresses and texts that were stored."""
    store = store or MemoryStore(lambda: 0.0)
    keeper = Keeper(store, b"s", 0.0)
    views = [plain(item) for item in items]
    history = ConversationViews(items, views, read_conversation(views, format))
    applied = apply(history, Sizes([7] * len(items), {}), decisions, keeper)
    return applied.items, applied.left_out, [(artifact.url, artifact.text) for artifact in map(store.get, keeper.ids)]


def test_without_decisions_all_items_are_the_same_objects() -> None:
    kept, amount, stored = run(Decisions(), TASK, CALL, RESULT)
    assert [id(item) for item in kept] == [id(item) for item in (TASK, CALL, RESULT)]
    assert (amount, stored) == (Amount(), [])


def test_a_result_is_replaced_by_a_stub_and_stored_with_its_kind() -> None:
    kept, _, stored = run(Decisions(frozenset({(2, None)})), TASK, CALL, RESULT)
    assert (kept[0] is TASK, kept[1] is CALL, kept[2]["tool_call_id"]) == (True, True, "a")
    assert kept[2]["content"].startswith("[Keyhole left out this result: compiler output, 800 characters.")
    assert "read_artifact(" in kept[2]["content"]
    assert stored == [(output_url("compiler"), RESULT["content"])]


def test_a_result_of_two_streams_is_replaced_by_a_stub_and_stored_whole() -> None:
    outcome = {"type": "exit", "exit_code": 1}
    streams = [{"stdout": "one\n" * 90, "stderr": "two\n" * 90, "outcome": outcome}]
    call = {"type": "shell_call", "call_id": "a", "action": {"commands": ["make"]}}
    result = {"type": "shell_call_output", "call_id": "a", "output": streams}
    kept, _, stored = run(Decisions(frozenset({(2, None)})), TASK, call, result, format="responses")
    [shown] = kept[2]["output"]
    assert (shown["stderr"], shown["outcome"]) == ("", outcome)
    assert shown["stdout"].startswith("[Keyhole left out this result: ")
    assert "Original: " in shown["stdout"]
    assert "one\n" * 90 in stored[1][1]
    assert "two\n" * 90 in stored[1][1]


def test_a_shortened_result_answers_the_last_message_of_the_user_and_names_the_call_that_reads_it() -> None:
    lines = [f"step {number} done" for number in range(2_000)]
    lines[1_234] = "the gasket of the pump was renewed"
    prompt = {"role": "user", "content": "When was the gasket renewed?"}
    items = (TASK, prompt, CALL, {**RESULT, "content": "\n".join(lines)})
    kept, _, stored = run(Decisions(shortened={(3, None): 500}), *items)
    assert "the gasket of the pump was renewed" in kept[3]["content"]
    assert len(kept[3]["content"]) < 2_000
    assert "[Keyhole shortened this result. read_artifact(" in kept[3]["content"]
    assert stored[0][1] == "\n".join(lines)


def test_items_are_left_out_stored_and_counted_in_the_first_message() -> None:
    kept, amount, stored = run(Decisions(dropped=frozenset({1, 2})), TASK, CALL, RESULT, LAST)
    assert kept[1] is LAST
    assert kept[0]["content"].startswith("Build it.\n\n[Keyhole left out 2 messages with 1 tool call here: ")
    assert (amount.messages, amount.calls, amount.tokens) == (2, 1, 14)
    assert split_notice(kept[0]["content"]).amount == amount
    [(address, text)] = stored
    left_out = read_left_out(text)
    assert left_out is not None
    assert (address, left_out[0], left_out[1].left_out) == (output_url("text"), [CALL, RESULT], (1, 2))


def test_a_notice_of_an_earlier_compaction_is_replaced_by_one_with_the_sums() -> None:
    store = MemoryStore(lambda: 0.0)
    [first, *_], earlier, _ = run(Decisions(dropped=frozenset({1, 2})), TASK, CALL, RESULT, LAST, store=store)
    kept, amount, [(_, text)] = run(Decisions(dropped=frozenset({1, 2})), first, CALL, RESULT, LAST, store=store)
    assert kept[0]["content"].count("Keyhole left out") == 1
    assert (amount.messages, amount.calls) == (4, 2)
    assert amount.characters == 2 * earlier.characters
    left_out = read_left_out(text)
    assert left_out is not None
    assert f"Build it.\n\n{left_out[1].earlier}" == first["content"]


def test_a_text_of_the_user_that_ends_like_a_notice_is_kept() -> None:
    quoted = "What is this?\n\n[Keyhole left out 2 messages with 1 tool call here: 9,999 characters, about 10 tokens.]"
    kept, amount, _ = run(Decisions(dropped=frozenset({1, 2})), {"role": "user", "content": quoted}, CALL, RESULT, LAST)
    assert kept[0]["content"].startswith(f"{quoted}\n\n[Keyhole left out 2 messages")
    assert amount.messages == 2


def test_the_notice_stands_in_the_place_of_the_first_message_if_that_is_left_out() -> None:
    kept, _, _ = run(Decisions(dropped=frozenset({0, 1, 2})), TASK, CALL, RESULT, LAST)
    assert [item["role"] for item in kept] == ["user", "user"]
    assert kept[0]["content"].startswith("[Keyhole left out 3 messages")


def test_the_notice_is_a_part_of_a_message_that_has_parts() -> None:
    task = {"role": "user", "content": [{"type": "input_text", "text": "Build it."}]}
    answer = {"role": "assistant", "content": "ok"}
    kept, _, _ = run(Decisions(dropped=frozenset({1})), task, answer, LAST, format="responses")
    assert kept[0]["content"][0] is task["content"][0]
    assert kept[0]["content"][1]["type"] == "input_text"
    assert kept[0]["content"][1]["text"].startswith("[Keyhole left out 1 message with 0 tool calls")


def test_the_notice_is_a_part_of_the_form_of_each_format() -> None:
    task = {"role": "user", "parts": [{"text": "Build it."}]}
    answer = {"role": "model", "parts": [{"text": "ok"}]}
    [kept, *_], _, _ = run(Decisions(dropped=frozenset({1})), task, answer, task, format="gemini")
    assert kept["parts"][1].keys() == {"text"}
    prompt = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ["Build it."]}]}
    answer = {"kind": "response", "parts": [{"part_kind": "text", "content": "ok"}]}
    [kept, *_], _, _ = run(Decisions(dropped=frozenset({1})), prompt, answer, prompt, format="pydantic-ai")
    assert kept["parts"][0]["content"][1].startswith("[Keyhole left out 1 message")


def test_a_text_of_the_user_that_looks_like_a_notice_is_kept() -> None:
    digits = "9" * 5_000
    for text in (
        "[Keyhole left out ,,, messages with 1 tool call here: 9,999 characters, about 10 tokens.]",
        f"[Keyhole left out {digits} messages with 1 tool call here: 9,999 characters, about 10 tokens.]",
        "[Keyhole left out 2 messages with 1 tool call here: 9,999 characters, about 10 tokens.] Is that so?",
    ):
        kept, amount, _ = run(
            Decisions(dropped=frozenset({1, 2})), {"role": "user", "content": text}, CALL, RESULT, LAST
        )
        assert kept[0]["content"].startswith(f"{text}\n\n[Keyhole left out 2 messages")
        assert amount.messages == 2


def test_stray_results_beside_text_of_the_user_are_shown_as_text() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo"}}
    texts = [{"type": "text", "text": text} for text in ("two", "three")]
    message = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "one"},
            {"type": "tool_result", "tool_use_id": "b", "content": [*texts, image]},
            {"type": "tool_result", "tool_use_id": "c", "content": ""},
            {"type": "text", "text": "And now?"},
        ],
    }
    [kept], amount, [(_, stored)] = run(Decisions(), message, format="anthropic")
    said = [{"type": "text", "text": text} for text in ("one", "two\nthree")]
    notice = kept["content"].pop()
    assert kept["content"] == [*said, image, {"type": "text", "text": "And now?"}]
    assert split_notice(notice["text"]).amount == amount
    left_out = read_left_out(stored)
    assert left_out is not None
    assert (left_out[0], left_out[1].replaced) == ([message], (0,))


def test_a_stray_result_is_shown_as_a_part_of_the_form_of_each_format() -> None:
    returned = {"part_kind": "tool-return", "tool_name": "sh", "tool_call_id": "a", "content": "done"}
    prompt = {"part_kind": "user-prompt", "content": "And now?"}
    [kept], _, _ = run(Decisions(), {"kind": "request", "parts": [returned, prompt]}, format="pydantic-ai")
    assert kept["parts"][0] == {"part_kind": "user-prompt", "content": "done"}
    assert kept["parts"][1]["content"].startswith("And now?\n\n[Keyhole left out 1 message")
    response = {"functionResponse": {"name": "sh", "response": {"output": "done"}}}
    [kept], _, _ = run(Decisions(), {"role": "user", "parts": [response, {"text": "And now?"}]}, format="gemini")
    assert kept["parts"][:2] == [{"text": "done"}, {"text": "And now?"}]
