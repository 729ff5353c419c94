"""Build the engines that are set up, and select the engines that a search queries. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from keyhole.config.config import ENGINES, Config
from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import open_port
from keyhole.text.suggest import suggest_name
from keyhole.websearch.base import Engine, SearchApi

DEFAULT_ENGINES: Final = ("keyless", "wikipedia")
"""Engines that need no setting. They are used by default only if no other engine is set up, because a team with its own
engines did not agree to send its questions to others. The second engine is queried only if the first fails."""


class CustomSpec(Protocol):
    """An engine of the operator's engines file."""

    @property
    def name(self) -> str:
        """Return the name of the engine."""
        ...

    @property
    def base(self) -> str:
        """Return the base URL of the engine."""
        ...

    @property
    def endpoint(self) -> str:
        """Return `host:port` of the engine, which may be a private address."""
        ...


class SearchEngines(Protocol):
    """Makes the engines. The extension `engines` implements it."""

    def read_file(self, config: Config, body: bytes | None = None) -> Sequence[CustomSpec]:
        """Return the engines of the file that KEYHOLE_ENGINES_FILE names; () if it is not set.

        `body`: the content of the file, if it was read. Raises KeyholeError (invalid_argument) if the file cannot be
        read or is not valid.
        """
        ...

    def build(self, config: Config, api: SearchApi, clock: Callable[[], float] | None) -> Sequence[Engine]:
        """Return the engines whose settings are present, in the order of ENGINES, including `DEFAULT_ENGINES`."""
        ...

    def custom(self, spec: CustomSpec, api: SearchApi) -> Engine:
        """Return an engine of the engines file."""
        ...

    def default_url(self, name: str) -> str:
        """Return the URL of an engine that needs a key."""
        ...


def open_engines() -> SearchEngines:
    """Return the implementation of the port."""
    engines: SearchEngines = open_port("engines")
    return engines


def build_engines(config: Config, api: SearchApi, clock: Callable[[], float] | None = None) -> dict[str, Engine]:
    """Return the engines whose settings are present, by name, in the order of ENGINES, including `DEFAULT_ENGINES`.

    `clock`: returns seconds since the epoch. Without it, engines that express freshness as a date do not apply it.
    """
    return {engine.name: engine for engine in open_engines().build(config, api, clock)}


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
