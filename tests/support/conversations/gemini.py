"""Write the events of a conversation as contents of the Gemini API."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tests.support.conversations.events import Event
from tests.support.conversations.texts import PIXELS
from tests.support.pairing.rules import sign

Item = dict[str, Any]
IMAGE = {"inlineData": {"mimeType": "image/png", "data": PIXELS}}
_SKIPPED = ("state", "system")


def to_gemini(steps: Sequence[Event]) -> list[Item]:
    """Return contents. The text of the system is beside them in this API."""
    items: list[Item] = []
    for step in steps:
        for content in _contents(step):
            item = content
            while items and _is_one(items[-1], item):
                item = {**item, "parts": [*items.pop()["parts"], *item["parts"]]}
            items.append(item)
    return [_snake(item) for item in items] if steps and steps[0].style & 2 else items


def _is_one(before: Item, item: Item) -> bool:
    """Return True if the model writes two contents as one: what it says before it calls, and the calls."""
    calls = [any("functionCall" in part for part in each["parts"]) for each in (before, item)]
    return before["role"] == item["role"] == "model" and calls == [False, True]


def _contents(step: Event) -> list[Item]:
    if step.kind in _SKIPPED:
        return []
    if step.kind in ("calls", "orphan", "program", "mixed"):
        return _calls(step)
    if step.kind in ("hosted", "paused", "search", "approval"):
        return _hosted(step)
    if step.kind in ("image", "file"):
        part = IMAGE if step.kind == "image" else {"fileData": {"fileUri": "gs://x/y", "mimeType": "text/plain"}}
        return [{"role": "user", "parts": [{"text": step.text or "See."}, part]}]
    if step.kind in ("unknown", "unknown_role"):
        return [{"role": "critic", "parts": [{"text": step.text}]}]
    if step.kind == "unknown_block":
        role = "model" if step.is_marked else "user"
        return [{"role": role, "parts": [{"text": "See:"}, {"frobnicate": {"data": step.text}}]}]
    if step.kind == "model":
        return [{"role": "model", "parts": [*_thoughts(step), {"text": step.text or "Done."}]}]
    return [{"role": "user", "parts": [{"text": step.text}]}]


def _thoughts(step: Event) -> list[Item]:
    if not step.style & 1:
        return []
    thought = f"I think about {step.calls}."
    return [{"text": thought, "thought": True, "thoughtSignature": sign(thought)}]


def _calls(step: Event) -> list[Item]:
    ids = not step.style & 4
    calls: list[Item] = []
    for number, id in enumerate(step.calls):
        call = {**({"id": id} if ids else {}), "name": f"sh_{id}", "args": {}}
        signature = {"thoughtSignature": sign(str(call.get("id") or call["name"]))} if number == 0 else {}
        calls.append({"functionCall": call, **(signature if step.style & 1 else {})})
    results = [_response(step, id, text, ids) for id, text in step.results]
    if step.is_marked and results and step.kind == "calls":
        results.append({"text": "a reminder"})
    asked = [{"role": "model", "parts": [*_thoughts(step), *calls]}] if calls else []
    role = "function" if step.is_interleaved and not step.is_marked else "user"
    return [*asked, *([{"role": role, "parts": results}] if results else [])]


def _response(step: Event, id: str, text: str, ids: bool) -> Item:
    key = {"document": "output", "search_result": "error", "parts": "content"}.get(step.shape, "result")
    response: Item = {key: {"lines": [text, text[:9]]} if step.shape == "browser" else text}
    found: Item = {**({"id": id} if ids else {}), "name": f"sh_{id}", "response": response}
    if step.shape in ("image", "screenshot"):
        found["parts"] = [IMAGE]
    return {"functionResponse": found}


def _hosted(step: Event) -> list[Item]:
    if step.variant in ("code", "bash", "editor"):
        code: Item = {"executableCode": {"code": "print(1)", "language": "PYTHON"}}
        result: Item = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": step.text}}
    else:
        kind = {"toolType": "GOOGLE_SEARCH_WEB", "id": step.calls[0]}
        code = {"toolCall": {**kind, "args": {"queries": ["x"]}}}
        result = {"toolResponse": {**kind, "response": {"result": step.text}}}
    if step.kind == "paused":
        return [{"role": "model", "parts": [*_thoughts(step), code]}, {"role": "model", "parts": [result]}]
    return [{"role": "model", "parts": [*_thoughts(step), code, result, {"text": "Found."}]}]


def _snake(value: Any, depth: int = 0) -> Any:
    """Return a content with the fields of its parts in snake_case. What a tool returned stays."""
    if isinstance(value, list):
        return [_snake(each, depth) for each in value]
    if not isinstance(value, dict) or depth > 2:
        return value
    return {
        re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name): each
        if name in ("response", "args")
        else _snake(each, depth + 1)
        for name, each in value.items()
    }
