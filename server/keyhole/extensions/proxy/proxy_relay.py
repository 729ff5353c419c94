"""Decide what happens with each message between a client and its server. Does no I/O: methods return steps.

The server gets everything as the client sent it, with its ids, so that methods that Keyhole does not know work too.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy import rewrite
from keyhole.extensions.proxy.handshake import NOT_CACHED, Handshake, is_modern, version_of
from keyhole.extensions.proxy.json_rpc import (
    CANCELLED,
    INVALID_REQUEST,
    MAX_FOR_CLIENT,
    Id,
    Key,
    Message,
    Unreadable,
    build,
    error_response,
    find_id,
    invalid_line,
    is_notification,
    key_of,
    load,
    outline_of,
    read_messages,
    response,
    too_long,
)
from keyhole.extensions.proxy.results import LEAST_BYTES
from keyhole.extensions.proxy.rewrite import Intent, Policy
from keyhole.runtime.bounded_dict import BoundedDict

log = logging.getLogger(__name__)

# Steps: what the relay returns, such as messages to send and results to bound.


@dataclass(frozen=True, slots=True)
class ClientVersion:
    """The client's name and version, which decide the limits of its results."""

    name: str = ""
    version: str = ""


@dataclass(slots=True)
class Pending:
    """A request of the client that the server has not yet answered."""

    request: Message
    client: ClientVersion
    intent: Intent | None = None
    """The intent of a call whose result may be bounded, None for other requests."""
    duplicates: int = 0
    """Further requests with the same id, which are refused once this one is answered."""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class ToClient:
    """A message for the client."""

    raw: bytes
    is_answer: bool = True
    """False for a notification or a request of the server."""
    token: Key | None = None
    """The token of the request that is answered, or of the request whose progress this is."""


@dataclass(frozen=True, slots=True)
class ToServer:
    """A message for the server."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class BoundResult:
    """A response whose result may exceed the budget."""

    message: Message
    pending: Pending


@dataclass(frozen=True, slots=True)
class ReadStored:
    """A call of Keyhole's own tool."""

    request: Message
    client: ClientVersion


RelayStep = ToClient | ToServer | BoundResult | ReadStored


# The relay: which steps follow each message.

MAX_PENDING: Final = 10_000
"""The most requests without an answer. A client has some dozens. Each takes about as much memory as its text."""
MAX_ASKED: Final = 10_000
"""Requests of the server without an answer; the oldest are forgotten first. Servers have some dozens."""
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
"""The key in a request's `_meta` for the client's name and version, in the newer protocol."""
BOUNDED: Final = frozenset({"tools/call", "tasks/result", "resources/read"})
"""Methods whose results are bounded."""
GREETINGS: Final = frozenset({"initialize", "server/discover"})
"""Methods whose results contain the instructions and capabilities of the server."""
LIST_CHANGED: Final = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'


class ServerRequests:
    """The requests of the server that the client has not answered."""

    def __init__(self) -> None:
        self._ids: BoundedDict[Key, None] = BoundedDict(MAX_ASKED)

    def add(self, message: Message) -> None:
        """Remember a request."""
        if message.key is not None:
            self._ids[message.key] = None

    def take(self, id: object) -> bool:
        """Forget the request with this id. Return whether it was known."""
        key = key_of(id)
        if key is None or key not in self._ids:
            return False
        del self._ids[key]
        return True

    def take_all(self) -> list[Id]:
        """Forget all requests, and return their ids."""
        ids = [id for _, id in self._ids]
        self._ids.clear()
        return ids


class ProxyRelay:
    """The messages between one client and its server: those that wait for an answer, and the steps for each new one."""

    def __init__(self, server: str, policy: Policy, reader_schema: Callable[[], Mapping[str, Any]]) -> None:
        """`server`: the name of the server. `reader_schema` returns the schema of Keyhole's own tool."""
        self.server = server
        """The name of the server, for messages."""
        self._policy = policy
        self._reader_schema = reader_schema
        self._client = ClientVersion()
        self._waiting: OrderedDict[Key, Pending] = OrderedDict()
        self._server_requests = ServerRequests()
        self._down = ""
        """Why the server takes no requests, "" if it does."""
        self._handshake = Handshake()
        self._has_tools = True
        self._own_query: frozenset[str] = frozenset()
        """The tools that have an argument `keyhole_query` of their own."""
        self.reader = rewrite.READER
        """The name of Keyhole's own tool."""

    # From the client.

    def from_client(self, line: bytes) -> list[RelayStep]:
        """Return the steps for a line that the client sent."""
        received = read_messages(line) if line.strip() else []
        return [step for message in received for step in self._from_client(message)]

    def lost_from_client(self, outline: bytes, reason: str) -> list[RelayStep]:
        """Return the steps for an unreadable line of the client: an error to the side that waits for an answer."""
        id = find_id(outline, of_request=True)
        if id is not None:
            error = KeyholeError(Code.INVALID_ARGUMENT, f"the request {reason}")
            return [ToClient(error_response(id, error, INVALID_REQUEST).raw)]
        answered = find_id(outline, of_request=False)
        if self._server_requests.take(answered):
            error = KeyholeError(Code.INVALID_ARGUMENT, f"the answer of the client {reason}")
            return [ToServer(error_response(answered, error).raw)]
        if not is_notification(outline):
            return [ToClient(invalid_line(reason).raw)]
        log.warning("a notification of the client %s and was left out", reason)
        return []

    def _from_client(self, message: Message | Unreadable) -> list[RelayStep]:
        if isinstance(message, Unreadable):
            return self.lost_from_client(message.outline, message.reason)
        match message.kind:
            case "request":
                return self._request(message)
            case "notification":
                return self._notification(message)
            case "response":
                return self._client_response(message)
            case _:
                return [ToServer(message.raw)]

    def _request(self, message: Message) -> list[RelayStep]:
        key = message.key
        assert key is not None  # noqa: S101 - for the type checker: a request has an id
        if key in self._waiting:
            self._waiting[key].duplicates += 1
            return []
        if len(self._waiting) >= MAX_PENDING and not self._forget_cancelled():
            full = KeyholeError(Code.SERVER_UNAVAILABLE, f"{MAX_PENDING:,} requests wait for an answer")
            return [ToClient(error_response(message.data["id"], full).raw)]
        self._learn_client(message)
        tool = str(message.params.get("name", ""))
        if message.method == "tools/call" and tool == self.reader:
            return [ReadStored(message, self._client)]
        if message.method == "tools/list" and not self._has_tools:
            own = self._with_reader({"tools": []})
            own = {**own, **NOT_CACHED} if is_modern(version_of(message)) else own
            return [ToClient(response(message.data["id"], own).raw)]
        if self._down:
            down = KeyholeError(Code.SERVER_UNAVAILABLE, self._down, server=self.server)
            return [ToClient(error_response(message.data["id"], down).raw)]
        return [self._hand_on(message, key)]

    def _hand_on(self, message: Message, key: Key) -> RelayStep:
        """Remember a request, and return the step that sends it to the server."""
        intent = None
        if message.method in BOUNDED:
            params, query = message.params, ""
            if self._policy.asks_query:
                is_own = str(params.get("name")) in self._own_query
                params, query = rewrite.split_query(params, is_own=is_own)
            arguments = params.get("arguments") or params
            intent = rewrite.read_intent(_subject(message), arguments, query)
            message = message if params is message.params else message.with_data(params=params)
        self._waiting[key] = Pending(message, self._client, intent)
        self._handshake.note(message)
        return ToServer(message.raw)

    def _learn_client(self, message: Message) -> None:
        """Remember the client's name from `initialize` or, in the newer protocol, from each request."""
        meta = message.params.get("_meta")
        info = message.params.get("clientInfo") if message.method == "initialize" else None
        info = info or (meta.get(CLIENT_INFO) if isinstance(meta, dict) else None)
        if isinstance(info, dict):
            self._client = ClientVersion(str(info.get("name", "")), str(info.get("version", "")))

    def _notification(self, message: Message) -> list[RelayStep]:
        if message.method == CANCELLED:
            pending = self._waiting.get(key_of(message.params.get("requestId")))  # type: ignore[arg-type]
            if pending is not None:
                pending.cancelled = True
        return [] if self._down else [ToServer(message.raw)]

    def _client_response(self, message: Message) -> list[RelayStep]:
        if not self._server_requests.take(message.data["id"]):
            log.warning("the client answered a request that the server does not wait for")
            return []
        return [ToServer(message.raw)]

    def _forget_cancelled(self) -> bool:
        """Forget the oldest request that was cancelled and never answered. Return False if there is no such request."""
        oldest = next((key for key, pending in self._waiting.items() if pending.cancelled), None)
        if oldest is not None:
            del self._waiting[oldest]
        return oldest is not None

    # From the server.

    def from_server(self, line: bytes) -> list[RelayStep]:
        """Return the steps for a line that the server sent."""
        return [step for message in read_messages(line) for step in self._from_server(message)]

    def lost_from_server(self, outline: bytes, reason: str) -> list[RelayStep]:
        """Return the steps for an unreadable line of the server: an error to the side that waits for an answer."""
        asking = find_id(outline, of_request=True)
        if asking is not None:
            error = KeyholeError(Code.INVALID_ARGUMENT, f"the request {reason}")
            return [ToServer(error_response(asking, error, INVALID_REQUEST).raw)]
        id = find_id(outline, of_request=False)
        if id is None:
            log.warning("a line of the server %s %s and was left out", self.server, reason)
            return []
        error = KeyholeError(Code.SERVER_FAULT, f"the answer of the server {self.server} {reason}", server=self.server)
        return self._from_server(error_response(id, error))

    def _from_server(self, message: Message | Unreadable) -> list[RelayStep]:
        if isinstance(message, Unreadable):
            return self.lost_from_server(message.outline, message.reason)
        pending = self._waiting.get(message.key) if message.kind == "response" and message.key else None
        if len(message.raw) > MAX_FOR_CLIENT and not self._is_bounded(pending):
            return self.lost_from_server(outline_of(message.raw), too_long(len(message.raw), MAX_FOR_CLIENT))
        if message.kind == "response":
            return self._server_response(message)
        if message.kind == "request":
            self._server_requests.add(message)
        return [ToClient(message.raw, is_answer=False, token=message.progress_token)]

    def _server_response(self, message: Message) -> list[RelayStep]:
        if self._handshake.is_greeting(message):
            return self._greeted(message)
        if self._handshake.is_repeated(message):
            return []
        pending = self._waiting.pop(message.key, None) if message.key else None
        if pending is None:
            log.warning("the server %s answered a request that nobody waits for", self.server)
            return []
        return self._answer(message, pending)

    def _answer(self, message: Message, pending: Pending) -> list[RelayStep]:
        """Return the steps for the answer of a request, and the refusals of its duplicates."""
        result, method = message.result, pending.request.method
        if result is not None and method in GREETINGS:
            self._has_tools = "tools" in rewrite.capabilities_of(result)
            message = message.with_data(result=rewrite.rewrite_instructions(result, self.reader))
        elif result is not None and method == "tools/list":
            tools = result.get("tools")
            message = message.with_data(result=self._with_reader(result)) if isinstance(tools, list) else message
        first: RelayStep = ToClient(message.raw, token=pending.request.progress_token)
        if self._is_bounded(pending) and (result is not None or len(message.raw) > LEAST_BYTES):
            first = BoundResult(message, pending)
        return [first, *(_duplicate(pending) for _ in range(pending.duplicates))]

    def _is_bounded(self, pending: Pending | None) -> bool:
        """Return whether the answer of a request, result or error, is bounded."""
        return pending is not None and pending.intent is not None and self._policy.bounds(pending.intent.tool)

    def _with_reader(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return a list of tools as the client sees it; its last page ends with Keyhole's own tool."""
        tools = rewrite.rewrite_tools(result["tools"], self._policy)
        self.reader = rewrite.reader_name(result["tools"], self.reader)
        self._own_query |= rewrite.with_own_query(result["tools"])
        if result.get("nextCursor"):
            return {**result, "tools": tools}
        return {**result, "tools": [*tools, rewrite.reader_tool(self.reader, self._reader_schema())]}

    # A server that does not read, ends or starts again.

    def undelivered(self, raw: bytes) -> list[RelayStep]:
        """Return the steps for a message that the server does not take: an error to the caller if it is a request."""
        reason = f"the server {self.server} does not read its input"
        error = KeyholeError(Code.SERVER_UNAVAILABLE, reason, server=self.server)
        message = load(raw)
        return self._from_server(error_response(message.data["id"], error)) if message.kind == "request" else []

    def ended(self, reason: str) -> list[RelayStep]:
        """Return the steps when the server has ended: an error to each caller that waits for it."""
        self._down = reason
        error = KeyholeError(Code.SERVER_UNAVAILABLE, reason, server=self.server)
        steps: list[RelayStep] = []
        for pending in list(self._waiting.values()):
            steps += self._server_response(error_response(pending.request.data["id"], error))
        for id in self._server_requests.take_all():
            params = {"requestId": id, "reason": reason}
            cancelled = build({"jsonrpc": "2.0", "method": CANCELLED, "params": params})
            steps.append(ToClient(cancelled.raw, is_answer=False))
        return steps

    def restarted(self) -> list[RelayStep]:
        """Return the steps when the server runs again: the handshake of the client, which it has not seen."""
        greeting = self._handshake.greeting()
        self._down = f"the server {self.server} is starting again" if greeting else ""
        return [ToServer(greeting)] if greeting else []

    def _greeted(self, message: Message) -> list[RelayStep]:
        self._down = ""
        if message.result is None:  # later answers tell the client why, for instance an expired token
            log.warning("the server %s refused the handshake after its restart", self.server)
            return []
        return [*map(ToServer, self._handshake.repeated()), ToClient(LIST_CHANGED, is_answer=False)]


def _subject(message: Message) -> str:
    """Return the tool of a call, or the method of another request whose result is bounded."""
    return str(message.params.get("name", "")) if message.method == "tools/call" else message.method


def _duplicate(pending: Pending) -> RelayStep:
    error = KeyholeError(Code.INVALID_ARGUMENT, "another request with this id was waiting for its answer")
    return ToClient(error_response(pending.request.data["id"], error, INVALID_REQUEST).raw)
