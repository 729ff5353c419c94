"""Fit an answer into its budget. Each result passes through `fit` or `truncate` as its last step."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from keyhole.config.config import MAX_BUDGET
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer
from keyhole.render.budget import Budget
from keyhole.text.measure import Measure, clip, fits

META_KEY: Final = "keyhole"
"""The key of the facts under `_meta`."""
FACTS_DIVISOR: Final = 8
"""The facts for programs take at most an eighth of a budget. The model does not read them, but they are sent too."""
TEXT_SHARE: Final = 0.7
"""Share of a budget that is left to text and gap lines. A longer form of an answer is used only if it leaves that."""
LEAST_TEXT: Final = 40
"""Characters left to text in the shortest form, at least. With less, an answer has nothing to say."""
LEAST_TOKENS: Final = 24
"""Tokens left to text, at least."""
ATTEMPTS: Final = 4
"""Most renderings with text. In the tests 97 % of the results fit at the first attempt and 99.9 % at the third. The
last attempt gets half of the space."""
MARGIN: Final = 16
"""Characters reserved for counts and offsets: they have more digits with a text than in the empty answer that is
measured."""
GOOD_TEXT: Final = 240
"""Characters left to text in the least budget that an error names: enough for a sentence or a source in any script."""
GOOD_TOKENS: Final = 120
"""Tokens left to text in that budget."""
LABEL_FACTOR: Final = 5
"""Factor of both if the label of an omission, of up to 220 characters, took the space of the text."""
STEP: Final = 20
"""Characters and tokens by which the least budget is rounded up."""

Render = Callable[[int], Answer]
"""Returns an answer whose page text measures at most a number, by the measure of the budget."""

_SERVER_INFO: Final = {"io.modelcontextprotocol/serverInfo": {"name": "keyhole", "version": "00.00.00"}}
"""What the SDK adds to the `_meta` of every result in the 2026-07-28 protocol. Its size is counted."""


def fit(budget: Budget, *forms: Render, wanted: int | None = None) -> Answer:
    """Return an answer that fits `budget`, in the first of `forms` that leaves enough of it to text.

    `wanted`: the space that is enough; None for `TEXT_SHARE` of the budget. If every form leaves less, the answer is in
    the longest form that shows the same text as the last. The budget's note is the first line, unless a whole text is
    shown. Raises KeyholeError (invalid_argument, with the least budget that works) if the last form has no space for
    text.
    """
    wanted = int(budget.size * TEXT_SHARE) if wanted is None else wanted
    spaces = []
    for form in forms:
        spaces.append(_space(budget, _finish(form(0), budget)))
        if spaces[-1] >= wanted and (answer := _fill(budget, form, spaces[-1], wanted)):
            return answer
    *longer, last = forms
    has_space = spaces[-1] >= _least_text(budget, LEAST_TEXT, LEAST_TOKENS)
    shortest = _fill(budget, last, spaces[-1]) if has_space else None
    if shortest is None:
        raise _too_small(budget, last(0), LABEL_FACTOR if has_space else 1)
    unused = budget.size - answer_size(shortest, budget)
    for form, space in zip(longer, spaces, strict=False):
        has_space = spaces[-1] - space <= unused
        if has_space and (answer := _fill(budget, form, space)) and answer.shown == shortest.shown:
            return answer
    return shortest


def truncate(answer: Answer, budget: Budget) -> Answer:
    """Return an error's answer within `budget`: without its facts if it does not fit, and then with fewer lines, fewer
    sentences, or fewer words of the first one."""
    if answer_size(answer, budget) <= budget.size:
        return answer
    text, space = answer.text, budget.size - answer_size(Answer("", {}, answer.is_error), budget)
    while not fits(text, space, budget.measure) and "\n" in text:
        text = text[: text.rindex("\n")]
    # A sentence that announces lines is useless without them.
    while (text.endswith(":") or not fits(text, space, budget.measure)) and ". " in text:
        text = text[: text.rindex(". ") + 1]
    if not fits(text, space, budget.measure):
        text = _clip_words(text, space, budget.measure)
    return replace(answer, text=text, facts={})


def answer_size(answer: Answer, budget: Budget) -> int:
    """Return the measure of an answer: of its text, or of the bytes of the whole result if the budget limits them and
    they measure more."""
    size = budget.measure(answer.text)
    return max(size, -(-answer_bytes(answer) * budget.size // budget.bytes)) if budget.bytes else size


def answer_bytes(answer: Answer) -> int:
    """Return the bytes of the tool result as JSON in the 2026-07-28 protocol."""
    result = result_json(answer)
    return _json_size({**result, "_meta": {**result.get("_meta", {}), **_SERVER_INFO}})


def result_json(answer: Answer) -> dict[str, Any]:
    """Return the tool result as the protocol writes it: `content`, `isError`, and the facts under `_meta`.

    A picture is a block of its own: a budget counts its tokens, not its characters (see retrieval/pictures.py).
    """
    result: dict[str, Any] = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    if picture := answer.picture:
        data = b64encode(picture.data).decode("ascii")
        result["content"].append({"type": "image", "data": data, "mimeType": picture.media_type})
    result["resultType"] = "complete"
    if answer.facts:
        result["_meta"] = {META_KEY: answer.facts}
    return result


def _space(budget: Budget, empty: Answer) -> int:
    """Return the space that an answer without text leaves to text."""
    return budget.size - answer_size(empty, budget) - MARGIN


def _fill(budget: Budget, render: Render, space: int, least: int = 0) -> Answer | None:
    """Return the answer with as much text as fits, or None if none of it fits, or the lines leave less than `least`.

    The lines around the text depend on the text, so each attempt lowers the space for it by the excess of the attempt
    before.
    """
    for attempt in range(ATTEMPTS):
        if attempt == ATTEMPTS - 1:
            space //= 2
        if space < least:
            return None
        answer = _finish(render(max(0, space)), budget)
        excess = answer_size(answer, budget) - budget.size
        if excess <= 0:
            return None if answer.lacks_text else answer
        # The margin grows, because text is packed by sentences: a little less space may change nothing.
        space -= excess + (MARGIN << attempt)
    return None


def _finish(answer: Answer, budget: Budget) -> Answer:
    """Return the answer with the budget's note as its first line, if text was left out, and with its facts if they take
    no more than their share."""
    note = f"{budget.note}\n" if budget.note and not _is_whole(answer) else ""
    facts = answer.facts if _json_size(answer.facts) * FACTS_DIVISOR <= budget.size else {}
    return replace(answer, text=note + answer.text, facts=facts)


def _is_whole(answer: Answer) -> bool:
    """Return True if the answer shows the whole text that it is about."""
    return answer.details.get("strategy") == "whole"


def _least_text(budget: Budget, size: int, tokens: int) -> int:
    """Return the measure of a short text of `size` characters and `tokens` tokens."""
    by_tokens = tokens * budget.size // budget.tokens if budget.tokens else 0
    by_bytes = size * budget.size // budget.bytes if budget.bytes else 0
    return max(size, by_tokens, by_bytes)


def _too_small(budget: Budget, empty: Answer, factor: int) -> KeyholeError:
    """Return the error for a budget that has no space for text. `empty`: the answer without text.

    The least budget that it names leaves `factor` times the usual space to text.
    """
    size, tokens = budget.size, budget.tokens
    while size < MAX_BUDGET:
        larger = replace(budget, size=size, tokens=tokens, bytes=None)
        lines = _finish(empty, larger)
        by_size = size - len(lines.text) - MARGIN < factor * GOOD_TEXT
        if not by_size and _space(larger, lines) >= _least_text(larger, factor * GOOD_TEXT, factor * GOOD_TOKENS):
            break
        size, tokens = (size + STEP, tokens) if by_size or tokens is None else (size, tokens + STEP)
    needed = [f"max_chars={size}"] if size > budget.size else []
    needed += [f"max_tokens={tokens}"] if tokens != budget.tokens else []
    return KeyholeError(Code.INVALID_ARGUMENT, f"the budget has no space for text; give {' and '.join(needed)} or more")


def _clip_words(text: str, space: int, measure: Measure) -> str:
    """Return the first words of a text that fit `space`, with an ellipsis."""
    clipped = clip(text, space, measure)
    return clipped[: clipped.rindex(" ")] + "…" if " " in clipped else clipped


def _json_size(value: object) -> int:
    # Default separators: the result stays within the budget even if a client or proxy writes JSON with spaces.
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
