"""Build the data of one call for its view: sizes, texts, passages with the words of the question, within a space."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.extensions.look.text_view.heat import Cell
from keyhole.extensions.look.text_view.marks import Segment
from keyhole.store.calls.base import CallRecord, ReadText

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
    """Return what the view shows of one text, without the words of its passages."""
    text = seen.text
    return {
        "id": text.id, "url": text.url, "title": text.title, "chars": text.chars, "state": text.state,
        "absent": seen.absent, "heat": [(cell.start, cell.end, cell.level) for cell in seen.heat if cell.level],
        "passages": [{"start": each.start, "end": each.end, "rest": each.rest, "pieces": []} for each in seen.passages],
    }  # fmt: skip


def alternate(segment: Segment) -> list[str]:
    """Return the words of a passage: text and words of the question by turns, beginning with text."""
    turns = [""]
    for piece in segment.pieces:
        if piece.marked == (len(turns) % 2 == 0):
            turns[-1] += piece.text
        else:
            turns.append(piece.text)
    return turns if segment.pieces else []


def data_size(value: object) -> int:
    """Return the bytes of a value as JSON within a text that is JSON again, with a separator."""
    return len(json.dumps(to_json(value), ensure_ascii=False).encode("utf-8", "surrogatepass"))


def to_json(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
