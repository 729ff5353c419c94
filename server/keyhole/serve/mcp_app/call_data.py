"""Find the record of a call by its result, and return what the view shows of it, within the client's limit.

Nothing of this is recorded itself: a person looks, and no agent reads.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from keyhole.budget.budget import client_budget
from keyhole.config.config import MAX_BUDGET
from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Store
from keyhole.store.calls.base import CallLog
from keyhole.store.calls.record import CallRecord, ReadText

PAGE: Final = 500
"""Calls that are listed at once while searching for a result."""
MAX_SEARCHED: Final = 2_000
"""Calls that are searched, the newest ones: the calls of some days of one person's agents."""
DELAYS: Final = (0.0, 0.1, 0.4, 1.5)
"""Seconds before each look at the log. A call is recorded after its answer, and a view may ask at once."""
MAX_ASKED: Final = 2_000
"""Characters of a question or address: the longest question that a tool accepts."""
MAX_PART: Final = 8_000
"""Characters of a part that a call left out: about as many as a result shows by default."""
OVERHEAD: Final = 500
"""Bytes of a result around the data, including the server's name and the data's own braces."""

OFF: Final = "off"
UNKNOWN: Final = "unknown"
"""Why there is no record: calls are not recorded, or this one is not among the newest."""


async def show_call(retrieval: Retrieval, caller: Caller, arguments: Mapping[str, Any]) -> str:
    """Return as JSON the data of the call with a result, or a part of a stored text that the call left out.

    Raises KeyholeError: invalid_argument; for a part, also those of `Store.part`.
    """
    # The view's data are no result for a model, so they may take what the client can receive.
    space = client_budget(retrieval.config, caller.limits, MAX_BUDGET).size - OVERHEAD
    match arguments:
        case {"result": str(result), **rest} if result and not rest:
            return await _find_data(retrieval, result, space)
        case {"id": str(id), "start": int(start), "end": int(end), **rest} if 0 <= start < end and not rest:
            return await asyncio.to_thread(_part, retrieval.store, id, start, min(end, start + MAX_PART), space)
    raise KeyholeError(
        Code.INVALID_ARGUMENT, "show_call takes result, the text of a call's result, or else id, start and end"
    )


async def _find_data(retrieval: Retrieval, result: str, space: int) -> str:
    if retrieval.calls is None:
        return _json({"recorded": False, "reason": OFF})
    for delay in DELAYS:
        await asyncio.sleep(delay)
        if record := await asyncio.to_thread(find_call, retrieval.calls, result):
            return await asyncio.to_thread(_data, retrieval.store, record, space)
    return _json({"recorded": False, "reason": UNKNOWN})


def _part(store: Store, id: str, start: int, end: int, space: int) -> str:
    text = store.part(id, start, end).artifact.text
    while _size(text) > space:
        text = text[: len(text) // 2]
    return _json({"text": text})


def find_call(log: CallLog, result: str) -> CallRecord | None:
    """Return the newest call with exactly this result, None if it is not among the newest calls."""
    size, after = len(result.encode("utf-8", "replace")), None
    for _ in range(MAX_SEARCHED // PAGE):
        calls = log.calls(PAGE, after=after)
        for call in calls:
            if call.result_bytes == size and (record := log.get(call.id)) and record.result == result:
                return record
        if len(calls) < PAGE:
            return None
        after = (calls[-1].started_at, calls[-1].id)
    return None


def _data(store: Store, record: CallRecord, space: int) -> str:
    return _json(call_data(record, _passages(store, record.texts), space))


def call_data(record: CallRecord, passages: Iterable[tuple[int, str]], space: int) -> dict[str, Any]:
    """Return the data of a call in at most `space` bytes as JSON within JSON.

    `passages`: the number of a text and the next passage of it. The texts that have no space are counted, and a text
    without space for all of its passages has the first ones.
    """
    call = record.summary
    data: dict[str, Any] = {
        "recorded": True, "tool": call.tool, "query": call.query[:MAX_ASKED], "target": call.target[:MAX_ASKED],
        "outcome": call.outcome, "seconds": call.seconds, "budget": call.budget, "bytes": call.result_bytes,
        "tokens": call.tokens, "read": call.read_chars, "shown": call.shown_chars, "texts": [],
        "texts_left_out": len(record.texts),
    }  # fmt: skip
    space -= _size(data)
    for text in record.texts:
        described = describe_text(text)
        space -= _size(described)
        if space < 0:
            break
        data["texts"].append(described)
        data["texts_left_out"] -= 1
    for number, passage in passages:
        space -= _size(passage)
        if space < 0 or number >= len(data["texts"]):
            break
        data["texts"][number]["passages"].append(passage)
    return data


def describe_text(text: ReadText) -> dict[str, Any]:
    """Return what the view shows of one text, without its passages."""
    return {
        "id": text.id, "url": text.url, "title": text.title, "chars": text.chars, "state": text.state,
        "stored": text.is_stored, "spans": [list(span) for span in text.spans], "passages": [],
    }  # fmt: skip


def _passages(store: Store, texts: Iterable[ReadText]) -> Iterator[tuple[int, str]]:
    """Yield each passage with the number of its text. A text that the store has no more has none."""
    for number, text in enumerate(texts):
        try:
            for start, end in text.spans:
                yield number, store.part(text.id, start, end).artifact.text
        except KeyholeError:
            continue


def _size(value: object) -> int:
    """Return the bytes of a value as JSON within a text that is JSON again, with a separator."""
    return len(json.dumps(_json(value), ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
