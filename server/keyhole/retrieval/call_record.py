"""Make the record of one finished call: what was asked, what was returned, and which texts were read for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from keyhole.records import Answer, Artifact, EngineReport, Ranked, Source
from keyhole.retrieval.call_observer import NO_OBSERVER, CallObserver
from keyhole.retrieval.session import Visits
from keyhole.store.calls.base import CallLog
from keyhole.store.calls.queue import CallQueue
from keyhole.store.calls.record import MATCH, OK, WEAK, CallRecord, CallSummary, Origin, ReadText, Span
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


@dataclass(slots=True)
class CallTrace:
    """Receives what one call read, and passes it on to another observer."""

    then: CallObserver = NO_OBSERVER
    size: int = 0
    pages: list[tuple[Artifact, int]] = field(default_factory=list)
    """Each page or stored text that was read, with the length of the whole text."""
    found: Sequence[Source] = ()
    reports: Sequence[EngineReport] = ()
    ranked: Ranked | None = None

    def budget(self, size: int) -> None:
        """Record the budget."""
        self.size = size
        self.then.budget(size)

    def page(self, artifact: Artifact, total: int) -> None:
        """Record a text that was read."""
        self.pages.append((artifact, total))
        self.then.page(artifact, total)

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """Record the sources of a search."""
        self.found, self.reports, self.ranked = sources, reports, ranked
        self.then.sources(sources, reports, ranked)


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """One call that has ended."""

    id: str
    session: str
    """The server's session, "" for a command, which is a process of its own."""
    client: str
    folder: str
    origin: Origin
    tool: str
    arguments: Mapping[str, Any]
    started_at: float
    seconds: float
    outcome: str
    answer: Answer | None
    """The answer, None if the call was cancelled or failed without one."""
    trace: CallTrace
    stages: tuple[tuple[str, float], ...] = ()


def make_record(call: FinishedCall) -> CallRecord:
    """Return the record of a call. Secrets in its arguments, addresses and titles are masked."""
    from keyhole.budget.tokens import estimate  # imported late: most calls do not need it

    arguments = {name: _masked(value) for name, value in call.arguments.items() if value is not None}
    answer = call.answer or Answer("", {})
    texts = _texts(call, answer)
    query = arguments.get("query") or next(iter(arguments.get("queries") or ()), "")
    summary = CallSummary(
        call.id,
        call.session,
        call.client,
        call.origin,
        call.tool,
        str(query),
        str(arguments.get("url") or arguments.get("id") or ""),
        call.started_at,
        call.seconds,
        call.outcome,
        call.trace.size,
        len(answer.text.encode("utf-8", "replace")),
        estimate(answer.text) if answer.text else 0,
        sum(text.chars for text in texts if text.id),
        sum(text.shown for text in texts),
        folder=mask_secrets(call.folder),
    )
    engines = tuple((each.name, mask_secrets(each.fault or each.note)) for each in call.trace.reports)
    details = answer.details
    found = [("found", "yes" if details["found"] else "no")] if "found" in details else []
    notes = (*found, *([(MATCH, WEAK)] if details.get("weak") else []))
    return CallRecord(
        summary, json.dumps(arguments, ensure_ascii=False, default=str), answer.text, texts, engines, call.stages, notes
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
    texts = [_read_text(artifact, total, shown.get(artifact.id, ()), call) for artifact, total in call.trace.pages]
    texts += [
        _source_text(source, _state(source, number, call, answer), shown, call)
        for number, source in enumerate(call.trace.found)
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
    ranked = call.trace.ranked
    return NO_MATCH if ranked is not None and not ranked[number] else LISTED
