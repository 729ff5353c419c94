"""Check the head of an HTTP request: Host, Origin, method and Content-Type.

A web page in a browser can send requests to this server, even through the page's own host name if that name resolves
to this machine (DNS rebinding). Three checks stop such requests. The Host must be one of the server's, an Origin must
be allowed, and a POST must be JSON, which a page cannot send to another origin without a preflight request. These
checks replace the SDK's, which only compares the beginnings of host names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, refuse
from keyhole.serve.http.host import PAGES_PATH, TOKEN_PATH
from keyhole.serve.http.origins import LOOPBACK_HOSTS, WEB_PORTS, Authority, Origin, parse_authority, parse_origin

# The hosts and origins that the settings allow.


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry of KEYHOLE_ALLOWED_HOSTS: `host`, `host:port` or `host:*`."""

    host: str
    port: int | None = None
    any_port: bool = False

    def allows(self, authority: Authority, own_port: int) -> bool:
        """Return whether the rule allows a host and port.

        A rule without a port allows the server's own port, and 80 and 443, which a proxy may listen on.
        """
        if authority.host != self.host:
            return False
        ports = {self.port} if self.port else {None, own_port, *WEB_PORTS.values()}
        return self.any_port or authority.port in ports


@dataclass(frozen=True, slots=True)
class OriginRule:
    """One entry of KEYHOLE_ALLOWED_ORIGINS: `scheme://host`, `scheme://host:port` or `scheme://host:*`."""

    scheme: str
    host: str
    port: int
    any_port: bool = False

    def allows(self, origin: Origin) -> bool:
        """Return whether the rule allows an origin: scheme, host and port must be equal."""
        is_host = (origin.scheme, origin.host) == (self.scheme, self.host)
        return is_host and (self.any_port or origin.port == self.port)


def parse_host_rule(text: str) -> HostRule:
    """Parse an entry of KEYHOLE_ALLOWED_HOSTS. Raises ValueError, which states the valid forms."""
    bare, any_port = _split_star(text)
    authority = parse_authority(_encode_host(bare))
    if authority is None:
        raise ValueError(f"{text!r} is not host, host:port or host:*")
    return HostRule(authority.host, authority.port, any_port)


def parse_origin_rule(text: str) -> OriginRule:
    """Parse an entry of KEYHOLE_ALLOWED_ORIGINS. Raises ValueError, which states the valid forms."""
    bare, any_port = _split_star(text.removesuffix("/"))
    scheme, separator, rest = bare.partition("://")
    origin = parse_origin(scheme + separator + _encode_host(rest))
    if origin is None:
        raise ValueError(f"{text!r} is not an origin, such as https://app.example or http://localhost:*")
    return OriginRule(origin.scheme, origin.host, origin.port, any_port)


def _split_star(text: str) -> tuple[str, bool]:
    return text.removesuffix(":*"), text.endswith(":*")


def _encode_host(text: str) -> str:
    """Return a host as headers spell it: international names in ASCII, and without the final dot of the DNS root."""
    host, separator, port = text.partition(":") if not text.startswith("[") else (text, "", "")
    host = host.removesuffix(".")
    if not host.isascii():
        import idna

        host = idna.encode(host, uts46=True).decode("ascii")  # its error is a ValueError
    return host + separator + port


# The head of a request.

METADATA_PREFIX: Final = "/.well-known/"
"""Start of the paths of public documents, which pages of any origin may read (RFC 9728)."""
_SINGLE_HEADERS: Final = frozenset(
    {
        "host", "origin", "authorization", "content-type", "content-length", "content-encoding", "transfer-encoding",
        "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name",
    }
)  # fmt: skip
"""Headers that must not be repeated, since two parsers could use different values."""

_SESSION_ID: Final = re.compile(r"[\x21-\x7e]{1,128}")
"""A session id: visible ASCII, by the specification. This server's ids have 32 characters."""

_JSON: Final = re.compile(r"application/json\s*(?:;.*)?", re.IGNORECASE)
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([^\s\";]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HeadRules:
    """The hosts, origins and methods that the settings allow."""

    hosts: tuple[HostRule, ...]
    """If empty, the names of loopback and the address of the listener are allowed."""
    origins: tuple[OriginRule, ...]
    """If empty, loopback with the server's own port is allowed."""
    sessions: bool = True
    has_pages: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of /mcp: GET and DELETE need sessions."""
        return ("POST", "GET", "DELETE") if self.sessions else ("POST",)


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of a request, and the server's port and address."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]
    """Names in lower case, as ASGI has them."""
    port: int
    """The server's port that received the request."""
    address: str = ""
    """The server's numeric address."""


def read_rules(config: Config) -> HeadRules:
    """Return the rules that the settings define.

    Raises KeyholeError (invalid_argument), which names the setting and the invalid entry.
    """
    try:
        hosts = tuple(parse_host_rule(entry) for entry in config.allowed_hosts)
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_ALLOWED_HOSTS: {error}") from error
    try:
        origins = tuple(parse_origin_rule(entry) for entry in config.allowed_origins)
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_ALLOWED_ORIGINS: {error}") from error
    return HeadRules(hosts, origins, sessions=not config.stateless)


def check_head(head: RequestHead, rules: HeadRules) -> Refusal | None:
    """Return the refusal of a request that breaks the rules, or None."""
    counts = Counter(name for name, _ in head.headers)
    for name in sorted(_SINGLE_HEADERS):
        if counts[name.encode("ascii")] > 1:
            return Refusal(400, "repeated_header", f"the header {name} is repeated")
    headers = {name.decode("latin-1"): value.decode("latin-1").strip() for name, value in head.headers}
    if "content-length" in headers and "transfer-encoding" in headers:
        return Refusal(400, "ambiguous_length", "Content-Length and Transfer-Encoding must not both be set")
    if refusal := _check_host(headers.get("host", ""), head, rules):
        return refusal
    if rules.has_pages and is_page(head.path):
        return None
    return _check_public_request(head) if head.path.startswith(METADATA_PREFIX) else _check_call(head, headers, rules)


def is_page(path: str) -> bool:
    """Return whether a path is one of the pages."""
    return path == PAGES_PATH or path.startswith(f"{PAGES_PATH}/")


def _check_host(value: str, head: RequestHead, rules: HeadRules) -> Refusal | None:
    host = parse_authority(value)
    if host is None:
        return Refusal(400, "invalid_host", "the Host header is missing or is not a host and port")
    if not _is_own(host, head, rules):
        return Refusal(421, "host_not_allowed", "KEYHOLE_ALLOWED_HOSTS does not allow this Host")
    return None


def _check_public_request(head: RequestHead) -> Refusal | None:
    return None if head.method in {"GET", "HEAD", "OPTIONS"} else _wrong_method(("GET", "HEAD", "OPTIONS"))


def _check_call(head: RequestHead, headers: dict[str, str], rules: HeadRules) -> Refusal | None:
    if "origin" in headers and not _is_allowed(parse_origin(headers["origin"]), head.port, rules):
        return Refusal(403, "origin_not_allowed", "KEYHOLE_ALLOWED_ORIGINS does not allow this Origin")
    if head.method not in rules.methods:
        return _wrong_method(rules.methods)
    if head.method == "POST" and head.path != TOKEN_PATH and not _is_json(headers.get("content-type", "")):
        return Refusal(415, "unsupported_media_type", "the Content-Type must be application/json, in UTF-8")
    return _check_session(headers["mcp-session-id"], rules) if "mcp-session-id" in headers else None


def _check_session(session: str, rules: HeadRules) -> Refusal | None:
    if not _SESSION_ID.fullmatch(session):
        return Refusal(400, "invalid_session", "Mcp-Session-Id is not a session id of this server")
    if not rules.sessions:  # 404 makes a client initialize again, without a session
        return Refusal(404, "session_not_found", "this server keeps no sessions: initialize again")
    return None


def _wrong_method(methods: tuple[str, ...]) -> Refusal:
    names = ", ".join(methods)
    return Refusal(405, "method_not_allowed", f"the allowed methods are {names}", (("allow", names),))


def _is_own(host: Authority, head: RequestHead, rules: HeadRules) -> bool:
    if not rules.hosts:
        # The listener's own address, such as 127.0.0.2: without allowed hosts it is loopback (listener.py).
        return host.host in {*LOOPBACK_HOSTS, head.address} and host.port in {None, head.port}
    return any(rule.allows(host, head.port) for rule in rules.hosts)


def _is_allowed(origin: Origin | None, port: int, rules: HeadRules) -> bool:
    if origin is None:
        return False
    if not rules.origins:
        return origin.host in LOOPBACK_HOSTS and origin.port == port
    return any(rule.allows(origin) for rule in rules.origins)


def _is_json(content_type: str) -> bool:
    charsets = {charset.lower() for charset in _CHARSET.findall(content_type)}
    return bool(_JSON.fullmatch(content_type)) and charsets <= {"utf-8", "utf8"}


def add_host_check(app: App, config: Config, *, has_pages: bool = False) -> App:
    """Return `app` behind `check_head`. Raises KeyholeError (invalid_argument) for invalid settings."""
    rules = replace(read_rules(config), has_pages=has_pages)

    async def middleware(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # not supported; RFC 6455's policy violation
            return
        if scope["type"] == "http":
            address, port = scope.get("server") or ("", 0)
            head = RequestHead(scope["method"], scope["path"], scope["headers"], port or 0, address)
            if (refusal := check_head(head, rules)) is not None:
                await refuse(send, refusal)
                return
        await app(scope, receive, send)

    return middleware
