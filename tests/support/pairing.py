"""Check that a conversation obeys the rules by which its provider pairs calls with results.

Sources:
- Chat Completions: https://platform.openai.com/docs/guides/function-calling ("An assistant message with 'tool_calls'
  must be followed by tool messages responding to each 'tool_call_id'"; "messages with role 'tool' must be a response
  to a preceding message with 'tool_calls'"). A message of an unknown role is passed over.
- Responses: https://platform.openai.com/docs/guides/function-calling and /guides/reasoning ("No tool output found for
  function call", "No tool call found for function call output", "was provided without its required 'reasoning' item").
- Messages: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use ("`tool_use` ids were found
  without `tool_result` blocks immediately after", "unexpected `tool_use_id` found in `tool_result` blocks", "`tool_use`
  ids must be unique"; tool results come before text).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Items = Sequence[Mapping[str, Any]]
CHAT_ROLES = {"system", "developer", "user", "assistant"}


def faults_of_chat(items: Items) -> list[str]:
    """Return why Chat Completions would refuse messages. The last calls may be open."""
    faults: list[str] = []
    expected: list[str] = []
    for number, item in enumerate(items):
        if item["role"] == "tool":
            if item["tool_call_id"] in expected:
                expected.remove(item["tool_call_id"])
            else:
                faults.append(f"{number}: result without a call")
            continue
        if item["role"] not in CHAT_ROLES:
            continue
        faults += [f"{number}: call {call} has no result" for call in expected]
        expected = [call["id"] for call in item.get("tool_calls") or ()]
    return faults


def faults_of_anthropic(items: Items) -> list[str]:
    """Return why the Messages API would refuse messages. The last calls may be open."""
    faults: list[str] = []
    seen: set[str] = set()
    expected: list[str] = []
    merged: list[tuple[str, list[Mapping[str, Any]]]] = []
    for item in items:  # consecutive messages of one role are one
        content = item["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if merged and merged[-1][0] == item["role"]:
            merged[-1][1].extend(blocks)
        else:
            merged.append((item["role"], list(blocks)))
    if merged and merged[0][0] != "user":
        faults.append("the first message is not the user's")
    for number, (role, blocks) in enumerate(merged):
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if role == "user":
            faults += [f"{number}: unexpected result {call}" for call in results if call not in expected]
            faults += [f"{number}: two results of a call" for _ in range(len(results) - len(set(results)))]
            is_last = number == len(merged) - 1
            faults += [f"{number}: no result of {call}" for call in expected if call not in results and not is_last]
            types = [block["type"] == "tool_result" for block in blocks]
            faults += [f"{number}: text before a result"] if types != sorted(types, reverse=True) else []
            expected = []
        else:
            expected = [block["id"] for block in blocks if block["type"] == "tool_use"]
            faults += [f"{number}: call id {call} is not unique" for call in expected if call in seen]
            faults += [f"{number}: call ids are not unique" for _ in range(len(expected) - len(set(expected)))]
            seen.update(expected)
    return faults


def faults_of_responses(items: Items) -> list[str]:
    """Return why the Responses API would refuse items. The last calls may be open.

    A call that came with a reasoning item, which the test conversations tell by `reasoning_id`, needs that item.
    """
    faults: list[str] = []
    open_calls: list[str] = []
    reasoning: set[str] = set()
    last_user = max((number for number, item in enumerate(items) if item.get("role") == "user"), default=-1)
    positions: dict[str, int] = {}
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "reasoning":
            reasoning.add(item["id"])
        elif kind == "function_call":
            open_calls.append(item["call_id"])
            positions[item["call_id"]] = number
            if item.get("reasoning_id") and item["reasoning_id"] not in reasoning:
                faults.append(f"{number}: call without its reasoning")
        elif kind == "function_call_output":
            if item["call_id"] in open_calls:
                open_calls.remove(item["call_id"])
            else:
                faults.append(f"{number}: result without a call")
    return faults + [f"no result of {call}" for call in open_calls if positions[call] < last_user]


CHECKERS = {"chat": faults_of_chat, "anthropic": faults_of_anthropic, "responses": faults_of_responses}
