"""Write the events of a conversation as messages of Anthropic's API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.conversations.events import Event
from tests.support.conversations.texts import PIXELS
from tests.support.pairing.rules import sign

Item = dict[str, Any]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXELS}}
_CALLER = "code_execution_20260120"


def to_anthropic(steps: Sequence[Event]) -> list[Item]:
    """Return messages. Those of the system are only written for events of the kind "state"."""
    return [item for step in steps for item in _messages(step)]


def _messages(step: Event) -> list[Item]:
    if step.kind in ("calls", "orphan"):
        return _calls(step)
    if step.kind in ("hosted", "paused", "approval", "search"):
        return _hosted(step)
    if step.kind == "mixed":
        return _mixed(step)
    if step.kind == "program":
        return _program(step)
    if step.kind in ("image", "file"):
        return [{"role": "user", "content": [{**IMAGE, "type": "image" if step.kind == "image" else "document"}]}]
    if step.kind == "unknown_role":
        return [{"role": "critic", "content": step.text}]
    if step.kind == "unknown_block":
        role = "assistant" if step.is_marked else "user"
        blocks = [{"type": "text", "text": "See:"}, {"type": "frobnicate", "data": step.text}]
        return [{"role": role, "content": [*(_thoughts(step) if step.is_marked else ()), *blocks]}]
    return _texts(step)


def _texts(step: Event) -> list[Item]:
    if step.kind == "state":
        system = {"role": "system", "content": step.text or "Be brief."}
        return [{"role": "user", "content": "Go on."}, system, _said(step, "Yes.")]
    if step.kind == "model":
        return [_said(step, step.text)]
    return [{"role": "user", "content": step.text}] if step.kind in ("user", "imitation") else []


def _said(step: Event, text: str) -> Item:
    blocks = [*_thoughts(step), {"type": "text", "text": text}]
    return {"role": "assistant", "content": blocks if step.style & 3 else text}


def _thoughts(step: Event) -> list[Item]:
    if not step.style & 1:
        return []
    thought = f"I think about {step.calls}."
    hidden = [{"type": "redacted_thinking", "data": "x" * 90}] if step.is_interleaved else []
    return [{"type": "thinking", "thinking": thought, "signature": sign(thought)}, *hidden]


def _calls(step: Event) -> list[Item]:
    family = {"toolset_name": "computer"} if step.variant == "computer" else {}
    family = {"toolset_name": "browser"} if step.shape == "browser" else family
    calls = [{"type": "tool_use", "id": id, "name": "sh", "input": {}, **family} for id in step.calls]
    said = [{"type": "text", "text": "I run it."}]
    items: list[Item] = [{"role": "assistant", "content": [*_thoughts(step), *said, *calls]}] if calls else []
    note = [{"type": "text", "text": "a reminder"}] if step.is_marked else []
    results = [result_block(step, id, text) for id, text in step.results]
    return [*items, *([{"role": "user", "content": [*results, *note]}] if results else [])]


def result_block(step: Event, id: str, text: str) -> Item:
    """Return a block with the result of a call of the client."""
    block: Item = {"type": "tool_result", "tool_use_id": id, "content": _content(step.shape, text)}
    return {**block, "is_error": True} if step.is_interleaved and step.shape != "browser" else block


def _content(shape: str, text: str) -> Any:
    part, half = {"type": "text", "text": text}, len(text) // 2
    if shape == "parts":
        return [{"type": "text", "text": text[:half]}, {"type": "text", "text": text[half:]}]
    if shape == "document":
        source = {"type": "text", "media_type": "text/plain", "data": text}
        return [{"type": "document", "source": source, "title": "log"}]
    if shape == "search_result":
        return [{"type": "search_result", "source": "https://example.org/", "title": "x", "content": [part]}]
    if shape == "browser":
        tab = {"tab_id": "1", "url": "https://example.org/", "title": "x", "active": True}
        return [part, {"type": "browser_state", "tabs": [tab]}]
    contents = {
        "image": [part, IMAGE],
        "screenshot": [IMAGE],
        "reference": [{"type": "tool_reference", "tool_name": "x"}],
    }
    return contents.get(shape, text)


def _hosted(step: Event) -> list[Item]:
    call, result = _hosted_pair(step, step.calls[0])
    blocks = [*_thoughts(step), {"type": "text", "text": "I look."}, call]
    after = [result, {"type": "text", "text": "Found."}]
    if step.kind == "paused":
        return [{"role": "assistant", "content": blocks}, {"role": "assistant", "content": after}]
    return [{"role": "assistant", "content": [*blocks, *after]}]


def _hosted_pair(step: Event, id: str) -> tuple[Item, Item]:
    if step.variant == "mcp" or step.kind == "approval":
        call = {"type": "mcp_tool_use", "id": id, "name": "x", "server_name": "s", "input": {}}
        content = [{"type": "text", "text": step.text}]
        return call, {"type": "mcp_tool_result", "tool_use_id": id, "is_error": False, "content": content}
    name, kind, content = _HOSTED.get("tool_search" if step.kind == "search" else step.variant, _HOSTED["web_search"])
    call = {"type": "server_tool_use", "id": id, "name": name, "input": {"query": "x"}}
    return call, {"type": kind, "tool_use_id": id, "content": content(step.text)}


def _fetched(text: str) -> Item:
    source = {"type": "text", "media_type": "text/plain", "data": text}
    document = {"type": "document", "source": source, "title": None, "citations": None}
    return {"type": "web_fetch_result", "url": "https://example.org/", "content": document, "retrieved_at": None}


def _ran(kind: str) -> Any:
    return lambda text: {"type": kind, "stdout": text, "stderr": "", "return_code": 0, "content": []}


def _found(text: str) -> list[Item]:
    result = {"type": "web_search_result", "url": "https://example.org/", "title": "x", "page_age": None}
    return [{**result, "encrypted_content": (text or "x")[:200]}]


_HOSTED: dict[str, tuple[str, str, Any]] = {
    "web_search": ("web_search", "web_search_tool_result", _found),
    "web_fetch": ("web_fetch", "web_fetch_tool_result", _fetched),
    "code": ("code_execution", "code_execution_tool_result", _ran("code_execution_result")),
    "bash": ("bash_code_execution", "bash_code_execution_tool_result", _ran("bash_code_execution_result")),
    "editor": ("text_editor_code_execution", "text_editor_code_execution_tool_result", lambda text: {
        "type": "text_editor_code_execution_view_result", "file_type": "text", "content": text, "num_lines": 1,
        "start_line": 1, "total_lines": 1}),
    "tool_search": ("tool_search_tool_regex", "tool_search_tool_result", lambda _text: {
        "type": "tool_search_tool_search_result", "tool_references": [{"type": "tool_reference", "tool_name": "x"}]}),
    "advisor": ("advisor", "advisor_tool_result", lambda text: {"type": "advisor_result", "text": text}),
}  # fmt: skip
"""For each tool of Anthropic: its name, the type of its results, and the function that writes their content."""


def _mixed(step: Event) -> list[Item]:
    """Return a server tool and tools of the client, called at once: the server runs its tool after the client."""
    call, result = _hosted_pair(step, f"srv_{step.calls[0]}")
    calls = [{"type": "tool_use", "id": id, "name": "sh", "input": {}} for id in step.calls]
    results = [result_block(step, id, text) for id, text in step.results]
    after: Item = {"role": "assistant", "content": [result, {"type": "text", "text": "Both are done."}]}
    items: list[Item] = [{"role": "assistant", "content": [*_thoughts(step), call, *calls]}]
    return [*items, {"role": "user", "content": results}, after] if results else items


def _program(step: Event) -> list[Item]:
    """Return a program of the model that calls tools of the client, one round after another."""
    program = f"srv_{step.calls[0]}"
    caller = {"type": _CALLER, "tool_id": program}
    start = {"type": "server_tool_use", "id": program, "name": "code_execution", "input": {"code": "await sh()"}}
    items: list[Item] = []
    results = dict(step.results)
    for number, id in enumerate(step.calls):
        call = {"type": "tool_use", "id": id, "name": "sh", "input": {}, "caller": caller}
        items.append({"role": "assistant", "content": [*([*_thoughts(step), start] if number == 0 else ()), call]})
        if id in results:
            items.append({"role": "user", "content": [result_block(step, id, results[id])]})
    if step.is_open or len(results) < len(step.calls):
        return items
    output = {"type": "code_execution_result", "stdout": step.text, "stderr": "", "return_code": 0, "content": []}
    end = {"type": "code_execution_tool_result", "tool_use_id": program, "content": output}
    return [*items, {"role": "assistant", "content": [end, {"type": "text", "text": "Done."}]}]
