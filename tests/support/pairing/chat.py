"""The rules of OpenAI's Chat Completions. Messages of unknown roles are passed over, and the last calls may be open."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.pairing.rules import Item, Items, Rule

_CALLS = "https://developers.openai.com/api/docs/guides/function-calling"
_REFERENCE = "https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create"
_ROLES = {"system", "developer", "user", "assistant"}
_RESULTS = {"tool", "function"}


def calls_of(item: Item) -> list[str]:
    """Return the names by which results name the calls of a message: ids, or the name of a `function_call`."""
    calls = [f"tool {call.get('id') or ''}" for call in item.get("tool_calls") or ()]
    function = item.get("function_call")
    return [*calls, *([f"function {function.get('name')}"] if function else [])]


def call_of(item: Item) -> str:
    """Return the name by which a result names its call."""
    return f"function {item.get('name')}" if item["role"] == "function" else f"tool {item.get('tool_call_id') or ''}"


def _pairs(items: Items) -> Iterator[tuple[str, str]]:
    """Yield a fault and the rule that it breaks: "open" for a call without a result, "stray" for the opposite."""
    expected: list[str] = []
    for item in items:
        role = item.get("role")
        if role in _RESULTS:
            call = call_of(item)
            if call in expected:
                expected.remove(call)
            else:
                yield "stray", call
        elif role in _ROLES:
            yield from (("open", call) for call in expected)
            expected = calls_of(item)


def calls_without_results(items: Items) -> Iterator[str]:
    """Yield the calls whose results are not right after their message."""
    return (call for fault, call in _pairs(items) if fault == "open")


def results_without_calls(items: Items) -> Iterator[str]:
    """Yield the results that do not follow the message with their call."""
    return (call for fault, call in _pairs(items) if fault == "stray")


def empty_calls(items: Items) -> Iterator[str]:
    """Yield messages whose list of calls is empty."""
    return ("tool_calls" for item in items if item.get("tool_calls") == [])


RULES = (
    Rule("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
         _CALLS, calls_without_results, is_repaired=True),
    Rule("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
         _CALLS, results_without_calls, is_repaired=True),
    Rule("[] is too short - 'messages.tool_calls'", _REFERENCE, empty_calls),
)  # fmt: skip
