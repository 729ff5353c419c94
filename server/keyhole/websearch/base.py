"""The port that every search engine implements, and the base class of engines with an API key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from keyhole.fetch.base import ApiCall
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.parsing import Parse, SearchApi


class Engine(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """The engine's name in settings and in results."""
        ...

    @property
    def supported_filters(self) -> frozenset[str]:
        """The filters that the engine applies itself: sites, exclude_sites, freshness, language, country, news.

        `locale` means that the engine applies a country only together with a language.
        """
        ...

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return hits, best first, as `Hits` if there is a note; empty only if the engine works and found nothing.

        Raises KeyholeError: engine_unavailable, rate_limited, timeout and the codes of fetching.
        """
        ...


class KeyedEngine:
    """Base class of the engines that need an API key.

    `clock` returns seconds since the epoch. Engines that express freshness as a date apply it only with a clock.
    """

    name: ClassVar[str]
    default_url: ClassVar[str]
    """The API's base URL, used unless `base_url` overrides it."""

    def __init__(self, key: str, api: SearchApi, base_url: str = "", clock: Callable[[], float] | None = None) -> None:
        self._key = key
        self._api = api
        self._base_url = base_url or self.default_url
        self._clock = clock

    def _now(self) -> float | None:
        return self._clock() if self._clock else None

    async def _hits(self, call: ApiCall, parse: Parse, *arguments: Any) -> tuple[Hit, ...]:
        """Send a request and return the hits of the answer, from which the key is removed."""
        return await self._api.hits(call, parse, *arguments, secrets=(self._key,))
