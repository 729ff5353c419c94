"""Build the product over fakes of the network, the disk and the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyhole.config.config import Config
from keyhole.extract.workers.tasks import Extractor
from keyhole.rerank.rerank_passages import PassageReranker
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.base import Engine
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcessExtractor

SECRET = b"0" * 32
"""Fixed, so that artifact ids and boundary marks are the same in every run."""


def retrieval(
    answers: Mapping[str, Any] | None = None,
    *,
    config: Config | None = None,
    store: Store | None = None,
    engines: Sequence[Engine] = (),
    clock: Clock | None = None,
    extractor: Extractor | None = None,
    reranker: PassageReranker | None = None,
) -> Retrieval:
    """Return a product that fetches `answers` (see FakeFetcher) and stores artifacts in memory."""
    clock = clock or Clock()
    fetcher, store, panel = FakeFetcher(answers), store or MemoryStore(clock), Panel(engines)
    return Retrieval(
        Pages(config or Config(), fetcher, extractor or InProcessExtractor(), store, SECRET, clock),
        lambda: panel,
        reranker=reranker,
    )
