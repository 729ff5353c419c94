"""The engines that can run under these settings, by name. Which are asked, and how many, is decided elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from keyhole.config.config import Config
from keyhole.fetch.base import Api
from keyhole.fetch.urls import parse_target
from keyhole.websearch.base import Engine


def available(config: Config, api: Api, clock: Callable[[], float] | None = None) -> dict[str, Engine]:
    """Every engine whose setting is there, in the order of ENGINES; `keyless` and `wikipedia` need none.

    `clock`: seconds since the epoch, for engines that want the date that "the last week" began on; without it these
    do not apply `freshness`.
    """
    from keyhole.websearch.engines.brave import BraveEngine
    from keyhole.websearch.engines.ddgs import KeylessEngine
    from keyhole.websearch.engines.exa import ExaEngine
    from keyhole.websearch.engines.mediawiki import MediaWikiEngine
    from keyhole.websearch.engines.mojeek import MojeekEngine
    from keyhole.websearch.engines.searxng import instances
    from keyhole.websearch.engines.serper import SerperEngine
    from keyhole.websearch.engines.tavily import TavilyEngine

    keyed = (BraveEngine, ExaEngine, TavilyEngine, SerperEngine, MojeekEngine)
    found: list[Engine] = [
        *([instances(config.searxng_url, api, config.engine_timeout)] if config.searxng_url else []),
        *(make(key, api, clock=clock) for make in keyed if (key := getattr(config, f"{make.name}_key"))),
        KeylessEngine(proxy=config.proxy),
        MediaWikiEngine(api, config.mediawiki_url),
    ]
    return {engine.name: engine for engine in found}


def endpoints(config: Config) -> frozenset[str]:
    """`host:port` of the APIs whose addresses the operator gave, which may be private."""
    given = (*config.searxng_url, config.mediawiki_url, config.rerank_url, config.embed_url)
    return frozenset(parse_target(url).endpoint for url in given if url)
