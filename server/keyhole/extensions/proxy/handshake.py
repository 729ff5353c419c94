"""Remember the client's handshake, log level and subscriptions, and repeat them to a server that was restarted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keyhole.extensions.proxy.messages import Message, build

INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
MAX_SUBSCRIPTIONS: Final = 1_000
"""Subscriptions to resources that are repeated; the oldest are forgotten first. A client has some dozens."""
_ID: Final = "keyhole-restart-"


class Handshake:
    """The requests of the client that a restarted server must get again before others."""

    def __init__(self) -> None:
        self._initialize: Message | None = None
        self._level: Message | None = None
        self._subscriptions: dict[tuple[str, str], Message] = {}
        """The last subscription by server and URI."""
        self._count = 0

    def note(self, request: Message, servers: Sequence[str]) -> None:
        """Remember a request that was sent to these servers, if they must get it again after a restart."""
        uri = str(request.params.get("uri"))
        match request.method:
            case "initialize":
                self._initialize, self._level = request, None
                self._subscriptions.clear()
            case "logging/setLevel":
                self._level = request
            case "resources/subscribe":
                self._subscriptions |= {(server, uri): request for server in servers}
                for oldest in list(self._subscriptions)[:-MAX_SUBSCRIPTIONS]:
                    del self._subscriptions[oldest]
            case "resources/unsubscribe":
                for server in servers:
                    self._subscriptions.pop((server, uri), None)

    def greeting(self, server: str) -> bytes | None:
        """Return the first request for a server that was started again, None if the client has sent none."""
        return self._initialize.with_data(id=f"{_ID}{server}").raw if self._initialize else None

    def is_greeting(self, server: str, answer: Message) -> bool:
        """Return whether a message of a server answers `greeting`."""
        return answer.data.get("id") == f"{_ID}{server}"

    def repeated(self, server: str) -> list[bytes]:
        """Return the messages that follow the greeting: the client is ready, its log level, its subscriptions."""
        subscriptions = [request for (target, _), request in self._subscriptions.items() if target == server]
        return [INITIALIZED, *map(self.numbered, [*([self._level] if self._level else []), *subscriptions])]

    def numbered(self, request: Message) -> bytes:
        """Return a request with an id by which `is_repeated` knows its answer."""
        self._count += 1
        return build({**request.data, "id": f"{_ID}{self._count}"}).raw

    def is_repeated(self, answer: Message) -> bool:
        """Return whether a message of a server answers a repeated request. No client waits for such an answer."""
        id = answer.data.get("id")
        return isinstance(id, str) and id.removeprefix(_ID).isdecimal() and id.startswith(_ID)
