"""Choose the calls of the load test's clients, and check the answers.

The expected texts do not come from the server: they are extracted here from the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.server.load_test.client import Reply
from keyhole.extract.workers.child import extract_with_words
from keyhole.records import UNDIGESTED
from keyhole.render.answer import NOTICES

SMALL: Final = 30_000
"""Maximum bytes of a small page: half of all web pages are smaller."""
QUERIES: Final = (
    "how is a deadlock resolved", "which isolation levels are there", "what does the option do by default",
    "how are permissions granted", "when is the index used", "how is it configured",
)  # fmt: skip
MAX_READ_CHARS: Final = 200_000
"""Characters requested when a text is read back: the maximum of one call."""
UNKNOWN_ID: Final = "a" * 16
"""An id that does not exist."""

MIX: Final[Mapping[str, int]] = {
    "fetch small": 30, "fetch again": 14, "fetch large": 2, "fetch slow": 4, "fetch hostile": 4, "read": 24,
    "read for a query": 6, "search stored": 6, "search web": 3, "read another's": 7,
}  # fmt: skip
"""Percentage of each kind of call: mostly new pages and reads. Searches are few, but the slowest."""

HOSTILE: Final = frozenset({
    "too_large", "decompression_bomb", "timeout", "http_status", "forbidden", "not_found", "server_error",
    "too_many_redirects", "protocol_error", "login_required", "connect_failure", "empty_document", "invalid_url",
    "blocked_address", "scheme_not_allowed", "rate_limited", "unsupported_media", "unsupported_encoding",
    "extraction_failed", "encrypted_document", "javascript_required", "bot_challenge", "consent_required",
    "paywalled", "extraction_pending",
})  # fmt: skip
"""Error codes that are right for a hostile page; success is right too, since some of the pages are only unusual."""
PENDING: Final = "extraction_pending"
"""Error code for a page that was fetched, but not read in time."""
ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "fetch hostile": HOSTILE,
    "search stored": frozenset({"no_results"}),
    "read another's": frozenset({"unknown_artifact"}),
}
"""Error codes that are right, by kind of call; for all other kinds, errors are faults."""

WITHOUT_REDIRECT: Final = frozenset({"fetch small", "fetch large", "fetch slow", "fetch again"})
"""Kinds of calls whose page does not redirect."""

_QUERY: Final = "v=000000000000"
"""Query of the URLs from which expected texts are extracted. The texts contain it, in links of a page to itself."""

_TOTAL = re.compile(r"(?:Whole (?:text|main part), |of )([\d,]+) characters")
_RANGE = re.compile(r"^Characters (\d+):(\d+) of ", re.MULTILINE)
_FRAMED = re.compile(r"^--- untrusted text (\w+) ---\n(.*)\n--- end \1 ---$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class World:
    """The pages and questions of the load test."""

    small: tuple[str, ...]
    large: tuple[str, ...]
    slow: tuple[str, ...]
    hostile: tuple[str, ...]
    questions: tuple[str, ...]
    texts: Mapping[str, str] = field(repr=False)
    """Expected texts by `page_key`, from `extract_texts`."""

    def text(self, url: str) -> str | None:
        """Return the expected text of a URL, None if it is unknown.

        It is unknown without a query: a link of the page to itself is plain text then, unlike in the expected texts.
        """
        found, query = self.texts.get(page_key(url)), urlsplit(url).query
        return found.replace(f"?{_QUERY}", f"?{query}") if found is not None and query else None


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An artifact that the server acknowledged."""

    id: str
    url: str
    total: int
    """Characters of its main part."""
    has_notice: bool
    """Whether the answer had a notice that the text is partial or a placeholder; its text is not compared then."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to make, and the artifact that it concerns."""

    kind: str
    tool: str
    arguments: Mapping[str, Any]
    about: Acknowledged | None = None


def page_key(url: str) -> str:
    """Return the key of a page: its URL without scheme, port and query."""
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}"


def extract_texts(bodies: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Return the expected text of each page by its key; `World.text` adapts it to a URL's query."""
    return {
        page_key(url): extract_with_words(body, f"{url}?{_QUERY}", "text/html; charset=utf-8")[0].text
        for url, body in bodies
    }


def plan_call(random: Random, world: World, own: Sequence[Acknowledged], others: Sequence[str]) -> Call:
    """Return a client's next call; `own`: its tenant's artifacts. `others`: ids of other tenants' artifacts."""
    (kind,) = random.choices(list(MIX), list(MIX.values()))
    maker = _MAKERS[kind]
    return maker(kind, random, world, own, others)


def _new(kind: str, random: Random, world: World, _own: Sequence[Acknowledged], _others: Sequence[str]) -> Call:
    urls = {"fetch small": world.small, "fetch large": world.large, "fetch slow": world.slow}[kind]
    url = f"{random.choice(urls)}?v={random.getrandbits(48):012x}"  # new to all servers
    query = {"query": random.choice(QUERIES)} if random.random() < 0.5 else {}
    return Call(kind, "web_fetch", {"url": url, **query})


def _again(kind: str, random: Random, world: World, own: Sequence[Acknowledged], others: Sequence[str]) -> Call:
    if not own:
        return _new("fetch small", random, world, own, others)
    about = random.choice(own)
    return Call(kind, "web_fetch", {"url": about.url, "query": random.choice(QUERIES)}, about)


def _hostile(kind: str, random: Random, world: World, _own: Sequence[Acknowledged], _others: Sequence[str]) -> Call:
    return Call(kind, "web_fetch", {"url": random.choice(world.hostile)})


def _read(kind: str, random: Random, world: World, own: Sequence[Acknowledged], others: Sequence[str]) -> Call:
    if not own:
        return _new("fetch small", random, world, own, others)
    about = random.choice(own)
    if kind == "read for a query":
        return Call(kind, "read_artifact", {"id": about.id, "query": random.choice(QUERIES)}, about)
    offset = random.randrange(max(1, about.total))
    return Call(kind, "read_artifact", {"id": about.id, "offset": offset, "limit": 6_000}, about)


def _search(kind: str, random: Random, world: World, _own: Sequence[Acknowledged], _others: Sequence[str]) -> Call:
    arguments = {"query": random.choice(world.questions), "scope": kind.removeprefix("search "), "max_results": 3}
    return Call(kind, "search", arguments)


def _another(kind: str, random: Random, _world: World, _own: Sequence[Acknowledged], others: Sequence[str]) -> Call:
    return Call(kind, "read_artifact", {"id": random.choice(others) if others else UNKNOWN_ID})


_MAKERS: Final[Mapping[str, Callable[..., Call]]] = {
    "fetch small": _new, "fetch large": _new, "fetch slow": _new, "fetch again": _again, "fetch hostile": _hostile,
    "read": _read, "read for a query": _read, "search stored": _search, "search web": _search,
    "read another's": _another,
}  # fmt: skip


# Answers.


def acknowledged_artifacts(call: Call, reply: Reply) -> list[Acknowledged]:
    """Return the artifacts that an answer acknowledges."""
    total = _TOTAL.search(reply.text)
    if reply.is_error or reply.code or call.tool == "search" or not total or not reply.facts.get("artifact_id"):
        return []
    facts, length = reply.facts, int(total[1].replace(",", ""))
    return [Acknowledged(facts["artifact_id"], _address(reply), length, bool(facts.get("notice")))]


def _address(reply: Reply) -> str:
    """Return the address of the page in an answer."""
    return reply.text.split(maxsplit=1)[0]


def page_text(reply: Reply) -> str:
    """Return the page's text in an answer."""
    found = _FRAMED.search(reply.text)
    return found[2] if found else ""


def is_timeout(call: Call, reply: Reply) -> bool:
    """Return whether a call timed out although its page is fast enough."""
    is_late = reply.is_error and reply.outcome in {"timeout", PENDING}
    return is_late and reply.outcome not in ALLOWED.get(call.kind, frozenset())


def is_undigested(reply: Reply) -> bool:
    """Return whether an answer shows the text of a page that no worker finished."""
    return NOTICES[UNDIGESTED] in reply.text


def find_faults(call: Call, reply: Reply, world: World) -> list[str]:
    """Return the faults of an answer; refusals for load and timeouts are not faults."""
    if reply.is_refused:
        return [] if reply.code and not reply.code.startswith("http_") else [f"refused without a name: {reply.code}"]
    if reply.code:
        return [f"no result: {reply.code}"]
    if call.kind == "read another's" and not reply.is_error:
        return ["another tenant's artifact was read"]
    if is_timeout(call, reply):
        return []
    if reply.is_error:
        right = reply.outcome in ALLOWED.get(call.kind, frozenset())
        return [] if right else [f"error {reply.outcome}: {reply.text[:120]}"]
    return _mismatch_faults(call, reply) + _range_faults(call, reply, world)


def _mismatch_faults(call: Call, reply: Reply) -> list[str]:
    """Return a fault if the answer belongs to another call."""
    asked, facts = call.arguments, reply.facts
    wrong = call.kind in WITHOUT_REDIRECT and _address(reply) != asked["url"]
    wrong |= call.tool == "read_artifact" and facts.get("artifact_id") != asked["id"]
    return [f"{dict(asked)} was answered with {facts.get('artifact_id')} of {_address(reply)}"] if wrong else []


def _range_faults(call: Call, reply: Reply, world: World) -> list[str]:
    """Return a fault if a range is not exactly the expected text from its offset on."""
    if call.kind != "read" or call.about is None or call.about.has_notice:
        return []
    truth = world.text(call.about.url)
    if truth is None:
        return []
    shown = _RANGE.search(reply.text)
    if not shown:
        return [f"{call.about.id}: nothing was read"]
    start, end = map(int, shown.groups())
    if page_text(reply) != truth[start:end] or start != call.arguments["offset"]:
        return [f"{call.about.id}: characters {start}:{end} are not those of the page"]
    return []
