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
    from keyhole.websearch.keyless import KeylessEngine
    from keyhole.websearch.searxng import instances

    found: dict[str, Engine] = {}
    if config.searxng_url:
        found["searxng"] = instances(config.searxng_url, api, config.engine_timeout)
    found["keyless"] = KeylessEngine(proxy=config.proxy)
    return found


def endpoints(config: Config) -> frozenset[str]:
    """`host:port` of the APIs whose addresses the operator gave, which may be private."""
    return frozenset(parse_target(url).endpoint for url in config.searxng_url)
