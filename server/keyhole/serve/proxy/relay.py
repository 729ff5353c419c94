"""Decide what happens with each message between a client and its servers. Does no I/O: every method returns steps.

One server gets everything as the client sent it, with its ids, so that methods that Keyhole does not know work too. Of
several servers, each gets the requests that concern it; the ids of their own requests are replaced, because two servers
may use the same.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.serve.proxy import messages, rewrite
from keyhole.serve.proxy.asked import Asked
from keyhole.serve.proxy.handshake import Handshake
from keyhole.serve.proxy.merge import LISTS, Answers, merge_discover, merge_initialize, well_formed
from keyhole.serve.proxy.messages import CANCELLED, Key, Message, error_response, response
from keyhole.serve.proxy.outline import Unreadable, find_id, is_notification, read_messages
from keyhole.serve.proxy.rewrite import Policy
from keyhole.serve.proxy.routes import Routes
from keyhole.serve.proxy.steps import AwaitServers, BoundResult, Client, Pending, ReadStored, Step, ToClient, ToServer

log = logging.getLogger(__name__)

MAX_PENDING: Final = 10_000
"""Requests without an answer. A client has some dozens; each takes as much as its text."""
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
"""The key in `_meta` of each request under which the newer protocol has the client's name."""
BOUNDED: Final = frozenset({"tools/call", "tasks/result", "resources/read"})
"""Methods whose results are bounded."""
LISTEN: Final = "subscriptions/listen"
"""The request of the newer protocol that is answered when its subscriptions end."""
TO_ALL: Final = frozenset({*LISTS, "initialize", "server/discover", "logging/setLevel", LISTEN})
"""Methods that each of several servers answers."""
GREETINGS: Final = frozenset({"initialize", "server/discover"})
LIST_CHANGED: Final = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'


class Relay:
    """The conversation of one client with its servers."""

    def __init__(self, servers: Sequence[str], policy: Policy, reader_schema: Callable[[], Mapping[str, Any]]) -> None:
        """`reader_schema` returns the schema of the arguments of Keyhole's own tool."""
        self._servers = list(servers)
        self._is_sole = len(servers) == 1
        self._policy = policy
        self._reader_schema = reader_schema
        self._routes = Routes(servers)
        self._client = Client()
        self._waiting: OrderedDict[Key, Pending] = OrderedDict()
        self._asked = Asked(renames=not self._is_sole)
        self._down: dict[str, str] = {}
        """Why a server takes no requests, by its name."""
        self._handshake = Handshake()
        self._has_tools = True
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
        asked = self._asked.take(find_id(outline, of_request=False))
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
                return [ToServer(self._servers[0], message.raw)] if self._is_sole else []

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
        if message.method == "tools/list" and not self._has_tools:
            own = self._with_reader({"tools": [], "resultType": "complete"})
            return [ToClient(response(message.data["id"], own).raw)]
        if message.method == "ping" and not self._is_sole:
            return [ToClient(response(message.data["id"], {}).raw)]
        try:
            return self._hand_on(message, key)
        except KeyholeError as error:
            number = messages.METHOD_NOT_FOUND if error.code is Code.INVALID_ARGUMENT else messages.INTERNAL_ERROR
            return [ToClient(error_response(message.data["id"], error, number).raw)]

    def _hand_on(self, message: Message, key: Key) -> list[Step]:
        """Return the steps that give a request to its servers. Raises KeyholeError if there is none for it."""
        intent = None
        if message.method in BOUNDED:
            params, query = rewrite.split_query(message.params) if self._policy.asks_query else (message.params, "")
            intent = rewrite.read_intent(_subject(message), params.get("arguments") or params, query)
            message = message if params is message.params else message.with_data(params=params)
        to_all = not self._is_sole and message.method in TO_ALL
        targets = [each for each in self._servers if each not in self._down] if to_all else []
        handed_on = message
        if not targets:
            target, handed_on = (self._servers[0], message) if self._is_sole else self._routes.route(message)
            if target in self._down:
                raise KeyholeError(Code.SERVER_UNAVAILABLE, self._down[target], server=target)
            targets = [target]
        pending = Pending(message, self._client, list(targets), intent, gathers=to_all)
        self._waiting[key] = pending
        self._handshake.note(handed_on, targets)
        steps: list[Step] = [ToServer(target, handed_on.raw) for target in targets]
        return [*steps, AwaitServers(pending)] if to_all and message.method in {*GREETINGS, *LISTS} else steps

    def _learn_client(self, message: Message) -> None:
        """Remember the client's name from `initialize` or, in the newer protocol, from each request."""
        meta = message.params.get("_meta")
        info = message.params.get("clientInfo") if message.method == "initialize" else None
        info = info or (meta.get(CLIENT_INFO) if isinstance(meta, dict) else None)
        if isinstance(info, dict):
            self._client = Client(str(info.get("name", "")), str(info.get("version", "")))

    def _notification(self, message: Message) -> list[Step]:
        targets = [each for each in self._servers if each not in self._down]
        if message.method == CANCELLED:
            pending = self._waiting.get(messages.key_of(message.params.get("requestId")))  # type: ignore[arg-type]
            if pending is not None:
                pending.cancelled = True
                targets = list(pending.servers)
            elif not self._is_sole:
                targets = []
        return [ToServer(target, message.raw) for target in targets]

    def _client_response(self, message: Message) -> list[Step]:
        asked = self._asked.take(message.data["id"])
        if asked is None:
            log.warning("the client answered a request that no server waits for")
            return []
        server, id = asked
        return [ToServer(server, message.raw if self._is_sole else message.with_data(id=id).raw)]

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
        key = messages.key_of(id)
        if key is None or key not in self._waiting or server not in self._waiting[key].servers:
            log.warning("a line of the server %s %s and was left out", server, reason)
            return []
        error = KeyholeError(Code.SERVER_FAULT, f"the answer of the server {server} {reason}", server=server)
        return self._server_response(server, error_response(id, error))

    def _from_server(self, server: str, message: Message | Unreadable) -> list[Step]:
        if isinstance(message, Unreadable):
            return self.lost(server, message.outline, message.reason)
        match message.kind:
            case "request" | "notification":
                shown = self._asked.shown(server, message)
                return [ToClient(shown.raw, is_answer=False, token=message.progress_token)]
            case "response":
                return self._server_response(server, message)
            case _:
                return [ToClient(message.raw, is_answer=False)] if self._is_sole else []

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
        if pending.gathers:
            return self._gather(server, message, key, pending)
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
            message = message.with_data(result=self._with_reader(result)) if isinstance(tools, list) else message
        is_bounded = pending.intent is not None and self._policy.bounds(pending.intent.tool)
        first: Step = ToClient(message.raw, token=pending.request.progress_token)
        if result is not None and is_bounded:
            first = BoundResult(message, pending)
        return [first, *(_duplicate(pending) for _ in range(pending.duplicates))]

    def _with_reader(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return a list of tools as the client sees it; its last page ends with Keyhole's own tool."""
        tools = rewrite.rewrite_tools(result["tools"], self._policy)
        self.reader = rewrite.reader_name(result["tools"], self.reader)
        own = [] if result.get("nextCursor") else [rewrite.reader_tool(self.reader, self._reader_schema())]
        return {**result, "tools": [*tools, *own]}

    # Several servers.

    def _gather(self, server: str, message: Message, key: Key, pending: Pending) -> list[Step]:
        """Take the answer of one of several servers; answer the client once all have answered."""
        method, result = pending.request.method, message.result
        result = None if result is None else well_formed(method, result)
        if result is not None and (field := LISTS.get(method)):
            known = pending.answers.get(server, {})
            result = {**result, field: [*(known.get(field) or []), *(result.get(field) or [])]}
            if cursor := result.get("nextCursor"):
                pending.answers[server] = result
                params = {**pending.request.params, "cursor": cursor}
                return [ToServer(server, pending.request.with_data(params=params).raw)]
        if result is None:
            pending.failure = message
        else:
            pending.answers[server] = result
        pending.servers.remove(server)
        return [] if pending.servers else self._gathered(key, pending)

    def _gathered(self, key: Key, pending: Pending) -> list[Step]:
        del self._waiting[key]
        if not pending.answers and pending.failure is not None:
            return [ToClient(pending.failure.raw)]
        ordered = {server: pending.answers[server] for server in self._servers if server in pending.answers}
        merged = response(pending.request.data["id"], self._merge(pending.request.method, ordered))
        return self._answer(merged, pending)

    def _merge(self, method: str, answers: Answers) -> Mapping[str, Any]:
        if method in LISTS:
            return self._routes.list(method, answers)
        if method in GREETINGS:
            return (merge_initialize if method == "initialize" else merge_discover)(answers)
        return next(iter(answers.values()), {})

    def expired(self, pending: Pending) -> list[Step]:
        """Return the steps that answer a request without the servers that have been silent too long."""
        key = pending.request.key
        if key is None or self._waiting.get(key) is not pending:
            return []
        log.warning("%s is answered without %s", pending.request.method, ", ".join(pending.servers))
        if not pending.answers and pending.failure is None:
            error = KeyholeError(Code.SERVER_UNAVAILABLE, f"no server answered: {', '.join(pending.servers)}")
            pending.failure = error_response(pending.request.data["id"], error)
        return self._gathered(key, pending)

    # A server that does not read, ends or starts again.

    def undelivered(self, server: str, raw: bytes) -> list[Step]:
        """Return the steps for a message that a server does not take: an error to the caller if it is a request."""
        error = KeyholeError(Code.SERVER_UNAVAILABLE, f"the server {server} does not read its input", server=server)
        message = messages.load(raw)
        pending = self._waiting.get(message.key) if message.kind == "request" else None  # type: ignore[arg-type]
        if pending is None or server not in pending.servers:
            return []
        return self._server_response(server, error_response(message.data["id"], error))

    def ended(self, server: str, reason: str) -> list[Step]:
        """Return the steps when a server has ended: an error to each caller that waits for it."""
        self._down[server] = reason
        error = KeyholeError(Code.SERVER_UNAVAILABLE, reason, server=server)
        steps: list[Step] = []
        for pending in [each for each in self._waiting.values() if server in each.servers]:
            steps += self._server_response(server, error_response(pending.request.data["id"], error))
        for id in self._asked.forget(server):
            params = {"requestId": id, "reason": reason}
            cancelled = messages.build({"jsonrpc": "2.0", "method": CANCELLED, "params": params})
            steps.append(ToClient(cancelled.raw, is_answer=False))
        return steps

    def restarted(self, server: str) -> list[Step]:
        """Return the steps when a server runs again: the handshake of the client, which the server has not seen."""
        greeting = self._handshake.greeting(server)
        if greeting is None:
            self._down.pop(server, None)
            return self._listen_again(server)
        self._down[server] = f"the server {server} is starting again"
        return [ToServer(server, greeting)]

    def _greeted(self, server: str, message: Message) -> list[Step]:
        self._down.pop(server, None)
        if message.result is None:  # its answers to further requests say what it wants, for instance a new token
            log.warning("the server %s refused the handshake after its restart", server)
            return []
        return [
            *(ToServer(server, raw) for raw in self._handshake.repeated(server)),
            ToClient(LIST_CHANGED, is_answer=False),
        ]

    def _listen_again(self, server: str) -> list[Step]:
        """Return the steps that subscribe the client, which still listens to other servers, to a restarted one."""
        listening = [each for each in self._waiting.values() if each.gathers and each.request.method == LISTEN]
        for pending in listening:
            pending.servers.append(server)
        return [ToServer(server, pending.request.raw) for pending in listening]


def _subject(message: Message) -> str:
    """Return the tool of a call, or the method of another request whose result is bounded."""
    return str(message.params.get("name", "")) if message.method == "tools/call" else message.method


def _duplicate(pending: Pending) -> Step:
    error = KeyholeError(Code.INVALID_ARGUMENT, "another request with this id was waiting for its answer")
    return ToClient(error_response(pending.request.data["id"], error, messages.INVALID_REQUEST).raw)
