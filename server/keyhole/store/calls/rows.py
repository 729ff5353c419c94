"""Convert calls to rows of a database and back. All logs in a database use these columns."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, cast

from keyhole.store.calls.record import CallRecord, CallSummary, ReadText, SessionSummary

CALL_COLUMNS: Final = tuple(field.name for field in fields(CallSummary))
"""The columns of a call, in the order of the fields of CallSummary."""
SESSION_COLUMNS: Final = tuple(field.name for field in fields(SessionSummary) if field.name not in {"folder", "about"})
"""The columns of a session, in the order of the fields of SessionSummary. The others are read from its calls."""
COMPRESSION: Final = 1
"""The level of zlib. A result of 10,000 bytes takes 0.2 ms and shrinks to about a third; higher levels save little."""


def to_storable(text: str) -> str:
    """Replace lone surrogates and NUL, which databases cannot store in a text, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def summary_values(call: CallSummary) -> list[Any]:
    """Return the values of a call's columns."""
    values = (getattr(call, name) for name in CALL_COLUMNS)
    return [to_storable(value) if isinstance(value, str) else value for value in values]


def summary_of(row: Sequence[Any]) -> CallSummary:
    """Return the call of a row with the columns CALL_COLUMNS."""
    return CallSummary(*row)


def session_of(row: Sequence[Any]) -> SessionSummary:
    """Return the session of a row with the columns SESSION_COLUMNS, then its folder and what it is about."""
    return SessionSummary(*row)


def pack_body(record: CallRecord) -> bytes:
    """Compress a record without its summary and its texts."""
    body = {
        "arguments": record.arguments,
        "result": record.result,
        "engines": record.engines,
        "stages": record.stages,
        "notes": record.notes,
    }
    # ASCII, because a result may contain lone surrogates.
    return zlib.compress(json.dumps(body, separators=(",", ":")).encode("ascii"), COMPRESSION)


def unpack_record(call: CallSummary, packed: bytes, texts: Sequence[ReadText]) -> CallRecord:
    """Build a record from its summary, packed body and texts. Raises ValueError or LookupError for a damaged body."""
    try:
        body = cast(Mapping[str, Any], json.loads(zlib.decompress(packed)))
    except zlib.error as error:
        raise ValueError("the body of a call is damaged") from error
    return CallRecord(
        call,
        body["arguments"],
        body["result"],
        tuple(texts),
        tuple((str(name), str(outcome)) for name, outcome in body["engines"]),
        tuple((str(name), float(seconds)) for name, seconds in body["stages"]),
        tuple((str(name), str(value)) for name, value in body["notes"]),
    )


TEXT_COLUMNS: Final = ("text_id", "url", "title", "chars", "spans", "state", "is_stored")
"""The columns of a text that a call read, in the order of the fields of ReadText."""


def text_values(text: ReadText) -> list[Any]:
    """Return the values of the columns of a text."""
    names = map(to_storable, (text.id, text.url, text.title))
    return [*names, text.chars, json.dumps(text.spans), to_storable(text.state), int(text.is_stored)]


def text_of(row: Sequence[Any]) -> ReadText:
    """Return the text of a row with the columns TEXT_COLUMNS."""
    id, url, title, chars, spans, state, is_stored = row
    pairs = tuple((int(start), int(end)) for start, end in json.loads(spans))
    return ReadText(id, url, title, chars, pairs, state, bool(is_stored))
