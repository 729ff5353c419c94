"""Stored pages as MCP resources: URIs, listing, reading, completion. A text is read as read_artifact reads it."""

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

from keyhole.budget.budget import client_budget
from keyhole.budget.fit import META_KEY, answer_size
from keyhole.retrieval.call import Caller
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, ArtifactSummary, Place
from keyhole.render.answer import MAX_URL, title_line
from keyhole.retrieval.dispatch import parse_arguments
from keyhole.retrieval.instrumentation import stage
from keyhole.retrieval.retrieve import Retrieval
from keyhole.text.measure import clip

MIME_TYPE: Final = "text/markdown"
WHOLE: Final = "artifact://{id}"
RANGE: Final = "artifact://{id}?offset={offset}&limit={limit}"
"""Both templates are of level 1 of RFC 6570. A client that knows only `{name}`, as MCP Inspector did until August 2026
(modelcontextprotocol/inspector#1919), shows no field for `{?offset,limit}` and sends it unchanged."""
PAGE: Final = 100
"""Entries of a page at most. The caller's budget bounds its bytes too, because models are shown listings: about 25
entries for an unknown client. Some clients read no second page (NousResearch/hermes-agent#61724)."""
MAX_VALUES: Final = 100
"""Completions returned at once: the protocol's limit."""
MAX_SEARCHED: Final = 2_000
"""The newest artifacts, in which a completion searches for words. It takes some milliseconds at each key press."""

MAX_WORDS: Final = 200
"""Characters of a value that are searched for. Each of its words is searched in each of those artifacts."""

MAX_TIME: Final = 253_402_300_799.0
"""The last second of the year 9999, the last that a date can express. A store written by others may hold any number."""

_URI: Final = re.compile(r"artifact://([a-z2-7]{16})/?(?:\?(?:offset=(\d{0,19}))?&?(?:limit=(\d{0,19}))?)?", re.ASCII)
_CURSOR: Final = re.compile(r"([\d.e+-]{1,32}) ([!-~]{1,64})", re.ASCII)
_NOT_THERE: Final = frozenset(
    {Code.INVALID_ARGUMENT, Code.UNKNOWN_ARTIFACT, Code.EXPIRED_ARTIFACT, Code.DAMAGED_ARTIFACT}
)
_STAMP: Final = 100
"""Bytes of the server's name and version, which the later protocol adds to a result."""
_PAGE_OVERHEAD: Final = 300
"""Bytes of a page around its entries, including the cursor and the server's name."""


def protocol_error(answer: Answer, **facts: str) -> MCPError:
    """Return the protocol's error for a failed answer, with the error code in its text and data.

    It is `invalid parameters` for something that does not exist, as in every era since SEP-2164, and `internal error`
    for something that may exist later.
    """
    code = answer.text.partition(":")[0]
    number = types.INVALID_PARAMS if code in _NOT_THERE else types.INTERNAL_ERROR
    return MCPError(number, answer.text, data={"code": code, **facts, **answer.facts})


def templates() -> list[types.ResourceTemplate]:
    """Return the URI templates of stored pages."""
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
    """Return the text that a URI names, as read_artifact returns it: bounded, verbatim, marked as untrusted.

    Raises KeyholeError for a URI that names nothing.
    """
    arguments = parse_uri(uri)
    # A resource is attached by a person and shown in full: the session's history does not apply.
    caller = replace(caller, session=None)
    return await retrieval.read_artifact(**arguments, repeat=True, caller=caller, overhead=envelope_overhead(uri))


def envelope_overhead(uri: str) -> int:
    """Return the bytes that a resource takes around its text beyond those that a tool result takes."""
    empty = Answer("", {"length": 0})
    return max(0, _size(contents(uri, empty)) + _STAMP - answer_size(empty))


def parse_uri(uri: str) -> dict[str, Any]:
    """Return the arguments of read_artifact that a URI stands for. Raises KeyholeError if it names nothing."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise KeyholeError(
            Code.UNKNOWN_ARTIFACT, f"no resource has this URI; they are {WHOLE} and {RANGE}", uri=clip(uri, MAX_URL)
        )
    given = {name: value for name, value in zip(("id", "offset", "limit"), found.groups(), strict=True) if value}
    return parse_arguments("read_artifact", given)


def contents(uri: str, answer: Answer) -> types.ReadResourceResult:
    """Return the answer as the protocol writes a resource. Raises MCPError for an error."""
    if answer.is_error:
        raise protocol_error(answer, uri=uri)
    meta = {META_KEY: answer.facts} if answer.facts else None
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=answer.text, _meta=meta)]
    )


# Listing.


async def list_page(retrieval: Retrieval, caller: Caller, cursor: str | None) -> types.ListResourcesResult:
    """Return the newest artifacts, or those after a cursor. No text is read.

    An artifact that is fetched again meanwhile moves to the front. No other comes twice, and none is left out.
    """
    after = None if cursor is None else parse_cursor(cursor)
    rows = await _listed(retrieval, PAGE + 1, after)
    room = client_budget(retrieval.config, caller.limits).size - _PAGE_OVERHEAD
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
    """Return one entry of the listing. Title and address are the page's, as lines that form no Markdown."""
    at = datetime.fromtimestamp(min(max(0.0, row.fetched_at), MAX_TIME), UTC)
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
    """Return the cursor for a place in the listing: opaque to clients, and the same in every process."""
    return base64.urlsafe_b64encode(f"{place[0]!r} {place[1]}".encode()).decode().rstrip("=")


def parse_cursor(cursor: str) -> Place:
    """Return the place of a cursor. Raises KeyholeError (invalid_argument) for a cursor that no listing returned."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
        found = _CURSOR.fullmatch(text)
        at = float(found[1]) if found else math.inf
    except ValueError:  # also of base64
        found, at = None, math.inf
    if found is None or not math.isfinite(at):
        raise KeyholeError(
            Code.INVALID_ARGUMENT, "cursor: no listing returned this cursor; list again without a cursor"
        )
    return at, found[2]


# Completion.


async def complete(retrieval: Retrieval, argument: str, value: str) -> types.Completion:
    """Return ids or URLs of stored pages, the newest first, whose title or URL contains the words of `value` or whose id
    begins with it."""
    rows = await _listed(retrieval, MAX_SEARCHED)
    found = COMPLETERS[argument](rows, value[:MAX_WORDS])
    values = list(dict.fromkeys(found))
    whole = len(rows) < MAX_SEARCHED
    return types.Completion(
        values=values[:MAX_VALUES],
        total=len(values) if whole else None,
        has_more=len(values) > MAX_VALUES or not whole,
    )


def _ids(rows: Sequence[ArtifactSummary], value: str) -> list[str]:
    by_id = [row.id for row in rows if row.id.startswith(value.strip().lower())]
    return [*by_id, *(row.id for row in _matching(rows, value))]


def _urls(rows: Sequence[ArtifactSummary], value: str) -> list[str]:
    return [row.url for row in _matching(rows, value) if row.url.isascii() and len(row.url) <= MAX_URL]


COMPLETERS: Final[dict[str, Callable[[Sequence[ArtifactSummary], str], list[str]]]] = {
    "id": _ids,
    "url": _urls,
}


def _matching(rows: Sequence[ArtifactSummary], value: str) -> Iterable[ArtifactSummary]:
    words = frozenset(value.casefold().split())
    return (row for row in rows if _contains_all(f"{row.title} {row.url}".casefold(), words))


def _contains_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


# Shared.


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
    """Return the bytes of the JSON, as budget/fit.py counts them."""
    data = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return len(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))
