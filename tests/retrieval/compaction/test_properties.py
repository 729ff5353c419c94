"""Properties of `keyhole.compact` over generated conversations, valid and invalid, in all formats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import keyhole
from keyhole.budget.items import estimate_item
from keyhole.errors import Code, KeyholeError
from keyhole.store.memory import MemoryStore
from tests.support.pairing import CHECKERS

Item = dict[str, Any]
TEXTS = st.one_of(
    st.just(""),
    st.text(max_size=40),
    st.integers(1, 400).map(lambda n: "E   assert left == right\n" * n),
)
IDS = st.integers(0, 6).map(lambda number: f"call_{number}")
"""Few ids, so that some are used twice."""


@st.composite
def turns(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """Return the events of a conversation in no format: texts, and parallel calls with results, some of them missing."""
    events: list[tuple[str, Any]] = [("user", draw(TEXTS))]
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["calls", "calls", "calls", "user", "model", "system", "orphan"]))
        if kind == "calls":
            unique = draw(st.booleans())
            count = draw(st.integers(1, 3))
            ids = [f"call_{number}_{each}" if unique else draw(IDS) for each in range(count)]
            answered = draw(st.sampled_from([ids, ids, ids, ids[:-1], ids[::-1]]))
            events.append(("calls", (ids, [(each, draw(TEXTS)) for each in answered], draw(st.booleans()))))
        else:
            events.append((kind, (draw(IDS), draw(TEXTS)) if kind == "orphan" else draw(TEXTS)))
    return events


def to_chat(events: list[tuple[str, Any]]) -> list[Item]:
    items: list[Item] = [{"role": "system", "content": "You are an agent."}]
    for kind, value in events:
        if kind == "calls":
            calls = [{"id": id, "type": "function", "function": {"name": "sh", "arguments": "{}"}} for id in value[0]]
            items.append({"role": "assistant", "content": None, "tool_calls": calls})
            items += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in value[1]]
        elif kind == "orphan":
            items.append({"role": "tool", "tool_call_id": value[0], "content": value[1]})
        else:
            items.append({"role": "assistant" if kind == "model" else kind, "content": value})
    return items


def to_anthropic(events: list[tuple[str, Any]]) -> list[Item]:
    items: list[Item] = []
    for kind, value in events:
        if kind == "calls":
            calls = [{"type": "tool_use", "id": id, "name": "sh", "input": {}} for id in value[0]]
            items.append({"role": "assistant", "content": [{"type": "text", "text": "I run it."}, *calls]})
            results = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in value[1]]
            if results:
                note = [{"type": "text", "text": "a reminder"}] if value[2] else []
                items.append({"role": "user", "content": [*results, *note]})
        elif kind == "orphan":
            block = {"type": "tool_result", "tool_use_id": value[0], "content": value[1]}
            items.append({"role": "user", "content": [block]})
        elif kind != "system":
            items.append({"role": "assistant" if kind == "model" else "user", "content": value})
    return items


def to_responses(events: list[tuple[str, Any]]) -> list[Item]:
    items: list[Item] = [{"role": "developer", "content": "You are an agent."}]
    for number, (kind, value) in enumerate(events):
        if kind == "calls":
            reasoning = f"rs_{number}" if value[2] else ""
            if reasoning:
                items.append({"type": "reasoning", "id": reasoning, "summary": [], "encrypted_content": "x" * 400})
            for id in value[0]:
                call = {"type": "function_call", "call_id": id, "name": "sh", "arguments": "{}"}
                items.append({**call, **({"reasoning_id": reasoning} if reasoning else {})})
            items += [{"type": "function_call_output", "call_id": id, "output": text} for id, text in value[1]]
        elif kind == "orphan":
            items.append({"type": "function_call_output", "call_id": value[0], "output": value[1]})
        else:
            role = "assistant" if kind == "model" else kind
            items.append({"type": "message", "role": role, "content": [{"type": "input_text", "text": value}]})
    return items


FORMATS = {"chat": to_chat, "anthropic": to_anthropic, "responses": to_responses}


def count(items: list[Any]) -> int:
    return sum(map(estimate_item, items))


def compact_or_none(items: list[Item], budget: int, format: str, **options: Any) -> keyhole.Compacted | None:
    try:
        return keyhole.compact(items, budget, format=format, **options)  # type: ignore[arg-type]
    except KeyholeError as error:
        assert error.code == Code.OVER_BUDGET
        assert error.facts["budget"] == budget
        assert int(error.facts["tokens"]) > budget
        return None


@pytest.mark.parametrize("format", FORMATS)
@given(events=turns(), budget=st.integers(300, 20_000), keep_last=st.integers(0, 3))
def test_a_compacted_conversation_fits_and_obeys_the_rules_of_its_provider(
    format: str, events: list[tuple[str, Any]], budget: int, keep_last: int
) -> None:
    items = FORMATS[format](events)
    done = compact_or_none(items, budget, format, keep_last=keep_last)
    if done is None:
        return
    assert count(done.items) <= budget
    assert done.report.tokens_after == count(done.items)
    assert CHECKERS[format](done.items) == []


@pytest.mark.parametrize("format", FORMATS)
@given(events=turns(), budget=st.integers(300, 20_000))
def test_compacting_twice_changes_nothing(format: str, events: list[tuple[str, Any]], budget: int) -> None:
    done = compact_or_none(FORMATS[format](events), budget, format)
    if done is not None:
        assert keyhole.compact(done.items, budget, format=format).items == done.items  # type: ignore[arg-type]


@pytest.mark.parametrize("format", FORMATS)
@given(events=turns(), budget=st.integers(300, 20_000))
def test_messages_of_the_system_and_the_last_of_the_user_are_kept_in_order(
    format: str, events: list[tuple[str, Any]], budget: int
) -> None:
    items = FORMATS[format](events)
    done = compact_or_none(items, budget, format)
    if done is None:
        return
    system = [item for item in items if item.get("role") in ("system", "developer")]
    assert [item for item in done.items if item.get("role") in ("system", "developer")] == system
    kept = [item for item in items if any(item is each for each in done.items)]
    assert [item for item in done.items if any(item is each for each in items)] == kept


@pytest.mark.parametrize("format", FORMATS)
@given(events=turns(), budget=st.integers(300, 5_000))
def test_every_result_is_in_the_conversation_or_in_the_store(
    format: str, events: list[tuple[str, Any]], budget: int
) -> None:
    store = MemoryStore(lambda: 0.0)
    done = compact_or_none(FORMATS[format](events), budget, format, store=store, secret=b"s")
    if done is None:
        return
    stored = [store.get(id) for id in done.report.ids]
    items = [*done.items]
    for artifact in stored:
        items += map(json.loads, artifact.text.split("\n")) if artifact.url == "output:jsonl" else [artifact.text]
    found = set(strings(items))
    assert found >= {text for kind, value in events if kind == "calls" for _, text in value[1]}


def strings(value: Any) -> Iterator[str]:
    """Yield all texts in a value."""
    if isinstance(value, str):
        yield value
    else:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from strings(each)
