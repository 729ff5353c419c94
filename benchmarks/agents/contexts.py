"""The contexts of a replayed run: the whole history, bounded results, a compacted history, or both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import keyhole
from benchmarks.agents.runs import Items, Run
from keyhole.store.base import Store
from keyhole.text.output_facts import WHOLE_FILE_CHARS
from tests.support.product import SECRET

BUDGET: Final = 4_000
"""Characters of a bounded result, the default of the hooks."""
INPUT: Final = 40_000
"""Tokens to which a history is compacted, besides the system prompt and the tools."""
LEFT_ALONE: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "TodoWrite", "Task", "Batch"})
"""Tools of Claude Code whose results its hook leaves alone."""

Make = Callable[[Items], Items]
"""Makes the messages of a request from the recorded ones before it."""


def whole(_run: Run, _store: Store) -> Make:
    """Send everything, as it was recorded."""
    return lambda items: items


def bounded(run: Run, store: Store) -> Make:
    """Replace each long result by its bounded form, as the hook of a client does when the result arrives."""
    tools = dict(_calls(run.items))
    done: dict[str, dict[str, Any]] = {}

    def make(items: Items) -> Items:
        keys = [json.dumps(item) for item in items]
        for key, item in zip(keys, items, strict=True):
            if key not in done:
                done[key] = _bound_item(item, tools, store)
        return [done[key] for key in keys]

    return make


def compacted(run: Run, store: Store) -> Make:
    """Compact the history whenever it exceeds INPUT."""
    compact = partial(keyhole.compact, format=run.format, store=store, secret=SECRET)
    return lambda items: [dict(each) for each in compact(items, INPUT).items]


def both(run: Run, store: Store) -> Make:
    """Bound each result when it arrives, then compact the history."""
    bound, compact = bounded(run, store), compacted(run, store)
    return lambda items: compact(bound(items))


CONTEXTS: Final[dict[str, Callable[[Run, Store], Make]]] = {
    "as recorded": whole,
    "results bounded": bounded,
    "history compacted": compacted,
    "both": both,
}


def _calls(items: Items) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the id of each call with the name of its tool and its command line."""
    for item in items:
        for call in item.get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            yield call["id"], (call["function"]["name"], str(arguments.get("cmd") or arguments.get("code") or ""))
        for block in item["content"] if isinstance(item["content"], list) else ():
            if block["type"] == "tool_use":
                yield block["id"], (block["name"], str(block["input"].get("command") or ""))


def _bound_item(item: dict[str, Any], tools: dict[str, tuple[str, str]], store: Store) -> dict[str, Any]:
    if item["role"] == "tool":
        return {**item, "content": _bound(item["content"], *tools.get(item["tool_call_id"], ("", "")), store)}
    if not isinstance(item["content"], list):
        return item
    return {**item, "content": [_bound_block(block, tools, store) for block in item["content"]]}


def _bound_block(block: dict[str, Any], tools: dict[str, tuple[str, str]], store: Store) -> dict[str, Any]:
    if block["type"] != "tool_result":
        return block
    bound = partial(_bound, tool=tools[block["tool_use_id"]][0], command=tools[block["tool_use_id"]][1], store=store)
    content = block.get("content")
    if isinstance(content, str):
        return {**block, "content": bound(content)}
    parts = [{**part, "text": bound(part["text"])} if part.get("type") == "text" else part for part in content or ()]
    return {**block, "content": parts}


def _bound(text: str, tool: str, command: str, store: Store) -> str:
    least = WHOLE_FILE_CHARS if tool == "Read" else BUDGET
    if tool in LEFT_ALONE or len(text) <= least:
        return text
    return keyhole.bound(text, budget=BUDGET, command=command or tool, store=store, secret=SECRET).text
