"""Greet one of several servers in its own era of the protocol, before it gets requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from keyhole.extensions.proxy.eras import Era, Introduction
from keyhole.extensions.proxy.merge import well_formed
from keyhole.extensions.proxy.messages import Message, build
from keyhole.extensions.proxy.steps import Pending

INITIALIZE: Final = "initialize"
DISCOVER: Final = "server/discover"
_ID: Final = "keyhole-greeting-"

Outcome = Literal["greeted", "refused", "known"]


class Member:
    """One of several servers: its era, its answer to the greeting, and the requests that wait for this answer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.down = ""
        """Why it takes no requests, "" if it does."""
        self.era: Era | None = None
        """None until it has been greeted."""
        self.greeting: Mapping[str, Any] = {}
        """The result of `initialize` or `server/discover`."""
        self.was_greeted = False
        """True once it has been greeted. Stays True when it ends."""
        self.waiting: list[tuple[Pending, Message]] = []
        """The requests for it that wait until it has been greeted."""
        self._asked: set[str] = set()
        """The methods with which it is being greeted."""
        self._unanswered: set[str] = set()
        self._ends_at_discover = False
        """True if it ended when it got `server/discover`. Some servers end at any first request but `initialize`."""

    @property
    def is_being_greeted(self) -> bool:
        """Return whether the answer to a greeting is missing."""
        return self.era is None and bool(self._unanswered)

    def offers(self, capability: str) -> bool:
        """Return whether it has a capability."""
        return capability in (self.greeting.get("capabilities") or {})

    def next_greeting(self, client: Introduction) -> Message | None:
        """Return the next greeting: first in the client's era, then in the other; None if none is left."""
        methods = [DISCOVER, INITIALIZE] if client.era == "modern" else [INITIALIZE, DISCOVER]
        for method in methods:
            if method not in self._asked and not (method == DISCOVER and self._ends_at_discover):
                self._asked.add(method)
                self._unanswered.add(method)
                params = client.params() if method == INITIALIZE else {"_meta": client.envelope()}
                return build({"jsonrpc": "2.0", "id": _ID + method, "method": method, "params": params})
        return None

    def take(self, answer: Message, client: Introduction) -> Outcome | None:
        """Take an answer of the server. Return None if it answers no greeting, "known" if already greeted."""
        method = str(answer.data.get("id")).removeprefix(_ID)
        if answer.data.get("id") != _ID + method or method not in (INITIALIZE, DISCOVER):
            return None
        self._unanswered.discard(method)
        if self.era is not None:
            return "known"
        result = None if answer.result is None else well_formed(method, answer.result)
        speaks = result is not None and client.modern_version in (result.get("supportedVersions") or [])
        if result is None or not (method == INITIALIZE or speaks):
            return "refused"
        self.era = "handshake" if method == INITIALIZE else "modern"
        self.greeting, self._asked = result, set()
        return "greeted"

    def release(self) -> list[tuple[Pending, Message]]:
        """Return the requests that wait for the greeting, and reset it. After a failure, the next one greets again."""
        waiting, self.waiting, self._asked = self.waiting, [], set()
        return waiting

    def end(self, reason: str) -> bool:
        """Note that it has ended. Return whether it ended because of `server/discover`, so that another start helps."""
        is_discovered = self._unanswered == {DISCOVER} and not self._ends_at_discover
        self._ends_at_discover = self._ends_at_discover or is_discovered
        self.down = "" if is_discovered else reason
        self.era, self._asked, self._unanswered = None, set(), set()
        if not is_discovered:
            self.waiting = []
        return is_discovered
