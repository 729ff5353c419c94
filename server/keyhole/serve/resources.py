"""Stored pages as MCP resources: addresses, listing, reading, completion. No protocol session and no text of ours here;
a text is read as read_artifact reads it."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from keyhole.budget.budget import allowance
from keyhole.budget.fit import DIGITS, META_KEY
from keyhole.callers import Caller
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, ArtifactSummary, Place
from keyhole.render.answer import MAX_URL, title_line
from keyhole.retrieval.instrumentation import stage
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tool_arguments import parse_arguments
from keyhole.text.measure import clip

MIME_TYPE: Final = "text/markdown"
WHOLE: Final = "artifact://{id}"
RANGE: Final = "artifact://{id}?offset={offset}&limit={limit}"
"""Both of RFC 6570's first level. A client that knows only `{name}`, as MCP Inspector did until August 2026
(modelcontextprotocol/inspector#1919), shows no field for `{?offset,limit}` and sends it as it stands."""
PAGE: Final = 100
"""Entries of a page at most; its bytes are bounded by the caller's budget too, as models are shown listings: about 25
entries for a client of which nothing is known. Some clients read no further page (NousResearch/hermes-agent#61724)."""
MAX_VALUES: Final = 100
"""Completions given at once: the protocol's own limit."""
LOOKED_AT: Final = 2_000
"""Artifacts, the newest, in which a completion looks for words: some milliseconds, at each key that a user presses."""

MAX_WORDS: Final = 200
"""Characters of a value that are looked for: each of its words is looked for in each of those artifacts."""

LATEST: Final = 253_402_300_799.0
"""The last second that a date can say, of the year 9999: a store that was written to by others may hold any number."""

_URI: Final = re.compile(r"artifact://([a-z2-7]{16})/?(?:\?(?:offset=(\d{0,19}))?&?(?:limit=(\d{0,19}))?)?", re.ASCII)
_CURSOR: Final = re.compile(r"([\d.e+-]{1,32}) ([!-~]{1,64})", re.ASCII)
_NOT_THERE: Final = frozenset(
    {Code.INVALID_ARGUMENT, Code.UNKNOWN_ARTIFACT, Code.EXPIRED_ARTIFACT, Code.DAMAGED_ARTIFACT}
)
_STAMP: Final = 100
"""Bytes of what the later protocol stamps on a result, the server's name and version."""
_AROUND: Final = 300
"""Bytes of a page around its entries, the cursor and the stamp among them."""


def refused(answer: Answer, **facts: str) -> MCPError:
    """A failed answer as the protocol's error, with the code's name in its text and its data: invalid parameters for
    what is not there, as in every era since SEP-2164, and an internal error for what may be there later."""
    code = answer.text.partition(":")[0]
    number = types.INVALID_PARAMS if code in _NOT_THERE else types.INTERNAL_ERROR
    return MCPError(number, answer.text, data={"code": code, **facts, **answer.facts})


def templates() -> list[types.ResourceTemplate]:
    """How an address is made of an id."""
    return [
        types.ResourceTemplate(
            uri_template=WHOLE,
            name="page",
            title="A stored page",
            description="The text of a page fetched before, from its start, within the client's budget; its last line "
            "names the call that reads on. Complete the id with words of the title or the address.",
            mime_type=MIME_TYPE,
        ),
        types.ResourceTemplate(
            uri_template=RANGE,
            name="part",
            title="A part of a stored page",
            description="The characters from an offset on, at most so many as the limit; either may be left empty.",
            mime_type=MIME_TYPE,
        ),
    ]


# Reading.


async def read(retrieval: Retrieval, caller: Caller, uri: str) -> Answer:
    """What an address names, as read_artifact gives it: bounded, its text verbatim and marked as untrusted. Raises
    KeyholeError for an address that names nothing."""
    asked = parse_uri(uri)
    # To a person who attaches a page it is shown in full, and nobody knows whether a model sees it.
    caller = replace(caller, ledger=None)
    # As there: what this client gets by default, or more where a longer range was asked for.
    budget = max(allowance(retrieval.config, caller, asked_for).size for asked_for in (None, asked.get("limit")))
    answer = await retrieval.read_artifact(**asked, repeat=True, caller=caller)
    shown = len(answer.text.partition(" ---\n")[2].rpartition("\n--- end ")[0]) or len(answer.text)
    for attempt in range(8):
        excess = 0 if answer.is_error else _size(contents(uri, answer)) + _STAMP - budget
        if excess <= 0:
            break
        # The words around a resource are longer than those around a result: with a small budget that shows, and so
        # much less is read. More each time, as in bound.py: the words change with it.
        shown = max(1, shown - excess - (DIGITS << attempt) + DIGITS)
        answer = await retrieval.read_artifact(**{**asked, "limit": shown}, repeat=True, caller=caller)
    return answer


def parse_uri(uri: str) -> dict[str, Any]:
    """The arguments of read_artifact that an address stands for. Raises KeyholeError for one that names nothing."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise KeyholeError(
            Code.UNKNOWN_ARTIFACT, f"no resource has this URI; they are {WHOLE} and {RANGE}", uri=clip(uri, MAX_URL)
        )
    given = {name: value for name, value in zip(("id", "offset", "limit"), found.groups(), strict=True) if value}
    return parse_arguments("read_artifact", given)


def contents(uri: str, answer: Answer) -> types.ReadResourceResult:
    """What was read, as the protocol writes it. Raises MCPError where nothing was."""
    if answer.is_error:
        raise refused(answer, uri=uri)
    meta = {META_KEY: answer.facts} if answer.facts else None
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=answer.text, _meta=meta)]
    )


# Listing.


async def page(retrieval: Retrieval, caller: Caller, cursor: str | None) -> types.ListResourcesResult:
    """The newest artifacts, or those that stand behind a cursor: no text is read. One that was fetched again
    meanwhile moves to the front; nothing else comes twice, and nothing is left out."""
    after = None if cursor is None else parse_cursor(cursor)
    rows = await _listed(retrieval, PAGE + 1, after)
    room = allowance(retrieval.config, caller).size - _AROUND
    entries: list[types.Resource] = []
    for row in rows[:PAGE]:
        entry = resource(row)
        room -= _size(entry) + 2
        if room < 0 and entries:
            break
        entries.append(entry)
    more = len(entries) < len(rows)
    return types.ListResourcesResult(
        resources=entries, next_cursor=cursor_of(rows[len(entries) - 1].place) if more else None
    )


def resource(row: ArtifactSummary) -> types.Resource:
    """One line of the listing. Title and address are the page's, as lines that form no Markdown."""
    at = datetime.fromtimestamp(min(max(0.0, row.fetched_at), LATEST), UTC)
    address = clip(row.url, MAX_URL)
    name = title_line(row.url.partition("://")[2] or row.url)
    return types.Resource(
        uri=WHOLE.replace("{id}", row.id),
        name=name,
        title=title_line(row.title) or name,
        description=f"{row.chars:,} characters of {address}, as read on {at:%Y-%m-%d}",
        mime_type=MIME_TYPE,
        size=row.size,
        annotations=types.Annotations(last_modified=f"{at:%Y-%m-%dT%H:%M:%SZ}"),
    )


def cursor_of(place: Place) -> str:
    """A place in the listing as clients carry it: opaque to them, and the same in every process."""
    return base64.urlsafe_b64encode(f"{place[0]!r} {place[1]}".encode()).decode().rstrip("=")


def parse_cursor(cursor: str) -> Place:
    """The place of a cursor. Raises KeyholeError (invalid_argument) for what no listing gave."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
        found = _CURSOR.fullmatch(text)
        at = float(found[1]) if found else math.inf
    except ValueError:  # also of base64
        found, at = None, math.inf
    if found is None or not math.isfinite(at):
        raise KeyholeError(Code.INVALID_ARGUMENT, "cursor: no listing gave this one; list again without a cursor")
    return at, found[2]


# Completion.


async def completed(retrieval: Retrieval, what: str, value: str) -> types.Completion:
    """Ids or addresses (`url`) of stored pages whose title or address holds the words of a value, or whose id begins
    with it: the newest first."""
    rows = await _listed(retrieval, LOOKED_AT)
    found = COMPLETED[what](rows, value[:MAX_WORDS])
    values = list(dict.fromkeys(found))
    whole = len(rows) < LOOKED_AT
    return types.Completion(
        values=values[:MAX_VALUES],
        total=len(values) if whole else None,
        has_more=len(values) > MAX_VALUES or not whole,
    )


def _ids(rows: Sequence[ArtifactSummary], value: str) -> list[str]:
    begun = [row.id for row in rows if row.id.startswith(value.strip().lower())]
    return [*begun, *(row.id for row in _about(rows, value))]


def _urls(rows: Sequence[ArtifactSummary], value: str) -> list[str]:
    return [row.url for row in _about(rows, value) if row.url.isascii() and len(row.url) <= MAX_URL]


COMPLETED: Final[dict[str, Callable[[Sequence[ArtifactSummary], str], list[str]]]] = {
    "id": _ids,
    "url": _urls,
}


def _about(rows: Sequence[ArtifactSummary], value: str) -> Iterable[ArtifactSummary]:
    words = frozenset(value.casefold().split())
    return (row for row in rows if _holds(f"{row.title} {row.url}".casefold(), words))


def _holds(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


# Around both.


async def _listed(retrieval: Retrieval, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
    async with _deadline(retrieval.config.timeout):
        with stage("store"):
            return await asyncio.to_thread(retrieval.store.list, limit, after)


@asynccontextmanager
async def _deadline(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise KeyholeError(Code.TIMEOUT, f"nothing to show within {seconds:g} s") from error


def _size(value: types.Resource | types.ReadResourceResult) -> int:
    """Bytes of JSON, as in bound.py."""
    told = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return len(json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass"))
