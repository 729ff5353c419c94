"""Record each call in the log after its answer: what was asked and returned, and which texts were read for it.

A log that fails or is slow neither fails nor delays a call.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from keyhole._version import __version__
from keyhole.errors import Code
from keyhole.records import Answer, Artifact, Source
from keyhole.retrieval.call import Caller
from keyhole.retrieval.instrumentation import CANCELLED, CallEvents, collect_events, outcome_of
from keyhole.retrieval.session import Visits
from keyhole.store.base import Clock
from keyhole.store.calls.base import MATCH, OK, WEAK, CallLog, CallOrigin, CallRecord, CallSummary, ReadText, Span
from keyhole.store.calls.queue import CallQueue
from keyhole.store.ids import random_id
from keyhole.text.secrets.mask import mask_secrets

LISTED: Final = "listed without passages"
"""The state of a source that shows no passage: the budget had no space, or its passages were shown before."""
LEFT_OUT: Final = "not among the best sources"
"""The state of a source that was read and is not in the result, because better sources are in its place."""
SAME_TEXT: Final = "the same text as"
"""The state of a source with nearly the same text as a source in the result, whose address follows."""
NO_MATCH: Final = "no passage matched"
"""The state of a source in which no passage answers the query."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The log of a tenant's calls, the queue of records to write, and visits, for callers without sessions."""

    log: CallLog
    queue: CallQueue
    visits: Visits


@dataclass(frozen=True, slots=True)
class Request:
    """One call as it was made, before its arguments are checked."""

    origin: CallOrigin
    tool: str
    arguments: Mapping[str, Any]
    caller: Caller


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """One call that has ended."""

    id: str
    session: str
    """The server's session, "" for a command, which is a process of its own."""
    client: str
    request: Request
    started_at: float
    seconds: float
    outcome: str
    events: CallEvents


@contextmanager
def record_call(recording: Recording | None, clock: Clock, request: Request) -> Iterator[CallEvents]:
    """Collect the events of the block as one call, and record it if calls are recorded. The block sets the answer."""
    started_at, start = clock(), time.perf_counter()
    with collect_events() as events:
        try:
            yield events
        finally:
            if recording is not None:
                finished = FinishedCall(
                    random_id(),
                    _session_of(request, recording, started_at),
                    _client_of(request),
                    request,
                    started_at,
                    time.perf_counter() - start,
                    _outcome(events.answer),
                    events,
                )
                recording.queue.put(lambda: recording.log.add(make_record(finished)))


def _session_of(request: Request, recording: Recording, now: float) -> str:
    caller = request.caller
    if request.origin == "command":
        return ""
    return caller.session_id or recording.visits.id_at((caller.client, caller.version), now)


def _client_of(request: Request) -> str:
    if request.origin == "command":
        return f"keyhole {__version__}"
    return f"{request.caller.client} {request.caller.version}".strip()


def _outcome(answer: Answer | None) -> str:
    """Return `ok` or an error code. Must be called while the exception of a call without answer is handled."""
    if answer is None:
        return CANCELLED if isinstance(sys.exception(), asyncio.CancelledError) else Code.INTERNAL_ERROR
    return outcome_of(answer)


# The record of a call.


def make_record(call: FinishedCall) -> CallRecord:
    """Return the record of a call. Secrets in its arguments, addresses and titles are masked."""
    from keyhole.render.tokens import estimate  # imported late: most calls do not need it

    request = call.request
    arguments = {name: _masked(value) for name, value in request.arguments.items() if value is not None}
    answer = call.events.answer or Answer("", {})
    texts = _texts(call, answer)
    query = arguments.get("query") or next(iter(arguments.get("queries") or ()), "")
    summary = CallSummary(
        call.id,
        call.session,
        call.client,
        request.origin,
        request.tool,
        str(query),
        str(arguments.get("url") or arguments.get("id") or ""),
        call.started_at,
        call.seconds,
        call.outcome,
        call.events.budget,
        len(answer.text.encode("utf-8", "replace")),
        estimate(answer.text) if answer.text else 0,
        sum(text.chars for text in texts if text.id),
        sum(text.shown for text in texts),
        folder=mask_secrets(request.caller.folder),
    )
    engines = tuple((each.name, mask_secrets(each.fault or each.note)) for each in call.events.reports)
    details = answer.details
    found = [("found", "yes" if details["found"] else "no")] if "found" in details else []
    notes = (*found, *([(MATCH, WEAK)] if details.get("weak") else []))
    return CallRecord(
        summary,
        json.dumps(arguments, ensure_ascii=False, default=str),
        answer.text,
        texts,
        engines,
        call.events.stage_seconds(),
        notes,
    )


def _masked(value: Any) -> Any:
    """Return the value of an argument in which secrets are masked."""
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return mask_secrets(value) if isinstance(value, str) else value


def _texts(call: FinishedCall, answer: Answer) -> tuple[ReadText, ...]:
    """Return the texts that a call read or tried to read, those in the result first, in its order."""
    shown: dict[str, list[Span]] = {}
    for id, start, end in answer.shown:
        shown.setdefault(id, []).append((start, end))
    texts = [_read_text(artifact, total, shown.get(artifact.id, ()), call) for artifact, total in call.events.pages]
    texts += [
        _source_text(source, _state(source, number, call, answer), shown, call)
        for number, source in enumerate(call.events.sources)
    ]
    order = {id: place for place, id in enumerate(shown)}
    unique = dict.fromkeys(texts)
    return tuple(sorted(unique, key=lambda text: order.get(text.id, len(order))))


def _source_text(source: Source, state: str, shown: Mapping[str, Sequence[Span]], call: FinishedCall) -> ReadText:
    """Return a source of a search as a text. A source that is shown has no state."""
    artifact = source.artifact
    if artifact is None:
        return ReadText("", mask_secrets(source.url), mask_secrets(source.title), state=source.not_read or state)
    spans = shown.get(artifact.id, ())
    return _read_text(artifact, len(artifact.text), spans, call, "" if spans else state)


def _read_text(artifact: Artifact, total: int, spans: Sequence[Span], call: FinishedCall, state: str = "") -> ReadText:
    url, title = mask_secrets(artifact.url), mask_secrets(artifact.title)
    is_stored = artifact.fetched_at < call.started_at
    return ReadText(artifact.id, url, title, total, tuple(spans), state, is_stored)


def _state(source: Source, number: int, call: FinishedCall, answer: Answer) -> str:
    """Return why a source that is read shows no passage."""
    details: Any = answer.details.get("sources", [])
    if original := next((row["url"] for row in details if source.url in row.get("copies", ())), ""):
        return f"{SAME_TEXT} {mask_secrets(original)}"
    if source.url not in {row.get("url") for row in details}:
        return LEFT_OUT if call.outcome == OK else ""
    ranked = call.events.ranked
    return NO_MATCH if ranked is not None and not ranked[number] else LISTED
