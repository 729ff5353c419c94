"""Find the protocol version of each message, and repeat the client's handshake to a restarted server.

Until 2025-11-25 a connection begins with `initialize`. From 2026-07-28 on each request has the version and the client
in its `_meta`, and each result says that it is complete and how long it may be cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from keyhole.extensions.proxy.json_rpc import Message, build

# Versions: the version of the protocol that a message follows.

SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
"""The key in a notification's `_meta` for the id of the request that subscribed to it."""
NOT_CACHED: Final[Mapping[str, Any]] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""The fields that the newer versions require of a list, for a list that must not be cached."""


def version_of(message: Message, agreed: str = "") -> str:
    """Return the protocol version of a message: that of its `_meta`, else the one that `initialize` agreed on."""
    meta = message.params.get("_meta")
    return str((meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else "") or agreed)


def is_modern(version: str) -> bool:
    """Return whether a version is 2026-07-28 or later, without sessions. An unknown version counts as later."""
    return version not in ("", *HANDSHAKE_PROTOCOL_VERSIONS)


# Handshakes: the requests of the client that a restarted server gets again.

INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
MAX_SUBSCRIPTIONS: Final = 1_000
"""Subscriptions to resources that are repeated; the oldest are forgotten first. A client has some dozens."""
_ID: Final = "keyhole-restart-"
_GREETING_ID: Final = f"{_ID}greeting"


class Handshake:
    """The requests of the client that a restarted server must get again before others."""

    def __init__(self) -> None:
        self._initialize: Message | None = None
        self._level: Message | None = None
        self._subscriptions: dict[str, Message] = {}
        """The last subscription by URI."""
        self._count = 0

    def note(self, request: Message) -> None:
        """Remember a request that was sent to the server, if it must get it again after a restart."""
        uri = str(request.params.get("uri"))
        match request.method:
            case "initialize":
                self._initialize, self._level = request, None
                self._subscriptions.clear()
            case "logging/setLevel":
                self._level = request
            case "resources/subscribe":
                self._subscriptions[uri] = request
                for oldest in list(self._subscriptions)[:-MAX_SUBSCRIPTIONS]:
                    del self._subscriptions[oldest]
            case "resources/unsubscribe":
                self._subscriptions.pop(uri, None)

    def greeting(self) -> bytes | None:
        """Return the first request for the restarted server, None if the client has sent no `initialize`."""
        return self._initialize.with_data(id=_GREETING_ID).raw if self._initialize else None

    def is_greeting(self, answer: Message) -> bool:
        """Return whether a message of the server answers `greeting`."""
        return answer.data.get("id") == _GREETING_ID

    def repeated(self) -> list[bytes]:
        """Return the messages that follow the greeting: the client is ready, its log level, its subscriptions."""
        requests = [*([self._level] if self._level else []), *self._subscriptions.values()]
        return [INITIALIZED, *map(self._numbered, requests)]

    def _numbered(self, request: Message) -> bytes:
        """Return a request with an id by which `is_repeated` knows its answer."""
        self._count += 1
        return build({**request.data, "id": f"{_ID}{self._count}"}).raw

    def is_repeated(self, answer: Message) -> bool:
        """Return whether a message of the server answers a repeated request. No client waits for such an answer."""
        id = answer.data.get("id")
        return isinstance(id, str) and id.removeprefix(_ID).isdecimal() and id.startswith(_ID)
