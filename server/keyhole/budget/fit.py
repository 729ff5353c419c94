"""Fit an answer into its budget. Each result passes through `fit` or `truncate` as its last step."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from keyhole.budget.budget import Budget
from keyhole.records import Answer
from keyhole.text.measure import Measure, clip, serialized_size

META_KEY: Final = "keyhole"
"""The key of the facts under `_meta`."""
FACTS_DIVISOR: Final = 6
"""The facts for programs take at most a sixth of a budget. The model does not read them, but they are sent too."""
ATTEMPTS: Final = 4
"""Most renderings with text. In the tests 97 % of the results fit at the first attempt and 99.9 % at the third. The
last attempt gets half of the space."""
MARGIN: Final = 16
"""Bytes reserved for counts and offsets, which have more digits around a text than around no text."""

_FACTS_DROPPED: Final = (
    (),
    ("about", "changed", "title", "date", "copies"),
    ("spans",),
    ("sources",),
    ("url", "media_type", "strategy", "weak"),
)
"""Names of facts in the order in which they are dropped if the facts are too large. The id and the next call stay."""

_SERVER_INFO: Final = {"io.modelcontextprotocol/serverInfo": {"name": "keyhole", "version": "00.00.00"}}
"""What the SDK adds to the `_meta` of every result in the 2026-07-28 protocol. Its size is counted."""


def fit(budget: Budget, render: Callable[[int], Answer]) -> Answer:
    """Return an answer that fits `budget`, from at most five calls of `render`.

    `render(space)` returns an answer whose page text measures at most `space` by `budget.measure`. The lines around
    the text depend on the text, so each attempt lowers `space` by the excess of the attempt before. If none fits,
    return the lines without any text, truncated. The budget's note is the first line, unless a whole text is shown.
    """
    empty = _with_note(render(0), budget)
    space = budget.size - answer_size(_with_fitting_facts(empty, budget.size), budget.measure) - MARGIN
    for attempt in range(ATTEMPTS):
        if attempt == ATTEMPTS - 1:
            space //= 2
        answer = _with_fitting_facts(_with_note(render(max(0, space)), budget), budget.size)
        excess = answer_size(answer, budget.measure) - budget.size
        if excess <= 0:
            return answer
        # The margin grows, because text is packed by sentences: a few bytes less of space may change nothing.
        space -= excess + (MARGIN << attempt)
    return truncate(_with_fitting_facts(empty, budget.size), budget)


def truncate(answer: Answer, budget: Budget) -> Answer:
    """Return the answer within `budget`: without its facts if it does not fit, and with a shorter text if it still does
    not fit. Meant for errors, whose text is short."""
    if answer_size(answer, budget.measure) <= budget.size:
        return answer
    bare = replace(answer, facts={})
    if answer_size(bare, budget.measure) <= budget.size:
        return bare
    space = budget.size - answer_size(Answer("", {}, answer.is_error))
    return Answer(clip(answer.text, space, budget.measure), {}, answer.is_error)


def answer_size(answer: Answer, measure: Measure = serialized_size) -> int:
    """Return the bytes of the tool result in the 2026-07-28 protocol, or the size of its text by `measure` if that is
    larger."""
    result = result_json(answer)
    size = _json_size({**result, "_meta": {**result.get("_meta", {}), **_SERVER_INFO}})
    return size if measure is serialized_size else max(size, measure(answer.text))


def result_json(answer: Answer) -> dict[str, Any]:
    """Return the tool result as the protocol writes it: `content`, `isError`, and the facts under `_meta`."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    result["resultType"] = "complete"
    if answer.facts:
        result["_meta"] = {META_KEY: answer.facts}
    return result


def text_length(text: str) -> dict[str, int]:
    """Return the characters and UTF-8 bytes of a text. If a program receives fewer, the text was truncated."""
    return {"characters": len(text), "bytes": len(text.encode("utf-8", "surrogatepass"))}


def _with_note(answer: Answer, budget: Budget) -> Answer:
    """Return the answer with the budget's note as its first line, if there is a note and text was left out."""
    if not budget.note or answer.facts.get("strategy") == "whole":
        return answer
    return replace(answer, text=f"{budget.note}\n{answer.text}")


def _with_fitting_facts(answer: Answer, size: int) -> Answer:
    """Return the answer with those of its facts that fit their share of `size`, and with the length of its text."""
    most = size // FACTS_DIVISOR
    facts: Any = answer.facts
    for names in _FACTS_DROPPED:
        facts = _without(facts, names)
        if _json_size(facts) <= most:
            measured = {**facts, "length": text_length(answer.text)} if facts else {}
            return replace(answer, facts=measured if _json_size(measured) <= most else facts)
    return replace(answer, facts={})


def _without(facts: Any, names: Sequence[str]) -> Any:
    """Return the facts without those called `names`, at every depth."""
    if isinstance(facts, dict):
        return {name: _without(value, names) for name, value in facts.items() if name not in names}
    return [_without(fact, names) for fact in facts] if isinstance(facts, list) else facts


def _json_size(value: object) -> int:
    # Default separators: the result stays within the budget even if a client or proxy writes JSON with spaces.
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
