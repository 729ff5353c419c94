"""Make the engines of the settings and of the engines file. Their modules are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from keyhole.config.config import KEYED_ENGINES, Config
from keyhole.runtime.extensions import load_function
from keyhole.websearch.base import Engine, SearchApi
from keyhole.websearch.panel import ENGINE_TIMEOUT

if TYPE_CHECKING:
    from keyhole.extensions.engines.engines_file import EngineSpec


class EngineAdapters:
    """The implementation of the port `SearchEngines`."""

    def read_file(self, config: Config, body: bytes | None = None) -> Sequence[EngineSpec]:
        """Return the engines of the engines file. `body`: the content of the file, if it was read."""
        from keyhole.extensions.engines.engines_file import load_engines_file

        return load_engines_file(config, body)

    def build(self, config: Config, api: SearchApi, clock: Callable[[], float] | None) -> Sequence[Engine]:
        """Return the engines whose settings are present, in the order of ENGINES."""
        from keyhole.extensions.engines.ddgs import KeylessEngine
        from keyhole.extensions.engines.mediawiki import MediaWikiEngine
        from keyhole.extensions.engines.searxng import build_searxng

        keys = {name: getattr(config, f"{name}_key") for name in KEYED_ENGINES}
        return [
            *([build_searxng(config.searxng_url, api, ENGINE_TIMEOUT)] if config.searxng_url else []),
            *(_keyed_engine(name)(key, api, clock=clock) for name, key in keys.items() if key),
            KeylessEngine(api, proxy=config.proxy, denied=config.deny_domains),
            MediaWikiEngine(api, config.mediawiki_url),
        ]

    def custom(self, spec: EngineSpec, api: SearchApi) -> Engine:
        """Return an engine of the engines file."""
        from keyhole.extensions.engines.custom import CustomEngine

        return CustomEngine(spec, api)

    def default_url(self, name: str) -> str:
        """Return the URL of an engine that needs a key."""
        url: str = _keyed_engine(name).default_url
        return url


def _keyed_engine(name: str) -> Any:
    """Return the class of an engine that needs a key: `MojeekEngine` in mojeek.py for "mojeek"."""
    return load_function(f"keyhole.extensions.engines.{name}:{name.capitalize()}Engine")
