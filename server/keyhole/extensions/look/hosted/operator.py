"""Show the operator the figures of all tenants, read from their stores and logs."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from typing import Final

from starlette.responses import HTMLResponse, Response

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extensions.look.hosted.operator_view import OperatorView, TenantRow, make_row, make_view
from keyhole.extensions.look.hosted.responses import LINKS, PERSONAL
from keyhole.extensions.look.page import environment
from keyhole.store.base import Clock
from keyhole.store.stores import Stores

log = logging.getLogger(__name__)

DAYS: Final = 7
"""Days of calls that the view sums up."""
MAX_TENANTS: Final = 500
"""Tenants in the view, so that reading them ends."""
FRESH_SECONDS: Final = 60.0
"""Seconds for which a view is shown again: it reads the store and the log of every tenant."""


class Operator:
    """The view of the operator, for a token of its own. Without KEYHOLE_OPERATOR_TOKEN, it admits nobody."""

    def __init__(
        self,
        config: Config,
        find_stores: Callable[[], Awaitable[Stores]],
        names: Callable[[], Iterable[str]] = tuple,
        clock: Clock = time.time,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._token = config.operator_token.encode()
        self._names = names
        self._find_stores = find_stores
        self._clock = clock
        self._now = now
        self._html, self._valid_until = "", float("-inf")
        self._lock = asyncio.Lock()

    def admits(self, token: str) -> bool:
        """Return whether a token is the operator's."""
        return bool(self._token) and hmac.compare_digest(token.encode(), self._token)

    async def show(self) -> Response:
        """Return the view. Raises KeyholeError if the stores cannot be opened."""
        async with self._lock:  # requests that wait here get the same view
            if self._now() >= self._valid_until:
                stores = await self._find_stores()
                self._html = await asyncio.to_thread(self._render, stores)
                self._valid_until = self._now() + FRESH_SECONDS
        return HTMLResponse(self._html, headers=dict(PERSONAL))

    def _render(self, stores: Stores) -> str:
        now = self._clock()
        view = read_view(stores, self._names(), now - DAYS * 86_400)
        return environment().get_template("operator.html").render(links=LINKS, now=now, view=view, most=MAX_TENANTS)


def read_view(stores: Stores, names: Iterable[str], since: float) -> OperatorView:
    """Read the figures of all tenants since a time. `names`: the known names of tenants."""
    rows: list[TenantRow] = []
    failed = 0
    for name, store, calls in islice(stores.all_tenants(names), MAX_TENANTS):
        try:
            rows.append(make_row(name, store.stats(), calls.size_bytes(), calls.figures(since)))
        except KeyholeError as error:
            log.warning("the figures of a tenant cannot be read: %s", error.message)
            failed += 1
    return make_view(since, rows, failed)
