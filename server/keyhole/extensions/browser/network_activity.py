"""Count the requests of a page that are under way, to tell when its network is quiet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from keyhole.extensions.browser.devtools import Handler

AWAITED: Final = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})
"""Kinds of requests that may change a page's text. Streams of events and sockets stay open and are not waited for."""
MAX_WAIT: Final = 5.0
"""Seconds after which a request is not waited for any more: it is a slow advertisement, or a poll that stays open."""
CHECK_SECONDS: Final = 0.02
"""Seconds between two looks at the requests."""


class NetworkActivity:
    """The requests of one page that are under way."""

    EVENTS: ClassVar = (
        "Network.requestWillBeSent",
        "Network.responseReceived",
        "Network.loadingFinished",
        "Network.loadingFailed",
    )

    def __init__(self, clock: Callable[[], float]) -> None:
        self.requests = 0
        """The number of requests, with those that were refused."""
        self.status = 0
        """The status of the page's last document, 0 before it arrived."""
        self._clock = clock
        self._since: dict[str, float] = {}
        self._changed = clock()

    def handler(self, event: str) -> Handler:
        """Return the function that takes the events of this name."""
        return {
            "Network.requestWillBeSent": self._start,
            "Network.responseReceived": self._respond,
            "Network.loadingFinished": self._end,
            "Network.loadingFailed": self._end,
        }[event]

    def is_idle(self, seconds: float) -> bool:
        """Return True if no request was under way for `seconds`."""
        now = self._clock()
        overdue = [since + MAX_WAIT for since in self._since.values()]
        return all(end <= now for end in overdue) and now - max([self._changed, *overdue]) >= seconds

    async def wait_idle(self) -> None:
        """Wait until no request is under way."""
        while not self.is_idle(0):  # noqa: ASYNC110 - also the time itself ends the wait for a request
            await asyncio.sleep(CHECK_SECONDS)

    def _start(self, event: Mapping[str, Any], _session: str) -> None:
        self.requests += 1
        if event.get("type") in AWAITED:
            self._since[event["requestId"]] = self._changed = self._clock()

    def _respond(self, event: Mapping[str, Any], _session: str) -> None:
        if event.get("type") == "Document":
            self.status = int(event["response"]["status"])

    def _end(self, event: Mapping[str, Any], _session: str) -> None:
        if self._since.pop(event["requestId"], None) is not None:
            self._changed = self._clock()
