"""Show a stored text in windows, with the passages that a call showed, and the calls that read it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.fields import read_number
from keyhole.extensions.look.page import Look, look_of, page
from keyhole.extensions.look.text_view.view import read_text, view_window
from keyhole.extensions.look.texts_page import TextRow, row_of
from keyhole.records import Artifact
from keyhole.render.answer import caveats
from keyhole.store.calls.base import CallFilters, CallRecord, Span

WINDOW_CHARS: Final = 50_000
"""Characters of a window: some 15 screens, which a browser lays out in a tenth of a second."""
OPENING: Final = 120
"""Characters shown of each of the best matches: a line."""
MAX_CALLS: Final = 20
"""Calls listed that read the text."""


def passages_of(record: CallRecord | None, id: str) -> tuple[Span, ...]:
    """Return the passages of a stored text that a call showed."""
    return tuple(span for text in record.texts if text.id == id for span in text.spans) if record else ()


def quote_of(record: CallRecord | None) -> str:
    """Return the quote that a call looked for, "" if it looked for none."""
    try:
        arguments = json.loads(record.arguments) if record else {}
    except ValueError:  # the arguments were too long to be kept whole
        return ""
    quote = arguments.get("find") if isinstance(arguments, dict) else None
    return quote if isinstance(quote, str) else ""


def find_newer(look: Look, artifact: Artifact) -> str:
    """Return the id of the newest stored text of the same page, "" if this is the newest."""
    newest = look.store.recent(artifact.requested_url, artifact.fetched_at)
    return newest.id if newest and newest.id != artifact.id else ""


def find_row(look: Look, artifact: Artifact) -> TextRow | None:
    """Return the row of a stored text in the list of texts, None if it was deleted in the meantime."""
    # A listing starts after a place. A place with a shorter id is just before the artifact.
    rows = look.store.list(1, (artifact.fetched_at, artifact.id[:-1]))
    return next((row_of(row, look.ttl) for row in rows if row.id == artifact.id), None)


def _text(request: Request) -> Response:
    look, id = look_of(request), request.path_params["id"]
    asked = request.query_params
    record = look.calls.get(asked["call"]) if asked.get("call") else None
    query = asked.get("query", "") or (record.summary.query if record else "")
    start = read_number(asked.get("start", "")) or 0
    text = read_text(look.store, id)
    view = view_window(text, passages_of(record, id), query, start, WINDOW_CHARS, quote_of(record))
    return page(
        request,
        "text.html",
        view=view,
        record=record,
        question=asked.get("query", ""),
        window=WINDOW_CHARS,
        openings=[" ".join(text.read(start, min(end, start + OPENING)).split()) for start, end in view.scores.best],
        caveats=caveats(view.artifact),
        row=find_row(look, view.artifact),
        newer="" if view.is_output else find_newer(look, view.artifact),
        calls=look.calls.calls(MAX_CALLS, CallFilters(text=id)),
    )


routes: Final[Sequence[Route]] = (Route("/texts/{id}", _text),)
