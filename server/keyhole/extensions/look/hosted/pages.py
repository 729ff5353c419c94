"""Join the pages with sign-in, limits and the operator's view, for the HTTP server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from keyhole.config.config import Config
from keyhole.extensions.look.app import build_pages
from keyhole.extensions.look.headers import add_headers
from keyhole.extensions.look.hosted.gate import Gate, OpenLook
from keyhole.extensions.look.hosted.operator import Operator
from keyhole.extensions.look.hosted.responses import LINKS
from keyhole.extensions.look.page import Look
from keyhole.retrieval.tenants import Tenants
from keyhole.serve.http.asgi import App
from keyhole.serve.http.host import Verifier
from keyhole.serve.tools import GetRetrieval
from keyhole.store.stores import Stores

GetTenants = Callable[[], Awaitable[Tenants]]
"""Returns the tenants of the server once they are loaded."""


def hosted_pages(
    config: Config, get_retrieval: GetRetrieval, tenants: GetTenants, names: Callable[[], Iterable[str]]
) -> Callable[[Verifier], App]:
    """Return a function that builds the application of the pages around a verifier of tokens.

    `names`: returns the known names of tenants.
    """

    async def find_stores() -> Stores:
        return (await tenants()).stores

    def build(verifier: Verifier) -> App:
        operator = Operator(config, find_stores, names)
        open_look = _opener(get_retrieval, tenants, config.ttl_days * 86_400)
        return add_headers(Gate(build_pages(), verifier, open_look, operator, config.oauth_scopes))

    return build


def _opener(get_retrieval: GetRetrieval, tenants: GetTenants, ttl: float) -> OpenLook:
    @asynccontextmanager
    async def open_look(tenant: str) -> AsyncIterator[Look]:
        retrieval = await get_retrieval(tenant)  # kept until the block ends, because its store is closed after it
        calls = await asyncio.to_thread((await tenants()).stores.calls_for, tenant)
        yield Look(calls, retrieval.store, retrieval.pages.clock, LINKS, tenant, ttl)

    return open_look
