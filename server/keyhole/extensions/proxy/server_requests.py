"""Keep the requests of servers that the client has not answered, with the ids under which the client knows them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from keyhole.extensions.proxy.messages import CANCELLED, Id, Key, Message, key_of

MAX_ASKED: Final = 10_000
"""Requests without an answer; the oldest are forgotten first. Servers have some dozens."""


class ServerRequests:
    """The requests of servers that wait for the client."""

    def __init__(self, *, renames: bool) -> None:
        """`renames`: ids are replaced, because two servers may use the same."""
        self._renames = renames
        self._count = 0
        self._requests: OrderedDict[Key, tuple[str, Any]] = OrderedDict()
        """The server, and the id that it chose, by the id that the client knows."""

    def add(self, server: str, id: Id) -> Id:
        """Remember a request, and return the id for the client."""
        if len(self._requests) >= MAX_ASKED:
            self._requests.popitem(last=False)
        self._count += 1
        shown = f"keyhole-{self._count}" if self._renames else id
        self._requests[type(shown), shown] = server, id
        return shown

    def shown(self, server: str, message: Message) -> Message:
        """Return a server's request or notification with the id that the client knows, and remember a request."""
        if message.kind == "request":
            shown = self.add(server, message.data["id"])
            return message if shown == message.data["id"] else message.with_data(id=shown)
        if message.method != CANCELLED or not self._renames:
            return message
        shown_id = self.find(server, message.params.get("requestId"))
        return message.with_data(params={**message.params, "requestId": shown_id}) if shown_id else message

    def take(self, shown: object) -> tuple[str, Id] | None:
        """Forget the request with this id. Return its server and the id that the server chose, or None."""
        return self._requests.pop(key_of(shown), None)  # type: ignore[arg-type]

    def find(self, server: str, id: object) -> Id | None:
        """Return the id under which the client knows a request of a server."""
        return next((key[1] for key, asked in self._requests.items() if asked == (server, id)), None)

    def forget(self, server: str) -> list[Id]:
        """Forget the requests of a server, and return their ids for the client."""
        keys = [key for key, (asked, _) in self._requests.items() if asked == server]
        for key in keys:
            del self._requests[key]
        return [key[1] for key in keys]
