"""The rules of Gemini's contents, in camelCase and snake_case. Parts of unknown types are passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.pairing.rules import Item, Items, Rule, is_signed

_CALLS = "https://ai.google.dev/gemini-api/docs/function-calling"
_SIGNATURES = "https://ai.google.dev/gemini-api/docs/thought-signatures"
_CODE = "https://ai.google.dev/gemini-api/docs/code-execution"
_TOOLS = "https://ai.google.dev/gemini-api/docs/tool-combination"


def camel(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part with its fields in camelCase."""
    return {re.sub(r"_(\w)", lambda found: found[1].upper(), name): value for name, value in part.items()}


def parts_of(item: Item) -> list[dict[str, Any]]:
    """Return the parts of a content, with fields in camelCase."""
    return [camel(part) for part in item.get("parts") or () if isinstance(part, Mapping)]


def contents(items: Items) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the role and the parts of the contents with known roles."""
    roles = {"user": "user", "function": "user", "": "user", "model": "model"}
    known = ((roles.get(str(item.get("role") or "")), parts_of(item)) for item in items)
    return [(role, parts) for role, parts in known if role]


def _fields(parts: list[dict[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [part[name] for part in parts if part.get(name)]


def _matches(calls: list[Mapping[str, Any]], responses: list[Mapping[str, Any]]) -> bool:
    """Return True if each response names its call: by id if both have ids, by name in order otherwise."""
    left = list(calls)
    for response in responses:
        same = (c for c in left if c.get("id") and c.get("id") == response.get("id"))
        named = (c for c in left if c.get("name") == response.get("name") and not (c.get("id") and response.get("id")))
        call = next(same, next(named, None))
        if call is None:
            return False
        left.remove(call)
    return not left


def starts_with_the_user(items: Items) -> Iterator[str]:
    """Yield a fault if the first content is not the user's."""
    yield from (role for role, _ in contents(items)[:1] if role != "user")


def unequal_numbers(items: Items) -> Iterator[str]:
    """Yield the calls whose responses are not in the next content. The last calls may be open."""
    found = contents(items)
    for number, (role, parts) in enumerate(found[:-1]):
        calls = _fields(parts, "functionCall") if role == "model" else []
        responses = _fields(found[number + 1][1], "functionResponse") if found[number + 1][0] == "user" else []
        is_open = number + 2 == len(found) and 0 < len(responses) < len(calls)  # still being put together
        if calls and len(calls) != len(responses) and not is_open:
            yield f"{_names(calls)}, {len(responses)} responses"


def foreign_responses(items: Items) -> Iterator[str]:
    """Yield the responses that name another call than those before them."""
    found = contents(items)
    for number, (role, parts) in enumerate(found[:-1]):
        calls = _fields(parts, "functionCall") if role == "model" else []
        responses = _fields(found[number + 1][1], "functionResponse")
        if calls and len(calls) == len(responses) and not _matches(calls, responses):
            yield f"{_names(calls)}, {_names(responses)}"


def stray_responses(items: Items) -> Iterator[str]:
    """Yield the responses that follow no content with calls."""
    before: list[Mapping[str, Any]] = []
    for role, parts in contents(items):
        responses = _fields(parts, "functionResponse")
        if responses and not before:
            yield _names(responses)
        before = _fields(parts, "functionCall") if role == "model" else []


def calls_after_the_model(items: Items) -> Iterator[str]:
    """Yield the calls in a content that follows another one of the model."""
    before = ""
    for role, parts in contents(items):
        calls = _fields(parts, "functionCall")
        if calls and before == "model":
            yield _names(calls)
        before = role


def _names(calls: list[Mapping[str, Any]]) -> str:
    return ", ".join(str(call.get("id") or call.get("name")) for call in calls)


def changed_signatures(items: Items) -> Iterator[str]:
    """Yield the parts whose signature belongs to another part."""
    for _, parts in contents(items):
        for part in parts:
            signature = part.get("thoughtSignature")
            rest = {name: value for name, value in part.items() if name != "thoughtSignature"}
            if signature and not is_signed(rest.get("text") or _names([rest.get("functionCall") or {}]), signature):
                yield str(rest)[:60]


def code_without_results(items: Items) -> Iterator[str]:
    """Yield code whose result does not follow it, and results without code. The last code may run."""
    parts = [part for role, parts in contents(items) if role == "model" for part in parts]
    names = [name for part in parts for name in ("executableCode", "codeExecutionResult") if part.get(name)]
    for number, name in enumerate(names):
        before = names[number - 1] if number else ""
        if name == "codeExecutionResult" and before != "executableCode":
            yield "result without code"
        if name == before == "executableCode":
            yield "code without result"


def tools_without_responses(items: Items) -> Iterator[str]:
    """Yield the calls of Google's tools without a response, and the opposite. The last call may run."""
    open_calls: list[str] = []
    for role, parts in contents(items):
        if role == "user" and not _fields(parts, "functionResponse"):
            yield from open_calls
            open_calls = []
        for part in parts:
            open_calls += [str(part["toolCall"].get("id"))] if part.get("toolCall") else []
            id = str(part["toolResponse"].get("id")) if part.get("toolResponse") else None
            if id in open_calls:
                open_calls.remove(id)
            elif id is not None:
                yield id


def empty_contents(items: Items) -> Iterator[str]:
    """Yield contents without parts."""
    return (str(item.get("role")) for item in items if item.get("parts") == [])


RULES = (
    Rule("Please ensure that single turn requests start with a user role", _CALLS, starts_with_the_user),
    Rule("the number of function response parts is equal to the number of function call parts of the function call "
         "turn", _CALLS, unequal_numbers, is_repaired=True),
    Rule("a function response names its function call", _CALLS, foreign_responses, is_repaired=True),
    Rule("function response turn comes immediately after a function call turn", _CALLS, stray_responses,
         is_repaired=True),
    Rule("function call turn comes immediately after a user turn or after a function response turn", _CALLS,
         calls_after_the_model),
    Rule("a thought signature stays on its part", _SIGNATURES, changed_signatures),
    Rule("codeExecutionResult follows executableCode", _CODE, code_without_results),
    Rule("toolResponse has the id of a toolCall", _TOOLS, tools_without_responses),
    Rule("contents.parts must not be empty", _CALLS, empty_contents),
)  # fmt: skip
