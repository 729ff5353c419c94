"""The product for each of those who use one server: what they share, and what is each one's own. No identities here:
a tenant is a name that authentication gave."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, Protocol

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extract.workers.base import Extractor
from keyhole.fetch.base import Api, Fetcher
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Clock, Store, Stores
from keyhole.websearch.panel import Panel

if TYPE_CHECKING:
    from keyhole.rerank.rerank_passages import PassageReranker

MAX_OPEN: Final = 64
"""Tenants whose stores are kept open although no call uses them, the least recently used closed first. As many as the
default of KEYHOLE_MAX_CALLS: a store takes a few files and up to 2 MB of memory, and a millisecond to open again."""


class Network(Fetcher, Api, Protocol):
    """The web and the APIs that the settings name, through one client."""


@dataclass(frozen=True, slots=True)
class Tenants:
    """The network, the engines and the readers are shared; the store and the secret of ids are a tenant's own."""

    config: Config
    network: Network
    stores: Stores
    panel: Panel
    clock: Clock
    extractor: Extractor
    _recent: OrderedDict[str, Retrieval] = field(default_factory=OrderedDict)
    _living: weakref.WeakValueDictionary[str, Retrieval] = field(default_factory=weakref.WeakValueDictionary)
    """Those and, besides, what calls that are under way still hold: a product in use is never made twice or closed."""
    _lock: Lock = field(default_factory=Lock)

    def of(self, tenant: str) -> Retrieval:
        """The product of one tenant. Its store stays open for as long as someone holds it."""
        # Made outside the lock, as a database may be waited for; where two make one, the first is everybody's.
        product = self._living.get(tenant) or self._made(tenant)
        dropped = None
        with self._lock:
            product = self._living.get(tenant) or product
            self._living[tenant] = self._recent[tenant] = product
            self._recent.move_to_end(tenant)
            if len(self._recent) > MAX_OPEN:
                _, dropped = self._recent.popitem(last=False)
        del dropped  # outside the lock, since its store is closed if nobody else holds it
        return product

    def at_hand(self, tenant: str) -> Retrieval | None:
        """The same without waiting for anything, where it was used lately."""
        with self._lock:
            if product := self._recent.get(tenant):
                self._recent.move_to_end(tenant)
            return product

    def sizes(self) -> tuple[int, int]:
        """How many artifacts and bytes the stores hold that are open."""
        with self._lock:
            stores = [product.store for product in self._recent.values()]
        artifacts = size = 0
        for store in stores:
            try:
                stats = store.stats()
            except KeyholeError:
                continue  # a store that fails is told by /readyz and by every call
            artifacts, size = artifacts + stats.artifacts, size + stats.stored_bytes
        return artifacts, size

    def _made(self, tenant: str) -> Retrieval:
        store, secret = self.stores.for_tenant(tenant)
        reranker = _second_opinion(self.config, self.network, store)
        product = Retrieval(self.config, self.network, store, self.panel, secret, self.clock, self.extractor, reranker)
        weakref.finalize(product, _let_go, store).atexit = False  # at the end aclose closes all
        return product

    async def aclose(self) -> None:
        """Close what is open."""
        await self.extractor.aclose()
        await self.network.aclose()
        self.stores.close()


def _let_go(store: Store) -> None:
    """Close a store in a thread of its own: a product may end wherever garbage is collected, also in a thread that
    waits for this very store."""
    Thread(target=store.close, daemon=True).start()


def _second_opinion(config: Config, api: Api, store: Store) -> PassageReranker | None:
    """The scorers that the settings name, embeddings before the reranker; without any, nothing is imported."""
    if not (config.rerank_url or config.embed_url):
        return None
    from keyhole.rerank.embeddings import Embedder
    from keyhole.rerank.rerank_passages import PassageReranker
    from keyhole.rerank.reranker import Reranker

    embedder = [Embedder(config, api, store)] if config.embed_url else []
    reranker = [Reranker(config, api)] if config.rerank_url else []
    return PassageReranker([*embedder, *reranker])
