"""Answer the questions of the view: find the record of a call by its result, and read stored texts.

These requests are not recorded, because a person looks and no agent reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from keyhole.budget.budget import client_budget
from keyhole.config.config import MAX_BUDGET
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.mcp_app.call_data import SeenText, call_data, data_size, to_json
from keyhole.extensions.look.text_view.marks import divide
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.resources import deadline
from keyhole.store.base import Store
from keyhole.store.calls.base import CallLog, CallRecord, ReadText
from keyhole.text.markdown import expand_links, find_link_origin

PAGE: Final = 500
"""Calls that are listed at once while searching for a result."""
MAX_SEARCHED: Final = 2_000
"""Calls that are searched, the newest ones: the calls of some days of one person's agents."""
DELAYS: Final = (0.0, 0.1, 0.4, 1.5)
"""Seconds before each look at the log. A call is recorded after its answer, and a view may ask at once."""
MAX_PART: Final = 8_000
"""Characters of a part that a call left out: about as many as a result shows by default."""
OVERHEAD: Final = 500
"""Bytes of a result around the data, including the server's name and the data's own braces."""

OFF: Final = "off"
UNKNOWN: Final = "unknown"
"""Why there is no record: calls are not recorded, or this one is not among the newest."""


async def show_call(retrieval: Retrieval, caller: Caller, arguments: Mapping[str, Any]) -> str:
    """Return as JSON the data of the call with a result, or a part of a stored text that the call left out.

    Raises KeyholeError: invalid_argument, timeout, or an error of the log or the store.
    """
    # The view's data are no result for a model, so they may take what the client can receive.
    space = client_budget(retrieval.config, caller.limits, MAX_BUDGET).safe_bytes - OVERHEAD
    async with deadline(retrieval.config.timeout):
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
        return to_json({"recorded": False, "reason": OFF})
    for delay in DELAYS:
        await asyncio.sleep(delay)
        if record := await asyncio.to_thread(find_call, retrieval.calls, result):
            return await asyncio.to_thread(_data, retrieval.store, record, space)
    return to_json({"recorded": False, "reason": UNKNOWN})


def _part(store: Store, id: str, start: int, end: int, space: int) -> str:
    artifact = store.part(id, start, end).artifact
    text = expand_links(artifact.text, find_link_origin(artifact.url, artifact.media_type))
    while data_size(text) > space:
        text = text[: len(text) // 2]
    return to_json({"text": text})


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
    seen = [_look_at(store, text, record.summary.query) for text in record.texts]
    return to_json(call_data(record, seen, space))


def _look_at(store: Store, text: ReadText, query: str) -> SeenText:
    """Return a text as the page of a call shows it, without the text of its gaps."""
    from keyhole.extensions.look.text_view.view import read_text, view_whole  # imported late: it ranks

    if not text.spans:
        return SeenText(text, ())
    try:
        view = view_whole(read_text(store, text.id), text.spans, query, room=0)
    except KeyholeError:
        return SeenText(text, tuple(each for each in divide(0, text.chars, text.spans) if each.shown))
    whole = replace(text, chars=view.total)
    shown = tuple(each.with_full_links(view.link_origin) for each in view.segments if each.shown)
    return SeenText(whole, shown, view.scores.absent, view.scores.cells)
