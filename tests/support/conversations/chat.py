"""Write the events of a conversation as messages of Chat Completions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.conversations.events import Event
from tests.support.conversations.texts import PIXELS

Item = dict[str, Any]
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXELS}"}}


def to_chat(steps: Sequence[Event]) -> list[Item]:
    """Return Chat Completions messages. Tools of providers are messages of the assistant in this format."""
    items: list[Item] = [{"role": "system", "content": "You are an agent."}]
    for step in steps:
        items += _messages(step)
    return items


def _messages(step: Event) -> list[Item]:
    if step.kind in ("calls", "orphan", "program", "mixed"):
        return [*([_calls(step)] if step.calls else []), *(_result(step, id, text) for id, text in step.results)]
    if step.kind == "image":
        return [{"role": "user", "content": [{"type": "text", "text": step.text}, IMAGE]}]
    if step.kind == "file":
        return [{"role": "user", "content": [{"type": "file", "file": {"file_data": PIXELS}}]}]
    if step.kind in ("unknown", "unknown_role"):
        return [{"role": "critic", "content": step.text}]
    if step.kind == "unknown_block":
        block = {"type": "frobnicate", "data": step.text}
        role = "assistant" if step.is_marked else "user"
        return [{"role": role, "content": [{"type": "text", "text": "See:"}, block]}]
    if step.kind == "state":
        return [{"role": "developer", "content": [{"type": "text", "text": step.text}]}]
    role = step.kind if step.kind in ("user", "system") else "user" if step.kind == "imitation" else "assistant"
    return [{"role": role, "content": step.text}]


def _calls(step: Event) -> Item:
    text = step.text or None
    if _is_legacy(step):
        return {"role": "assistant", "content": text, "function_call": {"name": step.calls[0], "arguments": "{}"}}
    return {"role": "assistant", "content": text, "tool_calls": [_call(step, id) for id in step.calls]}


def _call(step: Event, id: str) -> Item:
    if step.variant == "custom":
        return {"id": id, "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    named = {} if _is_nameless(step) else {"id": id}
    return {**named, "type": "function", "function": {"name": "sh", "arguments": "{}"}}


def _result(step: Event, id: str, text: str) -> Item:
    if _is_legacy(step):
        return {"role": "function", "name": id, "content": text}
    content: Any = text
    if step.shape in ("parts", "image", "document"):
        half = len(text) // 2
        content = [{"type": "text", "text": text[:half]}, {"type": "text", "text": text[half:]}]
    if step.shape == "image":  # which local servers and gateways take
        content = [*content, IMAGE]
    named = {} if _is_nameless(step) else {"tool_call_id": id}
    return {"role": "tool", **named, "content": content}


def _is_legacy(step: Event) -> bool:
    """Return True for a call of the older form, of which a message has one."""
    return step.variant == "local_shell" and len(step.calls) == 1


def _is_nameless(step: Event) -> bool:
    """Return True for calls without ids, as some local servers return them."""
    return step.variant == "shell" and len(step.calls) == 1
