"""Let several servers answer as one. Each is greeted and gets requests in its own era of the protocol.

Does no I/O. Methods return steps, and messages for the client as one server would send them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.eras import (
    SUBSCRIPTION_ID,
    Introduction,
    answer_for,
    era_of,
    introduction_of,
    request_for,
)
from keyhole.extensions.proxy.gather import GREETINGS, SET_LEVEL, add_page, gathered, give_up, note_answer
from keyhole.extensions.proxy.handshake import Handshake
from keyhole.extensions.proxy.member import DISCOVER, Member
from keyhole.extensions.proxy.merge import LISTS
from keyhole.extensions.proxy.messages import (
    CANCELLED,
    METHOD_NOT_FOUND,
    Id,
    Key,
    Message,
    build,
    error_response,
    response,
)
from keyhole.extensions.proxy.names import Names
from keyhole.extensions.proxy.routes import Routes
from keyhole.extensions.proxy.server_requests import ServerRequests
from keyhole.extensions.proxy.steps import (
    SILENT_AT_DISCOVER_SECONDS,
    SILENT_SECONDS,
    AwaitGreeting,
    AwaitServers,
    Pending,
    Step,
    ToServer,
)

# Keep the subscriptions of a client of the modern era, and translate the notifications of servers for them.

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


# Let several servers answer as one. Each is greeted and gets requests in its own era of the protocol.

log = logging.getLogger(__name__)

INITIALIZED: Final = "notifications/initialized"

Out = Step | Message


class Group:
    """The servers of a configuration file."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._members = {server: Member(server) for server in servers}
        self._names = Names(servers)
        self._routes = Routes(self._names)
        self._client: Introduction | None = None
        self._is_ready = False
        """True once the client has said that it is ready, so that servers may send it requests."""
        self._handshake = Handshake()
        self._subscriptions = Subscriptions(self._names)
        self._server_requests = ServerRequests(renames=True)

    def own_name(self, shown: str) -> str:
        """Return the name by which its server knows a tool, "" if no server has it."""
        try:
            return self._names.find(shown)[1]
        except KeyholeError:
            return ""

    # From the client.

    def request(self, pending: Pending) -> list[Out]:
        """Hand on a request of the client. Raises KeyholeError if there is no server for it."""
        request, pending.servers = pending.request, []
        self._client = introduction_of(request, self._client or Introduction())
        self._is_ready = self._is_ready or era_of(request) == "modern"
        if request.method in GREETINGS:
            return self._to_all(pending, list(self._members.values()))
        if request.method in LISTS:
            return self._to_all(pending, [each for each in self._members.values() if _may_list(each, request.method)])
        if request.method == LISTEN:
            return self._listen(pending)
        if request.method == SET_LEVEL:
            return self._set_level(pending)
        if request.method == "ping":
            return [response(request.data["id"], {})]
        server, own = self._routes.route(request)
        pending.servers = [server]
        return self._send(self._members[server], pending, own)

    def notification(self, message: Message, cancelled: Pending | None) -> list[Out]:
        """Hand on a notification of the client. `cancelled`: the request that it cancels, if any."""
        if message.method == CANCELLED:
            return self._cancel(message, cancelled) if cancelled else []
        members = [each for each in self._members.values() if each.era == "handshake"]
        if message.method == INITIALIZED:
            self._is_ready = True
            return [step for each in members for step in self._repeat(each)]
        return [ToServer(each.name, message.raw) for each in members]

    def answer(self, message: Message) -> list[Out]:
        """Hand on the client's answer to a request of a server."""
        asked = self.take(message.data["id"])
        if asked is None:
            log.warning("the client answered a request that no server waits for")
            return []
        server, id = asked
        return [ToServer(server, message.with_data(id=id).raw)]

    def take(self, shown: object) -> tuple[str, Id] | None:
        """Return the server that waits for the client's answer with this id, and its own id; None if none waits."""
        return self._server_requests.take(shown)

    def _to_all(self, pending: Pending, members: Sequence[Member]) -> list[Out]:
        """Send a request to several servers. The client gets one answer, once all of them have answered."""
        pending.incomplete = {each.name: each.down for each in self._members.values() if each.down}
        pending.servers = [each.name for each in members if not each.down]
        params = {key: value for key, value in pending.request.params.items() if key != "cursor"}
        request = pending.request.with_data(params=params) if "params" in pending.request.data else pending.request
        outs = [out for name in list(pending.servers) for out in self._send(self._members[name], pending, request)]
        if not pending.servers:
            return outs or [self._gathered(pending)]
        seconds = SILENT_AT_DISCOVER_SECONDS if pending.request.method == DISCOVER else SILENT_SECONDS
        return [*outs, AwaitServers(pending, seconds)]

    def _send(self, member: Member, pending: Pending, request: Message) -> list[Out]:
        """Send a request to a server, after it has been greeted. Raises KeyholeError if it is down."""
        if member.down:
            raise KeyholeError(Code.SERVER_UNAVAILABLE, member.down, server=member.name)
        if member.era is None:
            member.waiting.append((pending, request))
            return [] if member.is_being_greeted else self._greet(member)
        if request.method in GREETINGS:
            return self._take(member, pending, response(request.data["id"], member.greeting))
        if request.method in LISTS and not _may_list(member, request.method):
            return self._take(member, pending, response(request.data["id"], {}))
        if request.method == LISTEN:
            return self._subscriptions.subscribe(member, pending, self._introduction, self._handshake)
        self._handshake.note(request, [member.name])
        return [ToServer(member.name, request_for(member.era, request, self._introduction).raw)]

    def _listen(self, pending: Pending) -> list[Out]:
        """Open a subscription, which only the client ends. A server that restarts is subscribed to again."""
        outs: list[Out] = [self._subscriptions.open(pending)]
        for member in self._members.values():
            outs += [] if member.down else self._send(member, pending, pending.request)
        return outs

    def _set_level(self, pending: Pending) -> list[Out]:
        request = pending.request
        self._client = replace(self._introduction, log_level=str(request.params.get("level", "")))
        self._handshake.note(request, [])
        members = [each for each in self._members.values() if each.era == "handshake" and each.offers("logging")]
        pending.servers = [each.name for each in members]
        return [ToServer(each.name, request.raw) for each in members] or [response(request.data["id"], {})]

    def _cancel(self, message: Message, pending: Pending) -> list[Out]:
        outs: list[Out] = list(self._subscriptions.close(pending, self._members, self._handshake))
        for member in self._members.values():
            member.waiting = [each for each in member.waiting if each[0] is not pending]
        return [*outs, *(ToServer(server, message.raw) for server in pending.servers if self._members[server].era)]

    # Greetings.

    @property
    def _introduction(self) -> Introduction:
        return self._client or Introduction()

    def _greet(self, member: Member) -> list[Out]:
        """Send the next greeting, if there is another one."""
        greeting = member.next_greeting(self._introduction)
        if greeting is None:
            return []
        wait = [AwaitGreeting(member.name)] if greeting.method == DISCOVER else []
        return [ToServer(member.name, greeting.raw), *wait]

    def _greeted(self, member: Member) -> list[Out]:
        """Send the requests that waited for a server. If none did, or it restarted, announce that its lists changed."""
        outs: list[Out] = list(self._repeat(member)) if self._is_ready and member.era == "handshake" else []
        waiting = [(pending, request) for pending, request in member.release() if _waits(pending, member)]
        is_news = member.was_greeted or not waiting
        member.was_greeted = True
        for pending, request in waiting:
            outs += self._send(member, pending, request)
        if not is_news or not self._is_ready:
            return outs
        for pending in self._subscriptions.open_requests():
            if all(pending is not each for each, _ in waiting):
                outs += self._send(member, pending, pending.request)
        changes = [change for method in LISTS for change in list_changed(member, method)]
        return [*outs, *(each for change in changes for each in self._notify(change))]

    def _repeat(self, member: Member) -> Iterable[Step]:
        return (ToServer(member.name, raw) for raw in self._handshake.repeated(member.name))

    def _refused(self, member: Member, answer: Message) -> list[Out]:
        """Greet a server in the other era, or fail the requests that wait for it."""
        outs = self._greet(member)
        if outs or member.is_being_greeted:
            return outs
        log.warning("the server %s refused the handshake", member.name)
        if "error" not in answer.data:
            fault = f"the server {member.name} speaks no version of the protocol that Keyhole knows"
            answer = error_response(0, KeyholeError(Code.SERVER_FAULT, fault, server=member.name))
        failed = [pending for pending, _ in member.release() if _waits(pending, member)]
        return [out for pending in failed for out in self._take(member, pending, answer)]

    # From a server.

    def from_server(self, server: str, message: Message, pending: Pending | None) -> list[Out]:
        """Take a message of a server. `pending`: the request that it answers, if any."""
        member = self._members[server]
        match message.kind:
            case "request":
                return [self._ask_client(server, message)]
            case "notification":
                return list(self._notify(self._routes.show_notification(server, message), member))
            case "response":
                return self._response(member, message, pending)
            case _:
                return []

    def _response(self, member: Member, message: Message, pending: Pending | None) -> list[Out]:
        match member.take(message, self._introduction):
            case "greeted":
                return self._greeted(member)
            case "refused":
                return self._refused(member, message)
            case "known":
                return []
        if self._handshake.is_repeated(message):
            return []
        if pending is None or member.name not in pending.servers:
            log.warning("the server %s answered a request that nobody waits for", member.name)
            return []
        return self._take(member, pending, message)

    def _take(self, member: Member, pending: Pending, answer: Message) -> list[Out]:
        """Take a server's answer to a request of the client; return the answer for the client once it is complete."""
        method, server = pending.request.method, member.name
        if method == LISTEN:
            pending.servers = [each for each in pending.servers if each != server]
            return []
        if method in LISTS and member.era and (cursor := add_page(pending, server, answer)):
            params = {**pending.request.params, "cursor": cursor}
            following = request_for(member.era, pending.request.with_data(params=params), self._introduction)
            return [ToServer(server, following.raw)]
        if method in GREETINGS or method in LISTS or method == SET_LEVEL:
            note_answer(pending, server, answer)
            pending.servers.remove(server)
            return [] if pending.servers else [self._gathered(pending)]
        pending.servers = []
        shown = self._routes.show_answer(server, method, answer_for(pending.request, answer, server))
        return [shown.with_data(id=pending.request.data["id"]) if shown.key != pending.request.key else shown]

    def _gathered(self, pending: Pending) -> Message:
        """Return the answer of all servers together."""
        return gathered(pending, list(self._members), self._routes, self._introduction)

    def _ask_client(self, server: str, message: Message) -> Out:
        """Hand on a request of a server. For a client of the modern era, which takes no requests, answer it here."""
        id = message.data["id"]
        if self._introduction.era == "handshake":
            return self._server_requests.shown(server, message)
        if message.method == "ping":
            return ToServer(server, response(id, {}).raw)
        error = {"code": METHOD_NOT_FOUND, "message": "this client takes no requests"}
        return ToServer(server, build({"jsonrpc": "2.0", "id": id, "error": error}).raw)

    def _notify(self, message: Message, member: Member | None = None) -> Iterable[Message]:
        """Return a notification as the client expects it, or nothing. `member`: the server that sent it."""
        if self._introduction.era == "modern":
            return self._subscriptions.notifications(message, member, self._introduction)
        return [message if member is None else self._server_requests.shown(member.name, message)]

    # Servers that are silent, end or start again.

    def expired(self, step: AwaitServers | AwaitGreeting) -> list[Out]:
        """Go on without the servers that have been silent too long."""
        if isinstance(step, AwaitGreeting):
            member = self._members[step.server]
            return self._greet(member) if member.is_being_greeted else []
        pending = step.pending
        give_up(pending, step.seconds)
        return [self._gathered(pending)]

    def ended(self, server: str, reason: str, pendings: Iterable[Pending]) -> list[Out]:
        """Fail the requests that wait for a server, which has ended."""
        member = self._members[server]
        if member.end(reason):
            return []
        error = KeyholeError(Code.SERVER_UNAVAILABLE, reason, server=server)
        outs: list[Out] = []
        for pending in [each for each in pendings if server in each.servers]:
            pending.incomplete.setdefault(server, reason)
            outs += self._take(member, pending, error_response(pending.request.data["id"], error))
        for id in self._server_requests.forget(server):
            params = {"requestId": id, "reason": reason}
            outs.append(build({"jsonrpc": "2.0", "method": CANCELLED, "params": params}))
        return outs

    def restarted(self, server: str) -> list[Out]:
        """Greet a server that runs again."""
        member = self._members[server]
        member.down = ""
        return self._greet(member) if self._client else []


def _may_list(member: Member, method: str) -> bool:
    """Return whether a server may have entries of a list: it has the capability, or has not been greeted."""
    return member.era is None or member.offers(method.partition("/")[0])


def _waits(pending: Pending, member: Member) -> bool:
    """Return whether a request still waits for a server. A subscription always does."""
    return member.name in pending.servers or pending.request.method == LISTEN
