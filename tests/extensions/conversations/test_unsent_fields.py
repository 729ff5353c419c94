"""Fields of messages that the program keeps, and that no provider gets, take no tokens."""

from __future__ import annotations

from typing import Any

import pytest

import keyhole

LARGE = {"rows": "x y " * 100_000, ("one", 2): [1, {3: 4}]}


def langchain(extra: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"type": "human", "content": "Build it."}]
    for number in range(4):
        call = {"name": "make", "args": {"artifact": "main"}, "id": f"c{number}", "type": "tool_call"}
        items.append({"type": "ai", "content": "", "tool_calls": [call]})
        fields = {name: extra["large"] for name in ("artifact", "response_metadata") if extra}
        items.append({"type": "tool", "content": "done\n" * 900, "tool_call_id": f"c{number}", **fields})
    return items


def pydantic_ai(extra: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Build it."}], "metadata": extra}
    ]
    for number in range(4):
        call = {"part_kind": "tool-call", "tool_name": "make", "args": "{}", "tool_call_id": f"c{number}"}
        items.append({"kind": "response", "parts": [call], "metadata": extra})
        result = {"part_kind": "tool-return", "tool_name": "make", "content": "done\n" * 900, "metadata": extra}
        items.append({"kind": "request", "parts": [{**result, "tool_call_id": f"c{number}"}]})
    return items


@pytest.mark.parametrize("make", [langchain, pydantic_ai])
def test_a_field_that_is_not_sent_takes_no_tokens(make: Any) -> None:
    items = make({"large": LARGE})
    whole = keyhole.compact(items, 20_000)
    assert [id(item) for item in whole.items] == [id(item) for item in items]
    assert whole.report.tokens_before == keyhole.compact(make({}), 20_000).report.tokens_before < 10_000
    assert keyhole.compact(items, 4_000).report.tokens_after <= 4_000
