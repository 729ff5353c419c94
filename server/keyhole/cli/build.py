"""Build the tools from the settings: the only module that chooses the implementations behind the ports."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from keyhole.config.config import Config, build_user_agent
from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import open_port
from keyhole.runtime.lazy_imports import hidden_modules
from keyhole.store.home import has_models, home_folder

if TYPE_CHECKING:
    from keyhole.extract.workers.tasks import Extractor
    from keyhole.fetch.base import Api
    from keyhole.rerank.base import Scorer
    from keyhole.retrieval.tenants import Network, Tenants
    from keyhole.store.base import Store
    from keyhole.store.stores import Stores
    from keyhole.websearch.panel import Panel
    from keyhole.websearch.registry import CustomSpec

log = logging.getLogger(__name__)


def build(
    config: Config, extractor: Extractor | None = None, *, long_running: bool = False, engines_file: bytes | None = None
) -> Tenants:
    """Build the tools of each tenant. Files, workers and connections are opened by the first call that needs them.

    `long_running`: True for a process that answers many calls. `engines_file`: its content, if it was read.
    """
    from keyhole.extract.workers.worker_pool import WorkerPool
    from keyhole.retrieval.tenants import Tenants

    with hidden_modules("httpx._main"):  # the command line of httpx, which loads rich
        from keyhole.fetch.client import HttpFetcher, api_endpoints

    specs = load_engine_specs(config, engines_file)
    stores = open_stores(config, long_running=long_running)
    apis = api_endpoints(config) | {spec.endpoint for spec in specs}
    fetcher = HttpFetcher(config, build_user_agent(config), apis=apis)
    extractor = extractor or WorkerPool(config)
    open_panel = cache(partial(_open_panel, config, fetcher, extractor, specs))
    renderer = open_port("browser", config, fetcher) if config.render == "auto" else None
    return Tenants(config, fetcher, stores, open_panel, time.time, extractor, renderer, open_scorers(config, fetcher))


def load_engine_specs(config: Config, file: bytes | None = None) -> Sequence[CustomSpec]:
    """Return the engines of the engines file. `file`: its content, if it was read.

    Raises KeyholeError (invalid_argument) if the file or the setting of the engines is wrong.
    """
    if not (config.engines or config.engines_file):
        return ()
    from keyhole.websearch.registry import check_engine_names, open_engines

    specs = open_engines().read_file(config, file)
    check_engine_names(config.engines, [spec.name for spec in specs])
    return specs


def _open_panel(config: Config, network: Network, extractor: Extractor, specs: Sequence[CustomSpec]) -> Panel:
    """Build the panel of search engines, and log which engines of the settings lack a key or URL."""
    from keyhole.websearch.base import SearchApi
    from keyhole.websearch.panel import Panel
    from keyhole.websearch.registry import (
        build_engines,
        describe_missing_setting,
        open_engines,
        parallel_count,
        select_engines,
    )

    api = SearchApi(network, extractor)
    custom = [open_engines().custom(spec, api) for spec in specs]
    engines = select_engines(config.engines, build_engines(config, api, time.time), custom)
    missing = [
        describe_missing_setting(name) for name in config.engines if name not in {engine.name for engine in engines}
    ]
    if missing:
        log.warning("engines not used: %s", ", ".join(missing))
    count = parallel_count(config.engines, engines, config.engine_count)
    return Panel(engines, count=count, missing=missing)


def open_scorers(config: Config, api: Api) -> Callable[[Store], Sequence[Scorer]] | None:
    """Return the function that makes a store's scorers of passages, None if the settings name none.

    Without scorers, their code is not imported.
    """
    uses_model = has_models(home_folder(config.home)) if config.model == "auto" else config.model != "off"
    if not (uses_model or config.embed_url or config.rerank_url):
        return None
    make_scorers: Callable[[Store], Sequence[Scorer]] | None = open_port("models", config, api)
    return make_scorers


def open_stores(config: Config, *, long_running: bool = False) -> Stores:
    """Return the stores that the settings choose.

    The local store and its log of calls adopt what hooks and ended commands left in the spool folder.
    """
    from keyhole.outputs.adopt import adopt_all, adopt_calls
    from keyhole.store.open import open_stores as open_chosen

    import_store(config)
    return open_chosen(config, long_running=long_running, adopt=adopt_all, adopt_calls=adopt_calls)


def open_store() -> tuple[Store, bytes]:
    """Return the store that the settings of the environment choose, and the secret of its ids.

    The local user's server reads the same store. While the disk fails, texts are kept in memory.
    Raises KeyholeError: invalid_argument for a faulty setting, and if the settings keep no outputs.
    """
    from keyhole.config.load import load_config
    from keyhole.store.base import LOCAL

    config = load_config(os.environ)
    if config.keep_outputs == "off":
        raise KeyholeError(Code.INVALID_ARGUMENT, "KEYHOLE_KEEP_OUTPUTS=off: nothing may be stored")
    return open_stores(config, long_running=True).for_tenant(LOCAL)


def import_store(config: Config) -> None:
    """Import the SQLite store, if the settings name no other."""
    if not config.store:
        import_module("keyhole.store.sqlite.store")
