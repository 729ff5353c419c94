"""Decide which session a call belongs to, so that one piece of work is one session.

The calls of one client come under several names: its hooks send the client's own session id, each MCP server that it
starts has another one, and each command in a terminal is a process without any. They belong together if the client and
the folder are the same and there is no long pause between them. Two runs of one client in one folder stay apart where
their hooks or their servers have different names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from keyhole.store.calls.record import CallRecord, CallSummary, Origin

PAUSE_SECONDS: Final = 1_800.0
"""Seconds between two calls up to which another run of the same client in the same folder joins the session. A long
build is part of a piece of work; the next morning is another one."""
MAX_RECENT: Final = 20
"""Sessions that a call may join: the latest ones. More than a few clients at once are rare on one machine."""
_SERVER: Final = ("tool", "resource")
_ONE_OF: Final[Mapping[Origin, Sequence[str]]] = MappingProxyType(
    {"tool": _SERVER, "resource": _SERVER, "hook": ("hook",)}
)
"""The origins of whose runs a session has one, for each of these origins."""
_FIRST_WORD: Final = re.compile(r"[^\W_]*")


@dataclass(frozen=True, slots=True)
class OpenSession:
    """One session that a call may join."""

    id: str
    client: str
    folder: str
    first_at: float
    last_at: float
    runs: frozenset[str]
    """`origin:run` of its calls."""


@dataclass(frozen=True, slots=True)
class KnownRuns:
    """The sessions of a log that a new call may belong to."""

    session: str = ""
    """The session that has calls of the call's run already, "" if none has."""
    recent: tuple[OpenSession, ...] = ()
    """Otherwise the sessions with a call since `PAUSE_SECONDS` before this one, the latest first."""


def in_session(record: CallRecord, known: KnownRuns) -> CallRecord:
    """Return a new record in the session that it joins or begins."""
    call = record.summary
    joined = known.session or next((each.id for each in known.recent if _joins(call, each)), "")
    return replace(record, summary=replace(call, session=joined or call.session or call.id, run=call.session))


def _joins(call: CallSummary, session: OpenSession) -> bool:
    return (
        call.folder == session.folder
        and _program(call.client) == _program(session.client)
        and session.first_at - PAUSE_SECONDS <= call.started_at <= session.last_at + PAUSE_SECONDS
        and not _has_other(call, session.runs)
    )


def _has_other(call: CallSummary, runs: frozenset[str]) -> bool:
    """Return whether a session has another run of a kind of which a client has only one: a server, or its hooks.

    A client has a proxy for each wrapped server, and a proxy answers the reading tool itself, as a server does.
    """
    own = _ONE_OF.get(call.origin, ())
    proxies = {run for origin, _, run in (each.partition(":") for each in runs) if origin == "proxy"}
    others = {run for origin, _, run in (each.partition(":") for each in runs) if origin in own} - proxies
    return bool(call.session and others - {call.session})


def _program(client: str) -> str:
    """Return the word by which the names of one client agree: `claude` of "claude-code 2.1", `codex` of
    "codex-mcp-client"."""
    first = _FIRST_WORD.match(client)
    return first[0].lower() if first else ""
