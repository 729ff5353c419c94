"""Write the events of a conversation as items of OpenAI's Responses API.

An item that came with a reasoning item has its id as `reasoning_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.support.conversations.events import Event
from tests.support.conversations.texts import PIXELS

Item = dict[str, Any]
IMAGE = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PIXELS}"}


def to_responses(steps: Sequence[Event]) -> list[Item]:
    """Return items of the Responses API. A call with an `id` belongs to the reasoning item `reasoning_id`."""
    items: list[Item] = [{"role": "developer", "content": "You are an agent."}]
    for number, step in enumerate(steps):
        items += _WRITERS.get(step.kind, _message)(number, step)
    return items


def _message(number: int, step: Event) -> list[Item]:
    if step.kind == "image":
        return [{"role": "user", "content": [{"type": "input_text", "text": step.text}, IMAGE]}]
    if step.kind == "file":
        return [{"role": "user", "content": [{"type": "input_file", "file_data": PIXELS}]}]
    if step.kind == "unknown":
        return [{"type": "note_of_a_client", "body": step.text}]
    if step.kind == "unknown_role":
        return [{"role": "critic", "content": step.text}]
    role = "assistant" if step.kind == "model" else "system" if step.kind == "system" else "user"
    part: Item = {"type": "output_text" if role == "assistant" else "input_text", "text": step.text}
    parts = [part, {"type": "frobnicate", "data": step.text}] if step.kind == "unknown_block" else [part]
    item: Item = {"type": "message", "role": role, "content": parts}
    if role != "assistant" or not step.style & 1:
        return [item]
    item |= {"id": f"msg_{number}", "status": "completed", "reasoning_id": f"rs_{number}"}
    return [_reasoning(number), item]


def _reasoning(number: int) -> Item:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "x" * 4_000}


def _tie(number: int, name: str, *, is_marked: bool = True) -> Item:
    """Return the fields of an item that came with a reasoning item, or with an id alone."""
    return {"id": name, **({"reasoning_id": f"rs_{number}"} if is_marked else {})}


def _calls(number: int, step: Event) -> list[Item]:
    variant = step.variant or "function"
    calls = [
        _call(variant, id) | (_tie(number, f"fc_{number}_{place}") if step.is_marked else {})
        for place, id in enumerate(step.calls)
    ]
    results = [_output(variant, step.shape, id, text) for id, text in step.results]
    items = [*calls, *results]
    if step.is_interleaved and step.calls == tuple(id for id, _ in step.results):
        items = [item for pair in zip(calls, results, strict=True) for item in pair]
    return [_reasoning(number), *items] if step.is_marked and step.calls else items


_FIELDS: dict[str, Item] = {
    "function": {"name": "sh", "arguments": "{}"},
    "custom": {"name": "sh", "input": "ls"},
    "local_shell": {"status": "completed", "action": {"type": "exec", "command": ["ls"], "env": {}}},
    "shell": {"status": "completed", "action": {"commands": ["ls"], "timeout_ms": 9, "max_output_length": 9}},
    "apply_patch": {"status": "completed", "operation": {"type": "delete_file", "path": "x"}},
    "computer": {"status": "completed", "action": {"type": "screenshot"}, "pending_safety_checks": []},
}
"""The fields of a call of each type."""


def _call(variant: str, id: str) -> Item:
    needs_id = {"id": f"item_{id}"} if variant in ("local_shell", "computer") else {}
    return {"type": f"{variant}_call" if variant != "custom" else "custom_tool_call", "call_id": id, **needs_id,
            **_FIELDS[variant]}  # fmt: skip


def _output(variant: str, shape: str, id: str, text: str) -> Item:
    if variant == "local_shell":
        return {"type": "local_shell_call_output", "id": id, "output": text}
    item: Item = {"type": f"{variant}_call_output" if variant != "custom" else "custom_tool_call_output", "call_id": id}
    if variant == "shell":
        half = len(text) // 2
        done = {"outcome": {"type": "exit", "exit_code": 0}}
        return item | {"output": [{"stdout": text[:half], "stderr": text[half:], **done}]}
    if variant == "apply_patch":
        return item | {"status": "completed", "output": text}
    if variant == "computer":
        return item | {"output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PIXELS}"}}
    return item | {"output": _parts(shape, text)}


def _parts(shape: str, text: str) -> Any:
    part, half = {"type": "input_text", "text": text}, len(text) // 2
    if shape == "parts":
        return [{"type": "input_text", "text": text[:half]}, {"type": "input_text", "text": text[half:]}]
    file = {"type": "input_file", "filename": "x", "file_data": PIXELS}
    return {"image": [part, IMAGE], "screenshot": [IMAGE], "document": [part, file]}.get(shape, text)


def _hosted(number: int, step: Event) -> list[Item]:
    name, text = f"h_{number}", step.text
    done = {"id": name, "status": "completed"}
    items: dict[str, Item] = {
        "web_search": {"type": "web_search_call", "action": {"type": "search", "query": "x"}},
        "web_fetch": {"type": "file_search_call", "queries": ["x"], "results": [{"text": text, "score": 1.0}]},
        "code": {"type": "code_interpreter_call", "code": "1", "container_id": "c",
                 "outputs": [{"type": "logs", "logs": text}]},
        "image": {"type": "image_generation_call", "result": PIXELS},
        "mcp": {"type": "mcp_call", "server_label": "s", "name": "x", "arguments": "{}", "output": text},
    }  # fmt: skip
    item = items.get(step.variant, items["web_search"]) | done
    if not step.style & 1:
        return [item]
    return [_reasoning(number), item | {"reasoning_id": f"rs_{number}"}]


def _mixed(number: int, step: Event) -> list[Item]:
    return [*_hosted(number, step), *_calls(number, Event("calls", "", step.calls, step.results, shape=step.shape))]


def _approval(number: int, step: Event) -> list[Item]:
    """Return the request of a provider to run a tool of an MCP server, the user's answer and the call."""
    call = {"server_label": "s", "name": "x", "arguments": "{}"}
    tools = {"type": "mcp_list_tools", "id": f"mcpl_{number}", "server_label": "s", "tools": []}
    request = {"type": "mcp_approval_request", "id": f"mcpr_{number}", **call}
    answer = {"type": "mcp_approval_response", "approval_request_id": f"mcpr_{number}", "approve": True}
    if step.variant == "refused":
        return [tools, request, answer | {"approve": False}]
    done = {"type": "mcp_call", "id": f"mcp_{number}", "approval_request_id": f"mcpr_{number}", "status": "completed"}
    return [tools, request, answer, {**done, **call, "output": step.text}]


def _search(number: int, step: Event) -> list[Item]:
    """Return a search for tools, by the provider or the client."""
    tool = {"type": "function", "name": "x", "description": step.text[:200], "parameters": {}, "strict": False}
    call_id = step.calls[0] if step.variant == "client" else None
    both = {"call_id": call_id, "execution": step.variant, "status": "completed"}
    call = {"type": "tool_search_call", "id": f"tsc_{number}", "arguments": {"query": "x"}, **both}
    return [call, {"type": "tool_search_output", "id": f"tso_{number}", "tools": [tool], **both}]


def _program(number: int, step: Event) -> list[Item]:
    """Return a program of the model that calls tools of the client."""
    program = f"prog_{step.calls[0]}"
    caller = {"caller": {"type": "program", "caller_id": program}}
    items: list[Item] = [
        {"type": "program", "id": f"pr_{number}", "call_id": program, "code": "await sh()", "fingerprint": "f"},
        *(_call("function", id) | caller for id in step.calls),
        *(_output("function", step.shape, id, text) | caller for id, text in step.results),
    ]
    if step.is_open or len(step.results) < len(step.calls):
        return items
    output = {"type": "program_output", "id": f"po_{number}", "call_id": program, "status": "completed"}
    return [*items, output | {"result": step.text}]


def _state(number: int, step: Event) -> list[Item]:
    states: list[Item] = [
        {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": "x" * 99},
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"type": "item_reference", "id": f"msg_stored_{number}"},
    ]
    return [states[len(step.text) % 3]]


_WRITERS: dict[str, Callable[[int, Event], list[Item]]] = {
    "calls": _calls, "orphan": _calls, "hosted": _hosted, "paused": _hosted, "mixed": _mixed, "approval": _approval,
    "search": _search, "program": _program, "state": _state,
}  # fmt: skip
