"""Decide what happens with each message between a client and its servers. Does no I/O: every method returns steps.

One server gets everything as the client sent it, with its ids, so that methods that Keyhole does not know work too.
Several servers answer as one, which `group` does.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy import messages, rewrite
from keyhole.extensions.proxy.eras import complete_result, era_of
from keyhole.extensions.proxy.gather import GREETINGS
from keyhole.extensions.proxy.group import Group, Out
from keyhole.extensions.proxy.handshake import Handshake
from keyhole.extensions.proxy.messages import CANCELLED, Key, Message, error_response, response
from keyhole.extensions.proxy.outline import Unreadable, find_id, is_notification, read_messages
from keyhole.extensions.proxy.rewrite import Policy
from keyhole.extensions.proxy.server_requests import ServerRequests
from keyhole.extensions.proxy.steps import (
    AwaitGreeting,
    AwaitServers,
    BoundResult,
    ClientVersion,
    Pending,
    ReadStored,
    Step,
    ToClient,
    ToServer,
)

log = logging.getLogger(__name__)

MAX_PENDING: Final = 10_000
"""Requests without an answer. A client has some dozens. Each takes about as much memory as its text."""
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
"""The key in a request's `_meta` for the client's name and version, in the newer protocol."""
BOUNDED: Final = frozenset({"tools/call", "tasks/result", "resources/read"})
"""Methods whose results are bounded."""
LIST_CHANGED: Final = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'


class Relay:
    """The conversation of one client with its servers."""

    def __init__(self, servers: Sequence[str], policy: Policy, reader_schema: Callable[[], Mapping[str, Any]]) -> None:
        """`reader_schema` returns the schema of the arguments of Keyhole's own tool."""
        self._server = servers[0]
        """The only server, or the first of several."""
        self._group = Group(servers) if len(servers) > 1 else None
        self._policy = policy
        self._reader_schema = reader_schema
        self._client = ClientVersion()
        self._waiting: OrderedDict[Key, Pending] = OrderedDict()
        self._server_requests = ServerRequests(renames=False)
        self._down = ""
        """Why the only server takes no requests, "" if it does."""
        self._handshake = Handshake()
        self._has_tools = True
        self._own_query: frozenset[str] = frozenset()
        """The tools that have an argument `keyhole_query` of their own."""
        self.reader = rewrite.READER
        """The name of Keyhole's own tool."""

    # From the client.

    def from_client(self, line: bytes) -> list[Step]:
        """Return the steps for a line that the client sent."""
        received = read_messages(line) if line.strip() else []
        return [step for message in received for step in self._from_client(message)]

    def lost_from_client(self, outline: bytes, reason: str) -> list[Step]:
        """Return the steps for a line of the client that cannot be relayed: an error to whoever waits for an answer."""
        id = find_id(outline, of_request=True)
        if id is not None:
            error = KeyholeError(Code.INVALID_ARGUMENT, f"the request {reason}")
            return [ToClient(error_response(id, error, messages.INVALID_REQUEST).raw)]
        asked = (self._group or self._server_requests).take(find_id(outline, of_request=False))
        if asked is not None:
            error = KeyholeError(Code.INVALID_ARGUMENT, f"the answer of the client {reason}")
            return [ToServer(asked[0], error_response(asked[1], error).raw)]
        if not is_notification(outline):
            return [ToClient(messages.invalid_line(reason).raw)]
        log.warning("a notification of the client %s and was left out", reason)
        return []

    def _from_client(self, message: Message | Unreadable) -> list[Step]:
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
                return [] if self._group else [ToServer(self._server, message.raw)]

    def _request(self, message: Message) -> list[Step]:
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
        if message.method == "tools/list" and not self._group and not self._has_tools:
            own = self._with_reader({"tools": []})
            own = complete_result(message.method, own) if era_of(message) == "modern" else own
            return [ToClient(response(message.data["id"], own).raw)]
        try:
            return self._hand_on(message, key)
        except KeyholeError as error:
            number = messages.METHOD_NOT_FOUND if error.code is Code.INVALID_ARGUMENT else messages.INTERNAL_ERROR
            return [ToClient(error_response(message.data["id"], error, number).raw)]

    def _hand_on(self, message: Message, key: Key) -> list[Step]:
        """Return the steps that give a request to its servers. Raises KeyholeError if there is none for it."""
        intent = None
        if message.method in BOUNDED:
            params, query = message.params, ""
            if self._policy.asks_query:
                is_own = str(params.get("name")) in self._own_query
                params, query = rewrite.split_query(params, is_own=is_own)
            arguments = params.get("arguments") or params
            intent = rewrite.read_intent(_subject(message), arguments, query, self._own_name(message))
            message = message if params is message.params else message.with_data(params=params)
        pending = Pending(message, self._client, [self._server], intent)
        if self._group:
            self._waiting[key] = pending
            try:
                return self._resolve(self._group.request(pending))
            except KeyholeError:
                del self._waiting[key]
                raise
        if self._down:
            raise KeyholeError(Code.SERVER_UNAVAILABLE, self._down, server=self._server)
        self._waiting[key] = pending
        self._handshake.note(message, [self._server])
        return [ToServer(self._server, message.raw)]

    def _own_name(self, message: Message) -> str:
        """Return the name by which one of several servers knows the tool of a call."""
        is_call = self._group is not None and message.method == "tools/call"
        return self._group.own_name(str(message.params.get("name", ""))) if self._group and is_call else ""

    def _resolve(self, outs: Iterable[Out]) -> list[Step]:
        """Return the steps for the output of a group of servers. Its responses answer the requests that wait."""
        steps: list[Step] = []
        for out in outs:
            if not isinstance(out, Message):
                steps.append(out)
            elif out.kind != "response":
                steps.append(self._show(out))
            elif out.key and (pending := self._waiting.pop(out.key, None)):
                steps += self._answer(out, pending)
        return steps

    def _learn_client(self, message: Message) -> None:
        """Remember the client's name from `initialize` or, in the newer protocol, from each request."""
        meta = message.params.get("_meta")
        info = message.params.get("clientInfo") if message.method == "initialize" else None
        info = info or (meta.get(CLIENT_INFO) if isinstance(meta, dict) else None)
        if isinstance(info, dict):
            self._client = ClientVersion(str(info.get("name", "")), str(info.get("version", "")))

    def _notification(self, message: Message) -> list[Step]:
        pending = None
        if message.method == CANCELLED:
            pending = self._waiting.get(messages.key_of(message.params.get("requestId")))  # type: ignore[arg-type]
            if pending is not None:
                pending.cancelled = True
        if self._group:
            return self._resolve(self._group.notification(message, pending))
        return [] if self._down else [ToServer(self._server, message.raw)]

    def _client_response(self, message: Message) -> list[Step]:
        if self._group:
            return self._resolve(self._group.answer(message))
        if self._server_requests.take(message.data["id"]) is None:
            log.warning("the client answered a request that no server waits for")
            return []
        return [ToServer(self._server, message.raw)]

    def _forget_cancelled(self) -> bool:
        """Forget the oldest request that was cancelled and never answered; return whether there was one."""
        oldest = next((key for key, pending in self._waiting.items() if pending.cancelled), None)
        if oldest is not None:
            del self._waiting[oldest]
        return oldest is not None

    # From a server.

    def from_server(self, server: str, line: bytes) -> list[Step]:
        """Return the steps for a line that a server sent."""
        return [step for message in read_messages(line) for step in self._from_server(server, message)]

    def lost(self, server: str, outline: bytes, reason: str) -> list[Step]:
        """Return the steps for a line that cannot be relayed: an error to whoever waits for an answer."""
        asking = find_id(outline, of_request=True)
        if asking is not None:
            error = KeyholeError(Code.INVALID_ARGUMENT, f"the request {reason}")
            return [ToServer(server, error_response(asking, error, messages.INVALID_REQUEST).raw)]
        id = find_id(outline, of_request=False)
        if id is None:
            log.warning("a line of the server %s %s and was left out", server, reason)
            return []
        error = KeyholeError(Code.SERVER_FAULT, f"the answer of the server {server} {reason}", server=server)
        return self._from_server(server, error_response(id, error))

    def _from_server(self, server: str, message: Message | Unreadable) -> list[Step]:
        if isinstance(message, Unreadable):
            return self.lost(server, message.outline, message.reason)
        if self._group:
            pending = self._waiting.get(message.key) if message.kind == "response" and message.key else None
            return self._resolve(self._group.from_server(server, message, pending))
        if message.kind == "response":
            return self._server_response(server, message)
        return [self._show(self._server_requests.shown(server, message))]

    def _show(self, message: Message) -> Step:
        """Return the step that sends a notification or a request of a server to the client."""
        return ToClient(message.raw, is_answer=False, token=message.progress_token)

    def _server_response(self, server: str, message: Message) -> list[Step]:
        key = message.key
        if self._handshake.is_greeting(server, message):
            return self._greeted(server, message)
        if self._handshake.is_repeated(message):
            return []
        pending = self._waiting.get(key) if key else None
        if key is None or pending is None or server not in pending.servers:
            log.warning("the server %s answered a request that nobody waits for", server)
            return []
        del self._waiting[key]
        return self._answer(message, pending)

    def _answer(self, message: Message, pending: Pending) -> list[Step]:
        """Return the steps for the only answer of a request."""
        result, method = message.result, pending.request.method
        if result is not None and method in GREETINGS:
            self._has_tools = "tools" in rewrite.capabilities_of(result)
            message = message.with_data(result=rewrite.rewrite_instructions(result, self.reader))
        elif result is not None and method == "tools/list":
            tools = result.get("tools")
            message = (
                message.with_data(result=self._with_reader(result, pending)) if isinstance(tools, list) else message
            )
        is_bounded = pending.intent is not None and self._policy.bounds(*pending.intent.names)
        first: Step = ToClient(message.raw, token=pending.request.progress_token)
        if result is not None and is_bounded:
            first = BoundResult(message, pending)
        return [first, *(_duplicate(pending) for _ in range(pending.duplicates))]

    def _with_reader(self, result: Mapping[str, Any], pending: Pending | None = None) -> dict[str, Any]:
        """Return a list of tools as the client sees it; its last page ends with Keyhole's own tool."""
        own_name = self._group.own_name if self._group else str
        tools = rewrite.rewrite_tools(result["tools"], self._policy, own_name)
        self.reader = rewrite.reader_name(result["tools"], self.reader)
        self._own_query |= rewrite.with_own_query(result["tools"])
        if result.get("nextCursor"):
            return {**result, "tools": tools}
        missing = pending.incomplete.values() if pending else ()
        return {**result, "tools": [*tools, rewrite.reader_tool(self.reader, self._reader_schema(), missing)]}

    def expired(self, step: AwaitServers | AwaitGreeting) -> list[Step]:
        """Return the steps that go on without the servers that have been silent too long."""
        if self._group is None or (isinstance(step, AwaitServers) and not self._is_waiting(step.pending)):
            return []
        return self._resolve(self._group.expired(step))

    def _is_waiting(self, pending: Pending) -> bool:
        return pending.request.key is not None and self._waiting.get(pending.request.key) is pending

    # A server that does not read, ends or starts again.

    def undelivered(self, server: str, raw: bytes) -> list[Step]:
        """Return the steps for a message that a server does not take: an error to the caller if it is a request."""
        error = KeyholeError(Code.SERVER_UNAVAILABLE, f"the server {server} does not read its input", server=server)
        message = messages.load(raw)
        is_request = message.kind == "request"
        return self._from_server(server, error_response(message.data["id"], error)) if is_request else []

    def ended(self, server: str, reason: str) -> list[Step]:
        """Return the steps when a server has ended: an error to each caller that waits for it."""
        if self._group:
            return self._resolve(self._group.ended(server, reason, list(self._waiting.values())))
        self._down = reason
        error = KeyholeError(Code.SERVER_UNAVAILABLE, reason, server=server)
        steps: list[Step] = []
        for pending in list(self._waiting.values()):
            steps += self._server_response(server, error_response(pending.request.data["id"], error))
        for id in self._server_requests.forget(server):
            params = {"requestId": id, "reason": reason}
            cancelled = messages.build({"jsonrpc": "2.0", "method": CANCELLED, "params": params})
            steps.append(ToClient(cancelled.raw, is_answer=False))
        return steps

    def restarted(self, server: str) -> list[Step]:
        """Return the steps when a server runs again: the handshake of the client, which the server has not seen."""
        if self._group:
            return self._resolve(self._group.restarted(server))
        greeting = self._handshake.greeting(server)
        self._down = f"the server {server} is starting again" if greeting else ""
        return [ToServer(server, greeting)] if greeting else []

    def _greeted(self, server: str, message: Message) -> list[Step]:
        self._down = ""
        if message.result is None:  # later answers tell the client why, for instance an expired token
            log.warning("the server %s refused the handshake after its restart", server)
            return []
        return [
            *(ToServer(server, raw) for raw in self._handshake.repeated(server)),
            ToClient(LIST_CHANGED, is_answer=False),
        ]


def _subject(message: Message) -> str:
    """Return the tool of a call, or the method of another request whose result is bounded."""
    return str(message.params.get("name", "")) if message.method == "tools/call" else message.method


def _duplicate(pending: Pending) -> Step:
    error = KeyholeError(Code.INVALID_ARGUMENT, "another request with this id was waiting for its answer")
    return ToClient(error_response(pending.request.data["id"], error, messages.INVALID_REQUEST).raw)
