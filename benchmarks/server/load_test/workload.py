"""What the clients of the load test ask, and whether an answer is right. Pure: it sends nothing and keeps nothing.

The truth does not come from the server: what a page must be kept as is read here from the same bytes.
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

SMALL: Final = 30_000
"""Bytes of a small page at most: half of the pages of the web have fewer."""
QUERIES: Final = (
    "how is a deadlock resolved", "which isolation levels are there", "what does the option do by default",
    "how are permissions granted", "when is the index used", "how is it configured",
)  # fmt: skip
WHOLE: Final = 200_000
"""Characters asked for when a text is read back: the most that one reading may have."""
MAKE_UP: Final = "a" * 16
"""An id that nobody was given."""

MIX: Final[Mapping[str, int]] = {
    "fetch small": 30, "fetch again": 14, "fetch large": 2, "fetch slow": 4, "fetch hostile": 4, "read": 24,
    "read for a query": 6, "search stored": 6, "search web": 3, "read another's": 7,
}  # fmt: skip
"""Of a hundred calls. Mostly new pages and reading on; searches are fewer and take most."""

HOSTILE: Final = frozenset({
    "too_large", "decompression_bomb", "timeout", "http_status", "too_many_redirects", "not_found", "protocol_error",
    "login_required", "connect_failure", "empty_document", "invalid_url", "blocked_address", "scheme_not_allowed",
    "rate_limited", "unsupported_media", "unsupported_encoding", "extraction_failed", "encrypted_document",
    "javascript_required", "bot_challenge", "consent_required", "paywalled",
})  # fmt: skip
"""What may be said of a hostile page. It may also be read, for some only are odd."""
ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "fetch hostile": HOSTILE,
    "search stored": frozenset({"no_results"}),
    "read another's": frozenset({"unknown_artifact"}),
}
"""The errors of tools that are right, by kind of call; for every other kind none is."""

ITSELF: Final = frozenset({"fetch small", "fetch large", "fetch slow", "fetch again"})
"""Kinds of calls whose page leads nowhere else."""

_QUERY: Final = "v=000000000000"
"""Of the URL under which the truth is read. Links of a page to itself repeat its URL, so this stands in the text."""

_FRAMED = re.compile(r"^--- untrusted text (\w+) ---\n(.*)\n--- end \1 ---$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class World:
    """What there is to ask for."""

    small: tuple[str, ...]
    large: tuple[str, ...]
    slow: tuple[str, ...]
    hostile: tuple[str, ...]
    questions: tuple[str, ...]
    texts: Mapping[str, str] = field(repr=False)
    """By `host/path`, as `texts` gives them."""

    def text(self, url: str) -> str | None:
        """What the page at a URL must be kept as; None for one that is not known here."""
        found, query = self.texts.get(key(url)), urlsplit(url).query
        return None if found is None else found.replace(f"?{_QUERY}", f"?{query}" if query else "")


@dataclass(frozen=True, slots=True)
class Kept:
    """An artifact that the server said it keeps."""

    id: str
    url: str
    total: int
    noticed: bool
    """Whether the text is only a part or a makeshift of the page, and said so: then only its length is known here."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to make, and what it is about."""

    kind: str
    tool: str
    arguments: Mapping[str, Any]
    about: Kept | None = None


def key(url: str) -> str:
    """The page behind a URL, whatever its query."""
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}"


def texts(bodies: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """What each page must be kept as, by its key; `World.text` gives it for a URL with a query of its own."""
    return {
        key(url): extract_with_words(body, f"{url}?{_QUERY}", "text/html; charset=utf-8")[0].text
        for url, body in bodies
    }


def planned(random: Random, world: World, own: Sequence[Kept], others: Sequence[str]) -> Call:
    """The next call of a client that has got these artifacts, while other tenants have got those."""
    (kind,) = random.choices(list(MIX), list(MIX.values()))
    maker = _MAKERS[kind]
    return maker(kind, random, world, own, others)


def _new(kind: str, random: Random, world: World, _own: Sequence[Kept], _others: Sequence[str]) -> Call:
    urls = {"fetch small": world.small, "fetch large": world.large, "fetch slow": world.slow}[kind]
    url = f"{random.choice(urls)}?v={random.getrandbits(48):012x}"  # new to everyone
    query = {"query": random.choice(QUERIES)} if random.random() < 0.5 else {}
    return Call(kind, "web_fetch", {"url": url, **query})


def _again(kind: str, random: Random, world: World, own: Sequence[Kept], others: Sequence[str]) -> Call:
    if not own:
        return _new("fetch small", random, world, own, others)
    about = random.choice(own)
    return Call(kind, "web_fetch", {"url": about.url, "query": random.choice(QUERIES)}, about)


def _hostile(kind: str, random: Random, world: World, _own: Sequence[Kept], _others: Sequence[str]) -> Call:
    return Call(kind, "web_fetch", {"url": random.choice(world.hostile)})


def _read(kind: str, random: Random, world: World, own: Sequence[Kept], others: Sequence[str]) -> Call:
    if not own:
        return _new("fetch small", random, world, own, others)
    about = random.choice(own)
    if kind == "read for a query":
        return Call(kind, "read_artifact", {"id": about.id, "query": random.choice(QUERIES)}, about)
    offset = random.randrange(max(1, about.total))
    return Call(kind, "read_artifact", {"id": about.id, "offset": offset, "limit": 6_000}, about)


def _search(kind: str, random: Random, world: World, _own: Sequence[Kept], _others: Sequence[str]) -> Call:
    arguments = {"query": random.choice(world.questions), "scope": kind.removeprefix("search "), "max_results": 3}
    return Call(kind, "search", arguments)


def _another(kind: str, random: Random, _world: World, _own: Sequence[Kept], others: Sequence[str]) -> Call:
    return Call(kind, "read_artifact", {"id": random.choice(others) if others else MAKE_UP})


_MAKERS: Final[Mapping[str, Callable[..., Call]]] = {
    "fetch small": _new, "fetch large": _new, "fetch slow": _new, "fetch again": _again, "fetch hostile": _hostile,
    "read": _read, "read for a query": _read, "search stored": _search, "search web": _search,
    "read another's": _another,
}  # fmt: skip


# What an answer says.


def kept(call: Call, reply: Reply) -> list[Kept]:
    """The artifacts that an answer says are kept."""
    if reply.is_error or reply.code:
        return []
    facts = reply.facts
    if call.tool == "search":
        rows = [row for row in facts.get("sources") or [] if row.get("artifact_id")]
        return [Kept(row["artifact_id"], row["url"], -1, True) for row in rows]
    noticed = bool(facts.get("notice"))
    return [Kept(facts["artifact_id"], facts["url"], facts["total_chars"], noticed)] if facts.get("artifact_id") else []


def shown(reply: Reply) -> str:
    """The page's own words in an answer."""
    found = _FRAMED.search(reply.text)
    return found[2] if found else ""


def out_of_time(call: Call, reply: Reply) -> bool:
    """Whether a page that is quick enough could not be had within the call's deadline."""
    return reply.is_error and reply.said == "timeout" and "timeout" not in ALLOWED.get(call.kind, frozenset())


def faults(call: Call, reply: Reply, world: World) -> list[str]:
    """What is wrong with the answer to a call; being refused for load, or being too late, is not."""
    if reply.refused:
        return [] if reply.code and not reply.code.startswith("http_") else [f"refused without a name: {reply.code}"]
    if reply.code:
        return [f"no result: {reply.code}"]
    if call.kind == "read another's" and not reply.is_error:
        return ["another tenant's artifact was read"]
    if out_of_time(call, reply):
        return []
    if reply.is_error:
        right = reply.said in ALLOWED.get(call.kind, frozenset())
        return [] if right else [f"error {reply.said}: {reply.text[:120]}"]
    found = [fault for artifact in kept(call, reply) if (fault := _unlike(artifact, world))]
    return found + _of_another_call(call, reply) + _unread(call, reply, world)


def _of_another_call(call: Call, reply: Reply) -> list[str]:
    """What was asked for must be what is answered, however many calls are under way."""
    asked, facts = call.arguments, reply.facts
    wrong = call.kind in ITSELF and facts.get("url") != asked["url"]
    wrong |= call.tool == "read_artifact" and facts.get("artifact_id") != asked["id"]
    return [f"{dict(asked)} was answered with {facts.get('artifact_id')} of {facts.get('url')}"] if wrong else []


def _unlike(artifact: Kept, world: World) -> str:
    truth = world.text(artifact.url)
    if truth is None or artifact.noticed or artifact.total == len(truth):
        return ""
    return f"{artifact.url} is kept with {artifact.total} characters and not {len(truth)}"


def _unread(call: Call, reply: Reply, world: World) -> list[str]:
    """What is wrong with a range that was read: it must be the text from there on, character for character."""
    if call.kind != "read" or call.about is None or call.about.noticed:
        return []
    truth = world.text(call.about.url)
    if truth is None:
        return []
    spans = reply.facts.get("spans")
    if not spans:
        return [f"{call.about.id}: nothing was read"]
    start, end = spans[0][:2]
    if shown(reply) != truth[start:end] or start != call.arguments["offset"]:
        return [f"{call.about.id}: characters {start}:{end} are not those of the page"]
    return []
