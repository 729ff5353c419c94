"""`keyhole.compact`: arguments, counters, errors, objects of SDKs, the store, and very large conversations."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.formats.contents import plain
from keyhole.extensions.conversations.items import estimate_item
from tests.support.pairing import faults_of_chat
from tests.support.product import SECRET, retrieval

LOG = "".join(f"step {number} done\n" for number in range(400)) + "error: disk full\n"


def chat(turns: int, text: str = LOG) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Build"}]
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "make", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"run {number}\n{text}"})
    return messages


def count(items: Any) -> int:
    return sum(estimate_item(plain(item)) for item in items)


def same(items: list[Any], others: list[Any]) -> bool:
    """Return True if two lists have the same objects."""
    return list(map(id, items)) == list(map(id, others))


def test_a_conversation_that_fits_is_unchanged() -> None:
    messages = chat(5)
    done = keyhole.compact(messages, 100_000)
    assert same(done.items, messages)
    assert (done.report.stubs, done.report.dropped, done.report.shortened, done.report.ids) == ((), (), (), ())
    assert done.report.tokens_before == done.report.tokens_after == count(messages)
    assert done.report.format == "chat"


def test_the_call_in_a_stub_reads_the_result_and_takes_a_query() -> None:
    product = retrieval()
    store: Any = product.store
    done = keyhole.compact(chat(12), 20_000, store=store, secret=SECRET, target=0.6)
    [place, *_] = done.report.stubs
    stub = done.items[place[0] - len(done.report.dropped)]["content"]
    [id] = re.findall(r'read_artifact\(id="(\w+)", offset=0\)', stub)
    assert id in done.report.ids
    assert store.get(id).text.endswith(LOG)
    assert "step 217 done" in asyncio.run(product.read_artifact(id, query="step 217")).text


def test_a_result_with_escape_sequences_is_stored_and_shown_as_a_terminal_shows_it() -> None:
    product = retrieval()
    store: Any = product.store
    coloured = "\x1b[31mfailed\x1b[0m\n" * 800
    done = keyhole.compact(chat(6, coloured), 45_000, store=store, secret=SECRET, target=0.9)
    stub = next(item["content"] for item in done.items if "left out this result" in str(item["content"]))
    [id] = re.findall(r'read_artifact\(id="(\w+)"', stub)
    assert "\x1b" not in stub
    assert store.get(id).text.endswith("\n" + "failed\n" * 800)
    assert "\x1b" not in asyncio.run(product.read_artifact(id, offset=0)).text


def test_a_counter_that_counts_more_for_the_whole_is_obeyed() -> None:
    def counter(items: Any) -> int:
        return count(items) + 4_000 * (len(items) > 1)  # such as the tools of a request

    done = keyhole.compact(chat(12), 20_000, counter=counter)
    assert counter(done.items) == done.report.tokens_after <= 20_000


def test_a_counter_gets_the_items_as_they_were_given() -> None:
    items = [Message(role="user", content="hi"), Message(role="assistant", content="ho")]
    seen: list[Any] = []

    def counter(items: Any) -> int:
        seen.extend(items)
        return 10 * len(items)

    keyhole.compact(items, 1_000, counter=counter)
    assert all(isinstance(item, Message) for item in seen)


def test_what_must_be_kept_and_does_not_fit_is_an_error_with_a_budget_that_works() -> None:
    messages = [{"role": "system", "content": "Be brief. " * 3_000}, *chat(6)[1:]]
    with pytest.raises(KeyholeError) as refused:
        keyhole.compact(messages, 5_000)
    assert refused.value.code is Code.OVER_BUDGET
    least = int(refused.value.facts["least"])
    assert (refused.value.facts["budget"], refused.value.facts["tokens"]) == (5_000, least)
    assert least > 7_000
    assert "5,000" in refused.value.message
    assert f"a budget of {least:,} works" in refused.value.message
    assert count(keyhole.compact(messages, least).items) <= least


def test_the_error_names_the_items_that_were_not_understood() -> None:
    with pytest.raises(KeyholeError, match="not understood are kept: role critic"):
        keyhole.compact([*chat(2), {"role": "critic", "content": "no " * 9_000}], 2_000)


@given(
    texts=st.lists(st.integers(0, 900), min_size=1, max_size=6),
    system=st.integers(0, 400),
    prompt=st.integers(0, 400),
    keep_last=st.integers(0, 3),
    counts_more=st.booleans(),
)
def test_the_least_budget_of_the_error_works(
    texts: list[int], system: int, prompt: int, keep_last: int, *, counts_more: bool
) -> None:
    messages = chat(len(texts))
    for number, lines in enumerate(texts):
        messages[3 + 2 * number]["content"] = "step done, all is well\n" * lines
    messages[0]["content"] = "Be brief. " * system
    messages.insert(-2, {"role": "user", "content": "Go on. " * prompt})
    options: dict[str, Any] = {"counter": lambda items: count(items) + 900} if counts_more else {}
    with pytest.raises(KeyholeError) as refused:
        keyhole.compact(messages, 20, keep_last=keep_last, **options)
    least = int(refused.value.facts["least"])
    done = keyhole.compact(messages, least, keep_last=keep_last, **options)
    assert done.report.tokens_after <= least


@pytest.mark.parametrize(
    "options",
    [{"budget": 0}, {"keep_last": -1}, {"target": 0}, {"target": 1.1}, {"trigger": 0}, {"format": "telegrams"}],
)
def test_wrong_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(KeyholeError) as refused:
        keyhole.compact(chat(1), **{"budget": 1_000, **options})
    assert refused.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize("item", ["hi", 3, None, ["a"], object(), BaseModel])
def test_items_that_have_no_fields_are_refused(item: object) -> None:
    with pytest.raises(KeyholeError, match="items must be the messages or items of a conversation") as refused:
        keyhole.compact([item], 1_000)
    assert refused.value.code is Code.INVALID_ARGUMENT


def test_the_form_of_langchain_that_is_made_for_storage_is_refused_with_its_type() -> None:
    stored = [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": {"content": "hi"}}
        for name in ("HumanMessage", "AIMessage")
    ]
    with pytest.raises(KeyholeError, match="constructor") as refused:
        keyhole.compact(stored, 1_000)
    assert refused.value.code is Code.INVALID_ARGUMENT


def test_below_the_budget_history_is_compacted_above_the_trigger() -> None:
    messages = chat(8)
    budget = count(messages) + 1_000
    assert keyhole.compact(messages, budget).items == messages
    assert count(keyhole.compact(messages, budget, trigger=0.8).items) <= 0.8 * budget
    spared_too_little = keyhole.compact(messages, budget, trigger=0.8, clear_at_least=budget)
    assert spared_too_little.items == messages


def test_an_item_of_ten_megabytes_becomes_a_stub() -> None:
    messages = chat(6)
    messages[3] = {**messages[3], "content": "x" * 10_000_000}
    done = keyhole.compact(messages, 30_000, target=0.6)
    assert "10,000,000 characters" in done.items[3]["content"]
    assert done.report.stubs == ((3, None),)


def test_ten_thousand_items_are_compacted() -> None:
    messages = chat(5_000, LOG[:500])
    done = keyhole.compact(messages, 50_000)
    assert count(done.items) <= 50_000
    assert faults_of_chat(done.items) == []
    assert done.report.left_out.messages == len(messages) - len(done.items)
    assert keyhole.compact(done.items, 50_000).items == done.items


# Large last results.


@pytest.mark.parametrize("keep_last", [0, 1, 3])
def test_one_large_last_result_is_shortened_by_the_last_prompt_and_names_its_recovery(keep_last: int) -> None:
    lines = [f"step {number} done" for number in range(9_000)]
    lines[4_321] = "the gasket of the pump was renewed"
    messages = chat(1)
    messages[1] = {"role": "user", "content": "When was the gasket renewed?"}
    messages[3]["content"] = "\n".join(lines)
    product = retrieval()
    store: Any = product.store
    done = keyhole.compact(messages, 3_000, store=store, secret=SECRET, keep_last=keep_last)
    assert (done.report.shortened, done.report.stubs, done.report.dropped) == (((3, None),), (), ())
    assert done.report.tokens_after <= 3_000
    shown = done.items[3]["content"]
    assert "the gasket of the pump was renewed" in shown
    [id] = re.findall(r'read_artifact\(id="(\w+)", offset=0\) reads all of it', shown)
    assert store.get(id).text == "\n".join(lines)
    assert same(done.items[:3], messages[:3])


def test_without_a_store_a_large_last_result_is_shortened_and_says_that_it_is_not_stored() -> None:
    done = keyhole.compact(chat(1, LOG * 9), 3_000)
    assert done.report.shortened == ((3, None),)
    assert done.items[3]["content"].endswith("\n[Keyhole shortened this result. It is not stored.]")


# Objects of SDKs.


class Block(BaseModel):
    type: str
    model_config = ConfigDict(extra="allow")


class Message(BaseModel):
    role: str
    content: Any


def block(**fields: Any) -> Block:
    return Block.model_validate(fields)


def anthropic_objects(results: str = LOG) -> list[Any]:
    """Return eleven messages of Anthropic's API, whose assistant messages hold objects."""
    items: list[Any] = [{"role": "user", "content": "Build it."}]
    for number in range(5):
        content = [
            block(type="thinking", thinking="hm", signature="s"),
            block(type="tool_use", id=f"t{number}", name="sh", input={}, caller=None),
        ]
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"run {number}\n{results}"}
        items += [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return items


def test_blocks_that_are_objects_are_understood_and_stay_the_same_objects() -> None:
    items = anthropic_objects()
    done = keyhole.compact(items, 1_000_000)
    assert len(items) == 11
    assert same(done.items, items)
    assert (done.report.format, done.report.unknown) == ("anthropic", ())
    short = keyhole.compact(items, 6_000)
    assert all(
        isinstance(each, Block) for item in short.items if item["role"] == "assistant" for each in item["content"]
    )
    assert any(item is other for item in short.items for other in items)


@dataclass
class Function:
    name: str
    arguments: str


@dataclass
class ToolCall:
    id: str
    function: Function
    type: str = "function"


def test_chat_messages_that_hold_objects_for_calls_are_understood() -> None:
    messages = chat(6)
    for number in range(6):
        messages[2 + 2 * number]["tool_calls"] = [ToolCall(f"c{number}", Function("make", "{}"))]
    done = keyhole.compact(messages, 1_000_000)
    assert same(done.items, messages)
    assert (done.report.format, done.report.unknown, done.report.dropped) == ("chat", (), ())
    short = keyhole.compact(messages, 8_000)
    assert faults_of_chat(plain(short.items)) == []
    assert short.report.tokens_after <= 8_000


def test_messages_that_are_objects_stay_objects() -> None:
    items = [
        Message(role="user", content="Build it. " * 40),
        *(Message(role="assistant", content=LOG) for _ in range(4)),
    ]
    items.append(Message(role="user", content="And now?"))
    done = keyhole.compact(items, 6_000)
    assert done.report.dropped
    assert all(isinstance(item, Message) for item in done.items)
    assert "[Keyhole left out" in done.items[0].content


# Other formats.


@pytest.mark.parametrize("names", [("functionCall", "functionResponse"), ("function_call", "function_response")])
def test_ten_calls_and_responses_of_gemini_stay(names: tuple[str, str]) -> None:
    items: list[Any] = [{"role": "user", "parts": [{"text": "Build it."}]}]
    for number in range(10):
        items.append({"role": "model", "parts": [{names[0]: {"name": "sh", "args": {"number": number}}}]})
        items.append({"role": "user", "parts": [{names[1]: {"name": "sh", "response": {"output": LOG}}}]})
    done = keyhole.compact(items, 1_000_000)
    assert same(done.items, items)
    assert (done.report.format, done.report.unknown) == ("gemini", ())
    short = keyhole.compact(items, 10_000)
    assert short.report.tokens_after <= 10_000
    assert [names[0] in item["parts"][0] for item in short.items].count(True) == sum(
        names[1] in item["parts"][0] for item in short.items
    )


def test_a_dump_of_pydantic_ai_is_understood() -> None:
    items: list[Any] = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Build it."}]}]
    for number in range(5):
        call: dict[str, Any] = {
            "part_kind": "tool-call",
            "tool_name": "sh",
            "args": {},
            "tool_call_id": f"c{number}",
            "id": None,
        }
        result = {"part_kind": "tool-return", "tool_name": "sh", "content": LOG, "tool_call_id": f"c{number}"}
        items += [{"kind": "response", "parts": [call], "usage": {}}, {"kind": "request", "parts": [result]}]
    done = keyhole.compact(items, 1_000_000)
    assert same(done.items, items)
    assert (done.report.format, done.report.unknown) == ("pydantic-ai", ())
    short = keyhole.compact(items, 8_000)
    assert short.report.tokens_after <= 8_000
    assert short.report.stubs or short.report.dropped


# Items that are not understood.


@pytest.mark.parametrize(
    ("unknown", "name"),
    [
        ({"role": "critic", "content": "no"}, "role critic"),
        ({"role": "user", "content": [{"type": "hologram"}]}, "block hologram"),
        ({"type": "hologram", "data": 3}, "type hologram"),
    ],
)
def test_items_that_are_not_understood_are_kept_and_named_and_nothing_is_broken(
    unknown: dict[str, Any], name: str
) -> None:
    stray = {"role": "tool", "tool_call_id": "gone", "content": "done"}
    messages = [*chat(2), unknown, stray, *chat(2)[2:]]
    done = keyhole.compact(messages, 1_000_000)
    assert same(done.items, messages)
    assert done.report.unknown == ((6, name),)
    short = keyhole.compact(messages, 4_500)
    assert any(item is unknown for item in short.items)
    assert short.report.unknown == ((6, name),)


def test_an_unknown_block_of_anthropic_keeps_its_message_and_the_answer_to_it() -> None:
    items = anthropic_objects()
    items[1]["content"].append(block(type="hologram", data=3))
    done = keyhole.compact(items, 6_000)
    assert done.report.unknown == ((1, "block hologram"),)
    assert any(item is items[1] for item in done.items)
    assert any(item is items[2] or "t0" in json.dumps(plain(item)) for item in done.items)


def test_a_text_of_the_user_that_looks_like_a_notice_is_kept() -> None:
    forms = "[Keyhole left out {} messages with 1 tool call here: 9,999 characters, about 10 tokens.]"
    for text in (forms.format(",,,"), forms.format("9" * 5_000)):
        messages = chat(8)
        messages[1] = {"role": "user", "content": text}
        done = keyhole.compact(messages, 12_000)
        assert done.items[1]["content"].startswith(text)
        assert keyhole.compact(messages, 1_000_000).items[1] is messages[1]
