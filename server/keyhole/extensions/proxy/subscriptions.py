"""Keep the subscriptions of a client of the modern era, and translate the notifications of servers for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from keyhole.errors import KeyholeError
from keyhole.extensions.proxy.eras import SUBSCRIPTION_ID, Introduction, request_for
from keyhole.extensions.proxy.handshake import Handshake
from keyhole.extensions.proxy.member import Member
from keyhole.extensions.proxy.messages import CANCELLED, Key, Message, build
from keyhole.extensions.proxy.names import Names
from keyhole.extensions.proxy.steps import Pending, Step, ToServer

LISTEN: Final = "subscriptions/listen"
"""The request that opens a subscription. It has no answer until the subscription ends."""
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
UPDATED: Final = "notifications/resources/updated"
LOGGED: Final = "notifications/message"

_WANTED: Final[Mapping[str, str]] = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
"""The field of a subscription's filter that asks for a notification."""
_URIS: Final = "resourceSubscriptions"


class Subscriptions:
    """The subscriptions of the client that are open."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._open: dict[Key, Pending] = {}

    def open(self, pending: Pending) -> Message:
        """Open a subscription; return the notification that says what it contains."""
        assert pending.request.key  # noqa: S101 - for the type checker: a request has an id
        self._open[pending.request.key] = pending
        wanted = _filter(pending)
        honored: dict[str, Any] = {name: True for name in _WANTED.values() if wanted.get(name) is True}
        if uris := [uri for own in self._uris(pending).values() for uri in own.values()]:
            honored[_URIS] = uris
        return _stamped(
            build({"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": {"notifications": honored}}), pending
        )

    def open_requests(self) -> list[Pending]:
        """Return the subscriptions that are open."""
        return list(self._open.values())

    def subscribe(
        self, member: Member, pending: Pending, client: Introduction, handshake: Handshake
    ) -> list[Step | Message]:
        """Return the requests that subscribe a server, in its era, to its part of a subscription."""
        own = list(self._uris(pending).get(member.name, {}))
        if member.era == "handshake":
            return [ToServer(member.name, _subscribe(member, uri, handshake, "subscribe")) for uri in own]
        rest = {name: value for name, value in _filter(pending).items() if name != _URIS}
        wanted = {**rest, **({_URIS: own} if own else {})}
        if not any(wanted.values()):
            return []
        if member.name not in pending.servers:
            pending.servers.append(member.name)
        request = pending.request.with_data(params={**pending.request.params, "notifications": wanted})
        return [ToServer(member.name, request_for("modern", request, client).raw)]

    def close(self, pending: Pending, members: Mapping[str, Member], handshake: Handshake) -> Iterable[Step]:
        """Close a subscription, if the request is one; return the requests that end its subscriptions to resources."""
        if pending.request.key is None or self._open.pop(pending.request.key, None) is None:
            return []
        kept = {
            (server, uri) for each in self._open.values() for server, own in self._uris(each).items() for uri in own
        }
        ended = [(server, uri) for server, own in self._uris(pending).items() for uri in own]
        return [
            ToServer(server, _subscribe(members[server], uri, handshake, "unsubscribe"))
            for server, uri in ended
            if members[server].era == "handshake" and (server, uri) not in kept
        ]

    def notifications(self, message: Message, member: Member | None, client: Introduction) -> list[Message]:
        """Return a server's notification as a client of the modern era takes it: once for each subscription to it.

        `member`: the server that sent it, None for the proxy's own.
        """
        if message.method in (ACKNOWLEDGED, CANCELLED):  # the proxy has acknowledged; servers ask the client nothing
            return []
        if message.method == LOGGED:
            return [message] if client.log_level else []
        is_subscribed = message.method in _WANTED or message.method == UPDATED
        if not is_subscribed or (member is not None and member.era == "modern"):
            return [message]
        return [_stamped(message, pending) for pending in self._open.values() if _wants(pending, message)]

    def _uris(self, pending: Pending) -> dict[str, dict[str, str]]:
        """Return the URIs of a subscription as the client sees them, by server and by its own URI."""
        found: dict[str, dict[str, str]] = {}
        uris = _filter(pending).get(_URIS)
        for uri in uris if isinstance(uris, list) else []:
            try:
                server, own = self._names.find_uri(str(uri))
            except KeyholeError:
                continue
            found.setdefault(server, {})[own] = str(uri)
        return found


def list_changed(member: Member, method: str) -> list[Message]:
    """Return the notification that a list has changed, if the server may have entries of it."""
    capability = method.partition("/")[0]
    if not member.offers(capability) or method == "resources/templates/list":
        return []
    return [build({"jsonrpc": "2.0", "method": f"notifications/{capability}/list_changed"})]


def _subscribe(member: Member, uri: str, handshake: Handshake, verb: str) -> bytes:
    """Return a request of the handshake era, and remember it for a restart of the server."""
    request = build({"jsonrpc": "2.0", "id": 0, "method": f"resources/{verb}", "params": {"uri": uri}})
    handshake.note(request, [member.name])
    return handshake.numbered(request)


def _filter(pending: Pending) -> Mapping[str, Any]:
    wanted = pending.request.params.get("notifications")
    return wanted if isinstance(wanted, dict) else {}


def _wants(pending: Pending, message: Message) -> bool:
    """Return whether a subscription contains a notification. An update's URI must begin with a subscribed URI."""
    wanted = _filter(pending)
    if message.method in _WANTED:
        return wanted.get(_WANTED[message.method]) is True
    uris, uri = wanted.get(_URIS), str(message.params.get("uri"))
    return isinstance(uris, list) and any(uri.startswith(str(each)) for each in uris)


def _stamped(message: Message, pending: Pending) -> Message:
    """Return a notification with the id of its subscription."""
    meta = message.params.get("_meta")
    meta = {**(meta if isinstance(meta, dict) else {}), SUBSCRIPTION_ID: pending.request.data["id"]}
    return message.with_data(params={**message.params, "_meta": meta})
