"""Join the pages with sign-in, limits and the operator's view, for the HTTP server."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final, get_args

from starlette.responses import HTMLResponse, Response

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.access import add_headers
from keyhole.extensions.look.app import build_pages
from keyhole.extensions.look.hosted.gate import LINKS, PERSONAL, Gate, OpenLook
from keyhole.extensions.look.page import Look, environment
from keyhole.retrieval.instrumentation import CANCELLED, Stage
from keyhole.retrieval.tenants import Tenants
from keyhole.serve.http.asgi import App
from keyhole.serve.http.host import Verifier
from keyhole.serve.tools import GetRetrieval
from keyhole.store.base import Clock, StoreStats
from keyhole.store.calls.base import OK, Figures
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
        operator = OperatorPage(config, find_stores, names)
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


# The view of the operator: the figures of all tenants, read from their stores and logs.

log = logging.getLogger(__name__)

DAYS: Final = 7
"""Days of calls that the view sums up."""
MAX_TENANTS: Final = 500
"""Maximum tenants in the view, which bounds the time of reading them."""
FRESH_SECONDS: Final = 60.0
"""Seconds for which a view is reused: a new one reads the store and the log of every tenant."""


class OperatorPage:
    """The view of the operator, who signs in with KEYHOLE_OPERATOR_TOKEN. Without that setting, it admits nobody."""

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


# What the operator may see of a tenant: numbers, times, error codes and names of stages. A log also has names of
# sites, tools and clients, which callers choose and which may be parts of texts. Nothing of them gets into the view:
# a name that Keyhole did not give itself is counted as `other`.

OTHER: Final = "other"
OUTCOMES: Final = frozenset({OK, CANCELLED, *Code})
STAGES: Final = frozenset(get_args(Stage))


@dataclass(frozen=True, slots=True)
class TenantRow:
    """The figures of one tenant. All figures are counted, except the tokens, which are estimated."""

    name: str
    """The name in the token file, or the beginning of the hash that names the tenant's folder or rows."""
    artifacts: int
    stored_bytes: int
    log_bytes: int
    calls: int
    errors: int
    misses: int
    read_chars: int
    shown_chars: int
    tokens: int
    seconds: float
    """The time of all stages of its calls."""
    latest: float | None
    """The beginning of the last hour with a call."""
    outcomes: tuple[tuple[str, int], ...]
    stages: tuple[tuple[str, float, int], ...]


@dataclass(frozen=True, slots=True)
class OperatorView:
    """The figures of all tenants."""

    since: float
    rows: tuple[TenantRow, ...]
    """The tenants, those with the most calls first."""
    failed: int
    """Tenants whose store or log could not be read."""
    total: TenantRow


def make_row(name: str, stats: StoreStats, log_bytes: int, figures: Figures) -> TenantRow:
    """Return the row of a tenant."""
    hours = figures.hours
    outcomes = [(outcome if outcome in OUTCOMES else OTHER, count) for outcome, count in figures.outcomes]
    stages = [(stage if stage in STAGES else OTHER, seconds, calls) for stage, seconds, calls in figures.stages]
    return TenantRow(
        name=name,
        artifacts=stats.artifacts,
        stored_bytes=stats.stored_bytes,
        log_bytes=log_bytes,
        calls=figures.calls,
        errors=sum(count for outcome, count in outcomes if outcome != OK),
        misses=sum(hour.misses for hour in hours),
        read_chars=sum(hour.read_chars for hour in hours),
        shown_chars=sum(hour.shown_chars for hour in hours),
        tokens=sum(hour.tokens for hour in hours),
        seconds=sum(seconds for _, seconds, _ in stages),
        latest=max((hour.start for hour in hours), default=None),
        outcomes=_add_outcomes(outcomes),
        stages=_add_stages(stages),
    )


def make_view(since: float, rows: Sequence[TenantRow], failed: int) -> OperatorView:
    """Return the view of all tenants and their totals."""
    total = TenantRow(
        name="",
        artifacts=sum(row.artifacts for row in rows),
        stored_bytes=sum(row.stored_bytes for row in rows),
        log_bytes=sum(row.log_bytes for row in rows),
        calls=sum(row.calls for row in rows),
        errors=sum(row.errors for row in rows),
        misses=sum(row.misses for row in rows),
        read_chars=sum(row.read_chars for row in rows),
        shown_chars=sum(row.shown_chars for row in rows),
        tokens=sum(row.tokens for row in rows),
        seconds=sum(row.seconds for row in rows),
        latest=max((row.latest for row in rows if row.latest is not None), default=None),
        outcomes=_add_outcomes(pair for row in rows for pair in row.outcomes),
        stages=_add_stages(stage for row in rows for stage in row.stages),
    )
    return OperatorView(since, tuple(sorted(rows, key=lambda row: (-row.calls, row.name))), failed, total)


def _add_outcomes(outcomes: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return calls by outcome, most first."""
    counts: Counter[str] = Counter()
    for outcome, count in outcomes:
        counts[outcome] += count
    return tuple(counts.most_common())


def _add_stages(stages: Iterable[tuple[str, float, int]]) -> tuple[tuple[str, float, int], ...]:
    """Return the seconds and calls of each stage, the longest first."""
    sums: dict[str, tuple[float, int]] = {}
    for name, seconds, calls in stages:
        before = sums.get(name, (0.0, 0))
        sums[name] = before[0] + seconds, before[1] + calls
    return tuple((name, *sums[name]) for name in sorted(sums, key=lambda name: -sums[name][0]))
