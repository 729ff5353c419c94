"""Request the pages of `extensions/look` without a server: an application with a given `Look`, and a client for it."""

from __future__ import annotations

import re

from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from keyhole.extensions.look.app import build_pages
from keyhole.extensions.look.page import LOOK, Look, ServedLinks
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import MemoryCallLog

NOW = 1_700_000_000.0
"""The time of the pages: 2023-11-14 22:13:20 UTC."""


def empty_look(now: float = NOW) -> Look:
    """Return a `Look` with an empty log and an empty store in memory."""
    return Look(MemoryCallLog(lambda: now, 30 * 86_400), MemoryStore(lambda: now), lambda: now, ServedLinks())


def page_client(look: Look) -> TestClient:
    """Return a client of the pages for one person, without the checks of who may look."""
    pages = build_pages()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope[LOOK] = look
        await pages(scope, receive, send)

    return TestClient(app, follow_redirects=False)


def words_of(html: str) -> str:
    """Return the text of a page on one line, without tags, its head, scripts and styles."""
    body = re.sub(r"<(head|script|style)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())
