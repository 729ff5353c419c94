"""Which HTTP requests are looked at, by their heads alone: Host, Origin, method, Content-Type. No bodies, no tokens.

A web page that a browser shows can make it send requests here, also under a name of its own that it lets point to
this machine (DNS rebinding). What stops it: the Host must be one of ours, an Origin must be allowed, and a POST must
be JSON, which a page cannot send elsewhere without asking first. Our check stands before the SDK's own, which
compares the beginnings of hosts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, refuse
from keyhole.serve.http.origins import (
    LOOPBACK,
    Authority,
    HostRule,
    Origin,
    OriginRule,
    authority,
    host_rule,
    origin,
    origin_rule,
)

METADATA: Final = "/.well-known/"
"""Public documents stand here, which pages of any origin may read: RFC 9728 wants browsers to find them."""

_ONCE: Final = frozenset(
    {
        "host", "origin", "authorization", "content-type", "content-length", "content-encoding", "transfer-encoding",
        "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name",
    }
)  # fmt: skip
"""Headers of which two would leave it to each reader which one counts."""

_SESSION: Final = re.compile(r"[\x21-\x7e]{1,128}")
"""A session's id as the specification has it, visible ASCII; ours have 32 characters."""

_JSON: Final = re.compile(r"application/json\s*(?:;.*)?", re.IGNORECASE)
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([^\s\";]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings allow."""

    hosts: tuple[HostRule, ...]
    """Empty: loopback's names and the address that is served on."""
    origins: tuple[OriginRule, ...]
    """Empty: loopback, with the server's own port."""
    sessions: bool = True

    @property
    def methods(self) -> tuple[str, ...]:
        """Without sessions there is nothing to listen to with GET and nothing to end with DELETE."""
        return ("POST", "GET", "DELETE") if self.sessions else ("POST",)


@dataclass(frozen=True, slots=True)
class Head:
    """A request before its body."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]
    """Names in lower case, as ASGI has them."""
    port: int
    """The server's own, on which the request came."""
    address: str = ""
    """And its address, in numbers."""


def rules(config: Config) -> Rules:
    """The settings, read. Raises KeyholeError (invalid_argument) that names the setting and the entry."""
    try:
        hosts = tuple(host_rule(entry) for entry in config.allowed_hosts)
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_ALLOWED_HOSTS: {error}") from error
    try:
        origins = tuple(origin_rule(entry) for entry in config.allowed_origins)
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_ALLOWED_ORIGINS: {error}") from error
    return Rules(hosts, origins, sessions=not config.stateless)


def refusal(head: Head, allowed: Rules) -> Refusal | None:
    """Why a request is not let in, or None."""
    counts = Counter(name for name, _ in head.headers)
    for name in sorted(_ONCE):
        if counts[name.encode("ascii")] > 1:
            return Refusal(400, "repeated_header", f"the header {name} is there more than once")
    given = {name.decode("latin-1"): value.decode("latin-1").strip() for name, value in head.headers}
    if "content-length" in given and "transfer-encoding" in given:
        return Refusal(400, "ambiguous_length", "Content-Length and Transfer-Encoding exclude each other")
    return _host_refusal(given.get("host", ""), head, allowed) or (
        _public_refusal(head) if head.path.startswith(METADATA) else _call_refusal(head, given, allowed)
    )


def _host_refusal(value: str, head: Head, allowed: Rules) -> Refusal | None:
    where = authority(value)
    if where is None:
        return Refusal(400, "invalid_host", "the Host header is missing or is not a host and port")
    if not _is_own(where, head, allowed):
        return Refusal(421, "host_not_allowed", "the Host header names no host that KEYHOLE_ALLOWED_HOSTS allows")
    return None


def _public_refusal(head: Head) -> Refusal | None:
    return None if head.method in {"GET", "HEAD", "OPTIONS"} else _wrong_method(("GET", "HEAD", "OPTIONS"))


def _call_refusal(head: Head, given: dict[str, str], allowed: Rules) -> Refusal | None:
    if "origin" in given and not _is_allowed(origin(given["origin"]), head.port, allowed):
        return Refusal(403, "origin_not_allowed", "KEYHOLE_ALLOWED_ORIGINS does not allow this Origin")
    if head.method not in allowed.methods:
        return _wrong_method(allowed.methods)
    if head.method == "POST" and not _is_json(given.get("content-type", "")):
        return Refusal(415, "unsupported_media_type", "the Content-Type must be application/json, in UTF-8")
    return _session_refusal(given["mcp-session-id"], allowed) if "mcp-session-id" in given else None


def _session_refusal(session: str, allowed: Rules) -> Refusal | None:
    if not _SESSION.fullmatch(session):
        return Refusal(400, "invalid_session", "Mcp-Session-Id is not an id that this server gave")
    if not allowed.sessions:  # 404 makes a client begin anew, and then without one
        return Refusal(404, "session_not_found", "no sessions are kept here: initialize again")
    return None


def _wrong_method(methods: tuple[str, ...]) -> Refusal:
    names = ", ".join(methods)
    return Refusal(405, "method_not_allowed", f"the methods here are {names}", (("allow", names),))


def _is_own(where: Authority, head: Head, allowed: Rules) -> bool:
    if not allowed.hosts:
        # Served on 127.0.0.2, it is that too: without allowed hosts it listens on loopback alone (exposure.py).
        return where.host in {*LOOPBACK, head.address} and where.port in {None, head.port}
    return any(rule.allows(where, head.port) for rule in allowed.hosts)


def _is_allowed(page: Origin | None, port: int, allowed: Rules) -> bool:
    if page is None:
        return False
    if not allowed.origins:
        return page.host in LOOPBACK and page.port == port
    return any(rule.allows(page) for rule in allowed.origins)


def _is_json(content_type: str) -> bool:
    charsets = {charset.lower() for charset in _CHARSET.findall(content_type)}
    return bool(_JSON.fullmatch(content_type)) and charsets <= {"utf-8", "utf8"}


def gated(app: App, config: Config) -> App:
    """The layer: asks `refusal` of every request. Raises KeyholeError for settings that cannot be read."""
    allowed = rules(config)

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # nobody here speaks it, RFC 6455's policy violation
            return
        if scope["type"] == "http":
            address, port = scope.get("server") or ("", 0)
            wrong = refusal(Head(scope["method"], scope["path"], scope["headers"], port or 0, address), allowed)
            if wrong is not None:
                await refuse(send, wrong.status, wrong.code, wrong.message, wrong.headers)
                return
        await app(scope, receive, send)

    return layer
