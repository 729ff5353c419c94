"""Convert calls to rows of a database and back, and filter them. All logs in a database use these columns and terms."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, cast
from urllib.parse import urlsplit

from keyhole.store.calls.base import OK, CallFilters, CallRecord, CallSummary, ReadText, SessionSummary
from keyhole.text.sites import to_ascii

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
    """Return the session of a row with the columns SESSION_COLUMNS, then its folder and its subject."""
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


# Search terms: the texts in which every log looks for words and sites, and the SQL conditions of filters.

MAX_WORDS: Final = 8_000
"""Characters of a call in which words are looked for: the arguments, and the titles and URLs of twenty sources."""


def words_of(record: CallRecord) -> str:
    """Return the arguments, titles and URLs of a call in one text without regard to case."""
    call = record.summary
    facts = [call.tool, call.query, call.target, record.arguments]
    facts += [fact for text in record.texts for fact in (text.title, text.url)]
    return "\n".join(dict.fromkeys(filter(None, facts))).casefold()[:MAX_WORDS]


def sites_of(record: CallRecord) -> str:
    """Return the hosts of a call's target and texts, each between a dot and a space: `.docs.python.org .pypi.org `."""
    urls = [record.summary.target, *(text.url for text in record.texts)]
    return "".join(f".{host} " for host in dict.fromkeys(map(site_of, urls)) if host)


def site_of(url: str) -> str:
    """Return the host of a web address, "" for anything else."""
    if not url.startswith(("http://", "https://")):
        return ""
    try:
        return to_ascii(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def wanted_words(filters: CallFilters) -> tuple[str, ...]:
    """Return the texts that `words_of` a call must contain."""
    return tuple(filters.words.casefold().split())


def wanted_site(filters: CallFilters) -> str:
    """Return the text that `sites_of` a call must contain, "" for any. The dot before a host lets subdomains match."""
    host = site_of(filters.site) or to_ascii(filters.site.strip())
    return f".{host.removeprefix('www.')} " if host else ""


def sql_conditions(filters: CallFilters, place: str, contains: str, reads: str) -> tuple[list[str], list[Any]]:
    """Return the conditions in SQL that filters set for a row of `calls`, and their values.

    `place`: the placeholder of a value, such as `?`. `contains`: the condition that the column `{column}` contains a
    value, with its placeholder. `reads`: the condition that a call read a text.
    """
    conditions: list[str] = []
    values: list[Any] = []
    equal = {name: getattr(filters, name) for name in ("session", "client", "tool", "outcome", "miss", "follows")}
    if filters.outcome == "error":
        # Each failed call is a miss, and the index of misses is in the order of the list.
        equal["outcome"] = ""
        conditions.append(f"calls.miss <> '' AND calls.outcome <> '{OK}'")
    elif filters.misses_only or filters.miss:
        conditions.append("calls.miss <> ''")
    if filters.follows:
        conditions.append("calls.follows <> ''")  # the condition of the index
    for name, value in equal.items():
        if value:
            conditions.append(f"calls.{name} = {place}")
            values.append(to_storable(value))
    if filters.text:
        conditions.append(reads)
        values.append(to_storable(filters.text))
    for column, wanted in (("sites", [wanted_site(filters)]), ("words", wanted_words(filters))):
        for text in filter(None, wanted):
            conditions.append(contains.format(column=column))
            values.append(to_storable(text))
    return conditions, values
