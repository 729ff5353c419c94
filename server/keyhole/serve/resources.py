"""Stored pages as MCP resources: their URIs, listing, reading and completion."""

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

from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, ArtifactSummary, Place
from keyhole.render.budget import client_budget
from keyhole.render.fit import META_KEY, answer_bytes
from keyhole.render.header import quote_title
from keyhole.retrieval.call import Caller
from keyhole.retrieval.dispatch import parse_arguments
from keyhole.retrieval.instrumentation import stage
from keyhole.retrieval.recording import Request, record_call
from keyhole.retrieval.retrieve import Retrieval
from keyhole.text.escape import plain_line
from keyhole.text.escape_url import MAX_URL, escape_url, shorten_url
from keyhole.text.output_facts import EXIT_STATUS, describe_output, is_output, output_kind

MIME_TYPE: Final = "text/markdown"
PAGE_TEMPLATE: Final = "artifact://{id}"
RANGE_TEMPLATE: Final = "artifact://{id}?offset={offset}&limit={limit}"
"""Both templates are of level 1 of RFC 6570. A client that supports only `{name}`, such as MCP Inspector until August
2026 (modelcontextprotocol/inspector#1919), would show no field for `{?offset,limit}` and send it unchanged."""
MAX_ENTRIES: Final = 100
"""Entries of one page of the listing. The client's budget limits its bytes too, because models are shown
listings: about 25 entries for an unknown client. Some clients read no second page (NousResearch/hermes-agent#61724)."""
MAX_VALUES: Final = 100
"""Completions returned at once: the protocol's limit."""
MAX_SEARCHED: Final = 2_000
"""Artifacts that a completion searches, the newest ones. This takes some milliseconds at each key press."""
MAX_VALUE: Final = 200
"""Characters of a completed value that are used. Each of its words is searched for in each artifact."""

MAX_NAME: Final = 160
"""Bytes of the name of an entry, which is the page's address."""
MAX_SITE: Final = 40
"""Bytes of the name of the shortest entry."""

MAX_TIME: Final = 253_402_300_799.0
"""The last second of the year 9999, the last that `datetime` can express. A damaged store may contain any number."""

_URI: Final = re.compile(r"artifact://([a-z2-7]{16})/?(?:\?(?:offset=(\d{0,19}))?&?(?:limit=(\d{0,19}))?)?", re.ASCII)
_CURSOR: Final = re.compile(r"([\d.e+-]{1,32}) ([!-~]{1,64})", re.ASCII)
_NOT_FOUND: Final = frozenset(
    {Code.INVALID_ARGUMENT, Code.UNKNOWN_ARTIFACT, Code.EXPIRED_ARTIFACT, Code.DAMAGED_ARTIFACT}
)
"""Errors of requests for something that does not exist."""
_SERVER_INFO_BYTES: Final = 100
"""Bytes of the server's name and version, which the SDK adds to a result in the 2026-07-28 protocol."""
_PAGE_OVERHEAD: Final = 300
"""Bytes of one page of the listing around its entries, including the cursor and the server's name."""


def protocol_error(answer: Answer, **facts: str) -> MCPError:
    """Return the protocol's error for a failed answer, with Keyhole's error code in its text and data.

    The number is "invalid parameters" for something that does not exist, as SEP-2164 specifies, and "internal error"
    for other failures.
    """
    code = answer.text.partition(":")[0]
    number = types.INVALID_PARAMS if code in _NOT_FOUND else types.INTERNAL_ERROR
    return MCPError(number, answer.text, data={"code": code, **facts, **answer.facts})


def templates() -> list[types.ResourceTemplate]:
    """Return the URI templates of stored pages."""
    return [
        types.ResourceTemplate(
            uri_template=PAGE_TEMPLATE,
            name="page",
            title="A stored page",
            description="The text of a page fetched before, from its start, within the client's budget; a line at its "
            "end names the call that reads on. Complete the id with words of its title or address.",
            mime_type=MIME_TYPE,
        ),
        types.ResourceTemplate(
            uri_template=RANGE_TEMPLATE,
            name="part",
            title="A part of a stored page",
            description="At most `limit` characters from `offset` on; either may be empty.",
            mime_type=MIME_TYPE,
        ),
    ]


# Reading.


async def read(retrieval: Retrieval, caller: Caller, uri: str) -> Answer:
    """Return the text of a URI, as read_artifact returns it: within the budget, verbatim, marked as untrusted.

    Raises KeyholeError (unknown_artifact) if no resource has the URI.
    """
    arguments = parse_uri(uri)
    overhead = envelope_overhead(uri)
    # A person attaches a resource and expects all of it, so the session's history does not apply.
    reader = replace(caller, session=None)
    with record_call(
        retrieval.recording, retrieval.pages.clock, Request("resource", "read_artifact", arguments, caller)
    ) as events:
        events.answer = await retrieval.read_artifact(**arguments, repeat=True, caller=reader, overhead=overhead)
        return events.answer


def envelope_overhead(uri: str) -> int:
    """Return the bytes by which the envelope of a resource exceeds that of a tool result."""
    empty = Answer("", {"next": None})
    return max(0, _size(contents(uri, empty)) + _SERVER_INFO_BYTES - answer_bytes(empty))


def parse_uri(uri: str) -> dict[str, Any]:
    """Return the arguments of read_artifact for a URI. Raises KeyholeError if no resource has the URI."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise KeyholeError(
            Code.UNKNOWN_ARTIFACT,
            f"no resource has this URI; the templates are {PAGE_TEMPLATE} and {RANGE_TEMPLATE}",
            uri=shorten_url(uri),
        )
    arguments = {name: value for name, value in zip(("id", "offset", "limit"), match.groups(), strict=True) if value}
    return parse_arguments("read_artifact", arguments)


def contents(uri: str, answer: Answer) -> types.ReadResourceResult:
    """Return the answer as a resource of the protocol. Raises MCPError if the answer is an error."""
    if answer.is_error:
        raise protocol_error(answer, uri=uri)
    meta = {META_KEY: answer.facts} if answer.facts else None
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=answer.text, _meta=meta)]
    )


# Listing.


async def list_page(retrieval: Retrieval, caller: Caller, cursor: str | None) -> types.ListResourcesResult:
    """Return one page of the listing: the newest artifacts, or those after a cursor.

    An artifact that is fetched again between two pages moves to the front, and may be missing or repeated. Every other
    artifact is listed exactly once.
    """
    after = None if cursor is None else parse_cursor(cursor)
    rows = await _list_artifacts(retrieval, MAX_ENTRIES + 1, after)
    space = client_budget(retrieval.config, caller.limits).safe_bytes - _PAGE_OVERHEAD
    entries: list[types.Resource] = []
    for row in rows[:MAX_ENTRIES]:
        entry = resource(row)
        if not entries and _size(entry) > space:
            entry = _shortest_resource(row)
        space -= _size(entry) + 2
        if space < 0 and entries:
            break
        entries.append(entry)
    more = len(entries) < len(rows)
    return types.ListResourcesResult(
        resources=entries, next_cursor=cursor_of(rows[len(entries) - 1].place) if more else None
    )


def resource(row: ArtifactSummary) -> types.Resource:
    """Return one entry of the listing. The page's address is escaped and its title quoted, as in results."""
    at = datetime.fromtimestamp(min(max(0.0, row.fetched_at), MAX_TIME), UTC)
    name = _name(row, MAX_NAME)
    return types.Resource(
        uri=PAGE_TEMPLATE.replace("{id}", row.id),
        name=name,
        title=quote_title(row.title) or name,
        description=_describe(row, f"{at:%Y-%m-%d}"),
        mime_type=MIME_TYPE,
        size=row.size,
        annotations=types.Annotations(last_modified=f"{at:%Y-%m-%dT%H:%M:%SZ}"),
    )


def _describe(row: ArtifactSummary, day: str) -> str:
    """Describe an artifact: its size, and its page or command."""
    if is_output(row.url):
        output = describe_output(output_kind(row.url), row.title, dict(row.notes).get(EXIT_STATUS))
        return f"{output}: {row.chars:,} characters, stored on {day}"
    return f"{row.chars:,} characters of {shorten_url(row.url)}, as read on {day}"


def _shortest_resource(row: ArtifactSummary) -> types.Resource:
    """Return an entry with only its URI and its site, for a budget too small for one entry."""
    return types.Resource(uri=PAGE_TEMPLATE.replace("{id}", row.id), name=_name(row, MAX_SITE))


def _name(row: ArtifactSummary, limit: int) -> str:
    """Return the page's address without its scheme, or the command of an output."""
    if is_output(row.url):
        return plain_line(row.title, limit) or row.url
    return shorten_url(row.url.partition("://")[2] or row.url, limit)


def cursor_of(place: Place) -> str:
    """Return the cursor for a place in the listing. It is valid in every process."""
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
    """Return ids or URLs of the stored pages whose title or URL contains all words of `value`, the newest first.

    Pages whose id begins with `value` come first.
    """
    rows = await _list_artifacts(retrieval, MAX_SEARCHED)
    found = COMPLETERS[argument](rows, value[:MAX_VALUE])
    values = list(dict.fromkeys(found))
    is_complete = len(rows) < MAX_SEARCHED
    return types.Completion(
        values=values[:MAX_VALUES],
        total=len(values) if is_complete else None,
        has_more=len(values) > MAX_VALUES or not is_complete,
    )


def _ids(rows: Sequence[ArtifactSummary], value: str) -> list[str]:
    by_id = [row.id for row in rows if row.id.startswith(value.strip().lower())]
    return [*by_id, *(row.id for row in _filter_by_words(rows, value))]


def _urls(rows: Sequence[ArtifactSummary], value: str) -> list[str]:
    found = (row.url for row in _filter_by_words(rows, value) if not is_output(row.url))
    return [escape_url(url) for url in found if url.isascii() and len(url) <= MAX_URL]


COMPLETERS: Final[dict[str, Callable[[Sequence[ArtifactSummary], str], list[str]]]] = {
    "id": _ids,
    "url": _urls,
}


def _filter_by_words(rows: Sequence[ArtifactSummary], value: str) -> Iterable[ArtifactSummary]:
    words = frozenset(value.casefold().split())
    return (row for row in rows if _contains_all(f"{row.title} {row.url}".casefold(), words))


def _contains_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


# Shared.


async def _list_artifacts(retrieval: Retrieval, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
    async with deadline(retrieval.config.timeout):
        with stage("store"):
            return await asyncio.to_thread(retrieval.store.list, limit, after)


@asynccontextmanager
async def deadline(seconds: float) -> AsyncIterator[None]:
    """End the block after `seconds` with KeyholeError (timeout)."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise KeyholeError(Code.TIMEOUT, f"nothing to show within {seconds:g} s") from error


def _size(value: types.Resource | types.ReadResourceResult) -> int:
    """Return the bytes of a value as JSON, with the separators that render/fit.py counts."""
    data = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return len(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))
