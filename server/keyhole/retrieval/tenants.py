"""Create one Retrieval for each tenant of a server. Authentication gives each request its tenant's name."""

from __future__ import annotations

import asyncio
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, Protocol

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extract.workers.tasks import Extractor
from keyhole.fetch.base import Api, Fetcher, Renderer
from keyhole.fetch.markdown_versions import MarkdownHosts
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.pending_reads import PendingReads
from keyhole.retrieval.recording import Recording
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Visits
from keyhole.store.base import Clock, Store
from keyhole.store.calls.queue import CallQueue
from keyhole.store.ids import random_id
from keyhole.store.stores import Stores

if TYPE_CHECKING:
    from keyhole.rerank.base import Scorer
    from keyhole.rerank.rerank_passages import PassageReranker
    from keyhole.websearch.panel import Panel

MAX_OPEN: Final = 64
"""Tenants whose stores stay open while no call uses them; the least recently used one is closed first. The number is
the default of KEYHOLE_MAX_CALLS. An open store takes a few files and up to 2 MB; opening it takes a millisecond."""


class Network(Fetcher, Api, Protocol):
    """One client for the web and for the APIs that the settings name."""


RECORD_SECONDS: Final = 2.0
"""Seconds to wait for the records of the last calls when the server ends. Writing one takes a millisecond."""


@dataclass(frozen=True, slots=True)
class Tenants:
    """The tenants of a server: they share network, engines and extractor; each has its own store and secret."""

    config: Config
    network: Network
    stores: Stores
    open_panel: Callable[[], Panel]
    clock: Clock
    extractor: Extractor
    renderer: Renderer | None = None
    make_scorers: Callable[[Store], Sequence[Scorer]] | None = None
    """Makes the scorers of a tenant, whose store keeps its own vectors."""
    pending: PendingReads = field(default_factory=PendingReads)
    markdown_hosts: MarkdownHosts = field(default_factory=MarkdownHosts)
    site_pauses: dict[str, float] = field(default_factory=dict[str, float])
    """The times until which APIs of sites are not asked."""
    _recent: OrderedDict[str, Retrieval] = field(default_factory=OrderedDict)
    _living: weakref.WeakValueDictionary[str, Retrieval] = field(default_factory=weakref.WeakValueDictionary)
    """The tools of recent tenants and of tenants in use. Tools in use are never closed, and never created twice."""
    _lock: Lock = field(default_factory=Lock)
    _queue: CallQueue = field(default_factory=CallQueue)

    def of(self, tenant: str) -> Retrieval:
        """Return the tools of one tenant. Their store stays open as long as a caller uses them."""
        # Created outside the lock, because a database may respond slowly. If two threads create one, the first wins.
        retrieval = self._living.get(tenant) or self._create(tenant)
        dropped = None
        with self._lock:
            retrieval = self._living.get(tenant) or retrieval
            self._living[tenant] = self._recent[tenant] = retrieval
            self._recent.move_to_end(tenant)
            if len(self._recent) > MAX_OPEN:
                _, dropped = self._recent.popitem(last=False)
        del dropped  # outside the lock, because this closes its store if no call uses it
        return retrieval

    def get_recent(self, tenant: str) -> Retrieval | None:
        """Return the tools of a recently used tenant, without waiting for a store; None for any other tenant."""
        with self._lock:
            if retrieval := self._recent.get(tenant):
                self._recent.move_to_end(tenant)
            return retrieval

    def sizes(self) -> tuple[int, int]:
        """Return the number of artifacts and of bytes in the open stores."""
        with self._lock:
            stores = [retrieval.store for retrieval in self._recent.values()]
        artifacts = size = 0
        for store in stores:
            try:
                stats = store.stats()
            except KeyholeError:
                continue  # /readyz and every call report a failing store
            artifacts, size = artifacts + stats.artifacts, size + stats.stored_bytes
        return artifacts, size

    def _create(self, tenant: str) -> Retrieval:
        store, secret = self.stores.for_tenant(tenant)
        reranker = _make_reranker(self.make_scorers(store)) if self.make_scorers else None
        pages = Pages(
            self.config, self.network, self.extractor, store, secret, self.clock, self.pending, self.renderer,
            self.markdown_hosts, self.site_pauses,
        )  # fmt: skip
        retrieval = Retrieval(pages, self.open_panel, reranker, self._recording(tenant))
        close = (store.close, *([retrieval.calls.close] if retrieval.calls else []))
        weakref.finalize(retrieval, _close_in_thread, close).atexit = False  # at exit, aclose closes all stores
        return retrieval

    def _recording(self, tenant: str) -> Recording | None:
        if self.config.record == "off":
            return None
        return Recording(self.stores.calls_for(tenant), self._queue, Visits(random_id))

    async def aclose(self) -> None:
        """Close the extractor, the browsers, the network client and the stores."""
        await self.pending.aclose()
        await self.extractor.aclose()
        if self.renderer:
            await self.renderer.aclose()
        await self.network.aclose()
        await asyncio.to_thread(self._queue.wait, RECORD_SECONDS)
        self.stores.close()


def _close_in_thread(close: Sequence[Callable[[], None]]) -> None:
    """Close stores in a new thread, because garbage collection may run in a thread that waits for one of them."""
    Thread(target=lambda: [each() for each in close], daemon=True).start()


def _make_reranker(scorers: Sequence[Scorer]) -> PassageReranker:
    from keyhole.rerank.rerank_passages import PassageReranker

    return PassageReranker(scorers)
