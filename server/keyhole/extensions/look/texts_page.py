"""The list of stored texts: newest first, or those that contain some words."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.fields import MAX_FILTER, read_place, write_place
from keyhole.extensions.look.page import Look, look_of, page
from keyhole.passages.stems import query_words
from keyhole.records import Artifact, ArtifactSummary, Place
from keyhole.store.base import Store
from keyhole.store.filters import ArtifactKind, Filters, matches_address
from keyhole.text.output_facts import EXIT_STATUS, is_output, kind_name

PER_PAGE: Final = 30
"""Texts on one page of the list."""
BATCH: Final = 500
"""Texts that a filtered list reads at once."""
BATCHES: Final = 10
"""Batches that one page of a filtered list reads: 50 ms. The next page continues after them."""
FOUND: Final = 20
"""Texts that a search shows. The store reads the whole text of each."""
KINDS: Final[tuple[ArtifactKind, ...]] = ("pages", "outputs")


@dataclass(frozen=True, slots=True)
class TextRow:
    """One stored text. The last three are None for a result of a search."""

    id: str
    title: str
    source: str
    """The address of a page; the kind and exit status of an output."""
    chars: int
    fetched_at: float
    last_access: float | None = None
    expires_at: float | None = None
    """When the text expires unless it is read before; None also for a pinned text, or if the time is unknown."""
    is_pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class TextGroup:
    """The texts of one address or command on a page of the list."""

    row: TextRow
    """The first one, which is the newest in a list by time."""
    others: tuple[TextRow, ...] = ()


@dataclass(frozen=True, slots=True)
class TextsView:
    """One page of the list."""

    groups: tuple[TextGroup, ...]
    fields: Mapping[str, str]
    """The words, site and kind of the request as fields of an address, without empty ones."""
    older: str = ""
    """The place after which the list continues, "" on the last page and for a search."""


def row_of(summary: ArtifactSummary, ttl: float) -> TextRow:
    """Return the row of an entry of the store's listing. `ttl`: `Look.ttl`, in seconds."""
    return TextRow(
        summary.id,
        summary.title,
        _source(summary.url, dict(summary.notes)),
        summary.chars,
        summary.fetched_at,
        summary.last_access,
        summary.last_access + ttl if ttl and not summary.pinned else None,
        summary.pinned,
    )


def found_row(artifact: Artifact) -> TextRow:
    """Return the row of an artifact that a search found."""
    source = _source(artifact.url, dict(artifact.notes))
    return TextRow(artifact.id, artifact.title, source, len(artifact.text), artifact.fetched_at)


def group_rows(rows: Iterable[tuple[Hashable, TextRow]]) -> tuple[TextGroup, ...]:
    """Return groups in the order of their first rows. `rows`: each with what the rows of its group share."""
    groups: dict[Hashable, list[TextRow]] = {}
    for shared, row in rows:
        groups.setdefault(shared, []).append(row)
    return tuple(TextGroup(first, tuple(others)) for first, *others in groups.values())


def _shared(url: str, title: str) -> Hashable:
    """Return what the texts of a group share: the address of a page, or the kind and the command of an output."""
    return (url, title) if is_output(url) else url


def _source(url: str, notes: dict[str, str]) -> str:
    if not is_output(url):
        return url
    status = notes.get(EXIT_STATUS)
    return f"{kind_name(url)}, exit {status}" if status else kind_name(url)


def list_texts(store: Store, filters: Filters, after: Place | None) -> tuple[list[ArtifactSummary], Place | None]:
    """Return a page of the artifacts that pass the filters, newest first, and the place after which to continue.

    The place is None at the end of the list. A page can be short or empty before that, because its reads are bounded.
    """
    found: list[ArtifactSummary] = []
    size = BATCH if filters else PER_PAGE + 1
    for _ in range(BATCHES):
        rows = store.list(size, after)
        for row in rows:
            if len(found) == PER_PAGE:
                return found, after
            after = row.place
            if matches_address(row.url, filters):
                found.append(row)
        if len(rows) < size:
            return found, None
    return found, after


def read_view(look: Look, query: Mapping[str, str]) -> TextsView:
    """Return the stored texts that a request asks for: the best matches for its words, or the newest without words."""
    given = {name: query.get(name, "").strip()[:MAX_FILTER] for name in ("words", "site", "kind")}
    fields = {name: value for name, value in given.items() if value}
    kind = next((each for each in KINDS if each == given["kind"]), None)
    filters = Filters(sites=(given["site"],) if given["site"] else (), kind=kind)
    if stems := tuple(dict.fromkeys(query_words(given["words"]))):
        texts = look.store.search(stems, FOUND, filters)
        return TextsView(group_rows((_shared(each.url, each.title), found_row(each)) for each in texts), fields)
    rows, after = list_texts(look.store, filters, read_place(query.get("after", "")))
    groups = group_rows((_shared(each.url, each.title), row_of(each, look.ttl)) for each in rows)
    return TextsView(groups, fields, write_place(after) if after else "")


def show_texts(request: Request) -> Response:
    """Answer with the list of stored texts, or with the texts that contain the words of the query."""
    look = look_of(request)
    view = read_view(look, request.query_params)
    place = read_place(request.query_params.get("after", ""))
    back = look.links.page("texts", after=write_place(place) if place else "", **view.fields)
    return page(request, "texts.html", view=view, kinds=KINDS, back=back)


routes: Final = [Route("/texts", show_texts)]
