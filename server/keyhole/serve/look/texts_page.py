"""The list of stored texts: newest first, or those that contain some words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.passages.stems import query_words
from keyhole.records import Artifact, ArtifactSummary
from keyhole.serve.look.page import look_of, page
from keyhole.serve.look.sessions_page import MAX_FILTER, read_place, write_place
from keyhole.store.base import Store
from keyhole.store.filters import ArtifactKind, Filters
from keyhole.text.output_facts import EXIT_STATUS, is_output, kind_name

PER_PAGE: Final = 50
"""Texts on one page of the list."""
FOUND: Final = 20
"""Texts that a search shows. The store reads the whole text of each."""
KINDS: Final[tuple[ArtifactKind, ...]] = ("pages", "outputs")


@dataclass(frozen=True, slots=True)
class TextRow:
    """One stored text. `is_pinned` and `last_access` are None in the result of a search, which does not tell them."""

    id: str
    title: str
    source: str
    """The address of a page; the kind and exit status of an output."""
    chars: int
    fetched_at: float
    last_access: float | None = None
    is_pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class TextsView:
    """One page of the list."""

    rows: tuple[TextRow, ...]
    words: str
    kind: str
    older: str
    """The place after which the list continues, "" on the last page and for a search."""


def row_of(summary: ArtifactSummary) -> TextRow:
    """Return the row of an entry of the store's listing."""
    return TextRow(
        summary.id,
        summary.title,
        _source(summary.url, dict(summary.notes)),
        summary.chars,
        summary.fetched_at,
        summary.last_access,
        summary.pinned,
    )


def found_row(artifact: Artifact) -> TextRow:
    """Return the row of an artifact that a search found."""
    source = _source(artifact.url, dict(artifact.notes))
    return TextRow(artifact.id, artifact.title, source, len(artifact.text), artifact.fetched_at)


def _source(url: str, notes: dict[str, str]) -> str:
    if not is_output(url):
        return url
    status = notes.get(EXIT_STATUS)
    return f"{kind_name(url)}, exit {status}" if status else kind_name(url)


def list_view(rows: Iterable[ArtifactSummary]) -> TextsView:
    """Return a page of the listing. `rows`: one more than a page has, if there are more."""
    summaries = tuple(rows)
    older = write_place(summaries[PER_PAGE - 1].place) if len(summaries) > PER_PAGE else ""
    return TextsView(tuple(map(row_of, summaries[:PER_PAGE])), "", "", older)


def search_view(store: Store, words: str, kind: str) -> TextsView:
    """Return the stored texts that contain some words, those with the most and rarest words first."""
    stems = tuple(dict.fromkeys(query_words(words)))
    filters = Filters(kind=next((each for each in KINDS if each == kind), None))
    found = store.search(stems, FOUND, filters) if stems else ()
    return TextsView(tuple(map(found_row, found)), words, kind, "")


def show_texts(request: Request) -> Response:
    """Answer with the list of stored texts, or with the texts that contain the words of the query."""
    store, query = look_of(request).store, request.query_params
    words = query.get("words", "").strip()[:MAX_FILTER]
    view = (
        search_view(store, words, query.get("kind", ""))
        if words
        else list_view(store.list(PER_PAGE + 1, read_place(query.get("after", ""))))
    )
    return page(request, "texts.html", view=view, kinds=KINDS, back=request.url.path)


routes: Final = [Route("/texts", show_texts)]
