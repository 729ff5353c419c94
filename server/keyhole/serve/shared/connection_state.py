"""Record the handshake and the open requests of a relay's client, so that another server can continue its session.

If a server ends, the relay repeats the handshake and the unanswered requests to the next one. All requests can be
repeated: Keyhole's tools only read. The requests with which clients start are answered from a file, without waiting for
the server to load.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from keyhole._version import __version__
from keyhole.text.parse_json import parse_json

# Replies that are the same from every server of this version: to handshakes and lists.
#
# The file replies.json has the result of each of these methods in each revision of the protocol, as the server gives it
# to a client without extensions. `python -m tests.serve.shared.test_known_replies` writes it.

FILE: Final = os.path.join(os.path.dirname(__file__), "replies.json")
VERSION_MARK: Final = "VERSION OF KEYHOLE"
"""Stands in the file for the version of the server."""
INITIALIZE: Final = "initialize"
METHODS: Final = ("server/discover", "tools/list", "prompts/list", "resources/templates/list")
_META: Final = "io.modelcontextprotocol/"
MODERN_META: Final = {_META + name for name in ("protocolVersion", "clientInfo", "clientCapabilities")}
"""The keys of `_meta` in each request of the later era."""


class KnownReplies:
    """The results by revision and method."""

    def __init__(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        self._results = results

    def find(self, message: Mapping[str, Any], version: str) -> Any:
        """Return the result for a request, None if it is not known.

        `version`: the revision of the handshake, "" without one. A request that the server may refuse is not known.
        """
        params = message.get("params") or {}
        method = message.get("method")
        if message.get("jsonrpc") != "2.0" or not isinstance(params, dict):
            return None
        if method == INITIALIZE:
            return self._results.get(_handshake_version(params), {}).get(INITIALIZE)
        meta = params.get("_meta", {})
        if method not in METHODS or set(params) - {"_meta"} or not isinstance(meta, dict):
            return None
        if meta:
            version = _request_version(meta)
        return self._results.get(version, {}).get(method)


def load_replies() -> KnownReplies:
    """Load the file; return no replies if it is missing."""
    try:
        with open(FILE, encoding="utf-8") as file:
            saved = json.loads(file.read().replace(VERSION_MARK, __version__))
    except (OSError, ValueError):
        return KnownReplies({})
    results, table = saved["results"], saved["replies"]
    return KnownReplies({
        version: {method: results[number] for method, number in methods.items()} for version, methods in table.items()
    })  # fmt: skip


def _handshake_version(params: Mapping[str, Any]) -> str:
    is_usual = set(params) == {"protocolVersion", "capabilities", "clientInfo"}
    return (
        str(params["protocolVersion"]) if is_usual and _is_plain(params["clientInfo"], params["capabilities"]) else ""
    )


def _request_version(meta: Mapping[str, Any]) -> str:
    """Return the revision of a request of the later era, "" if it has anything unusual."""
    if set(meta) != MODERN_META or not _is_plain(meta[_META + "clientInfo"], meta[_META + "clientCapabilities"]):
        return ""
    return str(meta[_META + "protocolVersion"])


def _is_plain(client: object, capabilities: object) -> bool:
    """Return whether a client and its capabilities are valid, without extensions, on which replies depend."""
    if not isinstance(client, dict) or not isinstance(capabilities, dict) or "extensions" in capabilities:
        return False
    return isinstance(client.get("name"), str) and isinstance(client.get("version"), str)


# The state of a connection.

MAX_SENDS: Final = 2
"""Servers that a request is sent to. If the second one ends too, the request may be the reason."""
MAX_PENDING: Final = 8
"""Requests of a client that a server works on at a time: as many as of a tenant over HTTP (KEYHOLE_CALLS_AT_ONCE).

In benchmarks/server/bad_neighbours.py, another client's call waits up to 0.6 s beside 8 requests, and up to 1.6 s
beside 16.
"""
INTERNAL_ERROR: Final = -32603
"""JSON-RPC's code for an error inside the server."""
LOST: Final = (
    "Keyhole's server ended twice during this call, or refused its size. Call again, or set KEYHOLE_SHARED=off."
)
SILENT: Final = "Keyhole's server stopped answering during this call, and was ended. This call may be the reason."
PING_ID: Final = "keyhole-relay-ping"
PING: Final = b'{"jsonrpc":"2.0","id":"%s","method":"ping"}\n' % PING_ID.encode()
"""The relay's own request, which a private server answers if it runs: with a result or, in the later era, an error."""
Id = str | int


class ConnectionState:
    """The handshake and the unanswered requests of one client's connection. Lines are bytes with their line break."""

    def __init__(self, known: KnownReplies) -> None:
        self._known = known
        self._opening: list[bytes] = []
        self._version = ""  # of the handshake, "" if there was none or it is not known
        self._silenced: set[Id] = set()  # requests that the client has a reply to
        self._pending: dict[Id, _Request] = {}
        self._unsent: list[bytes] = []  # other lines, while there is no server

    @property
    def is_waiting(self) -> bool:
        """Return True if the client waits for a reply or sent a line that no server has got."""
        return bool(self._pending or self._unsent)

    @property
    def is_unanswered(self) -> bool:
        """Return True if the client waits for a reply."""
        return bool(self._pending)

    def has_room(self, line: bytes) -> bool:
        """Return whether a line may be taken now. Notifications need no reply, so only a missing server delays them."""
        may_answer = len(self._pending) < MAX_PENDING or b'"id"' not in line
        return may_answer and len(self._unsent) < MAX_PENDING

    def take_from_client(self, line: bytes, *, is_connected: bool) -> tuple[bytes, bytes]:
        """Return the bytes for the server and for the client after a line of the client; either may be empty."""
        message = parse(line)
        method = message.get("method")
        id = message.get("id")
        if method == "notifications/initialized" and self._opening:
            self._opening = [self._opening[0], line]
            return line if is_connected else b"", b""
        if method == "notifications/cancelled":
            if (cancelled := _hashable(_params(message).get("requestId"))) is not None:
                self._pending.pop(cancelled, None)
            return line if is_connected else b"", b""
        if not isinstance(method, str) or not isinstance(id, str | int):
            if not is_connected:
                self._unsent.append(line)
            return line if is_connected else b"", b""
        return self._take_request(id, method, message, line, is_connected=is_connected)

    def _take_request(
        self, id: Id, method: str, message: dict[str, Any], line: bytes, *, is_connected: bool
    ) -> tuple[bytes, bytes]:
        result = self._known.find(message, self._version)
        reply = encode({"jsonrpc": "2.0", "id": id, "result": result}) if result is not None else b""
        if method == INITIALIZE:
            self._opening = [line]
            self._version = str(result["protocolVersion"]) if result is not None else ""
            if reply:
                self._silenced.add(id)
        elif reply:
            return b"", reply
        if not reply:
            self._pending[id] = _Request(line, method == INITIALIZE, int(is_connected))
        return line if is_connected else b"", reply

    def take_from_server(self, line: bytes) -> bytes:
        """Return the bytes for the client after a line of the server, b"" for a reply that it already has."""
        message = parse(line)
        id = _hashable(message.get("id"))
        if "method" in message or id is None:
            return line
        if id in self._silenced or id == PING_ID:
            self._silenced.discard(id)
            return b""
        self._pending.pop(id, None)
        return line

    def lose_server(self) -> bytes:
        """Return error replies to the requests that have been sent to `MAX_SENDS` servers, and forget them."""
        return self._refuse([id for id, request in self._pending.items() if request.sends >= MAX_SENDS], LOST)

    def lose_silent_server(self) -> bytes:
        """Return error replies to all requests, and forget them: one of them may be why the server was silent."""
        return self._refuse(list(self._pending), SILENT)

    def _refuse(self, ids: Sequence[Id], message: str) -> bytes:
        for id in ids:
            del self._pending[id]
        error = {"code": INTERNAL_ERROR, "message": message}
        return b"".join(encode({"jsonrpc": "2.0", "id": id, "error": error}) for id in ids)

    def give_up(self) -> None:
        """Drop all pending requests and unsent lines: no other server will serve them."""
        self._pending.clear()
        self._unsent.clear()

    def open_again(self) -> bytes:
        """Return the first lines for a new server: the handshake and the unanswered requests."""
        self._silenced = set()
        lines = []
        for number, line in enumerate(self._opening):
            id = _hashable(parse(line).get("id"))
            if number == 0 and id is not None and id not in self._pending:
                self._silenced.add(id)
            lines.append(line)
        lines += [request.line for request in self._pending.values() if not request.is_opening]
        lines += self._unsent
        self._unsent = []
        for request in self._pending.values():
            request.sends += 1
        return b"".join(lines)


class _Request:
    """A request that the client waits for, and how many servers it has been sent to."""

    __slots__ = ("is_opening", "line", "sends")

    def __init__(self, line: bytes, is_opening: bool, sends: int) -> None:
        self.line = line
        self.is_opening = is_opening
        self.sends = sends


def parse(line: bytes) -> dict[str, Any]:
    """Return the message of a line, {} if the line is not a JSON object."""
    try:
        message = parse_json(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line, in the form that the SDK writes."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _params(message: Mapping[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _hashable(id: object) -> Id | None:
    return id if isinstance(id, str | int) else None
