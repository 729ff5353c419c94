"""A client of several scripted servers in one process, for tests of the group without processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keyhole.extensions.proxy.relay import Relay
from keyhole.extensions.proxy.rewrite import Policy
from keyhole.extensions.proxy.steps import (
    AwaitGreeting,
    AwaitServers,
    BoundResult,
    ReadStored,
    Step,
    ToClient,
    ToServer,
)

VERSION = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
}
FIELDS = {"tools": "name", "prompts": "name", "resources": "uri", "resources/templates": "uriTemplate"}


class Server:
    """A server of one or both eras, with lists. It remembers what it was sent."""

    def __init__(self, *eras: str, page: int = 100, **lists: list[str]) -> None:
        self.eras, self.page, self.lists = eras, page, lists
        self.received: list[dict[str, Any]] = []
        self.era = ""
        self.is_silent = False
        self.subscribed: list[str] = []

    def methods(self) -> list[str]:
        return [message["method"] for message in self.received if "method" in message]

    def take(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        """Take a message of the client, and return the answers."""
        self.received.append(message)
        if "id" not in message or "method" not in message or self.is_silent:
            return []
        answer = self._answer(message["method"], message.get("params") or {}, message["id"])
        return [] if answer is None else [{"jsonrpc": "2.0", "id": message["id"], **answer}]

    def _answer(self, method: str, params: dict[str, Any], id: Any) -> dict[str, Any] | None:
        is_modern = VERSION in (params.get("_meta") or {}).values()
        era = "modern" if is_modern and method != "initialize" else "handshake"
        if era not in self.eras or (self.era and era != self.era):
            return {"error": {"code": -32022 if method == "initialize" else -32601, "message": "another era"}}
        self.era = era
        assert is_modern == (era == "modern"), "a request has an envelope of the wrong era"
        extra = {"resultType": "complete"} if is_modern else {}
        result = self._result(method, params)
        cached = (
            {"ttlMs": 60_000, "cacheScope": "public"} if is_modern and method.endswith(("/list", "discover")) else {}
        )
        return None if method == "subscriptions/listen" else {"result": {**result, **extra, **cached}}

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        capabilities = {name: {"listChanged": True} for name in self.lists} | {"logging": {}}
        if method == "initialize":
            return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": {}}
        if method == "server/discover":
            return {"supportedVersions": [VERSION], "capabilities": capabilities}
        if method.endswith("/list"):
            return self._list(method.removesuffix("/list"), int(params.get("cursor", 0)))
        if method == "tools/call":
            return {"content": [{"type": "text", "text": params["name"]}]}
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], "text": params["uri"]}]}
        if method == "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": params["name"]}}]}
        return {}

    def _list(self, kind: str, start: int) -> dict[str, Any]:
        names = self.lists.get(kind.replace("/", "_"), [])
        field = "resourceTemplates" if kind == "resources/templates" else kind
        general = {"name": "a", "inputSchema": {"type": "object"}}
        items = [{**general, FIELDS[kind]: name} for name in names[start : start + self.page]]
        following = {"nextCursor": str(start + self.page)} if start + self.page < len(names) else {}
        return {field: items, **following}


class GroupClient:
    """A client behind a relay with several servers, which answer at once unless they are told to be silent."""

    def __init__(self, servers: Mapping[str, Server], *, modern: bool = False, **policy: Any) -> None:
        self.servers, self.modern = servers, modern
        self.relay = Relay(list(servers), Policy(**policy), lambda: {"type": "object"})
        self.received: list[dict[str, Any]] = []
        self.timers: list[AwaitServers | AwaitGreeting] = []
        self._count = 0

    def take(self, steps: list[Step]) -> None:
        """Carry out steps."""
        for step in steps:
            match step:
                case ToClient(raw):
                    self.received.append(json.loads(raw))
                case BoundResult(message):
                    self.received.append(dict(message.data))
                case ToServer(server, raw):
                    for answer in self.servers[server].take(json.loads(raw)):
                        self.say(server, answer)
                case AwaitServers() | AwaitGreeting():
                    self.timers.append(step)
                case ReadStored():
                    raise AssertionError("a call of Keyhole's own tool")

    def say(self, server: str, message: Mapping[str, Any]) -> None:
        """Let a server send a message."""
        self.take(self.relay.from_server(server, json.dumps(message).encode()))

    def expire(self, kind: type[AwaitServers] | type[AwaitGreeting]) -> None:
        """Let the time of all waits of a kind pass."""
        due = [timer for timer in self.timers if isinstance(timer, kind)]
        self.timers = [timer for timer in self.timers if timer not in due]
        for timer in due:
            self.take(self.relay.expired(timer))

    def end(self, server: str) -> None:
        """Let a server end."""
        self.servers[server].era = ""
        self.take(self.relay.ended(server, f"the server {server} ended"))

    def restart(self, server: str) -> None:
        """Let a server run again."""
        self.take(self.relay.restarted(server))

    def send(self, method: str, **params: Any) -> int:
        """Send a request; return its id."""
        self._count += 1
        meta = {"_meta": ENVELOPE} if self.modern else {}
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": {**params, **meta}}
        self.take(self.relay.from_client(json.dumps(message).encode()))
        return self._count

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.take(self.relay.from_client(json.dumps(message).encode()))

    def answer_to(self, id: int) -> dict[str, Any] | None:
        """Return the answer to a request, None if there is none yet."""
        answers = [each for each in self.received if each.get("id") == id and "method" not in each]
        assert len(answers) < 2, "a request was answered twice"
        return answers[0] if answers else None

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return its answer, which has come at once."""
        answer = self.answer_to(self.send(method, **params))
        assert answer is not None, f"{method} has no answer"
        return answer

    def greet(self) -> dict[str, Any]:
        """Greet the servers in the client's era; return the result."""
        if self.modern:
            return dict(self.request("server/discover")["result"])
        info = {"name": "test", "version": "1"}
        answer = self.request("initialize", protocolVersion="2025-06-18", capabilities={"roots": {}}, clientInfo=info)
        self.notify("notifications/initialized")
        return dict(answer["result"])

    def names(self, method: str = "tools/list") -> list[str]:
        """Return the names or URIs of a list, without Keyhole's own tool."""
        result = self.request(method)["result"]
        field = "resourceTemplates" if "templates" in method else method.partition("/")[0]
        key = FIELDS[method.removesuffix("/list")]
        return [item[key] for item in result[field] if item[key] != self.relay.reader]
