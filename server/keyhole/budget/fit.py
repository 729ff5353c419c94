"""The one bound, applied last: an Answer that measures at most its budget as the client receives it. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from keyhole.budget.budget import Budget
from keyhole.records import Answer
from keyhole.text.measure import Measure, clip, serialized_size

META_KEY = "keyhole"
FACTS_SHARE = 6
"""Facts for programs may take one part in six of a budget: the model does not read them, yet they travel."""

DIGITS = 16
"""Bytes by which counts and offsets around a text usually exceed those around no text."""

# What the SDK adds to every result of the 2026-07-28 protocol.
_STAMP = {"io.modelcontextprotocol/serverInfo": {"name": "keyhole", "version": "00.00.00"}}


def answer_size(answer: Answer, measure: Measure = serialized_size) -> int:
    """Bytes of the whole tool result on the wire, in the later protocol's larger envelope; or what its text takes by
    another measure, where that is more."""
    result = result_json(answer)
    size = _size({**result, "_meta": {**result.get("_meta", {}), **_STAMP}})
    return size if measure is serialized_size else max(size, measure(answer.text))


def result_json(answer: Answer) -> dict[str, Any]:
    """The tool result as the protocol writes it: `content`, `isError`, and our facts under `_meta`."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    result["resultType"] = "complete"
    if answer.facts:
        result["_meta"] = {META_KEY: answer.facts}
    return result


def bounded(budget: int, render: Callable[[int], Answer], measure: Measure = serialized_size) -> Answer:
    """What `fitting` gives, or as a last resort the words around no text at all, cut."""
    return fitting(budget, render, measure) or cut(render(0), budget, measure)


def within(budget: Budget, render: Callable[[int], Answer]) -> Answer:
    """The answer bounded; first in it the line that says what the budget is not, unless a text was shown whole."""

    def noted(room: int) -> Answer:
        answer = render(room)
        if not budget.note or answer.facts.get("strategy") == "whole":
            return answer
        return replace(answer, text=f"{budget.note}\n{answer.text}")

    return bounded(budget.size, noted, budget.measure)


def fitting(budget: int, render: Callable[[int], Answer], measure: Measure = serialized_size) -> Answer | None:
    """`render(room)` for the largest room found whose answer fits `budget`; None when even no text does.

    `room` is what the page's own text may take; the words around it depend on what is shown, so the room is
    lowered by the excess until all fits. Facts that take too much are dropped first, text is cut only last.
    """
    room = budget - answer_size(_lean(render(0), budget), measure) - DIGITS
    for attempt in range(8):
        answer = _lean(render(max(0, room)), budget)
        excess = answer_size(answer, measure) - budget
        if excess <= 0:
            return answer
        # More each time: text comes in sentences, so a few bytes less of room may change nothing at all.
        room -= excess + (DIGITS << attempt)
    answer = _lean(render(0), budget)
    return answer if answer_size(answer, measure) <= budget else None


def cut(answer: Answer, budget: int, measure: Measure = serialized_size) -> Answer:
    """The answer within a budget: its facts go first, then its text is cut. For errors, which are short."""
    if answer_size(answer, measure) <= budget:
        return answer
    bare = replace(answer, facts={})
    if answer_size(bare, measure) <= budget:
        return bare
    room = budget - answer_size(Answer("", {}, answer.is_error))
    return Answer(clip(answer.text, room, measure), {}, answer.is_error)


def _lean(answer: Answer, budget: int) -> Answer:
    """Facts within their share: without what a page says of itself, the spans, and all but the id and next call."""
    facts: Any = answer.facts
    for dropped in (
        (),
        ("about", "changed", "title", "date", "copies"),
        ("spans",),
        ("sources",),
        ("url", "media_type", "strategy", "weak"),
    ):
        facts = _without(facts, dropped)
        if _size(facts) <= budget // FACTS_SHARE:
            measured = {**facts, "length": length_of(answer.text)} if facts else {}
            return replace(answer, facts=measured if _size(measured) <= budget // FACTS_SHARE else facts)
    return replace(answer, facts={})


def length_of(text: str) -> dict[str, int]:
    """The length of a text in characters and in bytes of UTF-8, by which a program sees that it was cut."""
    return {"characters": len(text), "bytes": len(text.encode("utf-8", "surrogatepass"))}


def _without(facts: Any, names: Sequence[str]) -> Any:
    """The facts without these names, at every depth."""
    if isinstance(facts, dict):
        return {name: _without(value, names) for name, value in facts.items() if name not in names}
    return [_without(fact, names) for fact in facts] if isinstance(facts, list) else facts


def _size(value: object) -> int:
    # Default separators, so that a client or proxy that writes JSON with spaces stays within the budget too.
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
