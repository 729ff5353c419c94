"""Make the record of one bounded output: what printed it, the text that the model got, and the ranges that it shows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from keyhole.store.calls.record import OK, CallRecord, CallSummary, Origin, ReadText, Span
from keyhole.text.output_facts import output_notes, output_title, output_url
from keyhole.text.program_name import program_name
from keyhole.text.secrets.mask import mask_secrets

KIND: Final = "kind"
"""The note of a call with the kind of its output."""
_ORIGINS: Final = ("hook", "pipe", "run", "proxy")
_SAFE_SESSION: Final = re.compile(r"[A-Za-z0-9_.-]{1,80}")


class KeptOutput(NamedTuple):
    """One stored output of a call."""

    id: str
    kind: str
    total: int
    """Characters of the whole output."""
    omitted: Sequence[Span]
    """The ranges that the result leaves out."""


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One call whose output was bounded."""

    id: str
    origin: Origin
    session: str
    """The client's session, "" if it is not known."""
    client: str
    command: str
    """The command line, or the tool with its arguments."""
    name: str
    """The name of the file that was read, "" for a command."""
    budget: int
    started_at: float
    seconds: float
    """How long bounding took, and the command if Keyhole ran it."""
    result: str
    outputs: Sequence[KeptOutput]
    query: str = ""
    exit_status: int | None = None
    folder: str = ""
    tool: str = ""
    """The name of the tool whose result it is, "" for the program of the command."""
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The arguments of the tool."""


def read_call(facts: Mapping[str, Any]) -> BoundCall:
    """Return the call of a JSON object with its fields. Raises ValueError, LookupError or TypeError for another one."""
    outputs = [
        KeptOutput(str(id), str(kind), int(total), [(int(start), int(end)) for start, end in omitted])
        for id, kind, total, omitted in facts["outputs"]
    ]

    def text(name: str) -> str:
        return str(facts.get(name) or "")

    status = facts.get("exit_status")
    if facts["origin"] not in _ORIGINS:
        raise ValueError("an output has no such origin")
    return BoundCall(
        id=str(facts["id"]),
        origin=cast(Origin, facts["origin"]),
        budget=int(facts["budget"]),
        started_at=float(facts["started_at"]),
        seconds=float(facts["seconds"]),
        result=str(facts["result"]),
        outputs=outputs,
        exit_status=None if status is None else int(status),
        session=text("session"),
        client=text("client"),
        command=text("command"),
        name=text("name"),
        query=text("query"),
        folder=text("folder"),
    )


def make_output_record(call: BoundCall) -> CallRecord:
    """Return the record of a bounded output. Secrets in its command and its query are masked."""
    from keyhole.budget.tokens import estimate  # imported late: a hook has no time for it

    title, query, name = output_title(call.command, call.name), mask_secrets(call.query), mask_secrets(call.name)
    texts = tuple(
        ReadText(each.id, output_url(each.kind), title, each.total, _shown(each), is_stored=False)
        for each in call.outputs
    )
    notes = output_notes(call.command, call.exit_status, call.folder)
    arguments = {"command": dict(notes).get("command"), "file": name, "query": query, "budget": call.budget}
    if call.tool:
        arguments = _masked(call.arguments)
    summary = CallSummary(
        id=call.id,
        session=_session(call),
        client=call.client,
        origin=call.origin,
        tool=call.tool or program_name(mask_secrets(call.command) or name),
        query=query,
        target=title,
        started_at=call.started_at,
        seconds=call.seconds,
        outcome=OK,
        budget=call.budget,
        result_bytes=len(call.result.encode("utf-8", "replace")),
        tokens=estimate(call.result),
        read_chars=sum(text.chars for text in texts),
        shown_chars=sum(text.shown for text in texts),
        folder=mask_secrets(call.folder),
    )
    given = {name: value for name, value in arguments.items() if value not in (None, "")}
    kinds = ", ".join(dict.fromkeys(each.kind for each in call.outputs))
    return CallRecord(summary, json.dumps(given, ensure_ascii=False), call.result, texts, notes=(*notes, (KIND, kinds)))


def _shown(output: KeptOutput) -> tuple[Span, ...]:
    """Return the ranges of an output that the result shows."""
    edges = [0, *(edge for gap in output.omitted for edge in gap), output.total]
    return tuple((start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end)


def _masked(value: Any) -> Any:
    """Return a value of JSON in which secrets are masked, and each text is at most as long as a stored command."""
    if isinstance(value, Mapping):
        return {str(name): _masked(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return output_title(value, "") if isinstance(value, str) else value


def _session(call: BoundCall) -> str:
    """Return the id of the client's session in a form that is safe in an address, "" without one."""
    if not call.session or _SAFE_SESSION.fullmatch(call.session):
        return call.session
    return hashlib.blake2b(call.session.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
