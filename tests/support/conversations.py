"""Generate conversations with a model, valid and invalid ones, and write them in the formats of three APIs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Item = dict[str, Any]

TEXTS = st.one_of(
    st.just(""),
    st.text(max_size=40),
    st.integers(1, 400).map(lambda n: "E   assert left == right\n" * n),
)
IDS = st.integers(0, 6).map(lambda number: f"call_{number}")
"""Few ids, so that some are used twice."""
PIXELS = "iVBORw0KGgo" * 40
KINDS = ("calls", "calls", "calls", "user", "model", "system", "orphan", "image", "file", "unknown")


@dataclass(frozen=True)
class Event:
    """One step of a conversation in no format. `calls` and `results` are pairs of an id and a text."""

    kind: str
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[tuple[str, str], ...] = ()
    is_marked: bool = False
    """True for calls after reasoning (Responses), and for results with a text of the user (Anthropic)."""
    is_interleaved: bool = False
    """True for parallel calls of which each is followed by its result (Responses)."""


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Return the events of a conversation. Some calls lack their result, and some results their call."""
    found = [Event("user", draw(TEXTS))]
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(KINDS))
        if kind == "calls":
            unique = draw(st.booleans())
            ids = [f"call_{number}_{each}" if unique else draw(IDS) for each in range(draw(st.integers(1, 3)))]
            answered = draw(st.sampled_from([ids, ids, ids, ids[:-1], ids[::-1]]))
            results = tuple((each, draw(TEXTS)) for each in answered)
            found.append(Event(kind, "", tuple(ids), results, draw(st.booleans()), draw(st.booleans())))
        elif kind == "orphan":
            found.append(Event(kind, results=((draw(IDS), draw(TEXTS)),), is_marked=draw(st.booleans())))
        else:
            found.append(Event(kind, draw(TEXTS)))
    return found


def to_chat(steps: Sequence[Event]) -> list[Item]:
    """Return Chat Completions messages."""
    items: list[Item] = [{"role": "system", "content": "You are an agent."}]
    for step in steps:
        if step.kind == "calls":
            calls = [{"id": id, "type": "function", "function": {"name": "sh", "arguments": "{}"}} for id in step.calls]
            items.append({"role": "assistant", "content": None, "tool_calls": calls})
        if step.kind in ("calls", "orphan"):
            items += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in step.results]
        elif step.kind == "image":
            image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXELS}"}}
            items.append({"role": "user", "content": [{"type": "text", "text": step.text}, image]})
        elif step.kind == "file":
            items.append({"role": "user", "content": [{"type": "file", "file": {"file_data": PIXELS}}]})
        elif step.kind == "unknown":
            items.append({"role": "critic", "content": step.text})
        else:
            items.append({"role": "assistant" if step.kind == "model" else step.kind, "content": step.text})
    return items


def to_anthropic(steps: Sequence[Event]) -> list[Item]:
    """Return messages of Anthropic's API, which has no messages of the system or of other roles."""
    items: list[Item] = []
    for step in steps:
        if step.kind == "calls":
            calls = [{"type": "tool_use", "id": id, "name": "sh", "input": {}} for id in step.calls]
            items.append({"role": "assistant", "content": [{"type": "text", "text": "I run it."}, *calls]})
        if step.kind in ("calls", "orphan"):
            results = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in step.results]
            note = [{"type": "text", "text": "a reminder"}] if step.is_marked else []
            items += [{"role": "user", "content": [*results, *note]}] if results else []
        elif step.kind in ("image", "file"):
            source = {"type": "base64", "media_type": "image/png", "data": PIXELS}
            block = {"type": "image" if step.kind == "image" else "document", "source": source}
            items.append({"role": "user", "content": [block]})
        elif step.kind in ("user", "model"):
            items.append({"role": "assistant" if step.kind == "model" else "user", "content": step.text})
    return items


def to_responses(steps: Sequence[Event]) -> list[Item]:
    """Return items of the Responses API. A call with an `id` belongs to the reasoning item `reasoning_id`."""
    items: list[Item] = [{"role": "developer", "content": "You are an agent."}]
    for number, step in enumerate(steps):
        if step.kind in ("calls", "orphan"):
            items += _calls(number, step)
        elif step.kind == "image":
            image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXELS}"}
            items.append({"role": "user", "content": [{"type": "input_text", "text": step.text}, image]})
        elif step.kind == "file":
            items.append({"role": "user", "content": [{"type": "input_file", "file_data": PIXELS}]})
        elif step.kind == "unknown":
            items.append({"type": "note_of_a_client", "body": step.text})
        else:
            part = {"type": "output_text" if step.kind == "model" else "input_text", "text": step.text}
            role = "assistant" if step.kind == "model" else step.kind
            items.append({"type": "message", "role": role, "content": [part]})
    return items


def _calls(number: int, step: Event) -> list[Item]:
    reasoning = f"rs_{number}"
    tie = {"id": f"fc_{number}", "reasoning_id": reasoning} if step.is_marked else {}
    calls = [{"type": "function_call", "call_id": id, "name": "sh", "arguments": "{}", **tie} for id in step.calls]
    results = [{"type": "function_call_output", "call_id": id, "output": text} for id, text in step.results]
    items = [*calls, *results]
    if step.is_interleaved and step.calls == tuple(id for id, _ in step.results):
        items = [item for pair in zip(calls, results, strict=True) for item in pair]
    thought = {"type": "reasoning", "id": reasoning, "summary": [], "encrypted_content": "x" * 4_000}
    return [thought, *items] if step.is_marked and step.calls else items


FORMATS: dict[str, Callable[[Sequence[Event]], list[Item]]] = {
    "chat": to_chat, "anthropic": to_anthropic, "responses": to_responses,
}  # fmt: skip
