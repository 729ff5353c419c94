"""Build the product from the settings. The only place that chooses the real parts behind the ports."""

from __future__ import annotations

import logging
import time
from importlib import import_module
from typing import TYPE_CHECKING, Final

from keyhole.config.config import Config, agent
from keyhole.serve.lazy_imports import without

if TYPE_CHECKING:
    from keyhole.extract.workers.base import Extractor
    from keyhole.retrieval.tenants import Tenants

log = logging.getLogger(__name__)

UNUSED_MODULES: Final = ("httpx._main", "numpy", "pandas")
"""Optional modules that our libraries import when they are installed, and that Keyhole never uses: the command line of
httpx, which loads rich, and the types that sqlite-utils can store."""


def build(config: Config, extractor: Extractor | None = None, *, lasting: bool = False) -> Tenants:
    """Return the product for each tenant. Nothing is opened, started or connected to before a call needs it.

    `lasting`: True for a process that answers many calls.
    """
    from keyhole.extract.workers.pool import WorkerPool
    from keyhole.retrieval.tenants import Tenants
    from keyhole.serve.http.limits.shared.open import shared_hosts
    from keyhole.store.open import open_stores
    from keyhole.websearch.choose import at_once, chosen, needs
    from keyhole.websearch.custom_engines import own_engines
    from keyhole.websearch.engines.custom import CustomEngine
    from keyhole.websearch.panel import Panel
    from keyhole.websearch.registry import available, endpoints

    with without(*UNUSED_MODULES):
        from keyhole.fetch.client import HttpFetcher
        from keyhole.fetch.host_limits import Manners

        if not config.store:
            import_module("keyhole.store.sqlite.store")

    own = own_engines(config)
    apis = endpoints(config) | {spec.endpoint for spec in own}
    fetcher = HttpFetcher(config, agent(config), manners=Manners(others=shared_hosts(config)), apis=apis)
    described = [CustomEngine(spec, fetcher) for spec in own]
    engines = chosen(config.engines, available(config, fetcher, time.time), described)
    missing = [needs(name) for name in config.engines if name not in {engine.name for engine in engines}]
    if missing:
        log.warning("engines are left out: %s", ", ".join(missing))
    count = at_once(config.engines, engines, config.engine_count)
    panel = Panel(engines, count=count, timeout=config.engine_timeout, missing=missing)
    stores = open_stores(config, lasting=lasting)
    return Tenants(config, fetcher, stores, panel, time.time, extractor or WorkerPool(config))
