"""The product for each of those who use one server: what they share, and what is each one's own. No identities here:
a tenant is a name that authentication gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from keyhole.config import Config
from keyhole.fetch.base import Api, Fetcher
from keyhole.retrieve import Retrieval
from keyhole.store.base import Clock, Store, Stores
from keyhole.websearch.panel import Panel
from keyhole.worker.base import Extractor

if TYPE_CHECKING:
    from keyhole.scorers.second import SecondOpinion


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
    _known: dict[str, Retrieval] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, tenant: str) -> Retrieval:
        """The product of one tenant."""
        with self._lock:
            if tenant not in self._known:
                self._known[tenant] = self._made(tenant)
            return self._known[tenant]

    def _made(self, tenant: str) -> Retrieval:
        store, secret = self.stores.of(tenant)
        second = _second_opinion(self.config, self.network, store)
        return Retrieval(self.config, self.network, store, self.panel, secret, self.clock, self.extractor, second)

    async def aclose(self) -> None:
        """Close what is open."""
        await self.extractor.aclose()
        await self.network.aclose()
        self.stores.close()


def _second_opinion(config: Config, api: Api, store: Store) -> SecondOpinion | None:
    """The scorers that the settings name, embeddings before the reranker; without any, nothing is imported."""
    if not (config.rerank_url or config.embed_url):
        return None
    from keyhole.scorers.embed import Embedder
    from keyhole.scorers.rerank import Reranker
    from keyhole.scorers.second import SecondOpinion

    embedder = [Embedder(config, api, store)] if config.embed_url else []
    reranker = [Reranker(config, api)] if config.rerank_url else []
    return SecondOpinion([*embedder, *reranker])
