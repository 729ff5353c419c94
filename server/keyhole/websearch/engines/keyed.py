"""What engines with a key have in common: what they are made of. No engine here; each tells its own calls apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from keyhole.fetch.base import Api


class KeyedEngine:
    """An engine that is asked with a key. `clock`, in seconds since the epoch, is for those that want the date that a
    freshness began on; without it they do not apply one."""

    name: ClassVar[str]
    home: ClassVar[str]
    """Where its API stands, unless `base_url` says otherwise."""

    def __init__(self, key: str, api: Api, base_url: str = "", clock: Callable[[], float] | None = None) -> None:
        self._key = key
        self._api = api
        self._base_url = base_url or self.home
        self._clock = clock

    def _now(self) -> float | None:
        return self._clock() if self._clock else None
