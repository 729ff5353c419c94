"""The MCP App: a view of one call, which clients that declare the extension show beside its result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from keyhole.config.config import MAX_BUDGET
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.text_view import Cell, Segment, divide, read_text, view_whole
from keyhole.render.budget import client_budget
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.serve.resources import deadline
from keyhole.store.base import Store
from keyhole.store.calls.base import CallLog, CallRecord, ReadText
from keyhole.text.markdown import expand_links, find_link_origin

# Requests of the view: find the record of a call by its result, and read stored texts. They are not recorded, because
# a person looks and no agent reads.

PAGE: Final = 500
"""Calls that are listed at once while searching for a result."""
MAX_SEARCHED: Final = 2_000
"""Calls that are searched, the newest ones: the calls of some days of one person's agents."""
DELAYS: Final = (0.0, 0.1, 0.4, 1.5)
"""Seconds before each read of the log. A call is recorded after its answer, and a view may ask before that."""
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
    """Return a text with its passages and matches, without the text of the gaps."""
    if not text.spans:
        return SeenText(text, ())
    try:
        view = view_whole(read_text(store, text.id), text.spans, query, room=0)
    except KeyholeError:
        return SeenText(text, tuple(each for each in divide(0, text.chars, text.spans) if each.shown))
    whole = replace(text, chars=view.total)
    shown = tuple(each.with_full_links(view.link_origin) for each in view.segments if each.shown)
    return SeenText(whole, shown, view.scores.absent, view.scores.cells)


# The data of one call: sizes, texts, passages with the words of the question, within a space.

MAX_ASKED: Final = 2_000
"""Characters of a question or address: the longest question that a tool accepts."""


@dataclass(frozen=True, slots=True)
class SeenText:
    """A text that a call read, its passages, the words of the question that it lacks, and where it matches."""

    text: ReadText
    passages: tuple[Segment, ...]
    """In the order of the text. They are empty if the text is not stored any more."""
    absent: tuple[str, ...] = ()
    heat: tuple[Cell, ...] = ()


def call_data(record: CallRecord, texts: Sequence[SeenText], space: int) -> dict[str, Any]:
    """Return the data of a call in at most `space` bytes as JSON within JSON.

    `texts`: the texts of the record. Texts that do not fit are only counted. If not all passages fit, only the first
    ones have their words.
    """
    call = record.summary
    data: dict[str, Any] = {
        "recorded": True, "tool": call.tool, "query": call.query[:MAX_ASKED], "target": call.target[:MAX_ASKED],
        "outcome": call.outcome, "seconds": call.seconds, "budget": call.budget, "bytes": call.result_bytes,
        "tokens": call.tokens, "read": call.read_chars, "shown": call.shown_chars, "engines": record.engines,
        "texts": [], "texts_left_out": len(texts),
    }  # fmt: skip
    space -= data_size(data)
    for seen in texts:
        described = describe_text(seen)
        space -= data_size(described)
        if space < 0:
            return data
        data["texts"].append(described)
        data["texts_left_out"] -= 1
    for seen, described in zip(texts, data["texts"], strict=True):
        for segment, passage in zip(seen.passages, described["passages"], strict=True):
            pieces = alternate(segment)
            space -= data_size(pieces)
            if space < 0:
                return data
            passage["pieces"] = pieces
    return data


def describe_text(seen: SeenText) -> dict[str, Any]:
    """Return the data of one text, without the words of its passages."""
    text = seen.text
    return {
        "id": text.id, "url": text.url, "title": text.title, "chars": text.chars, "state": text.state,
        "absent": seen.absent, "heat": [(cell.start, cell.end, cell.level) for cell in seen.heat if cell.level],
        "passages": [{"start": each.start, "end": each.end, "rest": each.rest, "pieces": []} for each in seen.passages],
    }  # fmt: skip


def alternate(segment: Segment) -> list[str]:
    """Return a passage as alternating strings: text, words of the question, text, and so on."""
    turns = [""]
    for piece in segment.pieces:
        if piece.marked == (len(turns) % 2 == 0):
            turns[-1] += piece.text
        else:
            turns.append(piece.text)
    return turns if segment.pieces else []


def data_size(value: object) -> int:
    """Return the size in bytes of a value as JSON, encoded in JSON once more, with a separator."""
    return len(json.dumps(to_json(value), ensure_ascii=False).encode("utf-8", "surrogatepass"))


def to_json(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
