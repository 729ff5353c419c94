"""The engines that can run under these settings, by name. Which are asked, and how many, is decided elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from keyhole.config import Config
from keyhole.fetch.base import Api
from keyhole.fetch.urls import parse_target
from keyhole.websearch.base import Engine


def available(config: Config, api: Api, clock: Callable[[], float] | None = None) -> dict[str, Engine]:
    """Every engine whose setting is there, in the order of ENGINES; `keyless` and `wikipedia` need none.

    `clock`: seconds since the epoch, for engines that want the date that "the last week" began on; without it these
    do not apply `freshness`.
    """
    from keyhole.websearch.brave import BraveEngine
    from keyhole.websearch.exa import ExaEngine
    from keyhole.websearch.keyless import KeylessEngine
    from keyhole.websearch.mediawiki import MediaWikiEngine
    from keyhole.websearch.mojeek import MojeekEngine
    from keyhole.websearch.searxng import instances
    from keyhole.websearch.serper import SerperEngine
    from keyhole.websearch.tavily import TavilyEngine

    found: tuple[Engine | None, ...] = (
        instances(config.searxng_url, api, config.engine_timeout) if config.searxng_url else None,
        BraveEngine(config.brave_key, api) if config.brave_key else None,
        ExaEngine(config.exa_key, api, clock=clock) if config.exa_key else None,
        TavilyEngine(config.tavily_key, api) if config.tavily_key else None,
        SerperEngine(config.serper_key, api) if config.serper_key else None,
        MojeekEngine(config.mojeek_key, api, clock=clock) if config.mojeek_key else None,
        KeylessEngine(proxy=config.proxy),
        MediaWikiEngine(api, config.mediawiki_url),
    )
    return {engine.name: engine for engine in found if engine}


def endpoints(config: Config) -> frozenset[str]:
    """`host:port` of the APIs whose addresses the operator gave, which may be private."""
    given = (*config.searxng_url, config.mediawiki_url, config.rerank_url, config.embed_url)
    return frozenset(parse_target(url).endpoint for url in given if url)
