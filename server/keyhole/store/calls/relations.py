"""Determine which earlier call of its session a call follows, and which earlier calls therefore did not suffice."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from keyhole.store.calls.base import MATCH, OK, WEAK, CallOrigin, CallRecord, CallSummary, Miss, ReadText, Relation

EARLIER_CALLS: Final = 40
"""Earlier calls of a session that a call is compared with. An agent that returns to a page does so within a few."""
COMMON_WORDS: Final = 0.5
"""Two queries ask the same if the longer query contains at least this share of the shorter query's words."""
MIN_WORD: Final = 3
"""Minimum characters of a word that is compared, in scripts with spaces. Shorter words are compared if a query has no
others."""

_WORD: Final = re.compile(r"\w+")
_FIRST_UNSPACED: Final = "\u2e80"
"""The first character of the scripts of East Asia, which write no spaces between words."""
OUTPUTS: Final = ("hook", "pipe", "proxy", "run")
"""Origins of calls that bound an output. To run a command again is no sign that its output was insufficient. Nor is
reading on in a resource, which a person attaches."""


NOT_MISSED: Final = frozenset({
    "cancelled", "invalid_argument", "invalid_url", "scheme_not_allowed", "blocked_address", "domain_not_allowed",
    "robots_disallowed", "url_not_known",
})  # fmt: skip
"""Outcomes that the caller chose or caused, and correct refusals. They say nothing about the page or about Keyhole."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """One earlier call of the session, as far as relations depend on it."""

    summary: CallSummary
    request: str
    """The result of `request_of`."""
    texts: Sequence[ReadText]

    @property
    def keys(self) -> frozenset[str]:
        """Return the ids and addresses of the texts that the call read, and its target."""
        return _keys(self.texts) | ({self.summary.target} - {""})

    @property
    def shown_keys(self) -> frozenset[str]:
        """Return the ids and addresses of the texts that its result shows."""
        return _keys([text for text in self.texts if text.spans])


@dataclass(frozen=True, slots=True)
class Related:
    """A record with its relation, and the miss of the earlier call that it follows."""

    record: CallRecord
    miss: Miss = ""
    """Why the call that `follows` names did not suffice; "" if it sufficed or its miss is known already."""


def request_of(record: CallRecord) -> str:
    """Return a fingerprint that calls with the same tool and arguments share."""
    request = f"{record.summary.tool}\n{record.arguments}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(request, digest_size=8).hexdigest()


def earlier_of(record: CallRecord) -> Earlier:
    """Return a call as later calls see it."""
    return Earlier(record.summary, request_of(record), record.texts)


def output_read_by(record: CallRecord) -> str:
    """Return the id of the stored text that a call reads, "" if it reads none.

    A hook or a command records its output in a session of its own, not in the server's. So the log also passes `relate`
    the latest call of another session that read this text and has one of the origins OUTPUTS, as the last one.
    """
    return record.summary.target if record.summary.tool == "read_artifact" else ""


def relate(record: CallRecord, earlier: Sequence[Earlier]) -> Related:
    """Return the record with its relation and its own miss.

    `earlier`: calls of its session, the latest first; then, if any, the call of another session that stored the output
    which it reads.

    A call follows only a call that had ended when it started: concurrent calls did not know each other's results.
    """
    call = record.summary
    before = [each for each in earlier if each.summary.started_at + each.summary.seconds <= call.started_at]
    found, relation = _follow(record, before)
    own = replace(
        call,
        follows=found.summary.id if found else "",
        relation=relation,
        miss=_own_miss(record),
    )
    miss = _miss(found, relation, earlier_of(record).keys, call) if found else ""
    return Related(replace(record, summary=own), miss)


def _own_miss(record: CallRecord) -> Miss:
    """Return the miss of a call by its own result, "" if it may have sufficed."""
    outcome = record.summary.outcome
    if outcome == OK:
        return "weak" if (MATCH, WEAK) in record.notes else ""
    return "" if outcome in NOT_MISSED else "error"


def _follow(record: CallRecord, before: Sequence[Earlier]) -> tuple[Earlier | None, Relation]:
    """Return the latest earlier call that a call follows, however many lie between, and how it relates to it."""
    call, request, keys = record.summary, request_of(record), earlier_of(record).keys
    same = next((each for each in before if each.request == request), None)
    if call.origin in OUTPUTS:
        return same, "same_call" if same else ""
    arguments = _arguments(record)
    # Prefer a call that showed a part of the text to one that only read it, such as a search that found it.
    on_text = next((each for each in before if each.shown_keys & keys), None)
    on_text = on_text or next((each for each in before if each.keys & keys), None)
    if "find" in arguments:
        return on_text, _quote_relation(record) if on_text else ""
    if same:
        return same, "same_call"
    if call.tool == "search":
        again = next(
            (each for each in before if each.summary.tool == "search" and _is_similar(each.summary, call)), None
        )
        return again, "searched_again" if again else ""
    if on_text is None:
        return None, ""
    return on_text, "read_on" if call.tool == "read_artifact" and not call.query else "same_page"


def _miss(found: Earlier, relation: Relation, keys: frozenset[str], later: CallSummary) -> Miss:
    """Return why the followed call did not suffice, "" if it did, or if its miss is known already.

    The same question about the same page with another budget says nothing about the first answer.
    """
    call = found.summary
    asked = (call.tool, call.query, call.target)
    is_same_question = relation == "same_page" and asked == (later.tool, later.query, later.target)
    if (
        call.miss
        or is_same_question
        or call.origin == "resource"
        or (call.origin in OUTPUTS and relation == "same_call")
    ):
        return ""
    if call.tool == "search" and relation in {"same_call", "searched_again"}:
        return "searched_again"
    # It is normal to read on after a range, and to read the text around a quote.
    is_asked = call.tool != "read_artifact" or bool(call.query)
    if not is_asked or not (found.shown_keys & keys):
        return ""
    if relation == "read_on":
        return "read_on"
    return "same_page" if relation in {"same_page", "same_call"} else ""


def _keys(texts: Sequence[ReadText]) -> frozenset[str]:
    """Return the ids of texts, and the addresses of pages. Addresses of outputs are left out, because many outputs
    share one."""
    return frozenset(
        key for text in texts if text.id for key in (text.id, text.url) if key == text.id or key.startswith("http")
    )


def _quote_relation(record: CallRecord) -> Relation:
    notes = dict(record.notes)
    return "quote_found" if record.summary.outcome == OK and notes.get("found") != "no" else "quote_not_found"


def _arguments(record: CallRecord) -> dict[str, Any]:
    """Return the arguments of a call, none if they are not a JSON object."""
    try:
        arguments = json.loads(record.arguments)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _is_similar(one: CallSummary, other: CallSummary) -> bool:
    """Return True if two queries share at least half of the words of the shorter one."""
    first, second = _words(one.query), _words(other.query)
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) >= COMMON_WORDS * shorter


def _words(query: str) -> frozenset[str]:
    """Return the words of a query; in scripts without spaces, its pairs of adjacent characters."""
    words: set[str] = set()
    for word in _WORD.findall(query.casefold()):
        is_unspaced = word[0] >= _FIRST_UNSPACED and len(word) > 1
        words |= {word[at : at + 2] for at in range(len(word) - 1)} if is_unspaced else {word}
    long = {word for word in words if len(word) >= MIN_WORD or word[0] >= _FIRST_UNSPACED}
    return frozenset(long or words)


# Sessions: each call is in one, so that one piece of work is one session.
#
# The calls of one client come under several names: its hooks send the client's own session id, each MCP server that it
# starts has another one, and each command in a terminal is a process without any. They belong together if the client
# and the folder are the same and there is no long pause between them. Two runs of one client in one folder stay apart
# where their hooks or their servers have different names.

PAUSE_SECONDS: Final = 1_800.0
"""Seconds between two calls up to which another run of the same client in the same folder joins the session. A long
build is part of a piece of work; the next morning begins another session."""
MAX_RECENT: Final = 20
"""Sessions that a call may join: the latest ones. More than a few clients at once are rare on one machine."""
_SERVER: Final = ("tool", "resource")
_ONE_OF: Final[Mapping[CallOrigin, Sequence[str]]] = MappingProxyType(
    {"tool": _SERVER, "resource": _SERVER, "hook": ("hook",)}
)
"""For each origin, the origins of which a session has a single run."""
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
    """The session that already has calls of this run, "" if there is none."""
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
    """Return whether a session already has another server, or other hooks: a client has one of each.

    A client has a proxy for each wrapped server, and a proxy answers the reading tool itself, as a server does.
    """
    own = _ONE_OF.get(call.origin, ())
    proxies = {run for origin, _, run in (each.partition(":") for each in runs) if origin == "proxy"}
    others = {run for origin, _, run in (each.partition(":") for each in runs) if origin in own} - proxies
    return bool(call.session and others - {call.session})


def _program(client: str) -> str:
    """Return the first word of a client's name, which is the same in all of its names: `claude` of "claude-code
    2.1", `codex` of "codex-mcp-client"."""
    first = _FIRST_WORD.match(client)
    return first[0].lower() if first else ""
