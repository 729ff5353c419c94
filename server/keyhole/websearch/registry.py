"""Build the engines that are set up, and select the engines that a search queries. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from keyhole.config.config import ENGINES, KEYED_ENGINES, Config
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import suggest_name
from keyhole.websearch.base import Engine, SearchApi
from keyhole.websearch.panel import ENGINE_TIMEOUT

DEFAULT_ENGINES: Final = ("keyless", "wikipedia")
"""Engines that need no setting. They are used by default only if no other engine is set up, because a team with its own
engines did not agree to send its questions to others. The second engine is queried only if the first fails."""


def build_engines(config: Config, api: SearchApi, clock: Callable[[], float] | None = None) -> dict[str, Engine]:
    """Return the engines whose settings are present, by name, in the order of ENGINES, including `DEFAULT_ENGINES`.

    `clock`: returns seconds since the epoch. Without it, engines that express freshness as a date do not apply it.
    """
    from keyhole.websearch.engines.ddgs import KeylessEngine
    from keyhole.websearch.engines.mediawiki import MediaWikiEngine
    from keyhole.websearch.engines.searxng import build_searxng

    keys = {name: getattr(config, f"{name}_key") for name in KEYED_ENGINES}
    engines: list[Engine] = [
        *([build_searxng(config.searxng_url, api, ENGINE_TIMEOUT)] if config.searxng_url else []),
        *(keyed_engine(name)(key, api, clock=clock) for name, key in keys.items() if key),
        KeylessEngine(api, proxy=config.proxy, denied=config.deny_domains),
        MediaWikiEngine(api, config.mediawiki_url),
    ]
    return {engine.name: engine for engine in engines}


def keyed_engine(name: str) -> Any:
    """Return the class of an engine that needs a key: `MojeekEngine` in engines/mojeek.py for "mojeek"."""
    return getattr(import_module(f"keyhole.websearch.engines.{name}"), f"{name.capitalize()}Engine")


def select_engines(wanted: Sequence[str], built: Mapping[str, Engine], custom: Sequence[Engine]) -> list[Engine]:
    """Return the engines to query, most preferred first.

    `wanted`: the names in KEYHOLE_ENGINES; engines that are not set up are skipped. `custom`: the engines of the
    operator's engines file. If `wanted` is empty, all engines that are set up are returned, `custom` first. Raises
    KeyholeError (invalid_argument) for an unknown name.
    """
    engines = {**{engine.name: engine for engine in custom}, **built}
    if not wanted:
        set_up = [name for name in engines if name not in DEFAULT_ENGINES]
        return [engines[name] for name in set_up or DEFAULT_ENGINES if name in engines]
    check_engine_names(wanted, [engine.name for engine in custom])
    return [engines[name] for name in dict.fromkeys(wanted) if name in engines]


def check_engine_names(wanted: Sequence[str], custom: Sequence[str]) -> None:
    """Raise KeyholeError (invalid_argument) for a name that is neither built in nor in `custom`."""
    known = [*ENGINES, *custom]
    for name in wanted:
        if name not in known:
            message = f"KEYHOLE_ENGINES: {name!r} is not one of {', '.join(known)}{suggest_name(name, known)}"
            raise KeyholeError(Code.INVALID_ARGUMENT, message)


def describe_missing_setting(name: str) -> str:
    """Describe the setting that an engine needs."""
    return f"{name} needs KEYHOLE_{name.upper()}_{'URL' if name == 'searxng' else 'KEY'}"


def parallel_count(wanted: Sequence[str], engines: Sequence[Engine], count: int) -> int:
    """Return how many engines to query at once: `count`, or 1 if DEFAULT_ENGINES are used and `wanted` is empty."""
    return count if wanted or [engine.name for engine in engines] != list(DEFAULT_ENGINES) else 1
