"""Gather what several servers answer to one request of the client, and answer it once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.eras import Introduction, complete_result, era_of
from keyhole.extensions.proxy.member import DISCOVER, INITIALIZE
from keyhole.extensions.proxy.merge import LISTS, Pages, merge_greetings, merge_lists, well_formed
from keyhole.extensions.proxy.messages import METHOD_NOT_FOUND, Message, error_response, response
from keyhole.extensions.proxy.routes import Routes
from keyhole.extensions.proxy.steps import Pending

log = logging.getLogger(__name__)

GREETINGS: Final = frozenset({INITIALIZE, DISCOVER})
SET_LEVEL: Final = "logging/setLevel"


def add_page(pending: Pending, server: str, answer: Message) -> str | None:
    """Take a page of a server's list; return the cursor of the next page, None if no further page is wanted."""
    if answer.result is None:
        return None
    method, pages = pending.request.method, pending.pages.setdefault(server, Pages())
    return pages.add(LISTS[method], well_formed(method, answer.result), len(answer.raw))


def note_answer(pending: Pending, server: str, answer: Message) -> None:
    """Remember the answer of one of several servers, or why it has none."""
    if answer.result is not None:
        pending.answers[server] = answer.result
        return
    error = answer.data.get("error")
    is_unknown = isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND
    if not is_unknown or pending.request.method in GREETINGS:
        pending.incomplete.setdefault(server, f"the server {server} answered with an error")
    pending.failure = answer.with_data(id=pending.request.data["id"])


def give_up(pending: Pending, seconds: float) -> None:
    """Stop waiting for the servers that have not answered within `seconds`; keep the pages that have arrived."""
    for server in pending.servers:
        if server in pending.pages:
            pending.pages[server].cut, pending.answers[server] = "its further pages took too long", {}
        else:
            pending.incomplete[server] = f"the server {server} was silent for {seconds:.0f} seconds"
    pending.servers = []


def gathered(pending: Pending, servers: Sequence[str], routes: Routes, client: Introduction) -> Message:
    """Return the answer to a request that all servers have answered. `servers`: their order."""
    request, method = pending.request, pending.request.method
    for server, pages in pending.pages.items():
        if pages.cut:
            pending.incomplete[server] = f"the list of the server {server} is cut: {pages.cut}"
    for reason in pending.incomplete.values():
        log.warning("the answer to %s is incomplete: %s", method, reason)
    if not pending.answers and (pending.failure or pending.incomplete):
        reasons = "; ".join(pending.incomplete.values())
        error = KeyholeError(Code.SERVER_UNAVAILABLE, f"no server answered: {reasons}"[:1_000])
        return pending.failure or error_response(request.data["id"], error)
    ordered = [server for server in servers if server in pending.answers]
    if method in LISTS:
        return _gathered_lists(pending, ordered, routes)
    answers = {server: well_formed(method, pending.answers[server]) for server in ordered}
    merged = merge_greetings(method, answers, pending.incomplete, client) if method in GREETINGS else {}
    return response(request.data["id"], merged)


def _gathered_lists(pending: Pending, servers: Sequence[str], routes: Routes) -> Message:
    method, is_modern = pending.request.method, era_of(pending.request) == "modern"
    name, answers = LISTS[method], {}
    for server in servers:
        pages = pending.pages.get(server, Pages())
        answers[server] = {**pages.fields, name: routes.show_list(server, name, pages.items)}
    merged = merge_lists(name, answers, pending.incomplete, is_cacheable=is_modern)
    return response(pending.request.data["id"], complete_result(method, merged) if is_modern else merged)
