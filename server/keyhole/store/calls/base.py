"""The protocol of every log of calls, and its records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    from keyhole.store.filters import Scope


# Records: the calls, their sessions, and the figures of many calls.
#
# Times are seconds since the epoch, durations seconds, sizes characters unless said otherwise.

Span = tuple[int, int]
CallOrigin = Literal["tool", "resource", "hook", "pipe", "run", "proxy", "command"]
"""Where a call came from: a tool or a resource of the MCP server, a hook in a client, `keyhole bound`, `keyhole run`,
the proxy, or the command line."""
Relation = Literal["", "same_call", "same_page", "read_on", "searched_again", "quote_found", "quote_not_found"]
"""How a call relates to the earlier call of its session that it follows."""
MATCH, WEAK = "match", "weak"
"""The note of a call whose passages match the question only weakly, and its value."""
Miss = Literal["", "weak", "same_page", "read_on", "searched_again", "error"]
"""Why a call did not suffice: it failed or matched weakly, or a later call repeated the page, read on or searched."""

OK: Final = "ok"
"""The outcome of a call that did not fail. Other outcomes are error codes."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """One text that a call read or tried to read. `id` is "" and `state` says why if it was not read."""

    id: str
    url: str
    title: str = ""
    chars: int = 0
    """The length of the whole stored text."""
    spans: tuple[Span, ...] = ()
    """The ranges of the text that the result shows, in reading order."""
    state: str = ""
    """Why a source of a search was left out or not read, "" if it is shown."""
    is_stored: bool = False
    """True if the text came from the store, without a request."""

    @property
    def shown(self) -> int:
        """Return the number of characters shown."""
        return sum(end - start for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class CallSummary:
    """One call without its result and its texts, for lists."""

    id: str
    session: str
    """The session. A new record has the caller's own name for it, or "": the log decides which session it joins."""
    client: str
    """The client's name and version, separated by a space; "" if it sent none."""
    origin: CallOrigin
    tool: str
    """The name of the tool, or the program that printed an output."""
    query: str
    """The words for which the text was ranked, "" without a question."""
    target: str
    """The target of the call: a URL, the id of a stored text, the command line of an output, or "" for a search."""
    started_at: float
    seconds: float
    outcome: str
    """`ok` or an error code."""
    budget: int
    """The budget: bytes of JSON, or characters for an output; 0 if it is unknown."""
    result_bytes: int
    """Bytes of the result's text in UTF-8: counted."""
    tokens: int
    """Tokens of the result: estimated."""
    read_chars: int
    """Characters of all texts that were read, counted. A text counts whole even if only a range of it was read."""
    shown_chars: int
    """Characters of stored texts in the result: counted."""
    follows: str = ""
    """The id of the earlier call that this call follows on, "" if there is none."""
    relation: Relation = ""
    miss: Miss = ""
    """Why this call did not suffice. Set when a later call of the session shows it."""
    folder: str = ""
    """The client's working folder, or that of the command; "" if it is unknown."""
    run: str = ""
    """The session as the caller named it, "" for a command. Set by the log, which may join runs to one session."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call, whole."""

    summary: CallSummary
    arguments: str
    """The arguments as JSON, with secrets masked."""
    result: str
    """The text of the result exactly as it was sent."""
    texts: tuple[ReadText, ...] = ()
    engines: tuple[tuple[str, str], ...] = ()
    """`(name, outcome)` of each search engine; the outcome is "" if it answered without a remark."""
    stages: tuple[tuple[str, float], ...] = ()
    """`(name, seconds)` of each stage of the call."""
    notes: tuple[tuple[str, str], ...] = ()
    """Further facts, such as `command`, `exit` and `folder` of an output."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session with the totals of its calls."""

    id: str
    client: str
    first_at: float
    last_at: float
    calls: int
    errors: int
    misses: int
    tokens: int
    result_bytes: int
    read_chars: int
    shown_chars: int
    folder: str = ""
    """The folder of its first call."""
    about: str = ""
    """The query or, without a query, the target of the first call that has either. The id of a stored text is not a
    target here."""


@dataclass(frozen=True, slots=True)
class CallFilters:
    """Conditions for the calls of a list. An empty field allows all."""

    session: str = ""
    client: str = ""
    tool: str = ""
    site: str = ""
    """A host; its subdomains count too."""
    outcome: str = ""
    """`ok`, an error code, or `error` for all errors."""
    words: str = ""
    """Words that the arguments, titles or URLs of a call contain, in any order and without regard to case."""
    misses_only: bool = False
    miss: Miss = ""
    """The kind of miss."""
    follows: str = ""
    """The id of the call that a call follows."""
    text: str = ""
    """The id of a stored text that a call read."""


NO_CALL_FILTERS: Final = CallFilters()
CallPlace = tuple[float, str]
"""A place in a listing: when a call started, or a session was last used, and its id."""


@dataclass(frozen=True, slots=True)
class Hour:
    """The totals of the calls that started in one hour."""

    start: float
    calls: int
    errors: int
    misses: int
    read_chars: int
    shown_chars: int
    tokens: int
    plain_chars: int = 0
    """The characters of the texts as a plain fetch sends them: each text once a session, at most PLAIN_CHARS of it."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Totals of the calls since a time. Everything is counted but the tokens, which are estimated."""

    since: float
    calls: int
    asked: int
    """Calls that asked for a page or searched, and did not fail."""
    sufficed: int
    """The calls among `asked` without a miss."""
    hours: tuple[Hour, ...]
    """The hours with calls, oldest first."""
    outcomes: tuple[tuple[str, int], ...]
    """Calls by outcome, most first."""
    stages: tuple[tuple[str, float, int], ...]
    """`(name, seconds, calls)` of each stage: total seconds, and the calls that had it."""
    sources: tuple[tuple[str, int, int], ...]
    """`(site, characters read, calls)` of the sites with the most characters."""
    tools: tuple[tuple[str, int], ...]
    clients: tuple[tuple[str, int], ...]
    misses: tuple[tuple[str, int], ...] = ()
    """Calls by kind of miss, most frequent kind first; "" counts calls without a miss."""


HOUR: Final = 3_600.0
PLAIN_CHARS: Final = 30_000
"""Characters of a text that reach the context without Keyhole, at most. It is where Claude Code cuts the output of a
command (its documentation, 2026-11), and less than Codex (48,000 bytes) and Gemini CLI (40,000) cut a result at."""
MAX_SOURCES: Final = 20
"""Sites in the figures: those with the most characters read."""
ASKING: Final = frozenset({"web_fetch", "search"})
"""Tools that ask for a page or search. The share of these calls that sufficed is a figure."""


def sum_session(calls: Sequence[CallSummary]) -> SessionSummary:
    """Return the session of one or more calls. Its client is the client of the latest call."""
    in_order = sorted(calls, key=lambda call: (call.started_at, call.id))
    latest = in_order[-1]
    return SessionSummary(
        id=latest.session,
        client=latest.client,
        first_at=in_order[0].started_at,
        last_at=latest.started_at,
        calls=len(calls),
        errors=sum(call.outcome != OK for call in calls),
        misses=sum(call.miss != "" for call in calls),
        tokens=sum(call.tokens for call in calls),
        result_bytes=sum(call.result_bytes for call in calls),
        read_chars=sum(call.read_chars for call in calls),
        shown_chars=sum(call.shown_chars for call in calls),
        folder=in_order[0].folder,
        about=next((about for call in in_order if (about := _about(call))), ""),
    )


def _about(call: CallSummary) -> str:
    """Return the query of a call, or else its target unless that is the id of a stored text."""
    return call.query or ("" if call.tool == "read_artifact" else call.target)


# The protocol: what every log of calls does, and the calls of a scope.

MAX_CALLS: Final = 100_000
"""Calls that a log keeps. The oldest are dropped first."""
MAX_FOLLOWING: Final = 1_000
"""Maximum calls that `list_following` returns."""
MAX_LOG_BYTES: Final = 256 * 1024**2
"""Bytes that a log may use on its medium. A call takes about 2 KB, compressed."""


@dataclass(frozen=True, slots=True)
class CallMatch:
    """The calls in a scope."""

    ids: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    """Ids of the stored texts that these calls read and no other call did."""


def match_calls(rows: Iterable[CallAddresses], scope: Scope) -> CallMatch:
    """Return the calls of a log that are in a scope. `rows`: all calls."""
    ids, own, others = set[str](), set[str](), set[str]()
    for row in rows:
        is_included = scope.includes_call(row.client, row.addresses, row.started_at)
        (own if is_included else others).update(filter(None, row.texts))
        if is_included:
            ids.add(row.id)
    return CallMatch(frozenset(ids), frozenset(own - others))


@dataclass(frozen=True, slots=True)
class CallAddresses:
    """The facts of a call that a scope compares."""

    id: str
    client: str
    started_at: float
    addresses: Sequence[str]
    """Its target, and the URLs of its texts."""
    texts: Sequence[str]
    """The ids of its texts."""


def find_session(log: CallLog, id: str) -> SessionSummary | None:
    """Return a session, or the latest session if `id` is empty; None if it is unknown."""
    return next(iter(log.sessions(1, CallFilters(session=id))), None)


def list_following(log: CallLog, id: str) -> tuple[CallSummary, ...]:
    """Return the calls that follow on a call, oldest first."""
    return log.calls(MAX_FOLLOWING, CallFilters(follows=id))[::-1]


class CallLog(Protocol):
    """Keeps the calls of one tenant until they expire or the log is full. Thread-safe.

    Every method raises KeyholeError(store_unavailable) when the medium fails.
    """

    def add(self, record: CallRecord) -> None:
        """Keep a call, unless it started before the time up to which everything is forgotten.

        Sets its `follows`, `relation` and `miss`, and the `miss` of the call that it follows.
        """
        ...

    def get(self, id: str) -> CallRecord | None:
        """Return a call, None if it is unknown."""
        ...

    def calls(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[CallSummary, ...]:
        """Return calls, newest first, starting after the place `after`."""
        ...

    def sessions(
        self, limit: int, filters: CallFilters = NO_CALL_FILTERS, after: CallPlace | None = None
    ) -> tuple[SessionSummary, ...]:
        """Return the sessions with a call that the filters allow, the one with the latest call first."""
        ...

    def figures(self, since: float) -> Figures:
        """Return the totals of the calls since a time."""
        ...

    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the clients, tools and error codes that occur, for the choices of a filter."""
        ...

    def latest(self) -> int:
        """Return a number that grows with every change of the log, also by other processes."""
        ...

    def remove_call(self, *ids: str) -> int:
        """Delete calls in one transaction; return the number of those that were known."""
        ...

    def match(self, scope: Scope) -> CallMatch:
        """Return the calls in a scope."""
        ...

    def erase(self) -> None:
        """Rewrite the medium, so that deleted calls do not remain in it, as far as the log controls that.

        Raises KeyholeError (store_unavailable) if other processes use it for too long.
        """
        ...

    def remove_session(self, id: str) -> int:
        """Delete all calls of a session and return their number."""
        ...

    def size_bytes(self) -> int:
        """Return the bytes used on the medium."""
        ...

    def close(self) -> None:
        """Release the medium. The next call opens it again."""
        ...
