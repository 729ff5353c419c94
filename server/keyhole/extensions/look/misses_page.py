"""The page of misses: calls that did not suffice, with what the session did next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.fields import read_filters, read_place, write_filters, write_place
from keyhole.extensions.look.page import look_of, page
from keyhole.store.calls.base import CallFilters, CallSummary, Miss, list_following
from keyhole.store.calls.rows import site_of

PER_PAGE: Final = 30
"""Misses on one page."""
ADVICE: Final[Mapping[Miss, str]] = MappingProxyType(
    {
        "weak": "The page has few of the question's words: it may be the wrong page, or ask in the page's words.",
        "same_page": "The passages may lack the answer: compare the words of both questions on the call's page.",
        "read_on": "The budget ended before the answer, or the ranking chose other passages: a larger budget may help.",
        "searched_again": "The results may lack the answer: look at the engines and at the sources left out.",
        "error": "Look at the code: it says whether the page, the address or the arguments were at fault.",
    }
)
"""What a person who tunes Keyhole may look at first, for each kind of miss."""


@dataclass(frozen=True, slots=True)
class MissRow:
    """One call that did not suffice."""

    call: CallSummary
    site: str
    """The host of the page that was asked for, "" if the call names none."""
    next: CallSummary | None
    """The first call of the session that followed on it."""


@dataclass(frozen=True, slots=True)
class MissesView:
    """One page of the list."""

    rows: tuple[MissRow, ...]
    kinds: tuple[tuple[Miss, int], ...]
    """The number of calls on this page for each kind of miss, most first."""
    filters: CallFilters
    fields: Mapping[str, str]
    """The filters as fields of an address."""
    older: str
    """The place after which the list continues, "" on the last page."""


def view_of(
    calls: Sequence[CallSummary], following: Mapping[str, Sequence[CallSummary]], filters: CallFilters
) -> MissesView:
    """Return what the page shows. `calls`: one more than a page has, if there are older ones."""
    shown = calls[:PER_PAGE]
    found = [call.miss for call in shown]
    kinds = sorted(((kind, found.count(kind)) for kind in ADVICE if kind in found), key=lambda each: -each[1])
    last = shown[-1] if len(calls) > PER_PAGE else None
    return MissesView(
        tuple(_row(call, following.get(call.id, ())) for call in shown),
        tuple(kinds),
        filters,
        {name: value for name, value in write_filters(filters).items() if name != "misses_only"},
        write_place((last.started_at, last.id)) if last else "",
    )


def _row(call: CallSummary, following: Sequence[CallSummary]) -> MissRow:
    return MissRow(call, site_of(call.target), next(iter(following), None))


def show_misses(request: Request) -> Response:
    """Answer with the list of misses, newest first."""
    log = look_of(request).calls
    latest = log.latest()  # before the rows, so that the page reloads if a call arrives in between
    kind: Miss = next((each for each in ADVICE if each == request.query_params.get("miss")), "")
    filters = replace(read_filters(request.query_params), misses_only=True, miss=kind)
    after = read_place(request.query_params.get("after", ""))
    calls = log.calls(PER_PAGE + 1, filters, after)
    following = {call.id: list_following(log, call.id) for call in calls[:PER_PAGE]}
    view = view_of(calls, following, filters)
    return page(
        request, "misses.html", view=view, advice=ADVICE, choices=log.choices(), latest=latest, is_first=after is None
    )


routes: Final = [Route("/misses", show_misses)]
