"""The port that every search engine implements, and the base class of engines with an API key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Protocol

from keyhole.fetch.base import Api
from keyhole.records import Hit, SearchRequest


class Hits(tuple[Hit, ...]):
    """Hits with a note, for example on the failed engines of a metasearch engine."""

    note: str = ""

    @classmethod
    def with_note(cls, hits: Iterable[Hit], note: str) -> Hits:
        """Return the hits with a note of a few words."""
        result = cls(hits)
        result.note = note
        return result


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

    def __init__(self, key: str, api: Api, base_url: str = "", clock: Callable[[], float] | None = None) -> None:
        self._key = key
        self._api = api
        self._base_url = base_url or self.default_url
        self._clock = clock

    def _now(self) -> float | None:
        return self._clock() if self._clock else None
